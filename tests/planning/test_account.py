"""Tests of what reports say where there is no plan, or one that was only simulated."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tiger.placement.chain.params import never_stop
from tiger.planning import search
from tiger.planning.account import Account
from tiger.planning.params import PlanParams
from tiger.planning.report import PlanReport
from tiger.planning.search_inputs import SearchInputs
from tiger.run.progress import ignore
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.sizes import Model

Make = Callable[[tuple[int, ...]], Cluster]


def report_of(model: Model, cluster: Cluster, params: PlanParams, stop: Callable[[], bool] = never_stop) -> PlanReport:
    """Return the report of a search."""
    return Account(model, cluster, params, search.explore(SearchInputs(model, cluster, params), stop, ignore)).report(
        10
    )


def test_what_no_bound_rules_out_may_fit_nowhere(model: Model, cluster_of: Make) -> None:
    """Two layers of 40 bytes and five microbatches of 8 need 120 bytes on the first device, 103 by the bound."""
    small = replace(cluster_of((0, 0)), memory_bytes=np.full(2, 110.0))
    params = PlanParams(batch=4, tensor=1, data=1, pipeline=2, schedule="interleaved", virtual=2)
    report = report_of(model, small, params)
    assert [each.kind for each in report.violations] == ["undecided"]
    assert "the closest lacks 10 B" in report.violations[0].message


@pytest.mark.slow
def test_a_search_that_proves_there_is_no_room_says_so(model: Model, cluster_of: Make) -> None:
    """A pipeline of two needs more than the smaller device has, as bounds know the larger alone."""
    uneven = replace(cluster_of((0, 0)), memory_bytes=np.array([200.0, 20.0]))
    report = report_of(model, uneven, PlanParams(batch=4, tensor=1, data=1, pipeline=2, schedule="1f1b"))
    assert [each.kind for each in report.violations] == ["memory"]
    assert report.violations[0].message.startswith("pipeline 2 x tensor 1 x data 1, 1f1b, 4 microbatches: every device")


def test_devices_may_not_be_linked(model: Model, cluster_of: Make) -> None:
    """Then layers cannot be cut."""
    apart = replace(cluster_of((0, 0)), link=np.full((2, 2), -1))
    assert [each.kind for each in report_of(model, apart, PlanParams(batch=4, tensor=2)).violations] == ["links"]


def test_a_search_may_end_before_it_knows_anything(model: Model, cluster_of: Make) -> None:
    """No plan was found, and none is said to be impossible."""
    small = replace(cluster_of((0, 0)), memory_bytes=np.full(2, 50.0))
    report = report_of(model, small, PlanParams(batch=4), lambda: True)
    assert [each.kind for each in report.violations] == ["undecided"]


def test_a_plan_that_was_only_simulated_is_reported(
    model: Model, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its stages, but no bound of its own."""
    monkeypatch.setattr(search, "PARAMS", search.PlanningParams(searched=0))
    report = report_of(model, cluster, PlanParams(batch=4))
    assert report.best is not None
    assert report.placement is not None
    assert (report.best.searched, report.placement.iteration_s) == (False, report.iteration_s)
    assert sum(len(stage.ops) for stage in report.placement.stages) == 4
    assert report.optimal is False


def test_a_sampler_that_orders_devices_is_counted(model: Model, cluster: Cluster) -> None:
    """What it drew is that of all plans, and of the best plan alone nothing is said; another solver has none."""
    asked = PlanParams(batch=4, tensor=1, data=1, pipeline=2, schedule="1f1b")
    drawn = report_of(model, cluster, replace(asked, solver="neal"))
    assert drawn.sampling is not None
    assert drawn.placement is not None
    assert drawn.placement.sampling is None
    assert report_of(model, cluster, asked).sampling is None
