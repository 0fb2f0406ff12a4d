"""The rig: configuration, cyclic engine, safety, recordings, virtual rig, reports and command line."""

__version__ = "0.1.0"
