"""Logs of other programs made into recordings: read by a mapping, put on an even cycle, told what they can support."""

from rig.importing.importing import BANDWIDTH, import_log, ranges_of
from rig.importing.log import LogMapping, load_mapping, parse_mapping
from rig.importing.recorded import ImportedLog

__all__ = ["BANDWIDTH", "ImportedLog", "LogMapping", "import_log", "load_mapping", "parse_mapping", "ranges_of"]
