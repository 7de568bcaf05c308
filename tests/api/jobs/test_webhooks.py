"""The sender of events: jobs end, and a receiver is told."""

import asyncio
from asyncio import Runner
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
import toy

from tests.api.conftest import Lines
from tests.api.webhooks.receiver import Receiver, make_certificate, receive
from tiger.api.jobs.engine import DurableJobs
from tiger.api.jobs.migrations import WEBHOOKS
from tiger.api.jobs.settings import JobSettings
from tiger.api.pool.processes import Workers
from tiger.api.seams.job import JobOrder, JobTerms
from tiger.api.webhooks.policy import WebhookPolicy, read_allowed_host, read_network
from tiger.api.webhooks.post import WebhookAnswer
from tiger.client import verify_webhook

SECRETS = ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "a-plain-secret-of-24-chars")


class Opener:
    """Start and stop servers that tell of the end of jobs."""

    def __init__(self, loop: Runner, pool: Workers, settings: JobSettings) -> None:
        self.loop, self.pool, self.settings = loop, pool, settings
        self.up: list[DurableJobs] = []

    def __call__(self, name: str, **changes: Any) -> DurableJobs:
        """Return the jobs of a server with a folder of its own, whose policy has some changes."""
        policy, folder = replace(self.settings.webhooks, **changes), self.settings.data_dir / name
        jobs = DurableJobs(replace(self.settings, data_dir=folder, webhooks=policy), self.pool, toy.solve)
        self.loop.run(jobs.start())
        self.up.append(jobs)
        return jobs

    def stop(self, jobs: DurableJobs) -> None:
        """Stop a server."""
        self.up.remove(jobs)
        self.loop.run(jobs.stop())


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def kind(request: pytest.FixtureRequest) -> str:
    """Return the kind of database."""
    return str(request.param)


@pytest.fixture
def receiver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    """Return a receiver."""
    certificate = make_certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    monkeypatch.setattr("tiger.api.jobs.webhooks.LOOK_S", 0.05)
    with receive(certificate) as receiver:
        yield receiver


@pytest.fixture
def opened(
    loop: Runner, pool: Workers, tmp_path: Path, url: str | None, receiver: Receiver, request: pytest.FixtureRequest
) -> Iterator[Opener]:
    """Return what starts servers of one database, which tell the receiver."""
    own_url = request.getfixturevalue("postgres").create() if url else None
    policy = WebhookPolicy(
        hosts=(read_allowed_host(f"localhost:{receiver.port}"),),
        networks=(read_network("127.0.0.0/8"), read_network("::1")),
        secrets_of=lambda owner: SECRETS if owner == "me" else (),
    )
    database = own_url or f"sqlite:///{tmp_path}/jobs"
    opener = Opener(loop, pool, JobSettings(data_dir=tmp_path, database_url=database, webhooks=policy))
    yield opener
    for jobs in [*opener.up]:
        opener.stop(jobs)


def work(receiver: Receiver, body: bytes = b"{}", owner: str = "me") -> JobOrder:
    """Return work of which the receiver is told."""
    return JobOrder(kind="assign", body=body, owner=owner, terms=JobTerms(webhook_url=receiver.url))


async def until(condition: Callable[[], object]) -> None:
    """Wait for a condition."""
    async with asyncio.timeout(300):
        while not condition():
            await asyncio.sleep(0.02)


def is_settled(jobs: DurableJobs) -> bool:
    """Return whether no event waits."""
    return jobs.count_webhooks() == 0


def test_the_end_of_a_job_is_told_and_signed(loop: Runner, opened: Opener, receiver: Receiver, lines: Lines) -> None:
    """By every secret, so that one can be changed; the log has the host and nothing of the path or the secrets."""
    jobs = opened("a")
    outcomes: list[str] = []
    jobs._sender.on_outcome = outcomes.append
    job = loop.run(jobs.submit(work(receiver)))
    loop.run(until(lambda: receiver.received and is_settled(jobs) and outcomes))
    (got,) = receiver.received
    assert got.event["job"]["id"] == job.id
    assert (got.event["event"], got.path) == ("job.done", "/tiger?token=t0psecret")
    assert len(got.headers["webhook-signature"].split(" ")) == 2
    for secret in SECRETS:
        assert verify_webhook(got.headers, got.body, secret) == got.event
    assert outcomes == ["delivered"]
    (line,) = (line for line in lines() if line["event"].startswith("webhook"))
    assert (line["event"], line["host"], line["status"], line["attempt"]) == ("webhook sent", "localhost", 204, 1)
    assert line["webhook_id"] == got.event["id"]
    assert not any(word in str(lines()) for word in (*SECRETS, "t0psecret", "/tiger"))
    (shown,), _ = loop.run(jobs.webhooks.page("me", None, 9))
    assert (shown.status, shown.attempts, shown.last_status) == ("delivered", 1, 204)


