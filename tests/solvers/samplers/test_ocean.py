"""Tests of asking an Ocean sampler for bits."""

import dimod
import numpy as np
import pytest

from tiger.errors import InputError
from tiger.solvers import registry
from tiger.solvers.samplers.ocean import Draw, ask

BQM = dimod.BinaryQuadraticModel({0: -1.0, 1: -2.0, 2: 0.5}, {(0, 1): 4.0}, 0.5, dimod.BINARY)
DRAW = Draw(reads=2, sweeps=30, seed=9, beta_range=(0.5, 3.0), stop=bool)


class Recorder(dimod.Sampler):
    """Answer with fixed samples under shuffled labels and keep the options."""

    def __init__(self, *parameters, info=None):
        """Know the given options, and say the given things of itself."""
        self._parameters = {name: [] for name in parameters}
        self._info = info or {}
        self.options = None

    @property
    def parameters(self):
        """List the options."""
        return self._parameters

    @property
    def properties(self):
        """Have none."""
        return {}

    def sample(self, bqm, **options):
        """Return three samples, the dearest first."""
        self.options = options
        samples = np.array([[1, 1, 1], [0, 1, 0], [1, 0, 0]], np.int8)
        return dimod.SampleSet.from_samples_bqm((samples, [2, 0, 1]), bqm, info=self._info)


def model():
    """Return a model whose energy is variable 0 + 2 x variable 1 + 4 x variable 2."""
    return dimod.BinaryQuadraticModel({0: 1.0, 1: 2.0, 2: 4.0}, {}, 0.0, dimod.BINARY)


def test_samples_are_cheapest_first_in_the_order_of_the_variables():
    """Tests labels out of order, and that no more reads come back than were asked for."""
    assert ask(Recorder(), model(), DRAW).bits.tolist() == [[1, 0, 0], [0, 0, 1]]


def test_only_known_options_are_passed_on():
    """Tests samplers that know none, some, and tabu's."""
    for known, expected in (
        ((), {}),
        (("num_reads", "seed"), {"num_reads": 2, "seed": 9}),
        (("num_sweeps", "beta_range"), {"num_sweeps": 30, "beta_range": [0.5, 3.0]}),
        (("num_restarts", "timeout"), {"num_restarts": 0, "timeout": None, "num_reads": 1}),
    ):
        sampler = Recorder(*known)
        ask(sampler, model(), DRAW)
        assert sampler.options == expected


def test_figures_are_the_temperatures_and_what_the_sampler_says():
    """Tests samplers without temperatures and figures, with either, with both, and with other things to say."""
    for known, info, expected in (
        ((), {}, {}),
        (("seed",), {"timing": 3}, {}),
        (("beta_range",), {}, {"beta_range": (0.5, 3.0)}),
        ((), {"figures": {"chip": "a", "broken": 0.25}}, {"chip": "a", "broken": 0.25}),
        (("beta_range",), {"figures": {"chains": (1, 2)}}, {"beta_range": (0.5, 3.0), "chains": (1, 2)}),
        (("beta_range",), {"figures": {"beta_range": (1.0, 2.0)}}, {"beta_range": (1.0, 2.0)}),
    ):
        assert ask(Recorder(*known, info=info), model(), DRAW).figures == expected


def test_figures_name_the_temperatures_that_were_used():
    """Tests that annealing is given the range it reports."""
    assert ask(registry.sampler("neal"), model(), DRAW).figures == {"beta_range": DRAW.beta_range}
    assert ask(registry.sampler("tabu"), model(), DRAW).figures == {}


def test_samples_are_unpacked_as_bits_and_figures():
    """Tests the pair, and that bits are small integers."""
    bits, figures = ask(Recorder("beta_range"), model(), DRAW)
    assert (bits.dtype, bits.shape) == (np.int8, (2, 3))
    assert dict(figures) == {"beta_range": (0.5, 3.0)}


def test_tabu_counts_iterations_not_seconds():
    """Tests that the same seed gives the same samples."""
    rng = np.random.default_rng(0)
    dense = np.triu(rng.normal(size=(40, 40)))
    bqm = dimod.BinaryQuadraticModel(dense, dimod.BINARY)
    draws = [ask(registry.sampler("tabu"), bqm, DRAW).bits for _ in range(3)]
    assert all((draw == draws[0]).all() for draw in draws)


def test_figures_are_plain_or_left_out():
    """Tests numbers of numpy, and what JSON has no word for."""
    info = {
        "figures": {"qubits": np.int64(7), "share": np.float64(0.5), "bad": float("nan"), "worse": [1], "name": "x"}
    }
    figures = ask(Recorder(info=info), BQM, DRAW).figures
    assert figures == {"qubits": 7, "share": 0.5, "name": "x"}
    assert {type(value) for value in figures.values()} == {int, float, str}


class Partial(dimod.RandomSampler):
    """Leave a variable out."""

    def sample(self, bqm, **options):
        """Return samples without the first variable."""
        found = super().sample(bqm, num_reads=1)
        return dimod.drop_variables(found, [0])


def test_samples_in_part_are_refused():
    """Tests a sampler that leaves a variable out, and one of a structure that the model does not have."""
    with pytest.raises(InputError, match="samples of"):
        ask(Partial(), BQM, DRAW)
    structured = dimod.StructureComposite(dimod.RandomSampler(), list(BQM.variables), [])
    with pytest.raises(InputError, match="any couplings"):
        ask(structured, BQM, DRAW)


def test_tabu_hears_the_time_between_reads():
    """Tests that the first read is always drawn and none after the stop, and that seeds are not those of one call."""
    tabu, asked = registry.sampler("tabu"), []
    bqm = dimod.generators.gnm_random_bqm(30, 100, "BINARY", random_state=1)
    draw = Draw(reads=6, sweeps=30, seed=9, beta_range=(0.5, 3.0), stop=lambda: bool(asked.append(1)) or len(asked) > 2)
    assert len(ask(tabu, bqm, draw).bits) == 3
    assert len(ask(tabu, bqm, Draw(reads=6, sweeps=30, seed=9, beta_range=(0.5, 3.0), stop=bool)).bits) == 6
