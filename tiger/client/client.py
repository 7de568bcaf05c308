"""The client of the REST service: `Client(url)` has the local doors, and jobs.

    with Client("http://localhost:8000") as client:
        report = client.assign(graph, "torus:4x4x4", seed=1)           # as tiger.assign
        job = client.submit(assignment(graph, "torus:4x4x4", seed=1))  # answered later
        report = job.wait(print)

Reports are those of local runs, but for what JSON does not carry (`tiger.client.reports`).
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar
from urllib.parse import quote, urlsplit
from uuid import uuid4

from tiger.client.connection import Call, Connection, Patience
from tiger.client.errors import KEY_VARIABLE, Document, ServiceError
from tiger.client.job import RemoteJob
from tiger.errors import InputError
from tiger.run.progress import Progress

if TYPE_CHECKING:
    import networkx as nx
    from dimod.core.sampler import Sampler
    from qiskit.circuit import QuantumCircuit

    from tiger.circuits.entry.report import CircuitReport
    from tiger.circuits.params import CircuitObjective
    from tiger.client.networks import Hardware, Model
    from tiger.client.reports import AnyReport
    from tiger.client.requests import Asked, Layout
    from tiger.entry import Pins
    from tiger.model.problem import Rule
    from tiger.model.tasks import TaskGraph
    from tiger.model.topology import Topology
    from tiger.objectives.selection import ObjectiveName
    from tiger.pipeline.entry.report import PlacementReport
    from tiger.pipeline.operators.params import Objective
    from tiger.pipeline.schedules.orders import Schedule
    from tiger.qubo.ising import IsingParams
    from tiger.run.report import Report

Found = TypeVar("Found")
Watch = Callable[[Progress], None]
WAIT_S, WATCHED_WAIT_S = 10, 1
ACCEPTED = 202


class Client:
    """Ask a service for what the local doors do; a context manager, to be used by one thread at a time.

    `key` is the service's API key, that of TIGER_API_KEY where it is None; "" sends none. `timeout_s` is how long the
    service may be silent beyond the time that it is given to answer. Raises InputError for a URL or key that is none;
    every request raises ServiceError where the service cannot be reached, within `patience`, or refuses.
    """

    def __init__(
        self, url: str, key: str | None = None, timeout_s: float = 30.0, patience: Patience | None = None
    ) -> None:
        used = os.environ.get(KEY_VARIABLE, "").strip() if key is None else key
        self._connection = Connection(url, used, timeout_s, patience or Patience())

    def __enter__(self) -> Self:
        """Return the client."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close its connections."""
        self.close()

    def close(self) -> None:
        """Close what is open; jobs go on."""
        self._connection.close()

    def assign(
        self,
        tasks: "nx.Graph | TaskGraph | Path | str",
        topology: "nx.Graph | Topology | Path | str | None" = None,
        *,
        rule: "Rule | None" = None,
        slots: int | None = None,
        imbalance: float = 0.0,
        allocation: Iterable[object] | Path | str | None = None,
        pinned: "Pins | None" = None,
        forbidden: Iterable[tuple[object, object]] = (),
        solver: "str | Sampler" = "auto",
        objective: "ObjectiveName" = "cost",
        seed: int = 0,
        effort: int | None = None,
        time_limit_s: float | None = None,
        executor: Executor | str | None = None,
        ising: "IsingParams | None" = None,
        progress: Watch | None = None,
    ) -> "Report":
        """Map tasks onto a topology, as `tiger.assign` does for the same arguments.

        Files are read here. Raises as `tiger.assign` does, InputError also for what no service takes (`assignment`).
        """
        from tiger.client.requests import assignment

        asked = assignment(
            tasks,
            topology,
            rule=rule,
            slots=slots,
            imbalance=imbalance,
            allocation=allocation,
            pinned=pinned,
            forbidden=forbidden,
            solver=solver,
            objective=objective,
            seed=seed,
            effort=effort,
            time_limit_s=time_limit_s,
            executor=executor,
            ising=ising,
        )
        return self._answer(asked, progress)

    def layout(
        self,
        circuit: "QuantumCircuit | Path | str | bytes",
        coupling: object,
        *,
        level: int = 3,
        effort: int = 1,
        objective: "CircuitObjective" = "cx",
        solver: str = "auto",
        seed: int = 0,
        initial_layout: "Layout | None" = None,
        time_limit_s: float | None = None,
        threads: int = 1,
        commute: bool = True,
        progress: Watch | None = None,
    ) -> "CircuitReport":
        """Lay a circuit out on a device and route it, as `tiger.layout` does for the same arguments.

        The report has the routed circuit as `qasm` alone. Raises as `tiger.layout` does, InputError also for what no
        service takes (`circuit_layout`).
        """
        from tiger.client.requests import circuit_layout

        asked = circuit_layout(
            circuit,
            coupling,
            level=level,
            effort=effort,
            objective=objective,
            solver=solver,
            seed=seed,
            initial_layout=initial_layout,
            time_limit_s=time_limit_s,
            threads=threads,
            commute=commute,
        )
        return self._answer(asked, progress)

    def place(
        self,
        model: "Model",
        cluster: "Hardware | None" = None,
        *,
        mode: str = "chain",
        objective: "Objective" = "throughput",
        contiguous: bool = False,
        schedule: "Schedule | None" = None,
        microbatches: int | None = None,
        virtual: int | None = None,
        pipeline: int | None = None,
        tensor: int = 1,
        data: int = 1,
        pinned: Mapping[str, str] | None = None,
        solver: str = "auto",
        seed: int = 0,
        effort: int = 1,
        time_limit_s: float | None = None,
        progress: Watch | None = None,
    ) -> "PlacementReport":
        """Place a model on a cluster, as `tiger.place` does for the same arguments; raise as it does."""
        from tiger.client.requests import placement

        asked = placement(
            model,
            cluster,
            mode=mode,
            objective=objective,
            contiguous=contiguous,
            schedule=schedule,
            microbatches=microbatches,
            virtual=virtual,
            pipeline=pipeline,
            tensor=tensor,
            data=data,
            pinned=pinned,
            solver=solver,
            seed=seed,
            effort=effort,
            time_limit_s=time_limit_s,
        )
        return self._answer(asked, progress)

    def submit(self, asked: "Asked[Found]") -> RemoteJob[Found]:
        """Have a request answered later, and return the job; one request is one job, however often it must be sent.

        Requests are made by `assignment`, `circuit_layout` and `placement`.
        """
        headers = {"Prefer": "respond-async", "Idempotency-Key": uuid4().hex}
        status, document = self._connection.document(
            Call(method="POST", path=asked.path, headers=headers, body=asked.body)
        )
        return RemoteJob(self._connection, document if status == ACCEPTED else _finished_job(document), asked.read)

    def job(self, job_id: str) -> "RemoteJob[AnyReport]":
        """Return a job by its id; a plan of it cannot be emitted, as model and cluster are not at hand."""
        from tiger.client.reports import read_report

        call = Call(method="GET", path=f"jobs/{quote(job_id, safe='')}")
        return RemoteJob(self._connection, self._connection.document(call)[1], read_report)

    def jobs(self) -> "Iterator[RemoteJob[AnyReport]]":
        """Yield the jobs of this key, the newest first, without reports; pages are asked for as they are needed."""
        from tiger.client.reports import read_report

        path: str | None = "jobs"
        while path is not None:
            page = self._connection.document(Call(method="GET", path=path))[1]
            listed, following = page.get("jobs"), page.get("next")
            for document in listed if isinstance(listed, Sequence) else ():
                yield RemoteJob(self._connection, document, read_report)
            # The query alone, so that nothing but this service ever sees the key.
            path = f"jobs?{urlsplit(following).query}" if isinstance(following, str) else None

    def _answer(self, asked: "Asked[Found]", progress: Watch | None) -> Found:
        """Return the answer to a request; where that becomes a job, it is cancelled if nobody waits for it any more."""
        wait_s = WAIT_S if progress is None else WATCHED_WAIT_S
        headers = {"Prefer": f"wait={wait_s}"}
        call = Call(method="POST", path=asked.path, headers=headers, body=asked.body, wait_s=wait_s)
        status, document = self._connection.document(call)
        if status != ACCEPTED:
            return asked.read(document)
        job = RemoteJob(self._connection, document, asked.read)
        try:
            return job.wait(progress)
        except BaseException:
            with suppress(ServiceError, InputError):
                job.cancel()
            raise


def _finished_job(report: Document) -> Document:
    """Return a job that has ended with a report, of a service that answers at once and keeps none."""
    return {"id": "", "status": "done", "report": report}
