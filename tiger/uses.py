"""The uses: what a person asks TIGER for, each as its room states it."""

from functools import cache

from tiger.run.use import Use


@cache
def list_uses() -> tuple[Use, ...]:
    """Return the uses in the order in which they are shown; nothing that computes is loaded."""
    from tiger.circuits.use import CIRCUITS
    from tiger.expert_maps.use import EXPERTS
    from tiger.mapping.use import MAPPING
    from tiger.placement.entry.use import PLACEMENT
    from tiger.planning.calibration.use import CALIBRATION
    from tiger.planning.use import PLANNING
    from tiger.rebalancing.use import REBALANCING

    return MAPPING, CIRCUITS, PLACEMENT, PLANNING, CALIBRATION, REBALANCING, EXPERTS
