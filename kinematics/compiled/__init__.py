"""Compiled code: how kernels are compiled, and the small algebra that they share."""

from kinematics.compiled.block import BLOCK, SYSTEM_ROWS, solve_block_kernel
from kinematics.compiled.compile_progress import report_compilation, with_callees
from kinematics.compiled.compiling import (
    Kernel,
    NotCompiledError,
    cached_only,
    inlined,
    kernel,
    kernel_cache_folder,
)
from kinematics.compiled.legs import leg_axes, leg_direction, leg_rates, point_motion
from kinematics.compiled.linear import eliminate, solve_kernel, spectral_condition_kernel
from kinematics.compiled.parallel import chunk_bounds, processor_count, run_chunks
from kinematics.compiled.vector import cross, dot, rotate, rotation_matrix

__all__ = [
    "BLOCK",
    "SYSTEM_ROWS",
    "Kernel",
    "NotCompiledError",
    "cached_only",
    "chunk_bounds",
    "cross",
    "dot",
    "eliminate",
    "inlined",
    "kernel",
    "kernel_cache_folder",
    "leg_axes",
    "leg_direction",
    "leg_rates",
    "point_motion",
    "processor_count",
    "report_compilation",
    "rotate",
    "rotation_matrix",
    "run_chunks",
    "solve_block_kernel",
    "solve_kernel",
    "spectral_condition_kernel",
    "with_callees",
]
