"""Cuts by diffusion: every stage gives layers to a neighbour that is less busy, and knows no other stage."""

from tiger.rebalancing.line_costs import Cuts, LineCosts

# Rounds after which stages stop, for each of them: a layer crosses the whole line in as many rounds as there are.
ROUNDS = 4


def diffuse_cuts(costs: LineCosts, cuts: Cuts) -> Cuts:
    """Return the cuts when no pair of neighbours gains by one layer more or less, by its own two loads alone.

    Decentralised: in a round first the even boundaries move, then the odd ones, each by at most a layer, so that stages
    only talk to the two beside them. What does not fit into memory is refused. A local optimum, often far from the best
    plan: the simple sibling of `balance_exactly`. O(p) a round.
    Source: Cybenko, J. Parallel Distrib. Comput. 7 (1989) 279, doi:10.1016/0743-7315(89)90021-X.
    """
    for _ in range(ROUNDS * costs.line.positions):
        before = cuts
        for parity in (0, 1):
            for boundary in range(1 + parity, costs.line.positions, 2):
                cuts = _shift(costs, cuts, boundary)
        if cuts == before:
            break
    return cuts


def _shift(costs: LineCosts, cuts: Cuts, boundary: int) -> Cuts:
    """Return the cuts with a boundary a layer towards the busier of its stages where that makes the pair less busy."""
    loads = costs.loads_s(cuts)[boundary - 1 : boundary + 1]
    step = -1 if loads[0] > loads[1] else 1
    moved = (*cuts[:boundary], cuts[boundary] + step, *cuts[boundary + 1 :])
    if not moved[boundary - 1] < moved[boundary] < moved[boundary + 1] or not costs.line.fits(moved):
        return cuts
    return moved if costs.loads_s(moved)[boundary - 1 : boundary + 1].max() < loads.max() else cuts
