"""Rebalancers of whole servers: killed and started again, shared by two, of several keys, and expired."""

import random
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

import tiger
from tests.api.jobs.service import Service, until
from tiger.rebalancing.decision import Decision

pytestmark = pytest.mark.slow
KEYS = ("first-key-of-enough-letters", "second-key-of-enough-letters")
MODEL = "transformer:layers=24,hidden=1024,heads=16,vocabulary=50257,sequence=2048"
OPTIONS = tiger.RebalanceOptions(pipeline=4, microbatches=16)
REQUEST = {"model": MODEL, "cluster": "dgx:1", "pipeline": 4, "microbatches": 16}


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """Return what closes servers at the end."""
    with ExitStack() as stack:
        yield stack


def serve(stack: ExitStack, home: Path, **settings: str) -> Service:
    """Return a server that is ready."""
    service = Service(home, **settings)
    stack.callback(service.close)
    return service.ready()


def loads_of(seed: int) -> list[float]:
    """Return seconds of layers."""
    drawn = random.Random(seed)
    return [drawn.lognormvariate(-6, 1) for _ in range(26)]


def begin(service: Service, **headers: str) -> str:
    """Begin a rebalancer and return where it is."""
    begun = service.http.post("/rebalancers", json=REQUEST, headers=headers)
    assert begun.status_code == 201, begun.text
    return str(begun.headers["location"])


def decide(http: httpx.Client, where: str, step: dict[str, object]) -> Decision:
    """Return the decision upon a step, but for its seconds."""
    answer = http.post(f"{where}/steps", json=step).raise_for_status()
    return replace(Decision.from_dict(answer.json()), seconds=0.0)


def follow(here: tiger.Rebalancer, numbers: range) -> list[Decision]:
    """Return the decisions of a local rebalancer, but for their seconds."""
    return [replace(here.step(loads_of(k)), seconds=0.0) for k in numbers]


@pytest.mark.long
def test_a_killed_server_goes_on_with_the_same_decisions(stack: ExitStack, tmp_path: Path) -> None:
    """As if it had never been killed, a lost device and all; no other key knows of it, or may have more than half."""
    service = serve(stack, tmp_path / "a", TIGER_API_KEYS=",".join(KEYS), TIGER_MAX_REBALANCERS="2")
    here, (mine, other) = tiger.Rebalancer(MODEL, "dgx:1", options=OPTIONS), ({"X-API-Key": key} for key in KEYS)
    where = begin(service, **mine)
    check_ownership(service, where, mine, other)
    service.http.headers.update(mine)
    before = [decide(service.http, where, {"loads": loads_of(k)}) for k in range(4)]
    before.append(decide(service.http, where, {"lost": "m0.gpu1"}))
    # By SIGKILL, with its workers.
    service.close()
    service.start()
    service.ready().http.headers.update(mine)
    after = [decide(service.http, where, {"loads": loads_of(k)}) for k in range(4, 8)]
    expected = [*follow(here, range(4)), replace(here.lose("m0.gpu1"), seconds=0.0)]
    assert [*before, *after] == [*expected, *follow(here, range(4, 8))]
    assert tiger.RebalancerState.from_dict(service.http.get(where).json()) == here.state


def check_ownership(service: Service, where: str, mine: dict[str, str], other: dict[str, str]) -> None:
    """Check that a rebalancer stays as it is, whatever another key asks of it, and that it is one of one."""
    step = {"loads": loads_of(0)}
    answers = [service.http.get(where, headers=other), service.http.delete(where, headers=other)]
    answers.append(service.http.post(f"{where}/steps", json=step, headers=other))
    assert {answer.status_code for answer in answers} == {404}
    full = service.http.post("/rebalancers", json=REQUEST, headers=mine)
    assert (full.status_code, "retry-after" in full.headers, "rebalancer" in full.json()["detail"]) == (429, True, True)
    begin(service, **other)
    assert service.http.get(where, headers=mine).json()["steps"] == 0


@pytest.mark.long
def test_two_servers_take_turns(stack: ExitStack, tmp_path: Path, database: str) -> None:
    """Each goes on from where the other was."""
    pair = [serve(stack, tmp_path / name, TIGER_DATABASE_URL=database) for name in "ab"]
    where, here = begin(pair[0]), tiger.Rebalancer(MODEL, "dgx:1", options=OPTIONS)
    found = [decide(pair[k % 2].http, where, {"loads": loads_of(k)}) for k in range(6)]
    assert found == follow(here, range(6))
    assert pair[1].http.delete(where).status_code == 204
    assert pair[0].http.get(where).status_code == 404


@pytest.mark.long
def test_a_rebalancer_expires_after_its_last_step(stack: ExitStack, tmp_path: Path) -> None:
    """Its time begins again with each step; afterwards it is unknown."""
    service = serve(stack, tmp_path / "a", TIGER_RETENTION_DAYS=str(3 / 86400))
    where = begin(service)
    first = service.http.get(where).json()["expires_s"]
    decide(service.http, where, {"loads": loads_of(0)})
    shown = service.http.get(where).json()
    assert shown["expires_s"] > first
    assert shown["expires_s"] - shown["created_s"] < 10
    until(lambda: service.http.get(where).status_code == 404, 10)
    assert service.http.post(f"{where}/steps", json={"loads": loads_of(1)}).status_code == 404
