"""Rates and requests at once."""

import asyncio
from collections.abc import Iterator
from unittest import mock

import httpx
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from starlette.types import Receive, Scope, Send

from tiger.api.middleware import rates
from tiger.api.middleware.keys import Guard
from tiger.api.middleware.keys import parse as parse_keys
from tiger.api.middleware.rates import Rates, parse

A, B = ({"X-API-Key": letter * 16} for letter in "ab")


def client_of(text: str, most: int | None = None) -> TestClient:
    """Return a client of a service with two keys and rates."""
    app = FastAPI()
    app.add_middleware(Rates, rates=parse(text) if text else [], max_concurrent=most)
    app.add_middleware(Guard, keys=parse_keys(f"{'a' * 16},{'b' * 16}"))
    app.add_api_route("/x", fine)
    app.add_api_route("/healthz", fine)
    app.add_api_route("/fail", fail)
    return TestClient(app)


async def fine() -> None:
    """Answer nothing."""


async def fail() -> None:
    """Fail."""
    raise KeyError


@pytest.fixture
def clock() -> Iterator[mock.Mock]:
    """Hold the clock, and return it to be set."""
    # Not that of the threads and event loops of other tests, which may be at work.
    with mock.patch.object(rates, "time") as time:
        time.monotonic.return_value = 1000.0
        yield time.monotonic


def statuses(client: TestClient, count: int, headers: dict[str, str] = A) -> list[int]:
    """Return the statuses of so many requests."""
    return [client.get("/x", headers=headers).status_code for _ in range(count)]


def test_a_request_too_many_is_refused(clock: mock.Mock) -> None:
    """The answer is a problem document that says when to ask again."""
    client = client_of("2/minute")
    assert statuses(client, 2) == [200, 200]
    answer = client.get("/x", headers=A)
    assert (answer.status_code, answer.headers["content-type"]) == (429, "application/problem+json")
    assert answer.headers["retry-after"] == "60"
    problem = answer.json()
    assert problem["detail"] == "expected at most 2 requests in 60 s, got another one"
    quota = {"quota": "rate", "used": 2, "limit": 2, "left": 0, "resets_s": 60}
    assert {name: problem[name] for name in quota} == quota


def test_the_window_moves(clock: mock.Mock) -> None:
    """A request counts for as long as the time of the rate, and no longer."""
    client = client_of("2/minute")
    statuses(client, 1)
    clock.return_value = 1030.0
    assert statuses(client, 2) == [200, 429]
    clock.return_value = 1060.5
    assert statuses(client, 2) == [200, 429]


def test_keys_have_rates_of_their_own(clock: mock.Mock) -> None:
    """What one asks takes nothing from another."""
    client = client_of("1/minute")
    assert (statuses(client, 2), statuses(client, 2, B)) == ([200, 429], [200, 429])


def test_what_is_left_is_on_every_answer(clock: mock.Mock) -> None:
    """The headers state the rates, what is left of each and when it is whole again."""
    client = client_of("100/hour;5/minute")
    answer = client.get("/x", headers=A)
    assert answer.headers["ratelimit-policy"] == '"60s";q=5;w=60, "3600s";q=100;w=3600'
    assert answer.headers["ratelimit"] == '"60s";r=4;t=60, "3600s";r=99;t=3600'


def test_a_refused_request_does_not_count(clock: mock.Mock) -> None:
    """Where one rate refuses, the others keep what they have."""
    client = client_of("1/minute;3/hour")
    statuses(client, 5)
    clock.return_value = 1061.0
    assert client.get("/x", headers=A).headers["ratelimit"].endswith("r=1;t=3539")


def test_bug_who_waits_as_long_as_told_is_not_refused_again(clock: mock.Mock) -> None:
    """Where several rates refuse, the answer says when the last of them no longer does."""
    client = client_of("1/minute;1/hour")
    statuses(client, 1)
    assert client.get("/x", headers=A).headers["retry-after"] == "3600"
    clock.return_value = 4600.0
    assert statuses(client, 1) == [200]


