"""Published models of the leg forces, and operation counts of published formulations; never used in control."""

from dynamics.papers.arm_counts import MOST_JOINTS, ArmCount, count_arm, count_structure
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
    degree,
    general_chain,
    newton_euler_saving,
    operation_tables,
    platform_table,
    printed_terms,
)
from dynamics.papers.pedrammehr import EVERY_TERM, Mend, compact_forces, compact_pods, tangential_accelerations
from dynamics.papers.strobing_cost import StrobingCost, StrobingEffort, strobing_costs, strobing_effort
from dynamics.papers.variants import (
    FRICTION_CHOICES,
    MENDED,
    MODELS,
    FrictionChoice,
    mended_1998,
    variant_cells,
    variant_forces,
)

__all__ = [
    "BEYOND",
    "EVERY_TERM",
    "FRICTION_CHOICES",
    "MENDED",
    "MODELS",
    "MOST_JOINTS",
    "SAMPLES",
    "ArmCount",
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
    "count_arm",
    "count_operations",
    "count_structure",
    "counted_order",
    "counted_table",
    "degree",
    "flops_1998",
    "general_chain",
    "kinematics_operations",
    "mended_1998",
    "newton_euler_saving",
    "operation_tables",
    "platform_operations",
    "platform_table",
    "printed_terms",
    "strobing_costs",
    "strobing_effort",
    "tangential_accelerations",
    "variant_cells",
    "variant_forces",
]
