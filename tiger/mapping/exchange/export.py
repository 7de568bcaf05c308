"""The model of a whole problem as a file for other software."""

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path

import dimod
import numpy as np

from tiger.errors import InputError
from tiger.feasibility.start import launch_order
from tiger.mapping.exchange import text_models
from tiger.mapping.exchange.couplers import PART, SortedCouplers
from tiger.mapping.exchange.options import EncodeOptions
from tiger.mapping.exchange.tuned import tune_penalties
from tiger.mapping.options import Start
from tiger.mapping.start import place_start
from tiger.model.arrays import IntArray
from tiger.model.fingerprint import fingerprint
from tiger.model.problem import Problem
from tiger.model.violation import Violation
from tiger.model.window import Window, fold, whole
from tiger.qubo.encode import COUPLER_LIMIT, coupler_count, encode
from tiger.qubo.params import IsingParams
from tiger.qubo.penalties import safe_penalties
from tiger.run import outfile
from tiger.solvers.samplers.cqm import BIAS_LIMIT, bias_count, cqm_of

CONSTRAINED = (".cqm", ".lp")
FORMS = (".bqm", *text_models.FORMS, *CONSTRAINED)
# About 12 GB of text, and as much in temporary files.
TEXT_LIMIT = 500_000_000
# Distances, and variables with their costs: 0.4 GB each.
WINDOW_LIMIT = 50_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedModel:
    """Describe a model that was written: variable k is (task, node) `variables[k]`, a slack bit (None, node).

    On a feasible mapping its energy, `offset` included, is the cost. `fingerprint` is that of the problem. `penalty` is
    the mean weight of the one-hot constraints and `scale` that of all relative to the safe bound; a constrained model
    has `constraints` in their place. Of tuned penalties, `feasible_share` is that of the reads of the sampler that they
    are `tuned_for`. `initial_state[k]` is the value of variable k in a mapping that was given as a start.
    """

    variables: tuple[tuple[str | None, str], ...]
    couplers: int
    offset: float
    fingerprint: str
    penalty: float | None = None
    scale: float | None = None
    constraints: int = 0
    tuned_for: str | None = None
    feasible_share: float | None = None
    initial_state: tuple[int, ...] | None = None

    def to_dict(self) -> dict[str, object]:
        """Return the data that samples of the model need: fingerprint, offset, and [task, node] of every variable."""
        state = {} if self.initial_state is None else {"initial_state": list(self.initial_state)}
        variables = [list(pair) for pair in self.variables]
        return {"fingerprint": self.fingerprint, "offset": self.offset, "variables": variables, **state}


def export(problem: Problem, options: EncodeOptions) -> EncodedModel | tuple[Violation, ...]:
    """Write a model as options say, and its variables to a file if one is named; return as `write_model` does.

    Raises InputError, also where both would go to one file, and for a start that goes to none.
    """
    if options.variables is not None:
        outfile.check(options.variables, "variables")
        if os.path.realpath(options.variables) == os.path.realpath(options.output):
            got = f"got {options.variables!r} for both"
            raise InputError("variables", f"expected another file than --output, {got}")
    elif options.start is not None:
        raise InputError("start", "expected --variables beside it, a file for the initial state, got none")
    model = _write(problem, options)
    if isinstance(model, EncodedModel) and options.variables is not None:
        outfile.write(options.variables, "variables", json.dumps(model.to_dict()) + "\n")
    return model


def write_model(
    problem: Problem,
    target: str | Path,
    ising: IsingParams | None = None,
    tune: str | None = None,
    start: Start | None = None,
) -> EncodedModel | tuple[Violation, ...]:
    """Write the QUBO of a whole problem, or its constrained model, to a file; return what it is, or what cannot be met.

    By the file's ending: `.bqm` is dimod's format of binary quadratic models, `.coo` its text of coordinates and
    `.ising` that of spins, `.qubo` that of qbsolv, all three with offset and fingerprint in comments as these formats
    have none, `.cqm` its format of constrained quadratic models, and `.lp` that of CPLEX, for solvers of quadratic
    programs, with variables `x0`, `x1`, .. Of `ising` the penalty scale, by default 1, the safe bound, and
    the encoding of capacities apply, both to QUBOs alone. With `tune`, the name of a sampler, the penalties are those
    at which about half of its reads are feasible, with centred costs, far below the safe bound. With `start` the model
    has the initial state that a mapping is.
    Raises InputError for another ending, a file that cannot be written, and a problem of more than 5 million couplers,
    500 million as text, or 10 million biases of a constrained model.
    """
    given = IsingParams() if ising is None else ising
    return _write(problem, EncodeOptions(output=str(target), ising=given, tune=tune, start=start))


def _write(problem: Problem, options: EncodeOptions) -> EncodedModel | tuple[Violation, ...]:
    """Write a model as `write_model` does."""
    form = Path(options.output).suffix.lower()
    if form not in FORMS:
        raise InputError("output", f"expected a file ending in {', '.join(FORMS)}, got {options.output[:300]!r}")
    if form in CONSTRAINED:
        _check_bare(options.ising, options.tune, form)
    check_pairs(problem)
    outfile.check(options.output, "output")
    start = launch_order(problem) if options.start is None else place_start(problem, options.start)
    if isinstance(start, tuple):
        return start
    return (_write_cqm if form in CONSTRAINED else _write_qubo)(problem, start, options, form)


