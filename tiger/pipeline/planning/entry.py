"""The Python entry of plans: a model, a cluster and a batch in, the best plan and why others lost out."""

import time
from dataclasses import dataclass, field, replace

from tiger.errors import InputError
from tiger.model.options import from_fields, narrow
from tiger.model.wording import describe
from tiger.pipeline.entry.arguments import Hardware
from tiger.pipeline.entry.place import cluster_of
from tiger.pipeline.entry.plausibility import warn_implausible, warn_missing_state
from tiger.pipeline.entry.request import require_cluster
from tiger.pipeline.hardware.composition import HostArguments
from tiger.pipeline.planning.account import Account
from tiger.pipeline.planning.choices import batch_of
from tiger.pipeline.planning.model import Source, model_of
from tiger.pipeline.planning.params import PlanParams
from tiger.pipeline.planning.report import PlanReport
from tiger.pipeline.planning.request import check_model, check_plan_params
from tiger.pipeline.planning.search import explore
from tiger.run.deadline import Deadline
from tiger.run.options import WatchOptions
from tiger.run.progress import Progress, ignore

# Plans in a report: the default, and the most that may be asked for.
TOP, MOST_RANKED = 10, 1000


@dataclass(frozen=True, eq=False)
class PlanCall(WatchOptions, PlanParams, HostArguments):
    """Hold what `tiger.plan` is called with: a model, a cluster, options, and how many plans it reports."""

    model: Source
    cluster: Hardware
    top: int = field(default=TOP, kw_only=True)


@from_fields(PlanCall)
def plan(call: PlanCall) -> PlanReport:
    """Find the degrees of parallelism, the microbatches and the schedule that train a model on a cluster quickest.

    Model and cluster, and what is inside the hosts of a network, are what `place` takes. `batch` is what an iteration
    runs: sequences of a transformer that is stated by its shape, microbatches of other models (default: 4 a device).
    Pipeline, tensor and data degree, the schedule, its `virtual` stages and the sequences of a `microbatch` are
    searched over unless they are given. Every plan keeps to memory and is judged by the simulator of `place`; bounds
    rule out most choices. `top` plans are reported, and why they are slower than the best. Same seed and effort, same
    answer; `time_limit_s` only ends a search early.
    Raises InputError that names the field at fault and TypeError for an argument of another type; a model that the
    cluster cannot hold is a report that is not feasible.
    """
    begun = time.perf_counter()
    params, limit_s = check_plan_params(narrow(PlanParams, call)), call.time_limit_s
    if type(call.top) is not int or not 1 <= call.top <= MOST_RANKED:
        raise InputError("top", f"expected a whole number from 1 to {MOST_RANKED}, got {describe(call.top)}")
    watch = call.progress or ignore
    watch(Progress("reading", None, None))
    read = model_of(call.model)
    hardware = require_cluster(cluster_of(call.cluster, narrow(HostArguments, call)))
    check_model(read, hardware, params)
    stop = Deadline(None if limit_s is None else time.monotonic() + limit_s)
    result = explore(read, hardware, params, stop, watch)
    report = Account(read, hardware, params, result).report(call.top)
    seconds = time.perf_counter() - begun
    late = limit_s is not None and seconds >= limit_s
    ended = (f"ended by the time limit of {limit_s:g} s: the same seed may end elsewhere",) if late else ()
    remarks = (*warn_implausible(hardware), *warn_missing_state(read.given, hardware), *ended)
    return replace(report, batch=batch_of(read, hardware, params), seconds=seconds, warnings=remarks)
