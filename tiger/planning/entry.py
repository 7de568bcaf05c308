"""The Python entry of plans: a model, a cluster and a batch in, the best plan and why others lost out."""

import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace

from tiger.model.options import from_fields, narrow
from tiger.planning.account import Account
from tiger.planning.arguments import PlanCall
from tiger.planning.choices import batch_of
from tiger.planning.given import choose_given
from tiger.planning.params import PlanOptions
from tiger.planning.report import PlanReport
from tiger.planning.request import check_model, check_plan_options
from tiger.planning.search import SearchInputs, explore
from tiger.run.clock import measure_time
from tiger.run.parallel.executors import open_executor
from tiger.run.progress import Progress, ignore
from tiger.training.hardware.cluster import Cluster
from tiger.training.hardware.options import HostArguments
from tiger.training.models.sizes import Model, model_of
from tiger.training.pairing import pair_with_devices
from tiger.training.plausibility import warn_implausible, warn_missing_state
from tiger.training.sources import cluster_of, require_cluster
from tiger.training.timings.costs import USUAL_SOURCE, CostSource, read_source


@dataclass(frozen=True, slots=True, eq=False)
class PlanInputs:
    """Hold a model, a cluster, checked options, the callback of the progress, and who judges choices of islands.

    `source` is where times come from.
    """

    model: Model
    cluster: Cluster
    options: PlanOptions
    watch: Callable[[Progress], None] = ignore
    executor: Executor | None = None
    source: CostSource = USUAL_SOURCE


@from_fields(PlanCall)
def plan(call: PlanCall) -> PlanReport:
    """Find the degrees of parallelism, the microbatches and the schedule that train a model on a cluster quickest.

    Model and cluster, and what is inside the hosts of a network, are what `place` takes. `batch` is what an iteration
    runs: sequences of a transformer that is stated by its shape, microbatches of other models (default: 4 a device).
    Pipeline, tensor and data degree, the schedule, its `virtual` stages and the sequences of a `microbatch` are
    searched over unless they are given. Every plan keeps to memory and is judged by the simulator of `place`; bounds
    rule out most choices. `top` plans are reported, and why they are slower than the best. `given` is the
    plan that there is, in short (`tiger.planning.given`), which is reported beside them. As many `islands` judge
    choices side by side, with the work of `effort` each, on an `executor` if there is one (`dask://HOST:PORT` on a Dask
    cluster). Same seed, effort and islands, same answer, whoever runs them; `time_limit_s` only ends a search early.
    Raises InputError that names the field at fault and TypeError for an argument of another type; a model that the
    cluster cannot hold is a report that is not feasible.
    """
    begun = time.perf_counter()
    options = check_plan_options(narrow(PlanOptions, call))
    watch = call.progress or ignore
    watch(Progress("reading", None, None))
    model = model_of(call.model, options.serve)
    cluster = require_cluster(cluster_of(call.cluster, narrow(HostArguments, call)))
    with open_executor(call.executor) as executor:
        report = report_plan(PlanInputs(model, cluster, options, watch, executor, read_source(call.costs)))
    return replace(report, seconds=time.perf_counter() - begun)


def report_plan(request: PlanInputs) -> PlanReport:
    """Report the plans of a parsed model; raise InputError as `plan` does, except for its arguments."""
    model, cluster = pair_with_devices(request.model, request.cluster, request.source)
    options = request.options
    check_model(model, cluster, options)
    options, given = choose_given(model, cluster, options)
    with measure_time(options.time_limit_s) as clock:
        result = explore(SearchInputs(model, cluster, options, request.executor, given), clock.stop, request.watch)
        report = Account(model, cluster, options, result).report(options.top)
    searched = dict.fromkeys(warning for attempt in result.attempts for warning in attempt.warnings)
    taken = () if options.sequence else model.remarks
    remarks = (*taken, *warn_implausible(cluster), *warn_missing_state(model.given, cluster), *searched, *clock.remarks)
    return replace(report, batch=batch_of(model, cluster, options), seconds=clock.seconds, warnings=remarks)
