"""Workspace of a mechanism: a box of poses swept, optionally on a cluster, and plotted."""

from rig.workspace.cluster import Client, inverse_on_cluster, open_cluster
from rig.workspace.sweep import FILES, fit_box, summarize, sweep_workspace, write_workspace

__all__ = [
    "FILES",
    "Client",
    "fit_box",
    "inverse_on_cluster",
    "open_cluster",
    "summarize",
    "sweep_workspace",
    "write_workspace",
]
