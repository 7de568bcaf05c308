"""Whole servers that are killed while thousands of events are due, and a receiver that is down for a while.

    python -m tests.api.webhooks.test_storm JOBS [DATABASE_URL]

is the same for more jobs, and prints what came of it.
"""

import os
import signal
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.api.jobs.service import TINY, Service, until
from tests.api.webhooks.receiver import Received, Receiver, make_certificate
from tiger.client import verify_webhook

KEY, SECRET = "the-key-of-alice-0123456789", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
ACCOUNTS = f'[accounts.alice]\nkeys = ["{KEY}"]\nwebhook_secrets = ["{SECRET}"]\n'
LATER = {"Prefer": "respond-async", "X-API-Key": KEY}


class Storm:
    """Hold a server, and a receiver that can be down, with all that has come to it."""

    def __init__(self, stack: ExitStack, folder: Path, **settings: str) -> None:
        self.stack, self.certificate = stack, make_certificate(folder)
        self.receiver = Receiver(self.certificate)
        self.port, self.received = self.receiver.port, list[Received]()
        stack.callback(lambda: self.receiver.close())
        (folder / "keys.toml").write_text(ACCOUNTS)
        (folder / "keys.toml").chmod(0o600)
        self.service = Service(
            folder / "a",
            TIGER_KEYS_FILE=str(folder / "keys.toml"),
            TIGER_WEBHOOK_HOSTS=f"localhost:{self.port}",
            TIGER_WEBHOOK_NETWORKS="127.0.0.0/8,::1",
            TIGER_MAX_JOBS="100000",
            SSL_CERT_FILE=str(self.certificate),
            **settings,
        )
        stack.callback(self.service.close)
        self.take_work()

    def take_work(self) -> None:
        """Return once the server takes work."""
        self.service.listen()
        self.service.http.headers["X-API-Key"] = KEY
        until(lambda: self.service.http.get("/readyz").status_code == 200, 120)

    def kill(self) -> None:
        """Kill the server with all its processes, and start it again."""
        os.killpg(self.service.process.pid, signal.SIGKILL)
        self.service.close()
        self.service.start()
        self.take_work()

    def submit(self, count: int) -> list[str]:
        """Submit jobs, every seventh of which has no answer and every eleventh of which is cancelled."""
        http, url = self.service.http, f"https://localhost:{self.port}/t0psecret"
        broken = {**TINY, "pinned": {"a": "nowhere"}}

        def ask(number: int) -> str:
            body = broken if number % 7 == 0 else TINY
            answer = http.post("/assign", json=body, headers={**LATER, "Webhook-URL": url}).raise_for_status()
            job_id = str(answer.json()["id"])
            if number % 11 == 0:
                http.delete(f"/jobs/{job_id}").raise_for_status()
            return job_id

        with ThreadPoolExecutor(4) as threads:
            return list(threads.map(ask, range(count)))

    def stop_receiving(self) -> None:
        """Take the receiver down."""
        self.receiver.close()
        self.received += self.receiver.received
        self.receiver.received = []

    def receive_again(self) -> None:
        """Bring it up again, where it was."""
        self.receiver = Receiver(self.certificate, self.port)

    def list_received(self) -> list[Received]:
        """Return all that has come by now."""
        return [*self.received, *self.receiver.received]

    def list_told(self) -> dict[str, set[str]]:
        """Return for each job the ids of the events that told of it."""
        found: dict[str, set[str]] = {}
        for got in self.list_received():
            found.setdefault(got.event["job"]["id"], set()).add(got.headers["webhook-id"])
        return found

    def list_ended(self, ids: list[str]) -> dict[str, str]:
        """Return how the jobs ended, those that have."""
        found, page = dict[str, str](), "/jobs?limit=100"
        while page:
            document: dict[str, Any] = self.service.http.get(page).raise_for_status().json()
            found |= {job["id"]: job["status"] for job in document["jobs"] if job["ended_s"] is not None}
            page = document["next"]
        return {job_id: found[job_id] for job_id in ids if job_id in found}


def ride_out(storm: Storm, count: int, limit_s: float) -> dict[str, object]:
    """Have jobs end while the server is killed twice and the receiver is down, and return what came of it."""
    begun_s = time.monotonic()
    ids = storm.submit(count)
    until(lambda: len(storm.list_told()) >= count // 10, limit_s)
    storm.stop_receiving()
    while_up = len(storm.received)
    storm.kill()
    until(lambda: len(storm.list_ended(ids)) >= count // 2, limit_s)
    storm.receive_again()
    until(lambda: len(storm.list_told()) >= count // 2, limit_s)
    # Those that are being sent when the server dies.
    storm.receiver.open.clear()
    known = len(storm.receiver.received)
    until(lambda: len(storm.receiver.received) > known, limit_s)
    storm.kill()
    storm.receiver.open.set()
    until(lambda: len(storm.list_told()) >= count, limit_s)
    until(lambda: not storm.service.http.get("/webhooks?status=pending&limit=1").json()["webhooks"], limit_s)
    statuses, told = storm.list_ended(ids), storm.list_told()
    assert set(told) == set(statuses) == set(ids)
    assert {len(events) for events in told.values()} == {1}
    assert len(storm.list_received()) > count
    for got in storm.list_received():
        event = verify_webhook(got.headers, got.body, SECRET, tolerance_s=1e6)
        assert event["event"] == f"job.{statuses[got.event['job']['id']]}"
    log = storm.service.log.read_text()
    assert not any(word in log for word in (SECRET, KEY, "t0psecret"))
    return {
        "jobs": count,
        "ended": dict(Counter(statuses.values())),
        "events": len(told),
        "requests": len(storm.list_received()),
        "of which before the first kill": while_up,
        "attempts that failed": log.count('"event": "webhook failed"'),
        "seconds": round(time.monotonic() - begun_s),
    }


@pytest.mark.slow
def test_no_kill_and_no_outage_loses_an_event(tmp_path: Path) -> None:
    """Every job is told of at least once, by one id and with how it ended, and nothing secret gets into the log."""
    with ExitStack() as stack:
        ride_out(Storm(stack, tmp_path), 60, 300)


@pytest.mark.slow
def test_a_server_that_is_told_to_end_waits_for_no_receiver(tmp_path: Path) -> None:
    """What it was sending is sent again by the next one at once, and not half a minute later as after a kill."""
    with ExitStack() as stack:
        storm = Storm(stack, tmp_path)
        storm.receiver.open.clear()
        storm.submit(2)
        until(lambda: len(storm.receiver.received) == 2, 60)
        assert storm.service.end() == 0
        storm.receiver.open.set()
        storm.service.start()
        storm.take_work()
        until(lambda: set(storm.receiver.count_events().values()) == {2}, 20)
        assert "tiger_webhooks_pending 0.0" in storm.service.http.get("/metrics").text


if __name__ == "__main__":
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        database = {"TIGER_DATABASE_URL": sys.argv[2]} if len(sys.argv) > 2 else {}
        sys.stdout.write(f"{ride_out(Storm(stack, folder, **database), int(sys.argv[1]), 1200)}\n")
