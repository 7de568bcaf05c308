"""Levels that search for milliseconds."""

from dataclasses import replace
from functools import partial

import pytest

from tiger.circuits.optimization_levels import PARAMS_OF_LEVEL, Budget
from tiger.routing.ising.proposals import ProposalParams, ProposalShapes


def shorten_levels(monkeypatch: pytest.MonkeyPatch, work: int) -> None:
    """Let the stages of every level that search score so many candidates, from a few layouts."""
    short = Budget(work, 0, work)
    brief = tuple(
        replace(
            each,
            search=short,
            windows=short if each.windows.most else Budget(),
            trial=work,
            exact_states=0,
            placement=replace(
                each.placement, drafts=5, searchers=min(each.placement.searchers, 2), scouts=10, finalists=1, trials=20
            ),
        )
        for each in PARAMS_OF_LEVEL
    )
    shapes = ProposalShapes(halves=(), times=(0.5,), moves=min(work, ProposalShapes().moves))
    for user in ("solve", "entry.comparison"):
        monkeypatch.setattr(f"tiger.circuits.{user}.PARAMS_OF_LEVEL", brief)
    for user in ("routing.ising.proposals", "circuits.entry.comparison"):
        monkeypatch.setattr(f"tiger.{user}.ProposalParams", partial(ProposalParams, shapes=shapes))
