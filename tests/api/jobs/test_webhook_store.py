"""Events as rows of both databases: every end of a job leaves one, and each is sent at least once."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa

from tiger.api.jobs.claims import Claims, Outcome
from tiger.api.jobs.database import Database
from tiger.api.jobs.migrations import JOBS, WEBHOOKS
from tiger.api.jobs.store import Store
from tiger.api.jobs.webhook_store import DELAYS_S, JITTER, WebhookClaim, WebhookStore, judge
from tiger.api.seams.job import JobOrder, JobTerms
from tiger.api.webhooks.post import WebhookAnswer
from tiger.errors import InputError

URL = "https://hooks.example/t?token=secret"
TERMS = JobTerms(priority=7, tags=("a",), webhook_url=URL)
GOOD, BAD, DAY_S = WebhookAnswer(status=204), WebhookAnswer(status=500), 86_400.0


@pytest.fixture
def store(tables: Database) -> Store:
    """Return the jobs."""
    return Store(tables, 1000)


@pytest.fixture
def claims(tables: Database) -> Claims:
    """Return what runs them."""
    claims = Claims(tables, "here")
    claims.beat()
    return claims


@pytest.fixture
def webhooks(tables: Database) -> WebhookStore:
    """Return the events."""
    return WebhookStore(tables, DAY_S)


def submit(store: Store, terms: JobTerms = TERMS) -> str:
    """Return the id of a new job that tells of its end."""
    return store.insert(JobOrder(kind="assign", body=b"{}", owner="me", terms=terms))[0].id


def cancel(store: Store, claims: Claims) -> None:
    """Cancel the job while it waits, twice."""
    for _ in range(2):
        store.cancel(store.page("me", None, 1)[0][0].id, "me")


def cancel_while_it_runs(store: Store, claims: Claims) -> None:
    """Cancel the job while it runs, and lose its server then."""
    assert claims.claim_next()
    cancel(store, claims)
    claims.release_mine(())


def finish(store: Store, claims: Claims, outcome: Outcome) -> None:
    """Have a run end the job, once more than it may."""
    claim = claims.claim_next()
    assert claim is not None
    assert (claims.finish(claim.lease, outcome), claims.finish(claim.lease, outcome)) == (True, False)


ENDS: dict[str, tuple[str, Callable[[Store, Claims], None]]] = {
    "done": ("done", lambda store, claims: finish(store, claims, Outcome(status="done", report=b'{"cost": 1}'))),
    "failed": (
        "failed",
        lambda store, claims: finish(store, claims, Outcome(status="failed", problem={"status": 422})),
    ),
    "cancelled by its run": (
        "cancelled",
        lambda store, claims: finish(store, claims, Outcome(status="cancelled")),
    ),
    "cancelled while it waited": ("cancelled", cancel),
    "cancelled when it was put back": ("cancelled", cancel_while_it_runs),
}


@pytest.mark.parametrize("end", ENDS)
def test_every_end_of_a_job_leaves_one_event(store: Store, claims: Claims, webhooks: WebhookStore, end: str) -> None:
    """With the job as it is then, without its report; a purge of the job does not take it."""
    status, bring_about = ENDS[end]
    job_id = submit(store)
    assert webhooks.claim_next() is None
    bring_about(store, claims)
    job = store.get(job_id, "me")
    assert store.purge(job_id, "me")
    claim = webhooks.claim_next()
    assert claim is not None
    assert webhooks.claim_next() is None
    event = json.loads(claim.body)
    assert set(event) == {"id", "event", "created_s", "job"}
    assert (event["id"], event["event"], claim.url, claim.host) == (claim.id, f"job.{status}", URL, "hooks.example")
    told = event["job"]
    assert job is not None
    assert (told["id"], told["status"], told["ended_s"]) == (job_id, status, job.ended_s)
    assert (told["location"], told["tags"], told["priority"]) == (f"/jobs/{job_id}", ["a"], 7)
    assert "report" not in told
    assert told["problem"] == ({"status": 422} if status == "failed" else None)


def test_a_job_that_names_nobody_leaves_none(store: Store, claims: Claims, webhooks: WebhookStore) -> None:
    """And nor does one that is put back into the queue."""
    submit(store, JobTerms(priority=9))
    submit(store)
    ENDS["done"][1](store, claims)
    assert claims.claim_next()
    claims.release_mine(())
    assert webhooks.count_pending() == 0


def test_an_event_and_the_end_are_written_together(
    store: Store, claims: Claims, webhooks: WebhookStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where one of them fails, neither is there."""
    job_id = submit(store)
    claim = claims.claim_next()
    assert claim is not None
    with monkeypatch.context() as patch:
        patch.setattr("tiger.api.jobs.ends._describe_event", lambda *_: {"id": None})
        with pytest.raises(sa.exc.IntegrityError):
            claims.finish(claim.lease, Outcome(status="done", report=b"{}"))
    job = store.get(job_id, "me")
    assert (job and job.status, webhooks.count_pending()) == ("running", 0)
    assert claims.finish(claim.lease, Outcome(status="done", report=b"{}"))
    assert webhooks.count_pending() == 1


