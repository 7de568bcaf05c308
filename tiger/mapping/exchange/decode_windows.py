"""Samples that a solve kept of its windows (`tiger.mapping.exchange.sample_folder`), and what they amount to."""

from collections.abc import Sequence

import numpy as np

from tiger.errors import InputError
from tiger.mapping.exchange.decode_samples import (
    FIELD,
    STRANGE,
    OfferedReads,
    WindowRows,
    offer_reads,
    report_reads,
    report_samples,
)
from tiger.model.arrays import IntArray
from tiger.model.fingerprint import fingerprint
from tiger.model.problem import Problem
from tiger.model.window import Block, fold
from tiger.model.wording import describe
from tiger.objectives.cost import violations
from tiger.qubo.decode import decode
from tiger.qubo.encode import Qubo
from tiger.run.incumbent import Watch
from tiger.run.mapping import MappingIncumbent
from tiger.run.report import Report
from tiger.run.stage import Detail


def decode_windows(problem: Problem, kept: Sequence[WindowRows], watch: Watch | None = None) -> Report:
    """Report what samples of windows amount to: each is decoded, repaired and polished, outside of it all as it was.

    The mapping is the best of them and the launch order. Raises InputError for samples of another problem, by its
    fingerprint, and for windows that the problem does not have.
    """
    own = fingerprint(problem)
    for rows in kept:
        if rows.samples.fingerprint != own:
            got = describe(rows.samples.fingerprint)
            raise InputError(FIELD, f"{STRANGE}, fingerprint {own}, got fingerprint {got}")

    def offer(run: MappingIncumbent) -> dict[str, Detail]:
        """Offer the reads of every window; return the figures of the stage."""
        return report_reads(run, [_offer_window(run, rows) for rows in kept], ("fingerprint",))

    return report_samples(problem, offer, watch)


def _offer_window(run: MappingIncumbent, rows: WindowRows) -> OfferedReads:
    """Offer the reads of a window to a run, beside what was known when they were drawn."""
    problem = run.problem
    tasks, nodes = _index(problem.tasks.names), _index(problem.topology.names)
    places = _list_places(problem, rows, tasks, nodes)
    run.offer(places)
    pairs = [(k, task, node) for k, (task, node) in enumerate(rows.variables) if task is not None]
    if not all(task in tasks and node in nodes for _, task, node in pairs):
        raise InputError(FIELD, "expected variables of tasks and nodes of this problem, got others")
    column = np.array([k for k, _, _ in pairs], np.int64)
    task_of = np.array([tasks[str(task)] for _, task, _ in pairs], np.int64)
    node_of = np.array([nodes[str(node)] for _, _, node in pairs], np.int64)
    block = Block(tasks=np.unique(task_of), nodes=np.unique(node_of))
    window = fold(problem, block, places)
    index = np.full(window.shape, -1, np.int64)
    index[np.searchsorted(block.tasks, task_of), np.searchsorted(block.nodes, node_of)] = column
    qubo = Qubo(window=window, index=np.where(window.allowed, index, -1), size=rows.samples.bits.shape[1], budgets=())
    return offer_reads(run, window, decode(qubo, rows.samples.bits), rows.samples.counts, places)


def _list_places(problem: Problem, rows: WindowRows, tasks: dict[str, int], nodes: dict[str, int]) -> IntArray:
    """Return the places [n] of a mapping by name; raise InputError where it is none of the problem's."""
    if rows.mapping.keys() != tasks.keys() or not set(rows.mapping.values()) <= nodes.keys():
        raise InputError(FIELD, "expected a mapping of all tasks of this problem to its nodes, got another")
    places = np.array([nodes[rows.mapping[task]] for task in problem.tasks.names], np.int64)
    if violations(problem, places):
        raise InputError(FIELD, "expected a mapping that is feasible, got another")
    return places


def _index(names: Sequence[str]) -> dict[str, int]:
    """Return the number of each name."""
    return {name: number for number, name in enumerate(names)}
