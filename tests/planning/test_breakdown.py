"""Tests of where the time of an iteration goes."""

import numpy as np
import pytest

from tiger.placement.search.evaluator import Evaluator
from tiger.planning.breakdown import breakdown
from tiger.training.costs.plan import Plan, rank_order
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.sizes import Model


def make_evaluator(model: Model, cluster: Cluster) -> Evaluator:
    """Return who judges plans of four microbatches."""
    return Evaluator(layers=model.given, cluster=cluster, schedule="1f1b", microbatches=4)


def test_one_device_computes_all_the_time(model: Model, cluster: Cluster) -> None:
    """Four times 15 s."""
    spent = breakdown(make_evaluator(model, cluster), Plan.line((0, 4), (0,)))
    assert spent.compute_s == pytest.approx(60)
    assert spent.total_s == pytest.approx(60)
    assert (spent.tensor_s, spent.messages_s, spent.gradients_s) == (0, 0, 0)


@pytest.mark.parametrize("shape", [(1, 1, 2), (2, 1, 1), (1, 2, 1), (2, 1, 2), (2, 2, 1), (1, 2, 2)])
def test_parts_add_up_to_the_iteration(large: tuple[Model, Cluster], shape: tuple[int, int, int]) -> None:
    """Whatever the groups."""
    evaluator = make_evaluator(*large)
    cuts = tuple(np.linspace(0, 6, shape[0] + 1).astype(int).tolist())
    plan = Plan(cuts=cuts, grid=rank_order(shape))
    spent = breakdown(evaluator, plan)
    assert spent.total_s == pytest.approx(evaluator.seconds(plan))
    assert (spent.tensor_s > 0, spent.messages_s > 0, spent.gradients_s > 0) == tuple(
        size > 1 for size in (shape[2], shape[0], shape[1])
    )


def test_messages_are_sent_and_received(model: Model, cluster: Cluster) -> None:
    """Two devices of two layers: each message of 0.021 s keeps both busy, forward and back, four times."""
    spent = breakdown(make_evaluator(model, cluster), Plan.line((0, 2, 4), (0, 1)))
    assert spent.messages_s == pytest.approx(4 * 2 * 0.021)
    assert set(spent.to_dict()) == {"compute_s", "tensor_s", "messages_s", "gradients_s", "waiting_s", "groups_s"}