def claim_new(store: Store, webhooks: WebhookStore, url: str = URL) -> WebhookClaim:
    """Return the claim of a new event."""
    store.cancel(submit(store, JobTerms(webhook_url=url)), "me")
    claim = webhooks.claim_next()
    assert claim is not None
    return claim


def let_come(webhooks: WebhookStore) -> None:
    """Let the time come at which events are due."""
    with webhooks.database.begin() as connection:
        connection.execute(sa.update(WEBHOOKS).values(next_s=0.0))


def test_servers_that_claim_at_the_same_time_get_an_event_each(store: Store, webhooks: WebhookStore) -> None:
    """None is claimed twice, and none is left."""
    for _ in range(30):
        store.cancel(submit(store), "me")
    with ThreadPoolExecutor(4) as threads:
        claimed = threads.map(lambda each: [claim.id for claim in iter(each.claim_next, None)], [webhooks] * 4)
        found = [name for names in claimed for name in names]
    assert (len(found), len(set(found))) == (30, 30)


def test_an_event_whose_server_was_lost_is_claimed_again(store: Store, webhooks: WebhookStore) -> None:
    """With the same id and body; what the lost one finds later changes nothing."""
    lost = claim_new(store, webhooks)
    let_come(webhooks)
    again = webhooks.claim_next()
    assert again is not None
    assert (again.id, again.body, again.attempt) == (lost.id, lost.body, 2)
    webhooks.settle(lost, WebhookAnswer(status=410))
    webhooks.release(lost)
    assert webhooks.page("me", None, 9)[0][0].status == "pending"
    assert webhooks.settle(again, GOOD) == "delivered"
    assert webhooks.claim_next() is None


def test_a_busy_host_keeps_no_other_waiting(store: Store, webhooks: WebhookStore) -> None:
    """Its events are passed over."""
    store.cancel(submit(store), "me")
    store.cancel(submit(store, JobTerms(webhook_url="https://other.example:8443/")), "me")
    claim = webhooks.claim_next(["hooks.example"])
    assert claim
    assert claim.host == "other.example"
    assert webhooks.claim_next(["hooks.example"]) is None


def test_an_event_that_fails_waits_longer_each_time_and_dies(store: Store, webhooks: WebhookStore) -> None:
    """After about a day."""
    claim = claim_new(store, webhooks)
    for attempt, delay_s in enumerate(DELAYS_S, 1):
        assert claim.attempt == attempt
        assert webhooks.settle(claim, WebhookAnswer(error="no answer came in time")) == "failed"
        (shown,), _ = webhooks.page("me", None, 1)
        assert (shown.status, shown.attempts, shown.last_error) == ("pending", attempt, "no answer came in time")
        assert webhooks.claim_next() is None
        with webhooks.database.read() as connection:
            claimed_s = claim.until_s - 30
            waits_s = connection.execute(sa.select(WEBHOOKS.c.next_s)).scalar_one() - claimed_s
        assert delay_s <= waits_s <= delay_s * (1 + JITTER) + 5
        let_come(webhooks)
        found = webhooks.claim_next()
        assert found is not None
        claim = found
    assert webhooks.settle(claim, BAD) == "dead"
    (shown,), _ = webhooks.page("me", None, 1, ("dead",))
    assert (shown.attempts, shown.last_status, shown.last_error) == (len(DELAYS_S) + 1, 500, None)
    assert 0.9 * DAY_S < sum(DELAYS_S) * (1 + JITTER / 2) < 1.2 * DAY_S


