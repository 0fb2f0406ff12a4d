"""Published models of the leg forces, and operation counts of published formulations; never used in control."""

from dynamics.papers.counting import Counted, Operations, count_operations, kinematics_operations, platform_operations
from dynamics.papers.dasgupta import Mend1998
from dynamics.papers.dasgupta_flops import flops_1998
from dynamics.papers.operation_counts import (
    BEYOND,
    SAMPLES,
    Law,
    NewtonEulerSaving,
    OperationRow,
    OperationTable,
    PlatformRow,
    counted_order,
    counted_table,
    general_chain,
    newton_euler_saving,
    operation_tables,
    platform_table,
)
from dynamics.papers.pedrammehr import EVERY_TERM, Mend, compact_forces, compact_pods, tangential_accelerations
from dynamics.papers.strobing_cost import StrobingCost, StrobingEffort, strobing_costs, strobing_effort
from dynamics.papers.variants import (
    FRICTION_CHOICES,
    MENDED,
    MODELS,
    FrictionChoice,
    variant_cells,
    variant_forces,
)

__all__ = [
    "BEYOND",
    "EVERY_TERM",
    "FRICTION_CHOICES",
    "MENDED",
    "MODELS",
    "SAMPLES",
    "Counted",
    "FrictionChoice",
    "Law",
    "Mend",
    "Mend1998",
    "NewtonEulerSaving",
    "OperationRow",
    "OperationTable",
    "Operations",
    "PlatformRow",
    "StrobingCost",
    "StrobingEffort",
    "compact_forces",
    "compact_pods",
    "count_operations",
    "counted_order",
    "counted_table",
    "flops_1998",
    "general_chain",
    "kinematics_operations",
    "newton_euler_saving",
    "operation_tables",
    "platform_operations",
    "platform_table",
    "strobing_costs",
    "strobing_effort",
    "tangential_accelerations",
    "variant_cells",
    "variant_forces",
]
