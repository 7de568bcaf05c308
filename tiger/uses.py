"""The uses: what a person asks TIGER for, each as its room states it."""

from functools import cache

from tiger.run.use import Use


@cache
def list_uses() -> tuple[Use, ...]:
    """Return the uses in the order in which they are shown; nothing that computes is loaded."""
    from tiger.circuits.use import CIRCUITS
    from tiger.mapping.use import MAPPING
    from tiger.pipeline.entry.use import PLACEMENT
    from tiger.pipeline.experts.use import EXPERTS
    from tiger.pipeline.planning.use import PLANNING
    from tiger.pipeline.rebalancing.use import REBALANCING

    return MAPPING, CIRCUITS, PLACEMENT, PLANNING, REBALANCING, EXPERTS
