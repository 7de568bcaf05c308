"""The Python entry of plans: a model, a cluster and a batch in, the best plan and why others lost out."""

import time
from dataclasses import replace

from tiger.errors import InputError
from tiger.model.checking import check_values
from tiger.model.options import from_fields, narrow
from tiger.planning.answer import PlanInputs, report_plan
from tiger.planning.arguments import PlanCall
from tiger.planning.params import PlanOptions, SweepOptions
from tiger.planning.report import PlanReport
from tiger.planning.request import check_plan_options
from tiger.planning.sweep import check_sweep, report_sweep
from tiger.run.parallel.executors import open_executor
from tiger.run.progress import Progress, ignore
from tiger.training.hardware.options import HostArguments
from tiger.training.models.sizes import model_of
from tiger.training.pairing import pair_with_devices
from tiger.training.sources import cluster_of, require_cluster
from tiger.training.timings.costs import read_source


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
    cluster). `sweep` plans for several batches instead (`batch=64..1024`, or `batch=64,96`), in processes of as many
    `workers`; the report is that of the batch with most throughput, and has the best plan of each in `sweep`. Same
    seed, effort and islands, same answer, whoever runs them; `time_limit_s` only ends a search early, of each batch.
    Raises InputError that names the field at fault and TypeError for an argument of another type; a model that the
    cluster cannot hold is a report that is not feasible.
    """
    begun = time.perf_counter()
    options = check_plan_options(narrow(PlanOptions, call))
    check_values(narrow(SweepOptions, call))
    if call.sweep is None and call.workers != 1:
        raise InputError("workers", f"expected 1 without sweep, got {call.workers}")
    sweep = None if call.sweep is None else check_sweep(call.sweep, options, call.workers)
    watch = call.progress or ignore
    watch(Progress("reading", None, None))
    model = model_of(call.model, options.serve)
    cluster = require_cluster(cluster_of(call.cluster, narrow(HostArguments, call)))
    with open_executor(call.executor) as executor:
        request = PlanInputs(
            *pair_with_devices(model, cluster, read_source(call.costs), options), options, watch, executor
        )
        report = report_plan(request) if sweep is None else report_sweep(request, sweep)
    return replace(report, seconds=time.perf_counter() - begun)
