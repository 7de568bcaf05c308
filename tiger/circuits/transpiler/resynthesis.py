"""Circuits written in other ways, mapped beside a circuit as it is: all of them quickly, and the best ones in full.

Where one of them has far fewer gates than the circuit as it is, that need not be mapped in full.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import numpy as np
from qiskit.dagcircuit import DAGCircuit
from qiskit.exceptions import QiskitError
from qiskit.transpiler import PassManager
from qiskit.transpiler.passes import ElidePermutations

from tiger.circuits.synthesis.variants import list_variants
from tiger.circuits.transpiler.delivery import (
    NEVER,
    CircuitQuality,
    DeliveryObjective,
    count_gates,
    rank,
    run_stage,
    weigh_depth,
)
from tiger.circuits.transpiler.panic import catch_panics
from tiger.circuits.transpiler.source import Source

# How many variants are mapped in full.
FINALISTS = 2
# Share of the gates of a circuit, both mapped quickly, from which a variant has far fewer: a search in full takes up to
# a third off what a quick mapping leaves of the circuits of `python -m benchmarks logical`.
FAR_FEWER = 0.5
Judge = Callable[[Source], CircuitQuality]


class VariantStages(NamedTuple):
    """Hold stages that map a circuit, one of them quickly."""

    quick: PassManager
    full: PassManager


class _Trial(NamedTuple):
    """Hold a circuit, what a quick mapping makes of it, None where that refuses it, and what it ends as."""

    source: Source
    mapped: Source | None
    quality: CircuitQuality


class Trials(NamedTuple):
    """Hold a circuit and its variants after a quick mapping."""

    known: _Trial
    variants: list[_Trial]

    @property
    def are_far_apart(self) -> bool:
        """Return whether a variant has far fewer gates than the circuit as it is, times how much deeper it is."""
        known = self.known.quality
        least = min((weigh_depth(trial.quality, known) for trial in self.variants), default=np.inf)
        return self.known.mapped is not None and least <= FAR_FEWER * known.gates


def try_variants(source: Source, quick: PassManager, judge: Judge, objective: DeliveryObjective) -> Trials:
    """Return a circuit and its variants after a quick mapping, the circuit as it is where it has none.

    `judge` says what a mapped circuit ends as. Where the circuit fits the device as it is, and gates come first, only
    variants of fewer gates than it ends with are mapped: of a Fourier transform of 20 qubits that are all coupled none
    is, in half of the time. Where depth comes first, one of 10 qubits ends with 50 layers, and 66 without the others.
    """
    variants = _list_variants(source.dag)
    if not variants:
        return Trials(_Trial(source, None, NEVER), [])
    absorbed = [_absorb_permutations(Source(dag, source.properties)) for dag in variants]
    known = _try(source, quick, judge)
    fits = known.mapped is not None and count_gates(known.mapped.dag) <= count_gates(source.dag)
    most = known.quality.gates if fits and objective == "auto" else np.inf
    return Trials(known, [_try(each, quick, judge) for each in absorbed if count_gates(each.dag) < most])


def map_variants(
    trials: Trials, full: PassManager, objective: DeliveryObjective, qiskit: CircuitQuality | None
) -> list[Source]:
    """Return the best variants of a circuit, mapped in full: those that a quick mapping leaves better than the circuit.

    Where gates come first, depth above that of Qiskit's circuit counts as gates, above that of a quick mapping where
    there is none.
    """
    reference = trials.known.quality if qiskit is None else qiskit

    def loss(trial: _Trial) -> tuple[float, ...]:
        """Return what circuits are compared by."""
        weight = weigh_depth(trial.quality, reference) if objective == "auto" else 0.0
        return weight, *rank(trial.quality, objective)

    best = [trial for trial in sorted(trials.variants, key=loss) if loss(trial) < loss(trials.known)][:FINALISTS]
    finished = (_finish(trial, full) for trial in best)
    return [each for each in finished if each is not None]


def _list_variants(dag: DAGCircuit) -> list[DAGCircuit]:
    """Return the variants of a circuit, none where Qiskit's synthesis refuses one."""
    with suppress(QiskitError), catch_panics():
        return list_variants(dag)
    return []


def _absorb_permutations(source: Source) -> Source:
    """Return a circuit without its SWAPs, whose qubits end elsewhere instead, as Qiskit keeps it for the layout."""
    return run_stage(PassManager(ElidePermutations()), source.copy())


def _try(source: Source, quick: PassManager, judge: Judge) -> _Trial:
    """Return what a circuit ends as after a quick mapping, infinitely bad where that refuses it."""
    mapped = _map(source, quick)
    return _Trial(source, mapped, NEVER if mapped is None else judge(mapped))


def _finish(trial: _Trial, full: PassManager) -> Source | None:
    """Return a circuit mapped in full, as it was mapped quickly where that added no gate."""
    mapped = trial.mapped
    if mapped is not None and count_gates(mapped.dag) <= count_gates(trial.source.dag):
        return mapped
    return _map(trial.source, full)


def _map(source: Source, stage: PassManager) -> Source | None:
    """Return a circuit after a stage, None where that refuses it."""
    with suppress(QiskitError), catch_panics():
        return run_stage(stage, source.copy())
    return None
