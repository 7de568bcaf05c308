"""Plans for models that serve: what is asked for, what comes of it, and what it is compared with."""

from pathlib import Path

import numpy as np
import pytest

import tiger
from tiger.errors import InputError

EXAMPLES = Path(__file__).parents[3] / "examples"
DECODE, HOME = EXAMPLES / "models/decode8b.csv", EXAMPLES / "clusters/home.json"
SERVED = "llama-3-8b:weights=q4_k,serve=true,sequence=8192"


def test_one_card_is_quicker_than_two_for_a_single_token() -> None:
    """The bottleneck rule spreads 34 layers over both, which takes a token 7.1 ms where the fast one takes 4.9."""
    spread, alone = (tiger.place(DECODE, HOME, objective=each) for each in ("throughput", "latency"))
    assert sum(stage.compute_s for stage in spread.stages) == pytest.approx(7.07e-3, rel=1e-3)
    assert [stage.device for stage in alone.stages] == ["rtx4090"]
    assert (alone.latency_s, alone.optimal) == (pytest.approx(4.8513e-3, rel=1e-4), True)
    assert alone.serving.split.latency_s == pytest.approx(8.0542e-3, rel=1e-4)
    assert alone.serving.gain == pytest.approx(alone.serving.split.latency_s / alone.latency_s)


def test_as_many_sequences_as_fit() -> None:
    """One more exceeds some device in every split, by hand: each has 2 x 8 heads x 128 x 2 bytes a token and layer."""
    report = tiger.place(SERVED, HOME, objective="cache")
    figures = report.serving
    assert (report.optimal, figures.sequences) == (True, figures.most_sequences)
    cache = 8192 * 2 * 8 * 128 * 2
    layers = tiger.place(SERVED, HOME).deployment.layers
    weights = layers.state_bytes - np.where(np.array(layers.kinds) == "layer", cache, 0)
    decoder = np.arange(1, 33)
    fits = [
        all(weights[part].sum() + count * cache * np.isin(part, decoder).sum() <= room for part, room in parts)
        for count in (figures.sequences, figures.sequences + 1)
        for cut in range(1, 34)
        for a, b in ((24e9, 12e9), (12e9, 24e9))
        for parts in [((np.arange(cut), a), (np.arange(cut, 34), b))]
    ]
    assert (any(fits[:66]), any(fits[66:])) == (True, False)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"objective": "cache"}, "objective"),
        ({"objective": "latency", "schedule": "1f1b"}, "schedule"),
        ({"objective": "latency", "solver": "neal"}, "solver"),
    ],
)
def test_what_does_not_go_together_is_refused(options: dict[str, str], field: str) -> None:
    """A table of layers does not say what its cache is."""
    with pytest.raises(InputError) as caught:
        tiger.place(DECODE, HOME, **options)
    assert caught.value.field == field
