"""Order of loads in kernels that read what another process writes."""


def acquire_fence() -> None:
    """In a kernel: let no load that follows be made before one that precedes, by the compiler or the processor.

    `kinematics.compiled.compiler` emits it. Python's interpreter does nothing here.
    """
