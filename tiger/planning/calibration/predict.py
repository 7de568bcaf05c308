"""What measured runs take by the simulator of plans, with factors on the times of operations and of links."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tiger.errors import InputError
from tiger.model.options import narrow
from tiger.placement.search.evaluator import Evaluator
from tiger.placement.search.outcome import find_faults
from tiger.planning.attempt import even_plan, make_evaluator
from tiger.planning.calibration.arguments import CalibrationCall
from tiger.planning.calibration.runs import FIELD, SOURCES, MeasuredIteration
from tiger.planning.choices import Choice
from tiger.planning.given import FIELD as GIVEN
from tiger.planning.given import choose_by_keys
from tiger.planning.params import PlanOptions
from tiger.training.costs.plan import Plan
from tiger.training.hardware.cluster import Cluster
from tiger.training.hardware.options import HostArguments
from tiger.training.hardware.reading import read_cluster
from tiger.training.hardware.spec import is_spec
from tiger.training.models.description import is_description
from tiger.training.models.sizes import Model, model_of
from tiger.training.pairing import Tables, slow_links, time_on_devices
from tiger.training.sources import cluster_of, require_cluster
from tiger.training.timings.costs import NO_FACTORS, Factors

Pair = tuple[Model, Cluster]


class Pairing:
    """Pair a model with a cluster by factors, and keep what the last factors came to, as all rows are asked in turn."""

    def __init__(self, model: Model, cluster: Cluster, tables: Tables) -> None:
        self._model, self._cluster, self._tables = model, cluster, tables
        self.pair: Callable[[Factors], Pair] = lru_cache(maxsize=1)(self._pair)
        # Rings are ordered anew for every cluster, which takes longer than a run is simulated. One is kept, as a table
        # of links takes half a gigabyte at most, and differences by factors of operations come one after another.
        self._link: Callable[[float, float, bytes], Cluster] = lru_cache(maxsize=1)(self._slow)

    def _pair(self, factors: Factors) -> Pair:
        """Return the model with its times, and the cluster with its speeds and links."""
        paired, speed = time_on_devices(self._model, self._cluster, self._tables, factors)
        return paired, self._link(factors.inside, factors.between, speed.tobytes())

    def _slow(self, inside: float, between: float, speed: bytes) -> Cluster:
        """Return the cluster with the speeds and links of factors."""
        cluster = replace(self._cluster, speed=np.frombuffer(speed))
        return slow_links(cluster, Factors(inside=inside, between=between))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlannedRun:
    """Hold a run with the choice of degrees that its plan is, and what predicts its seconds."""

    run: MeasuredIteration
    pairing: Pairing
    options: PlanOptions
    choice: Choice
    known: dict[Factors, float] = field(default_factory=dict, repr=False)

    @property
    def label(self) -> str:
        """Return the plan in short, after the model and the cluster that its row states."""
        plan = ", ".join(f"{key}={word}" for key, word in self.run.plan.items())
        return " ".join([*self.run.sources.values(), plan])

    def predict_s(self, factors: Factors) -> float:
        """Return the seconds of an iteration, whether it fits into memory or not; infinite where a link is missing."""
        if factors not in self.known:
            evaluator, plan = self._evaluate(factors)
            self.known[factors] = evaluator.seconds(plan)
        return self.known[factors]

    def list_faults(self) -> Iterator[str]:
        """Yield why the plan cannot have run by our model: devices lack memory for it."""
        faults = find_faults(*self._evaluate(NO_FACTORS))
        yield from (f"line {self.run.line}: by our model it {fault.message}" for fault in faults)

    def _evaluate(self, factors: Factors) -> tuple[Evaluator, Plan]:
        """Return the plan with as many layers in every stage, on devices in order, and what evaluates it."""
        model, cluster = self.pairing.pair(factors)
        layers = model.layers(self.choice.family.microbatch, self.choice.family.setup(self.options))
        return make_evaluator(layers, cluster, self.choice), even_plan(layers, self.choice)


class _Sources(NamedTuple):
    """Hold the model and the cluster of rows that state none, and the folder of the files that others name."""

    model: Model
    cluster: Cluster
    folder: Path


def plan_runs(call: CalibrationCall, runs: list[MeasuredIteration], tables: Tables) -> list[PlannedRun]:
    """Return runs with their choices; raise InputError of the arguments, or of `measured` with the line."""
    model = model_of(call.model, call.serve)
    cluster = require_cluster(cluster_of(call.cluster, narrow(HostArguments, call)))
    sources = _Sources(model, cluster, Path(call.measured).parent)
    pairings: dict[tuple[str | None, str | None], Pairing] = {}
    usual = {each.name: each.default for each in fields(PlanOptions) if not hasattr(call, each.name)}
    options = narrow(PlanOptions, call, **usual)
    planned = []
    for run in runs:
        key = run.sources.get("model"), run.sources.get("cluster")
        if key not in pairings:
            pairings[key] = Pairing(*_read_sources(sources, run, call.serve), tables)
        with _name_line(run.line):
            paired = pairings[key].pair(NO_FACTORS)
            changed, choice = choose_by_keys(*paired, options, run.plan.items())
        each = PlannedRun(run=run, pairing=pairings[key], options=changed, choice=choice)
        if not np.isfinite(each.predict_s(NO_FACTORS)):
            raise InputError(FIELD, f"line {run.line}: expected devices that are linked, got a plan without a link")
        planned.append(each)
    return planned


def _read_sources(sources: _Sources, run: MeasuredIteration, serve: int | None) -> Pair:
    """Return the model and the cluster of a row, of which files lie in the folder of the table."""
    model, cluster = sources.model, sources.cluster
    model_name, cluster_name = run.sources.get("model"), run.sources.get("cluster")
    if model_name is not None:
        with _name_line(run.line):
            model = model_of(model_name if is_description(model_name) else sources.folder / model_name, serve)
    if cluster_name is not None:
        with _name_line(run.line):
            cluster = read_cluster(cluster_name if is_spec(cluster_name) else sources.folder / cluster_name)
    if model.shape is None or model.shape.flops is not None:
        where = ("model", "") if model_name is None else (f"{FIELD}/model", f"line {run.line}: ")
        reason = "expected a transformer by its shape, without flops, as factors are those of its operations"
        raise InputError(where[0], where[1] + reason)
    return model, cluster


@contextmanager
def _name_line(line: int) -> Iterator[None]:
    """Turn an InputError of a plan, a model or a cluster of a row into one of its column, with the line."""
    try:
        yield
    except InputError as error:
        top, _, rest = error.field.partition("/")
        if top == GIVEN:
            raise InputError(f"{FIELD}/{rest}" if rest else FIELD, f"line {line}: {error.reason}") from None
        if top in SOURCES:
            inside = f"{rest}: " if rest else ""
            raise InputError(f"{FIELD}/{top}", f"line {line}: {inside}{error.reason}") from None
        raise InputError(error.field, f"line {line} of {FIELD}: {error.reason}") from None
