"""The work behind the routes of rebalancers: from the bytes of a request to the bytes of a state or of an answer.

What it needs is imported when the first request comes.
"""

import json
from typing import TYPE_CHECKING, NamedTuple

from tiger.api.routes.document import encode, parse
from tiger.api.routes.placement import read_cluster, read_model
from tiger.api.schemas.closed import only_given
from tiger.api.schemas.limits import Limits, check_cluster, check_network
from tiger.api.schemas.rebalancers import RebalancerRequest, StepRequest
from tiger.errors import InputError
from tiger.model.options import narrow
from tiger.rebalancing.params import RebalanceOptions
from tiger.rebalancing.state import RebalancerState, plan_by_names

if TYPE_CHECKING:
    from tiger.rebalancing.decision import Decision
    from tiger.rebalancing.rebalancer import Rebalancer


class Stepped(NamedTuple):
    """Hold the answer to a step, and the state after it, as strict JSON."""

    answer: bytes
    state: bytes


def check(body: bytes, limits: Limits) -> RebalancerRequest:
    """Return the request that a body states; raise InputError, or pydantic's ValidationError for a type or a bound.

    The model and the cluster inside it are only measured.
    """
    request = RebalancerRequest.read(parse(body))
    check_network(limits, request.model)
    check_cluster(limits, request.cluster)
    return request


def check_step(body: bytes, _: Limits) -> StepRequest:
    """Return the step that a body states; raise InputError, or pydantic's ValidationError for a type or a bound."""
    request = StepRequest.read(parse(body))
    only_given(request)
    return request


def begin(body: bytes, limits: Limits) -> bytes:
    """Return the first state of the rebalancer that a checked body asks for; raise InputError that names the field."""
    from tiger.rebalancing.rebalancer import Rebalancer
    from tiger.training.models.sizes import model_of_document
    from tiger.training.pairing import pair_layers

    request = check(body, limits)
    model = model_of_document(read_model(request.model, limits), limits.max_tasks)
    layers, cluster = pair_layers(model, read_cluster(request.cluster, limits))
    stated = request.plan
    plan = None if stated is None else plan_by_names(stated.cuts, stated.devices, cluster.names, "plan")
    return _state(Rebalancer(layers, cluster, plan=plan, options=narrow(RebalanceOptions, request)))


def take_step(request: bytes, state: bytes, body: bytes, limits: Limits) -> Stepped:
    """Return what a rebalancer decides upon a checked body; raise InputError that names the field.

    The rebalancer is the one that a request came to in some steps, as its state says.
    """
    from tiger.rebalancing.rebalancer import Rebalancer
    from tiger.training.models.sizes import model_of_document
    from tiger.training.pairing import pair_layers

    asked = check(request, limits)
    model = model_of_document(read_model(asked.model, limits), limits.max_tasks)
    layers, cluster = pair_layers(model, read_cluster(asked.cluster, limits))
    before = RebalancerState.from_dict(json.loads(state))
    rebalancer = Rebalancer.restore(layers, cluster, before, options=narrow(RebalanceOptions, asked))
    return Stepped(encode(_decide(rebalancer, check_step(body, limits))), _state(rebalancer))


def _decide(rebalancer: "Rebalancer", step: StepRequest) -> "Decision":
    """Return the decision upon a step."""
    if step.loads is not None:
        return rebalancer.step(step.loads)
    if step.target_s is not None:
        return rebalancer.pack(step.target_s)
    try:
        return rebalancer.lose(step.lost or "")
    except InputError as error:
        raise InputError("lost" if error.field == "device" else error.field, error.reason) from None


def _state(rebalancer: "Rebalancer") -> bytes:
    """Return the state of a rebalancer as strict JSON, with what an iteration takes, if there is a plan."""
    from tiger.rebalancing.line_costs import LineCosts

    state, costs = rebalancer.state, LineCosts(line=rebalancer.line, times=rebalancer.times)
    runs = not set(state.lost) & set(state.devices)
    seconds = {
        "iteration_s": costs.iteration_s(state.cuts) if runs else None,
        "lower_bound_s": costs.lower_bound_s() if runs else None,
    }
    return json.dumps({**seconds, **state.to_dict()}, allow_nan=False).encode()
