"""What a service is asked for a training plan: model and cluster as documents."""

from dataclasses import asdict, replace

from tiger.errors import InputError
from tiger.model.options import narrow
from tiger.placement.entry.remote import deployment_of
from tiger.planning.arguments import PlanArguments
from tiger.planning.params import PlanOptions
from tiger.planning.report import Degrees, PlanReport
from tiger.planning.request import check_plan_options
from tiger.run.use import REFUSED, RemoteCall, solver_name
from tiger.training.documents import cluster_document, state_model
from tiger.training.hardware.cluster import Cluster
from tiger.training.hardware.options import HostArguments
from tiger.training.models.setup import CHOSEN, TrainingSetup
from tiger.training.models.sizes import Model, model_of
from tiger.training.pairing import pair_with_devices
from tiger.training.timings.costs import read_source, state_costs


def state_planning(arguments: PlanArguments) -> RemoteCall[PlanReport]:
    """State what `tiger.plan` answers for some arguments; files are read here.

    The report emits its best plan as a local one does. Raises InputError and TypeError as `tiger.plan` does for what
    cannot be read.
    """
    if arguments.executor is not None:
        raise InputError("executor", f"{REFUSED}, got one")
    if arguments.sweep is not None:
        raise InputError("sweep", "expected it left out, as a service plans for one batch at a time")
    if arguments.workers != 1:
        raise InputError("workers", f"{REFUSED}, got {arguments.workers}")
    # Which solvers there are is for the service to say.
    check_plan_options(narrow(PlanOptions, arguments, solver="auto"))
    document = state_model(arguments.model)
    hardware, cluster = cluster_document(arguments.cluster, narrow(HostArguments, arguments))
    model, cluster = pair_with_devices(
        model_of(arguments.model, arguments.serve), cluster, read_source(arguments.costs), arguments
    )

    options = {**asdict(narrow(PlanOptions, arguments)), "solver": solver_name(arguments.solver)}
    return RemoteCall(
        {**options, "model": document, "cluster": hardware, "costs": state_costs(arguments.costs)},
        lambda report: add_deployment(report, model, cluster, arguments),
    )


def add_deployment(report: PlanReport, model: Model, cluster: Cluster, options: PlanOptions) -> PlanReport:
    """Return a report that came as JSON with the deployment of its best plan, whose layers are of its microbatch."""
    if report.placement is None or report.degrees is None:
        return report
    layers = model.layers(report.degrees.microbatch or 1, _setup_of(report.degrees, options))
    deployment = deployment_of(report.placement, layers, cluster)
    return replace(report, placement=replace(report.placement, deployment=deployment))


def _setup_of(degrees: Degrees, options: PlanOptions) -> TrainingSetup:
    """Return how the ranks of a plan hold and train the layers."""
    return narrow(TrainingSetup, options, **{name: getattr(degrees, name) for name in CHOSEN})