def test_delays_differ_by_event_and_not_by_chance(store: Store, webhooks: WebhookStore) -> None:
    """The same event at the same attempt waits the same."""
    one, two = claim_new(store, webhooks), claim_new(store, webhooks)
    assert judge(one, BAD) == judge(one, BAD) != judge(two, BAD)


@pytest.mark.parametrize(
    ("answer", "outcome", "least_s", "most_s"),
    [
        (WebhookAnswer(status=200), "delivered", 0, 0),
        (WebhookAnswer(status=202), "delivered", 0, 0),
        (WebhookAnswer(status=410), "dead", 0, 0),
        (WebhookAnswer(status=302), "failed", 5, 7),
        (WebhookAnswer(status=404), "failed", 5, 7),
        (WebhookAnswer(status=429, retry_after_s=1.0), "failed", 5, 7),
        (WebhookAnswer(status=503, retry_after_s=777.0), "failed", 777, 777),
        (WebhookAnswer(status=503, retry_after_s=1e9), "failed", DAY_S, DAY_S),
    ],
)
def test_answers_decide(
    store: Store, webhooks: WebhookStore, answer: WebhookAnswer, outcome: str, least_s: float, most_s: float
) -> None:
    """2xx is a delivery, 410 the end, and all else a failure that says when to come again."""
    found, delay_s = judge(claim_new(store, webhooks), answer)
    assert found == outcome
    assert least_s <= delay_s <= most_s


def test_a_dead_event_is_queued_again(store: Store, webhooks: WebhookStore) -> None:
    """By its owner alone, from the first attempt on."""
    claim = claim_new(store, webhooks)
    # One that is being sent goes on.
    assert webhooks.redeliver(claim.id, "me")
    assert webhooks.claim_next() is None
    webhooks.settle(claim, WebhookAnswer(status=410))
    assert webhooks.redeliver(claim.id, "you") is webhooks.redeliver("x", "me") is None
    queued = webhooks.redeliver(claim.id, "me")
    assert queued is not None
    assert (queued.status, queued.attempts, queued.settled_s, queued.last_status) == ("pending", 0, None, 410)
    again = webhooks.claim_next()
    assert again is not None
    assert (again.id, again.body, again.attempt) == (claim.id, claim.body, 1)


def test_an_event_that_was_broken_off_is_sent_again_at_once(store: Store, webhooks: WebhookStore) -> None:
    """And that attempt does not count."""
    claim = claim_new(store, webhooks)
    webhooks.release(claim)
    again = webhooks.claim_next()
    assert again
    assert (again.id, again.attempt) == (claim.id, 1)


def test_lists_have_pages(store: Store, webhooks: WebhookStore) -> None:
    """Of an owner, the newest first."""
    ids = [claim_new(store, webhooks).id for _ in range(3)]
    seen, cursor = [], None
    for _ in range(3):
        (one,), cursor = webhooks.page("me", cursor, 1)
        seen.append(one.id)
    assert (sorted(seen), cursor) == (sorted(ids), None)
    assert webhooks.page("you", None, 9) == webhooks.page("me", None, 9, ("dead",)) == ((), None)
    with pytest.raises(InputError, match="after: expected the cursor"):
        webhooks.page("me", "x", 1)


def test_old_events_are_deleted_unless_they_wait(store: Store, webhooks: WebhookStore) -> None:
    """Delivered and dead ones, as old as ended jobs that are."""
    delivered, dead, waits = claim_new(store, webhooks), claim_new(store, webhooks), claim_new(store, webhooks)
    webhooks.settle(delivered, GOOD)
    webhooks.settle(dead, WebhookAnswer(status=410))
    assert webhooks.delete_expired() == 0
    with webhooks.database.begin() as connection:
        connection.execute(sa.update(WEBHOOKS).values(created_s=1.0))
        connection.execute(sa.update(WEBHOOKS).where(WEBHOOKS.c.settled_s.is_not(None)).values(settled_s=1.0))
        connection.execute(sa.delete(JOBS))
    assert webhooks.delete_expired() == 2
    assert [each.id for each in webhooks.page("me", None, 9)[0]] == [waits.id]
