"""How the attempts of the search on whole routes score SWAPs: settings drawn anew for each of them."""

from tiger.routing.swaps.frontier import RouterCounters, RouterParams, draw_below
from tiger.solvers.kernel import inner_kernel

# Gates of the extended set at most: with fading weights few more would count.
LOOKAHEAD = 40
# The most that a SWAP which fuses with no gate adds to a score, in hops. Over seven circuits and two seeds at level 3
# a range up to 0.7 ends with 0.2 % fewer two-qubit gates than one up to 1.5, and up to 3 with 1 % more.
FUSION = 1.0
# How much more than one SWAP a gate that is not looked at may be expected to cost: the range of the draws. Beams of 128
# from the same mappings end 1 to 2 % lower with prices from 1 to 1.5 than with 0.7 or 2.5, over four circuits.
GATE_PRICE = 0.75


@inner_kernel
def draw_params(params: RouterParams, counters: RouterCounters, alone: int) -> None:
    """Draw the settings of an attempt, around SABRE's (weight 0.5, decay 0.001) and wide, as circuits differ."""
    params.lookahead = LOOKAHEAD
    params.lookahead_weight = 0.4 + 0.8 * draw_below(counters, 1024) / 1024
    params.fade = 0.5 + 3.0 * draw_below(counters, 1024) / 1024
    params.decay = 0.1 if draw_below(counters, 4) == 0 else 0.001
    params.bridge_score = -0.3 * draw_below(counters, 4)
    params.distance_power = draw_below(counters, 2)
    params.later_weight = 1.0 if draw_below(counters, 3) > 0 else 0.3
    params.gate_price = 1.0 + GATE_PRICE * draw_below(counters, 1024) / 1024
    params.noise = 0.5 * draw_below(counters, 3)
    # Nothing is drawn where all SWAPs cost the same.
    params.fusion = 0.0 if alone == 1 else FUSION * draw_below(counters, 1024) / 1024 / alone
