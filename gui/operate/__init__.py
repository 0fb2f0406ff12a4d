"""Manual operation: the steps from connecting to parking, jogging, and faults of the virtual rig."""

from gui.operate.cueing_panel import CueingPanel
from gui.operate.faults_panel import FaultsPanel
from gui.operate.jog_panel import JogPanel
from gui.operate.operate_panel import OperatePanel

__all__ = [
    "CueingPanel",
    "FaultsPanel",
    "JogPanel",
    "OperatePanel",
]
