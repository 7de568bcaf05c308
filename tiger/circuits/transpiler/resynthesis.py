"""Circuits written in other ways, mapped beside a circuit as it is: all of them quickly, and the best ones in full."""

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from qiskit.dagcircuit import DAGCircuit
from qiskit.exceptions import QiskitError
from qiskit.transpiler import PassManager
from qiskit.transpiler.passes import ElidePermutations

from tiger.circuits.synthesis.variants import list_variants
from tiger.circuits.transpiler.delivery import (
    NEVER,
    CircuitQuality,
    DeliveryObjective,
    count_two_qubit_gates,
    rank,
    run_stage,
    weigh_depth,
)
from tiger.circuits.transpiler.panic import catch_panics
from tiger.circuits.transpiler.source import Source

# How many variants are mapped in full.
FINALISTS = 2
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


def map_variants(
    source: Source, stages: VariantStages, judge: Judge, objective: DeliveryObjective, qiskit: Source | None
) -> list[Source]:
    """Return the best variants of a circuit, mapped in full: those that a quick mapping leaves better than the circuit.

    `judge` says what a mapped circuit ends as. Where gates come first, depth above that of Qiskit's circuit counts as
    gates, above that of a quick mapping where there is none.
    """
    variants = _list_variants(source.dag)
    if not variants:
        return []
    absorbed = [_absorb_permutations(Source(dag, source.properties)) for dag in variants]
    known, *trials = (_try(each, stages.quick, judge) for each in (source, *absorbed))
    reference = known.quality if qiskit is None else judge(qiskit)

    def loss(trial: _Trial) -> tuple[float, ...]:
        """Return what circuits are compared by."""
        weight = weigh_depth(trial.quality, reference) if objective == "auto" else 0.0
        return weight, *rank(trial.quality, objective)

    best = [trial for trial in sorted(trials, key=loss) if loss(trial) < loss(known)][:FINALISTS]
    finished = (_finish(trial, stages.full) for trial in best)
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
    with suppress(QiskitError), catch_panics():
        return _Trial(source, mapped, NEVER if mapped is None else judge(mapped))
    return _Trial(source, None, NEVER)


def _finish(trial: _Trial, full: PassManager) -> Source | None:
    """Return a circuit mapped in full, as it was mapped quickly where that added no gate."""
    mapped = trial.mapped
    if mapped is not None and count_two_qubit_gates(mapped.dag)[0] <= count_two_qubit_gates(trial.source.dag)[0]:
        return mapped
    return _map(trial.source, full)


def _map(source: Source, stage: PassManager) -> Source | None:
    """Return a circuit after a stage, None where that refuses it."""
    with suppress(QiskitError), catch_panics():
        return run_stage(stage, source.copy())
    return None
