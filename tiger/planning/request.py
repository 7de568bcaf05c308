"""What a caller asks of a plan, checked."""

from tiger.errors import InputError
from tiger.model.checking import check_values
from tiger.model.options import narrow
from tiger.placement.emission.schedules import SYSTEM_SCHEDULES, replaces
from tiger.placement.entry.request import ChainRequest, check_fit, check_params
from tiger.placement.params import PlaceParams
from tiger.planning.params import PlanOptions, PlanParams
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.setup import CHOSEN, NO_SETUP, TrainingSetup, check_setup
from tiger.training.models.sizes import Model


def check_plan_options(options: PlanOptions) -> PlanOptions:
    """Return options whose values can be used with some model, or raise InputError that names one."""
    check_params(_placement(options))
    check_values(options)
    if options.framework is not None and replaces(options.framework, options.schedule):
        known = " or ".join(SYSTEM_SCHEDULES[options.framework])
        raise InputError("schedule", f"expected {known} beside {options.framework}, got {options.schedule}")
    return options


def check_model(model: Model, cluster: Cluster, params: PlanParams) -> None:
    """Raise InputError that names a parameter which this model or this cluster does not go with."""
    check_fit(ChainRequest(model.given, cluster, _placement(params)))
    check_setup(_setup(params), model.shape)
    size = params.microbatch
    if size is not None and not model.resizable and size not in model.sizes:
        reason = "as only the shape of a transformer that learns tells what others cost"
        raise InputError("microbatch", f"expected {model.sizes[0]}, {reason}, got {size}")
    part = (params.data or 1) * (size or model.sizes[0])
    if params.batch is not None and params.batch % part:
        what = "data x microbatch" if params.data is not None else "the microbatch"
        raise InputError("batch", f"expected a multiple of {part} ({what}), got {params.batch}")


def _placement(params: PlanParams) -> PlaceParams:
    """Return the parameters of a placement with what is stated."""
    return narrow(
        PlaceParams,
        params,
        **_fill_in(params),
        microbatches=None,
        objective="throughput",
        experts_on_cpu=False,
        pinned={},
        start=None,
        layout=None,
    )


def _setup(params: PlanParams) -> TrainingSetup:
    """Return the setup that is stated, with enough replicas for the experts where their number is open."""
    stated = _fill_in(params)
    if params.data is None or params.context is None:
        stated["data"] = stated["expert"]
    return narrow(TrainingSetup, params, **stated)


def _fill_in(params: PlanParams) -> dict[str, object]:
    """Return the degrees and what is held as far as they are stated, else as they are by default."""
    given = {name: getattr(params, name) for name in CHOSEN}
    if params.recompute is None and params.recompute_layers is not None:
        given["recompute"] = "full"
    return {name: getattr(NO_SETUP, name) if value is None else value for name, value in given.items()}
