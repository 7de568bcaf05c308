"""What a caller asks of a plan, checked."""

from tiger.errors import InputError
from tiger.model.checking import check_values
from tiger.model.options import narrow
from tiger.placement.entry.request import ChainRequest, check_fit, check_params
from tiger.placement.params import PlaceParams
from tiger.planning.params import PlanOptions, PlanParams
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.sizes import Model


def check_plan_options(options: PlanOptions) -> PlanOptions:
    """Return options whose values can be used with some model, or raise InputError that names one."""
    check_params(_placement(options))
    check_values(options)
    return options


def check_model(model: Model, cluster: Cluster, params: PlanParams) -> None:
    """Raise InputError that names a parameter which this model or this cluster does not go with."""
    check_fit(ChainRequest(model.given, cluster, _placement(params)))
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
    tensor, data = (1 if degree is None else degree for degree in (params.tensor, params.data))
    return narrow(PlaceParams, params, tensor=tensor, data=data, microbatches=None, pinned={}, start=None)