def test_what_fails_is_sent_again_with_the_same_id(
    loop: Runner, opened: Opener, receiver: Receiver, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A redirect is a failure; 410 is the end, until its owner wants it again."""
    monkeypatch.setattr("tiger.api.jobs.webhook_store.DELAYS_S", (0.0, 0.0))
    receiver.answers = [(302, {"Location": receiver.url}), (410, {})]
    jobs = opened("a")
    outcomes: list[str] = []
    jobs._sender.on_outcome = outcomes.append
    loop.run(jobs.submit(work(receiver, b'{"fault": "bad"}')))
    loop.run(until(lambda: len(receiver.received) == 2 and is_settled(jobs)))
    (shown,), _ = loop.run(jobs.webhooks.page("me", None, 9, ("dead",)))
    assert shown.last_status == 410
    loop.run(jobs.webhooks.redeliver(shown.id, "me"))
    loop.run(until(lambda: len(receiver.received) == 3 and is_settled(jobs) and len(outcomes) == 3))
    assert receiver.count_events() == {shown.id: 3}
    assert {got.event["event"] for got in receiver.received} == {"job.failed"}
    said = [line["event"] for line in lines() if line["event"].startswith("webhook")]
    assert said == ["webhook failed", "webhook dead", "webhook sent"]


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"networks": ()}, "the host has an address that is not global"),
        ({"hosts": (read_allowed_host("other.example"),)}, "a host and a port that the operator allows"),
        ({"secrets_of": lambda _: ()}, "an account with webhook_secrets"),
    ],
)
def test_what_may_not_be_told_any_longer_is_not(
    loop: Runner, opened: Opener, receiver: Receiver, changes: dict[str, Any], error: str
) -> None:
    """It is checked whenever it is sent, as the operator may have changed it, or the name leads elsewhere."""
    jobs = opened("a", **changes)
    loop.run(jobs.submit(work(receiver)))

    async def find_error() -> str:
        while True:
            found, _ = await jobs.webhooks.page("me", None, 9)
            if found and found[0].last_error:
                return found[0].last_error
            await asyncio.sleep(0.02)

    assert error in loop.run(asyncio.wait_for(find_error(), 300))
    assert receiver.connected == 0


def test_without_hosts_nothing_is_sent(loop: Runner, opened: Opener, receiver: Receiver) -> None:
    """What waits stays until there are some again."""
    off = opened("a", hosts=())
    job = loop.run(off.submit(work(receiver)))
    loop.run(until(lambda: off.count_webhooks() == 1))
    assert off._sender._looking is None
    opened.stop(off)
    on = opened("a")
    loop.run(until(lambda: is_settled(on)))
    assert [got.event["job"]["id"] for got in receiver.received] == [job.id]


def test_what_is_being_sent_at_the_end_is_sent_again(
    loop: Runner, opened: Opener, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the server that starts next, without waiting for the claim to be over; that of a killed one is waited for."""

    async def hang(*_: object) -> None:
        await asyncio.sleep(1000)

    jobs = opened("a")
    with monkeypatch.context() as patch:
        patch.setattr("tiger.api.jobs.webhooks.post", hang)
        loop.run(jobs.submit(work(receiver)))
        loop.run(until(lambda: jobs._sender._sends))
        opened.stop(jobs)
    assert receiver.received == []
    again = opened("a")
    loop.run(until(lambda: is_settled(again)))
    assert len(receiver.received) == 1


def test_few_are_sent_at_a_time_to_one_host(
    loop: Runner, opened: Opener, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others wait meanwhile."""
    gate, under_way, most = asyncio.Event(), [0], [0]

    async def wait(*_: object) -> WebhookAnswer:
        under_way[0] += 1
        most[0] = max(most[0], under_way[0])
        await gate.wait()
        under_way[0] -= 1
        return WebhookAnswer(status=200)

    monkeypatch.setattr("tiger.api.jobs.webhooks.post", wait)
    jobs = opened("a")
    ids = [loop.run(jobs.submit(work(receiver))).id for _ in range(7)]
    for job_id in ids:
        loop.run(jobs.cancel(job_id, "me"))
    loop.run(until(lambda: under_way[0] == 4))
    gate.set()
    loop.run(until(lambda: is_settled(jobs)))
    assert most == [4]


def test_two_servers_share_the_events(loop: Runner, opened: Opener, receiver: Receiver) -> None:
    """Each is sent by one of them."""
    jobs = [opened("a"), opened("b")]
    for number in range(12):
        job = loop.run(jobs[number % 2].submit(work(receiver)))
        loop.run(jobs[number % 2].cancel(job.id, "me"))
    loop.run(until(lambda: all(map(is_settled, jobs))))
    assert sorted(receiver.count_events().values()) == [1] * 12
    with jobs[0]._database.read() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(WEBHOOKS)).scalar_one() == 12
