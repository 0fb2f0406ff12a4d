"""The rig: configuration, cyclic engine, safety, recordings, virtual rig, reports and command line."""

import os

# Matrices here are of six rows, which threads make 20 times slower where a processor is busy: they wait spinning. NumPy
# reads this as it is loaded; the processes that are started have it from here.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

__version__ = "0.1.0"
