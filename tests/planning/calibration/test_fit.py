"""Tests of factors that are fitted to runs."""

from dataclasses import replace

import numpy as np
import pytest

from tests.planning.calibration.conftest import Plan
from tiger.planning.calibration.fit import SPREAD, fit_factors
from tiger.planning.calibration.predict import PlannedRun
from tiger.training.timings.costs import NAMES, NO_FACTORS, Factors


def measure(runs: list[PlannedRun], factors: Factors, noise: tuple[float, ...] = ()) -> list[PlannedRun]:
    """Return runs that took what they are predicted to take with some factors, times `noise`."""
    wrong = noise or (1.0,) * len(runs)
    return [
        replace(each, run=each.run._replace(seconds=each.predict_s(factors) * share))
        for each, share in zip(runs, wrong, strict=True)
    ]


def test_known_factors_are_found_again(plan_all: Plan) -> None:
    """Of six runs, within a few per cent."""
    fit = fit_factors(measure(plan_all(), Factors(products=1.2, between=2.0)))
    assert fit.factors.products == pytest.approx(1.2, rel=0.03)
    assert fit.factors.between == pytest.approx(2.0, rel=0.03)
    assert (np.abs(fit.residuals[:6]) < 0.3).all()
    told = dict(zip(NAMES, fit.evidence.tolist(), strict=True))
    assert told["between"] > told["products"] > 0.8 > 0.2 > told["attention"]


def test_runs_as_predicted_change_nothing(plan_all: Plan) -> None:
    """Every factor is 1, and is known better than before by what runs tell of it."""
    fit = fit_factors(measure(plan_all(), NO_FACTORS))
    assert fit.factors == NO_FACTORS
    assert (fit.deviation < SPREAD).all()


def test_one_run_is_met_within_what_is_likely(plan_all: Plan) -> None:
    """By all factors together, none of which goes further than it has to."""
    (run,) = measure(plan_all(["tp=4,pp=2,dp=1,gbs=16"]), NO_FACTORS, (1.2,))
    fit = fit_factors([run])
    assert run.predict_s(fit.factors) == pytest.approx(run.run.seconds, rel=0.02)
    assert all(1 <= getattr(fit.factors, name) < 1.5 for name in NAMES)


def test_a_run_that_is_left_out_is_predicted_as_by_a_fit_to_the_others(plan_all: Plan) -> None:
    """Within a part of a per cent, though no such fit is made."""
    runs = measure(plan_all(), Factors(products=1.2, between=2.0), (1.0, 1.04, 0.97, 1.0, 1.05, 0.98))
    fit = fit_factors(runs)
    for number, run in enumerate(runs):
        others = fit_factors([other for other in runs if other is not run]).factors
        assert run.predict_s(fit.leave_out(number)) == pytest.approx(run.predict_s(others), rel=0.01)


def test_the_order_of_runs_changes_nothing(plan_all: Plan) -> None:
    """Beyond the tolerance of the search, and the same order has the same factors."""
    runs = measure(plan_all(), Factors(memory=0.8, inside=1.5))
    first, again, turned = fit_factors(runs), fit_factors(runs), fit_factors(runs[::-1])
    assert first.factors == again.factors
    np.testing.assert_allclose(turned.logs, first.logs, atol=1e-4)