def _write_qubo(problem: Problem, start: IntArray, options: EncodeOptions, form: str) -> EncodedModel:
    """Write a QUBO; text without ever holding all of it."""
    params, tune, limit = options.ising, options.tune, TEXT_LIMIT if form in text_models.FORMS else COUPLER_LIMIT
    window = window_of(problem, min(limit, WINDOW_LIMIT), "couplers" if limit < WINDOW_LIMIT else "distances")
    if coupler_count(window) > limit:
        raise _too_large(limit, "couplers", str(coupler_count(window)))
    qubo = encode(window, params.capacity, limit)
    # Without a variable there is nothing to tune.
    tuned = tune_penalties(problem, window, start, tune, params) if tune is not None and qubo.size else None
    penalties = safe_penalties(window).at(params.penalty_scale or 1.0) if tuned is None else tuned.penalties
    hosts = [problem.topology.names[node] for node in window.block.nodes.tolist()]
    slack = [(None, hosts[budget.node]) for budget in qubo.budgets for _ in range(budget.slack)]
    model = EncodedModel(
        variables=(*_pairs(problem, window), *slack),
        couplers=0,
        offset=0.0,
        fingerprint=fingerprint(problem),
        penalty=float(penalties.one_hot.mean()) if len(penalties.one_hot) else 0.0,
        scale=penalties.scale,
        tuned_for=None if tuned is None else tuned.solver,
        feasible_share=None if tuned is None else tuned.feasible_share,
        initial_state=None if options.start is None else tuple(qubo.sample(window.local(start)).tolist()),
    )
    if form == ".bqm":
        bqm = qubo.bqm(penalties)
        outfile.write(options.output, "output", _content(bqm))
        return replace(model, couplers=bqm.num_interactions, offset=float(bqm.offset))
    try:
        counts = np.zeros(qubo.size, np.int64)
        for terms in qubo.expand(penalties, PART).parts:
            counts += np.bincount(terms.row, minlength=qubo.size)
        with SortedCouplers(counts) as couplers:
            made = qubo.expand(penalties, PART)
            couplers.add(made.parts)
            text = text_models.text_model(form, made.linear, made.offset, couplers)
            outfile.write_parts(options.output, "output", text.lines(model.fingerprint))
    except OSError as error:
        raise InputError("output", f"expected room for temporary files, got {error.strerror or error}") from None
    return replace(model, couplers=text.count, offset=text.offset)


def _write_cqm(problem: Problem, start: IntArray, options: EncodeOptions, form: str) -> EncodedModel:
    """Write a constrained model."""
    window = window_of(problem, BIAS_LIMIT, "biases")
    if bias_count(window) > BIAS_LIMIT:
        raise _too_large(BIAS_LIMIT, "biases", str(bias_count(window)))
    cqm, pairs = cqm_of(window), _pairs(problem, window)
    mapping = problem.mapping(start)
    model = EncodedModel(
        variables=pairs,
        couplers=cqm.objective.num_interactions,
        offset=float(cqm.objective.offset),
        fingerprint=fingerprint(problem),
        constraints=len(cqm.constraints),
        initial_state=None if options.start is None else tuple(int(mapping[task] == node) for task, node in pairs),
    )
    text = _content(cqm) if form == ".cqm" else _linear_program(cqm, model.fingerprint)
    outfile.write(options.output, "output", text)
    return model


def _check_bare(params: IsingParams, tune: str | None, form: str) -> None:
    """Raise InputError for parameters of a QUBO, which a constrained model has no use for."""
    if tune is not None:
        raise InputError("tune", f"expected none for a {form} file, which has constraints, not penalties")
    if params.penalty_scale is not None:
        raise InputError(
            "ising/penalty_scale", f"expected none for a {form} file, which has constraints, not penalties"
        )
    if params.capacity != "slack":
        raise InputError("ising/capacity", f"expected none for a {form} file, which has constraints, not slack bits")


def check_pairs(problem: Problem) -> None:
    """Raise InputError of `tasks` for hyperedges, which no model of pairs of variables stands for."""
    if problem.tasks.hyperedges is not None:
        raise InputError("tasks", "expected traffic of pairs for a model, got hyperedges")


def window_of(problem: Problem, limit: int, what: str) -> Window:
    """Return the window of a whole problem; raise InputError where its very variables or distances are too many."""
    block = whole(problem)
    tasks, nodes = len(block.tasks), len(block.nodes)
    if max(tasks, nodes) * nodes > limit:
        raise _too_large(limit, what, f"more for {tasks} tasks on {nodes} nodes")
    return fold(problem, block, problem.pins)


def _too_large(limit: int, what: str, found: str) -> InputError:
    """Return the complaint about a problem that is too large for a single model."""
    return InputError("tasks", f"expected at most {limit} {what} in one model of the whole problem, got {found}")


def _pairs(problem: Problem, window: Window) -> tuple[tuple[str, str], ...]:
    """Return the task and the node of every variable but slack bits, in order."""
    tasks, nodes = problem.tasks.names, problem.topology.names
    members, places = window.block.tasks.tolist(), window.block.nodes.tolist()
    return tuple((tasks[members[k]], nodes[places[q]]) for k, q in np.argwhere(window.allowed).tolist())


def _content(model: dimod.BinaryQuadraticModel | dimod.ConstrainedQuadraticModel) -> bytes:
    """Return a model in dimod's own format."""
    with model.to_file() as file:
        content: bytes = file.read()
    return content


def _linear_program(cqm: dimod.ConstrainedQuadraticModel, origin: str) -> str:
    """Return a model as dimod writes the format of CPLEX, whose names have neither digits alone nor blanks."""
    cqm.relabel_variables({variable: f"x{variable}" for variable in cqm.variables})
    cqm.relabel_constraints({label: str(label).replace(" ", "_") for label in cqm.constraints})
    return f"\\ fingerprint={origin}\n{dimod.lp.dumps(cqm)}\n"
