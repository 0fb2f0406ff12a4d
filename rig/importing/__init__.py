"""Import of other programs' logs as recordings: mapping of columns, resampling to a constant rate, and findings."""

from rig.importing.importing import BANDWIDTH, import_log, ranges_of
from rig.importing.log import LogMapping, load_mapping, parse_mapping
from rig.importing.recorded import ImportedLog

__all__ = ["BANDWIDTH", "ImportedLog", "LogMapping", "import_log", "load_mapping", "parse_mapping", "ranges_of"]
