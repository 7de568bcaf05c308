"""Tests of the client against a service of its own process, with a real queue: what a local run finds, and jobs."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import tiger
from tiger.client import Client, JobCancelledError, RemoteJob, RemoteRebalancer, ServiceError, assignment
from tiger.errors import InputError
from tiger.rebalancing.decision import Decision
from tiger.run.progress import Progress
from tiger.run.report import Report

pytestmark = pytest.mark.slow
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
KEYS = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"
BIG = nx.gnp_random_graph(60, 0.3, seed=1)


@pytest.fixture(scope="module", name="url")
def _url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the URL of a service with two keys."""
    folder = tmp_path_factory.mktemp("service")
    settings = {"TIGER_DATA_DIR": str(folder), "TIGER_WORKERS": "1", "TIGER_API_KEYS": ",".join(KEYS)}
    command = [sys.executable, "-m", "tiger", "serve", "--port", "0"]
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, env=os.environ | settings, text=True) as process,
    ):
        assert process.stdout is not None
        yield process.stdout.readline().strip().rpartition(" ")[2]
        process.terminate()


@pytest.fixture
def client(url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """Return a client with the first key."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Client(url, KEYS[0], timeout_s=120) as made:
        yield made


@pytest.fixture
def endless(client: Client) -> RemoteJob[Report]:
    """Return a job that goes on for half a minute."""
    return client.submit(assignment(BIG, "grid:8x8", effort=100_000, time_limit_s=30))


def test_a_mapping_is_that_of_a_local_run(client: Client) -> None:
    """The same seed, here and there."""
    arguments = EXAMPLES / "stencil8x8.json", "torus:4x4x4"
    here, there = tiger.assign(*arguments, seed=3), client.assign(*arguments, seed=3)
    assert (there.mapping, there.cost, there.lower_bound) == (here.mapping, here.cost, here.lower_bound)


def test_a_circuit_is_that_of_a_local_run(client: Client) -> None:
    """Qubit by qubit and gate by gate."""
    arguments = EXAMPLES / "circuits/qft5.qasm", EXAMPLES / "circuits/noisy7.json"
    here, there = tiger.layout(*arguments, level=1), client.layout(*arguments, level=1)
    assert replace(there, seconds=0, stages=()) == replace(here, seconds=0, stages=(), circuit=None)


def test_a_placement_is_that_of_a_local_run(client: Client) -> None:
    """With the plan that is emitted."""
    arguments = EXAMPLES / "models/gpt2-medium.json", "dgx:1"
    here = tiger.place(*arguments, schedule="1f1b", pipeline=4)
    there = client.place(*arguments, schedule="1f1b", pipeline=4)
    assert (there.stages, there.emit("megatron")) == (here.stages, here.emit("megatron"))


def test_a_plan_is_that_of_a_local_run(client: Client) -> None:
    """A job that is waited for, with the best plan to be emitted."""
    arguments = EXAMPLES / "models/gpt2-medium.json", "dgx:1"
    here, there = (plan(*arguments, batch=8, tensor=1, top=3, schedule="1f1b") for plan in (tiger.plan, client.plan))
    assert (there.ranked, there.emit("megatron")) == (here.ranked, here.emit("megatron"))
    assert [job.status for job in client.jobs()][:1] == ["done"]


def test_usage_is_that_of_the_key(client: Client) -> None:
    """Of as many days as are asked for, with a quota where there is one."""
    client.assign("halo:4x4", "grid:4x4")
    found = client.usage(3)
    assert (found.running_jobs.limit, found.queued_jobs.used, len(found.days)) == (None, 0, 3)
    with pytest.raises(InputError, match=r"^days: "):
        client.usage(0)


def test_a_file_is_taken_as_it_is(client: Client) -> None:
    """One that has hardware of its own, which no graph states."""
    here, there = (solve(EXAMPLES / "square4.dat", seed=2) for solve in (tiger.assign, client.assign))
    assert (there.mapping, there.cost, there.baselines) == (here.mapping, here.cost, here.baselines)


def test_a_job_tells_of_its_progress(client: Client) -> None:
    """Its best cost never rises."""
    seen: list[Progress] = []
    report = client.submit(assignment(BIG, "grid:8x8", effort=100_000, time_limit_s=2)).wait(seen.append, timeout_s=60)
    costs = [step.cost for step in seen if step.cost is not None]
    assert costs == sorted(costs, reverse=True)
    assert report.cost is not None
    assert report.cost <= costs[-1]


def test_a_job_can_be_cancelled(client: Client, endless: RemoteJob[Report]) -> None:
    """And is known as such then."""
    time.sleep(1)
    endless.cancel()
    with pytest.raises(JobCancelledError):
        endless.wait(timeout_s=10)
    assert next(job for job in client.jobs() if job.id == endless.id).status == "cancelled"


def test_a_job_is_unknown_to_others(client: Client, url: str, endless: RemoteJob[Report]) -> None:
    """A key sees its own jobs alone."""
    with Client(url, KEYS[1]) as other:
        with pytest.raises(ServiceError, match=r"\(status 404\)$"):
            other.job(endless.id)
        assert endless.id not in [job.id for job in other.jobs()]
    endless.cancel()


def test_a_job_is_a_start_and_is_planned_anew(client: Client) -> None:
    """Its mapping is kept, but for the task of a node that is lost, whose field is named where there is none."""
    job = client.submit(assignment("halo:4x4", "torus:4x5", seed=1))
    report = job.wait()
    again = client.assign("halo:4x4", "torus:4x5", start=job, max_moves=0)
    assert again.mapping == report.mapping
    anew = job.replan(lost_nodes=[report.mapping["3"]]).wait()
    assert isinstance(anew, Report)
    assert [(move.task, move.why) for move in anew.moves] == [("3", "lost")]
    with pytest.raises(InputError) as caught:
        job.replan(lost_nodes=["none"])
    assert caught.value.field == "lost_nodes/0"


def test_a_rebalancer_decides_as_a_local_one(client: Client) -> None:
    """Here and there, also once it is found again by its id; then it is forgotten."""
    model, options = EXAMPLES / "models" / "gpt2-medium.json", tiger.RebalanceOptions(microbatches=16)
    plan = tiger.Rebalancer(model, "dgx:1", options=replace(options, pipeline=4)).plan
    here = tiger.Rebalancer(model, "dgx:1", plan=plan, options=options)
    there = client.rebalancer(model, "dgx:1", plan=plan, options=options)
    layers = here.line.layers.size
    times = np.random.default_rng(1).lognormal(-6, 1, (3, 2, layers))
    assert [no_seconds(there.step(row)) for row in times] == [no_seconds(here.step(row)) for row in times]
    again = client.find_rebalancer(there.id)
    assert (again.cuts, again.devices, again.state) == (there.cuts, there.devices, here.state)
    assert no_seconds(again.lose("m0.gpu1")) == no_seconds(here.lose("m0.gpu1"))
    assert no_seconds(again.step([1.0] * len(again.devices))) == no_seconds(here.step([1.0] * len(again.devices)))
    assert no_seconds(again.pack(1e3)) == no_seconds(here.pack(1e3))
    again.delete()
    with pytest.raises(ServiceError, match="no such rebalancer"):
        again.delete()


@pytest.mark.parametrize(
    ("field", "call"),
    [
        ("device", lambda one: one.lose("x")),
        ("loads", lambda one: one.step([1.0] * 99)),
        ("loads/1", lambda one: one.step([1.0, np.nan, *[1.0] * (one.cuts[-1] - 2)])),
        ("target_s", lambda one: one.pack(-1)),
    ],
)
def test_a_rebalancer_names_what_is_at_fault(
    client: Client, field: str, call: Callable[[RemoteRebalancer], Decision]
) -> None:
    """As a local one does."""
    there = client.rebalancer("transformer:layers=8,hidden=64,heads=8,vocabulary=1000,sequence=64", "dgx:1")
    with pytest.raises(InputError) as refusal:
        call(there)
    assert refusal.value.field == field


def no_seconds(decision: Decision) -> Decision:
    """Return a decision but for its seconds."""
    return replace(decision, seconds=0.0)


def test_an_upload_is_mapped_and_the_job_is_written_for_a_launcher(client: Client, url: str) -> None:
    """As a local run writes it; another key sees neither."""
    upload = client.upload(EXAMPLES / "ranks4.csv")
    job = client.submit(assignment(upload, "ring:4", slots=1, seed=1))
    here = tiger.assign(EXAMPLES / "ranks4.csv", "ring:4", slots=1, seed=1, effort=1)
    assert job.wait().mapping == here.mapping
    assert (job.emit("openmpi"), job.formats()["slurm"]) == (here.emit("openmpi"), "slurm-hosts.txt")
    assert [each["jobs"] for each in client.uploads() if each["id"] == upload.id] == [1]
    with Client(url, KEYS[1]) as other:
        assert list(other.uploads()) == []
        with pytest.raises(InputError, match="tasks/upload: expected the id of an upload"):
            other.assign(upload, "ring:4", seed=1)
    upload.delete()
    with pytest.raises(InputError, match="tasks/upload"):
        job.emit("openmpi")