def test_health_is_never_refused(clock: mock.Mock) -> None:
    """Whoever watches the server asks as often as they like."""
    client = client_of("1/minute")
    assert {client.get("/healthz", headers=A).status_code for _ in range(3)} == {200}


def test_without_keys_addresses_have_rates(clock: mock.Mock) -> None:
    """Two addresses do not share one."""
    app = FastAPI()
    app.add_middleware(Rates, rates=parse("1/minute"), max_concurrent=None)
    clients = [TestClient(app, client=(address, 1)) for address in ("127.0.0.1", "127.0.0.2")]
    assert [[client.get("/x").status_code for _ in range(2)] for client in clients] == [[404, 429], [404, 429]]


def test_addresses_do_not_fill_the_memory(clock: mock.Mock, monkeypatch: pytest.MonkeyPatch) -> None:
    """After too many names the counting begins anew."""
    monkeypatch.setattr(rates, "NAMES_KEPT", 3)
    counting = Rates(FastAPI(), parse("1/minute"), None)
    assert all(counting._count_or_refuse(str(name)) is None for name in range(100))
    assert len(counting.windows) <= 3


def test_who_has_not_asked_for_long_is_forgotten(clock: mock.Mock) -> None:
    """What is remembered goes with the requests of the last minute, not with all who ever asked."""
    counting = Rates(FastAPI(), parse("1/minute"), None)
    for name in range(100):
        clock.return_value += 10
        assert counting._count_or_refuse(str(name)) is None
    assert len(counting.windows) <= 7


def test_bug_a_clock_that_is_set_back_refuses_nobody_for_long(clock: mock.Mock) -> None:
    """Windows go by a clock that nobody sets: nobody was to wait an hour where the rate is of a minute."""
    client = client_of("2/minute")
    with mock.patch.object(rates.time, "time", side_effect=(5000.0 - 3600 * k for k in range(100))):
        assert statuses(client, 2) == [200, 200]
        clock.return_value = 1007.2
        assert client.get("/x", headers=A).headers["retry-after"] == "53"
        clock.return_value = 1060.0
        assert statuses(client, 1) == [200]


def test_one_waits_no_longer_than_a_window(clock: mock.Mock) -> None:
    """However the sum of a large number and a small one is rounded."""
    counting = Rates(FastAPI(), parse("1/minute"), None)
    for step in range(200):
        clock.return_value = 1e6 + step / 7
        counting.windows.clear()
        assert counting._count_or_refuse("a") is None
        assert (problem := counting._count_or_refuse("a")) is not None
        assert int(problem.headers["Retry-After"]) <= 60


async def _together(most: int, count: int) -> list[int]:
    """Return the statuses of so many requests that are all under way at once, then of one more."""
    gate, sent, waiting = asyncio.Event(), [], list[Scope]()

    async def wait(scope: Scope, receive: Receive, send: Send) -> None:
        waiting.append(scope)
        await gate.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body"})

    transport = httpx.ASGITransport(Rates(wait, [], most))
    async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
        asking = [asyncio.ensure_future(client.get("/x")) for _ in range(count)]
        while sum(call.done() for call in asking) < count - most or len(waiting) < most:
            await asyncio.sleep(0)
        gate.set()
        sent = [answer.status_code for answer in await asyncio.gather(*asking)]
        return [*sorted(sent), (await client.get("/x")).status_code]


def test_only_so_many_requests_at_once() -> None:
    """Those beyond are refused, and when the others are answered there is room again."""
    assert asyncio.run(_together(2, 4)) == [200, 200, 429, 429, 200]


def test_a_request_that_fails_makes_room() -> None:
    """Whatever ends a request, it is under way no more."""
    client = client_of("", 1)
    for _ in range(2):
        with pytest.raises(KeyError):
            client.get("/fail", headers=A)
    assert statuses(client, 2) == [200, 200]


@pytest.mark.parametrize(
    "text", ["", "5", "0/minute", "many/hour", "5/fortnight", "5/minute extra", "-1/second", "5/minute;"]
)
def test_a_rate_that_is_none_is_refused(text: str) -> None:
    """The message shows one that would do."""
    with pytest.raises(ValueError, match="expected a rate such as 600/minute"):
        parse(text)
