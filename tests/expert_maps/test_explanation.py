"""Tests of what is said of maps of experts."""

from dataclasses import replace

from tests.reports import EXPERTS
from tiger.expert_maps.explanation import explain_experts
from tiger.expert_maps.slots.objective import ExpertCost


def test_a_change_is_explained() -> None:
    """By its price, its gain over the map in use, the bound, and what moves."""
    said = explain_experts(EXPERTS)
    assert said.found[:2] == (
        "2 experts and 2 replicas in each of 2 layers, on 2 devices.",
        "What is made small is 410 ms a step.",
    )
    assert said.found[2].startswith("Move to this map: a step gains 33 %")
    assert said.quality[0] == "The map in use takes 600 ms a step: 1.46 times as much."
    assert "No map is below 300 ms a step, so that at most 27% can still be gained." in said.quality
    assert "The best change that was found moves 3 experts in 10 s." in said.limits


def test_hops_and_tokens_have_their_own_words() -> None:
    """And advice to state prices."""
    for unit, words in (("hops", "3 hops a transition"), ("tokens", "3 tokens of largest loads")):
        cost = ExpertCost(load=0.0, links=3.0, moves=0.0)
        made = replace(EXPERTS.objective, unit=unit, before=cost, after=cost, bound=cost)
        said = explain_experts(replace(EXPERTS, objective=made, verdict=None))
        assert said.found[1] == f"What is made small is {words}."
        assert said.quality[0] == f"The order of numbers takes {words}: as much."
        assert "proved optimal" in said.quality[2]
        assert said.advice[1].startswith("State prices")
