"""Requests for placements, and the checks of their parameters."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import get_args

from tiger.errors import InputError, pin_field
from tiger.model.checking import check_values
from tiger.model.options import narrow
from tiger.model.wording import describe
from tiger.placement.entry.start import check_start
from tiger.placement.operators.params import OperatorParams
from tiger.placement.params import Aim, ChainOptions, Mode, PlaceParams
from tiger.placement.search.problem import virtual_stages
from tiger.run.options import SearchOptions
from tiger.run.progress import Progress, ignore
from tiger.training.hardware.cluster import Cluster
from tiger.training.layouts.megatron import FIELD as LAYOUT
from tiger.training.layouts.reading import read_layout
from tiger.training.models.layers import Layers
from tiger.training.models.operators import Operators
from tiger.training.models.sizes import Model
from tiger.training.schedules.pass_orders import pipelines_of, stages_each, wanted_microbatches

# Parameters that only the mode chain has.
OF_CHAINS = tuple(
    field.name for field in fields(ChainOptions) if field.name not in {each.name for each in fields(SearchOptions)}
)
NATIVE = "auto"


@dataclass(frozen=True, slots=True, eq=False)
class ChainRequest:
    """Hold layers, a cluster, the parameters of their placement, the callback of its progress, and their `model`.

    That is None where nobody asks what else would make it fit.
    """

    layers: Layers
    cluster: Cluster
    params: PlaceParams
    watch: Callable[[Progress], None] = ignore
    model: Model | None = None


@dataclass(frozen=True, slots=True, eq=False)
class OperatorRequest:
    """Hold operators, a cluster, the parameters of their placement, and the callback of its progress."""

    operators: Operators
    cluster: Cluster
    params: OperatorParams
    watch: Callable[[Progress], None] = ignore


def check_request(params: PlaceParams, aim: Aim) -> PlaceParams | OperatorParams:
    """Return parameters that can be used with some model: those given for a chain, in the mode dag those of operators.

    Raises InputError that names one, also for one that the other mode alone knows, and TypeError.
    """
    if aim.mode == "dag":
        _check_no_chain(params)
    check_params(params, aim.mode)
    check_values(aim)
    if aim.mode == "chain":
        for name, value in (("objective", "both"), ("contiguous", True)):
            if getattr(aim, name) == value:
                raise InputError(name, f"expected the mode dag beside it, got {describe(value)} in the mode chain")
        return _check_objective(replace(params, objective=aim.objective, experts_on_cpu=aim.experts_on_cpu))
    if aim.experts_on_cpu:
        raise InputError("experts_on_cpu", "expected the mode chain beside it, got the mode dag")
    if aim.objective == "cache":
        raise InputError("objective", "expected the mode chain beside it, got 'cache' in the mode dag")
    _check_sampler(params.solver, aim)
    return narrow(OperatorParams, params, objective=aim.objective, contiguous=aim.contiguous)


def check_no_costs(costs: object) -> None:
    """Raise InputError for a source of times beside operators, which state theirs."""
    if costs is not None:
        raise InputError("costs", f"expected the mode chain beside it, got {describe(costs)} in the mode dag")


def _check_objective(params: PlaceParams) -> PlaceParams:
    """Return parameters, or raise InputError for those that go with the bottleneck or the schedule alone."""
    if params.experts_on_cpu and params.objective != "latency":
        raise InputError("experts_on_cpu", f"expected the objective latency beside it, got {params.objective}")
    if params.objective == "throughput":
        return params
    for name, usual in (("schedule", None), ("solver", NATIVE), ("layout", None)):
        value = getattr(params, name)
        if value != usual:
            wanted = "none" if usual is None else usual
            raise InputError(name, f"expected {wanted} beside the objective {params.objective}, got {describe(value)}")
    if params.experts_on_cpu and params.start is not None:
        raise InputError("start", "expected none beside experts_on_cpu, as it says nothing of experts, got one")
    if params.objective == "cache" and params.start is not None:
        raise InputError("start", "expected none beside the objective cache, whose plans hold other sequences, got one")
    return params


def _check_no_chain(params: PlaceParams) -> None:
    """Raise InputError for a parameter that only stages of a chain have."""
    usual = PlaceParams()
    for name in OF_CHAINS:
        value = getattr(params, name)
        if value != getattr(usual, name):
            raise InputError(name, f"expected the mode chain beside it, got {describe(value)} in the mode dag")


def _check_sampler(name: str, aim: Aim) -> None:
    """Raise InputError for a solver that cannot place operators, or not with such an aim."""
    if name == NATIVE:
        return
    from tiger.solvers.registry import kind_of

    if kind_of(name) != "sampler":
        raise InputError("solver", f"expected {NATIVE} or a sampler in the mode dag, got {describe(name)}")
    if aim.contiguous or aim.objective != "throughput":
        what = "contiguous stages" if aim.contiguous else f"the objective {aim.objective}"
        raise InputError("solver", f"expected {NATIVE} beside {what}, got {describe(name)}")


def check_params(params: PlaceParams, mode: str = "chain") -> PlaceParams:
    """Return parameters whose values can be used with some model, or raise InputError that names one.

    Raises TypeError for an argument of another type.
    """
    _check_solver(params.solver)
    check_values(params)
    if mode not in get_args(Mode):
        raise InputError("mode", f"expected {', '.join(get_args(Mode))}, got {describe(mode)}")
    _check_schedule(params)
    if not isinstance(params.pinned, Mapping):
        raise TypeError(f"expected pinned as a mapping from layer to device, got {type(params.pinned).__name__}")
    return params


def fit_layout(params: PlaceParams, layers: Layers, cluster: Cluster) -> PlaceParams:
    """Return parameters with the positions and their stages that a layout has, those given without one.

    Raises InputError of `layout` for one that does not go with the model, the cluster, or the other parameters.
    """
    if params.layout is None:
        return params
    stages = len(read_layout(params.layout, layers)) - 1
    virtual = virtual_stages(params)
    if params.virtual is None and stages_each(params.schedule) is None and params.pipeline is not None:
        virtual = max(stages // params.pipeline, 1)
    positions, rest = divmod(stages, virtual)
    if rest or params.pipeline not in (None, positions):
        each = f"{virtual} stages" if virtual > 1 else "one stage"
        row = "a number of devices in a row" if params.pipeline is None else f"{params.pipeline} devices in a row"
        raise InputError(LAYOUT, f"expected {each} for each of {row}, got {stages} stages")
    most = cluster.size // (params.tensor * params.copies)
    if params.pipeline is None and positions > most:
        raise InputError(LAYOUT, f"expected at most {most} devices in a row of {cluster.size}, got {positions}")
    return check_params(replace(params, pipeline=positions, virtual=virtual))


def check_fit(request: ChainRequest) -> None:
    """Raise InputError that names a parameter which this model or this cluster does not go with."""
    params, layers, cluster = request.params, request.layers, request.cluster
    if params.tensor > 1 and layers.slices == 1:
        raise InputError("tensor", f"expected 1, as the layers of this model cannot be cut, got {params.tensor}")
    if layers.slices and layers.slices % params.tensor:
        divisor = f"expected a divisor of {layers.slices}, as heads and feed-forward block are cut"
        raise InputError("tensor", f"{divisor}, got {params.tensor}")
    sizes = {"tensor": params.tensor, "data": params.data, "pipeline": params.pipeline or 1}
    sizes |= {"context": params.context} if params.context > 1 else {}
    if math.prod(sizes.values()) > cluster.size:
        product = " x ".join(f"{name} {size}" for name, size in sizes.items())
        raise InputError(max(sizes, key=lambda name: sizes[name]), f"expected {product} <= {cluster.size} devices")
    check_pins(params.pinned, layers.names, cluster, "a layer")
    check_start(params.start, layers.names, cluster, "a layer")


def check_pins(pinned: Mapping[str, str], names: tuple[str, ...], cluster: Cluster, what: str) -> None:
    """Raise InputError of `pinned` for a layer or operator that the model, or a device that the cluster has not."""
    if not pinned:
        return
    known, devices = set(names), set(cluster.names)
    for name, device in pinned.items():
        if name not in known:
            raise InputError(pin_field(name), f"expected {what} of the model, got {describe(name)}")
        if not isinstance(device, str) or device not in devices:
            raise InputError(pin_field(name), f"expected a device of the cluster, got {describe(device)}")


def _check_solver(name: object) -> None:
    """Raise InputError for an unknown solver, TypeError unless it is a name."""
    if not isinstance(name, str):
        raise TypeError(f"solver: expected a name, got {describe(name)}")
    if name != NATIVE:
        # The list of solvers imports the libraries of some of them.
        from tiger.solvers.registry import kind_of

        kind_of(name)


def _check_schedule(params: PlaceParams) -> None:
    """Raise InputError for microbatches and virtual stages that the schedule does not know."""
    count, stages = params.microbatches, params.pipeline
    if params.schedule is None and count is not None:
        raise InputError("microbatches", f"expected a schedule beside it, got {count} without one")
    each = stages_each(params.schedule)
    if each == 1 and (params.virtual or 1) > 1:
        raise InputError("virtual", f"expected the schedule interleaved beside it, got {params.virtual} without")
    if each is not None and params.virtual not in (None, each):
        raise InputError("virtual", f"expected {each} beside the schedule {params.schedule}, got {params.virtual}")
    # Without a number of stages the least that the schedule runs on may do.
    least = pipelines_of(params.schedule)
    if stages is not None and stages % least:
        raise InputError("pipeline", f"expected an even number of devices in a row for chimera, got {stages}")
    if count is not None and (wanted := wanted_microbatches(params.schedule, stages or least, count)) is not None:
        raise InputError("microbatches", f"expected {wanted}, got {count}")
