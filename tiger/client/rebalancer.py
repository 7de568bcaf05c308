"""A rebalancer that a service keeps, seen from its client."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import TypeVar
from urllib.parse import quote
from uuid import uuid4

from numpy.typing import ArrayLike

from tiger.client.connection import Call, Connection
from tiger.client.errors import Document, ServiceError
from tiger.client.requests import body_of
from tiger.errors import InputError
from tiger.model.document import Document as Documented
from tiger.rebalancing.decision import Decision
from tiger.rebalancing.layer_times import check_loads
from tiger.rebalancing.params import RebalanceOptions
from tiger.rebalancing.rebalancer import line_of
from tiger.rebalancing.state import RebalancerState
from tiger.training.arguments import Hardware, Model
from tiger.training.costs.plan import Plan
from tiger.training.documents import cluster_document, model_document

Kind = TypeVar("Kind", bound=Documented)


class RemoteRebalancer:
    """Have a service decide, by `step`, `lose` and `pack`, as `tiger.Rebalancer` does.

    `id` is what it is found by again; stage j of the plan in use holds layers cuts[j] to cuts[j + 1] - 1 on
    `devices[j]`. Each call is one step, however often its request must be sent. Decisions have no `plan`, which is
    their `cuts` and `devices`. Every call raises ServiceError with the status 404 for a rebalancer that has expired or
    been deleted, and 409 where another client took a step at the same time.
    """

    def __init__(self, connection: Connection, document: Document) -> None:
        self._connection, state = connection, _read(RebalancerState, document)
        self.id, self.cuts, self.devices = str(document.get("id", "")), state.cuts, state.devices

    def __repr__(self) -> str:
        """Show the id."""
        return f"RemoteRebalancer(id={self.id!r})"

    @property
    def state(self) -> RebalancerState:
        """Ask for what `tiger.Rebalancer.restore` goes on from."""
        return _read(RebalancerState, self._connection.document(Call(method="GET", path=self._path, kept=True))[1])

    def step(self, loads: ArrayLike) -> Decision:
        """Take the seconds of each layer, or of each stage, for one microbatch, and decide: `tiger.Rebalancer.step`.

        Raises InputError of `loads`.
        """
        return self._decide({"loads": check_loads(loads, self.cuts[-1], len(self.devices)).tolist()})

    def lose(self, device: str) -> Decision:
        """Plan anew without a device that is gone for good; raise InputError of `device` for one that is not known."""
        try:
            return self._decide({"lost": device})
        except InputError as error:
            raise InputError("device" if error.field == "lost" else error.field, error.reason) from None

    def pack(self, target_s: float) -> Decision:
        """Move to as few devices as keep an iteration within so many seconds; raise InputError of `target_s`."""
        return self._decide({"target_s": target_s})

    def delete(self) -> None:
        """Have the service forget it."""
        self._connection.send(Call(method="DELETE", path=self._path, kept=True))

    @property
    def _path(self) -> str:
        """Return where it is."""
        return f"rebalancers/{self.id}"

    def _decide(self, step: Mapping[str, object]) -> Decision:
        """Return what the service decides upon a step."""
        headers = {"Idempotency-Key": uuid4().hex}
        call = Call(method="POST", path=f"{self._path}/steps", headers=headers, body=body_of(step), kept=True)
        decision = _read(Decision, self._connection.document(call)[1])
        # Where there is no other plan, the last one stays, which cannot run.
        if decision.action != "stop":
            self.cuts, self.devices = decision.cuts, decision.devices
        return decision


def begin_rebalancer(
    connection: Connection, model: Model, cluster: Hardware, plan: Plan | None, options: RebalanceOptions
) -> RemoteRebalancer:
    """Have a service begin a rebalancer; files are read here. Raises InputError, TypeError and ServiceError."""
    stated, layers = model_document(model)
    hardware, devices = cluster_document(cluster)
    body = {**asdict(options), "model": stated, "cluster": hardware}
    if plan is not None:
        names = [devices.names[k] for k in line_of(plan, layers, devices)]
        body["plan"] = {"cuts": list(plan.cuts), "devices": names}
    headers = {"Idempotency-Key": uuid4().hex}
    call = Call(method="POST", path="rebalancers", headers=headers, body=body_of(body))
    return RemoteRebalancer(connection, connection.document(call)[1])


def find_rebalancer(connection: Connection, rebalancer_id: str) -> RemoteRebalancer:
    """Return the rebalancer of an id; raise ServiceError for one that there is not."""
    call = Call(method="GET", path=f"rebalancers/{quote(rebalancer_id, safe='')}")
    return RemoteRebalancer(connection, connection.document(call)[1])


def _read(kind: type[Kind], document: Document) -> Kind:
    """Return what a document states; raise ServiceError for one that states something else."""
    try:
        return kind.from_dict(document)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ServiceError(None, "expected what a service says of a rebalancer, got something else") from None
