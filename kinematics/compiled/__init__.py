"""Compiled code: compilation of kernels, and the small linear algebra that they share."""

from kinematics.compiled.cache import NotCompiledError, kernel_cache_folder
from kinematics.compiled.compiling import (
    Kernel,
    cached_only,
    inlined,
    interpreted,
    kernel,
    report_compilation,
    with_callees,
)
from kinematics.compiled.fence import acquire_fence
from kinematics.compiled.legs import (
    cross,
    dot,
    leg_axes,
    leg_direction,
    leg_rates,
    point_motion,
    rotate,
    rotation_matrix,
)
from kinematics.compiled.linear import (
    BLOCK,
    SYSTEM_ROWS,
    eliminate,
    solve_block_kernel,
    solve_kernel,
    spectral_condition_kernel,
)
from kinematics.compiled.parallel import chunk_bounds, processor_count, run_chunks

__all__ = [
    "BLOCK",
    "SYSTEM_ROWS",
    "Kernel",
    "NotCompiledError",
    "acquire_fence",
    "cached_only",
    "chunk_bounds",
    "cross",
    "dot",
    "eliminate",
    "inlined",
    "interpreted",
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
