"""What a caller may ask of a placement."""

from dataclasses import replace

import pytest

import tiger
from tiger.errors import InputError
from tiger.placement.entry.request import ChainRequest, check_fit, check_no_costs, check_params
from tiger.placement.params import PlaceParams
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("schedule", "1F1B"),
        ("schedule", 1),
        ("microbatches", 0),
        ("microbatches", 1.0),
        ("microbatches", True),
        ("microbatches", 65_537),
        ("virtual", 0),
        ("virtual", 2),
        ("pipeline", 0),
        ("pipeline", "2"),
        ("tensor", 0),
        ("tensor", None),
        ("data", -1),
        ("data", 10**300),
        ("solver", "nobody"),
        ("seed", -1),
        ("seed", 2**63),
        ("effort", 0),
        ("effort", None),
        ("time_limit_s", 0),
        ("time_limit_s", float("nan")),
    ],
)
def test_bad_values_are_named(name: str, value: object) -> None:
    """Every one by its argument."""
    with pytest.raises(InputError, match="expected") as caught:
        check_params(PlaceParams(**{name: value}))
    assert caught.value.field == name


@pytest.mark.parametrize("pinned", ["a=x", ["a"], 5])
def test_pins_are_a_mapping(pinned: object) -> None:
    """Another type is an error of the caller's code."""
    with pytest.raises(TypeError, match="expected pinned as a mapping from layer to device"):
        check_params(PlaceParams(pinned=pinned))


def test_a_solver_has_a_name() -> None:
    """A sampler itself is none."""
    with pytest.raises(TypeError, match="solver: expected a name, got 5"):
        check_params(PlaceParams(solver=5))


def test_other_modes_are_refused() -> None:
    """With those that exist; experts have a function of their own."""
    with pytest.raises(InputError, match=r"mode: expected chain, dag, got 'experts'$"):
        check_params(PlaceParams(), "experts")


def test_good_values_pass() -> None:
    """As they are."""
    params = PlaceParams(schedule="interleaved", microbatches=6, virtual=2, pipeline=3, solver="neal", seed=2**63 - 1)
    assert check_params(params) is params
    assert check_params(PlaceParams(schedule="gpipe", virtual=1, time_limit_s=0.5)).virtual == 1


def test_microbatches_go_with_a_schedule() -> None:
    """They mean nothing to a steady pipeline, and fill the stages of an interleaved one."""
    with pytest.raises(InputError, match="microbatches: expected a schedule beside it, got 8 without one"):
        check_params(PlaceParams(microbatches=8))
    with pytest.raises(InputError, match="microbatches: expected a multiple of 3, the devices of an interleaved"):
        check_params(PlaceParams(schedule="interleaved", microbatches=8, pipeline=3))
    with pytest.raises(InputError, match="microbatches: expected at least 6, twice the devices of a pipeline"):
        check_params(PlaceParams(schedule="dualpipe-v", microbatches=5, pipeline=3))
    check_params(PlaceParams(schedule="zb-v", microbatches=1, pipeline=3))
    with pytest.raises(InputError, match="pipeline: expected an even number of devices in a row for chimera, got 3"):
        check_params(PlaceParams(schedule="chimera", pipeline=3))
    with pytest.raises(InputError, match="microbatches: expected an even number, half for each direction of chimera"):
        check_params(PlaceParams(schedule="chimera", microbatches=5))


def test_virtual_stages_go_with_an_interleaved_schedule() -> None:
    """Others have one stage a device."""
    with pytest.raises(InputError, match="virtual: expected the schedule interleaved beside it, got 2 without"):
        check_params(PlaceParams(schedule="1f1b", virtual=2))
    with pytest.raises(InputError, match="virtual: expected 2 beside the schedule zb-v, got 4"):
        check_params(PlaceParams(schedule="zb-v", virtual=4))
    check_params(PlaceParams(schedule="zb-v", virtual=2))


@pytest.mark.parametrize(
    ("params", "field", "reason"),
    [
        (PlaceParams(pipeline=3), "pipeline", "expected tensor 1 x data 1 x pipeline 3 <= 2 devices"),
        (PlaceParams(tensor=4), "tensor", "expected tensor 4 x data 1 x pipeline 1 <= 2 devices"),
        (PlaceParams(data=2, pipeline=2), "data", "expected tensor 1 x data 2 x pipeline 2 <= 2 devices"),
        (PlaceParams(pinned={"e": "x"}), "pinned/e", "expected a layer of the model, got 'e'"),
        (PlaceParams(pinned={"a": "z"}), "pinned/a", "expected a device of the cluster, got 'z'"),
        (PlaceParams(pinned={"a": ["x"]}), "pinned/a", "expected a device of the cluster, got a list"),
        (PlaceParams(pinned={("a", 1): "x"}), "pinned/", "expected a layer of the model"),
    ],
)
def test_what_does_not_go_with_model_and_cluster_is_named(
    chain: Layers, pair: Cluster, params: PlaceParams, field: str, reason: str
) -> None:
    """By its argument."""
    with pytest.raises(InputError) as caught:
        check_fit(ChainRequest(chain, pair, params))
    assert caught.value.field.startswith(field)
    assert caught.value.reason.startswith(reason)


def test_layers_that_cannot_be_cut_have_one_rank(chain: Layers, pair: Cluster) -> None:
    """Nobody said what their ranks would send each other."""
    whole = Layers(names=("a",), forward_s=[1.0], backward_s=[1.0], parameter_bytes=[0.0], crossing_bytes=[0.0, 0.0])
    with pytest.raises(InputError, match="tensor: expected 1, as the layers of this model cannot be cut, got 2"):
        check_fit(ChainRequest(whole, pair, PlaceParams(tensor=2)))
    check_fit(ChainRequest(chain, pair, PlaceParams(tensor=2, pinned={"a": "y"})))


def test_ranks_have_to_divide_what_is_cut(chain: Layers, pair: Cluster) -> None:
    """Sixteen heads are not cut among three ranks."""
    shaped = replace(chain, slices=16)
    with pytest.raises(InputError, match="tensor: expected a divisor of 16, as heads and feed-forward block are cut"):
        check_fit(ChainRequest(shaped, pair, PlaceParams(tensor=3)))
    check_fit(ChainRequest(shaped, pair, PlaceParams(tensor=2)))


def test_bug_costs_beside_operators_were_not_looked_at() -> None:
    """Operators state their times; sources that do not exist went unnoticed."""
    check_no_costs(None)
    with pytest.raises(InputError) as caught:
        tiger.place({"operators": [{"name": "a", "seconds": 1.0}]}, "dgx:1", mode="dag", costs="none.csv")
    assert (caught.value.field, caught.value.reason) == (
        "costs",
        "expected the mode chain beside it, got 'none.csv' in the mode dag",
    )
