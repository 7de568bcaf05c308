"""Tests of the QUBO of the devices of operators."""

import numpy as np
import pytest

from tests.placement.operators.instances import cluster
from tests.placement.operators.mixtures import chain, mixture
from tiger.errors import InputError
from tiger.model.arrays import IntArray
from tiger.placement.operators.bounds.balance import balance_s
from tiger.placement.operators.bounds.device_costs import DeviceTypeCosts
from tiger.placement.operators.qubo import qubo
from tiger.placement.operators.qubo.qubo import FAR, MEMORY, Encoding, encode
from tiger.placement.operators.terms import Terms


def sent_twice(terms: Terms, place: IntArray, share_s: float) -> float:
    """Return twice what is sent, once for every group that reads an operator, in units of the share."""
    at, total = place[terms.group_of], 0.0
    for u in range(terms.operators):
        goals = terms.consumer[terms.consumer_start[u] : terms.consumer_start[u + 1]]
        readers = np.setdiff1d(terms.group_of[goals], terms.group_of[u])
        for h in place[readers]:
            if h != at[u]:
                curve = terms.link[at[u], h]
                seconds = terms.send[curve, u] / share_s if curve >= 0 else FAR / 2
                total += 2 * seconds * (terms.pays[h] + terms.pays[at[u]] / len(readers))
    return total


def formula(terms: Terms, encoding: Encoding, place: IntArray) -> float:
    """Return the energy of a place by the sums that define it."""
    one_hot = np.eye(terms.devices)[place]
    work, held = (encoding.work.T * one_hot).sum(axis=0), (encoding.memory.T * one_hot).sum(axis=0)
    least = np.where(terms.allowed.T, encoding.work, np.inf).min(axis=0)
    spread = float((encoding.work[place, np.arange(terms.groups)] - least).sum())
    tight = encoding.memory.any(axis=1)
    memory = MEMORY * float(((held - encoding.fill) ** 2)[tight].sum())
    return (
        float(((work - 1) ** 2).sum())
        + 2 * spread
        + sent_twice(terms, place, balance_s(DeviceTypeCosts.of(terms)) or 1.0)
        + memory
    )


@pytest.mark.slow
def test_the_energy_of_a_placement_is_the_formula() -> None:
    """Of drawn mixtures and places that are allowed, whatever the one-hot penalties."""
    rng = np.random.default_rng(0)
    for terms in map(mixture, range(40)):
        if (
            not terms.allowed.any(axis=1).all()
            or not terms.work[0].any()
            or (terms.memory > terms.capacity.max()).any()
        ):
            continue
        encoding = encode(terms)
        place = np.array([rng.choice(np.flatnonzero(row)) for row in terms.allowed])
        bits = dict(enumerate(encoding.sample(place).tolist()))
        bqm = encoding.bqm(encoding.penalties)
        assert bqm.energy(bits) == pytest.approx(formula(terms, encoding, place), rel=1e-9, abs=1e-9)


def test_samples_decode_to_what_was_encoded() -> None:
    """The bits of a place give its one-hot rows back."""
    terms = Terms.from_operators(chain([1.0] * 4, 1.0, [0.0] * 4), cluster("aac"), {2: 1})
    encoding, place = encode(terms), np.array([0, 2, 1, 0])
    assert encoding.decode(encoding.sample(place)[None])[0].argmax(axis=1).tolist() == place.tolist()


def test_the_ground_state_has_a_device_for_every_group() -> None:
    """Of three operators on two devices, all 64 states, at the safe penalties."""
    encoding = encode(Terms.from_operators(chain([1.0, 2.0, 3.0], 1.0, [0.0] * 3), cluster("aa"), {}))
    bqm = encoding.bqm(encoding.penalties)
    states = (np.arange(64)[:, None] >> np.arange(6)) & 1
    best = states[int(np.argmin(bqm.energies(states)))]
    assert (encoding.decode(best[None])[0].sum(axis=1) == 1).all()


def test_a_model_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says how many couplers there would be, and what to do."""
    monkeypatch.setattr(qubo, "COUPLER_LIMIT", 10)
    with pytest.raises(InputError, match="at most 10 couplers for a sampler, this one has 26; choose the solver auto"):
        encode(Terms.from_operators(chain([1.0] * 4, 1.0, [0.0] * 4), cluster("aa"), {}))
