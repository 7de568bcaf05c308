"""Rebalancers as rows of both databases: keys, steps at the same time, limits, and what expires."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tiger.api.jobs.database import Database
from tiger.api.jobs.disk import DiskSpace
from tiger.api.jobs.migrations import ANSWERS, BODIES, REBALANCERS
from tiger.api.jobs.rebalancer_store import KEPT_ANSWERS, RebalancerStore
from tiger.api.seams.job import DatabaseDownError, DiskFullError, KeyReusedError
from tiger.api.seams.quota import RebalancersFullError
from tiger.api.seams.rebalancer import NewRebalancer, RebalancerStep, StoredRebalancer

GONE = StoredRebalancer(id="1", owner="", body=b"", state=b"", steps=0, created_s=0.0, expires_s=0.0)
NEW = NewRebalancer(body=b"{}", state=b'{"n": 0}')


@pytest.fixture
def store(kept_tables: Database) -> RebalancerStore:
    """Return rows of which none is left from before."""
    with kept_tables.begin() as connection:
        for table in (ANSWERS, BODIES, REBALANCERS):
            connection.execute(sa.delete(table))
    return RebalancerStore(kept_tables, 4, 60.0)


class Vast(bytes):
    """Be larger than any disk."""

    def __len__(self) -> int:
        """Return an exabyte."""
        return 1 << 60


def step(before: StoredRebalancer, body: bytes = b"1", key: str | None = None) -> RebalancerStep:
    """Return a step."""
    return RebalancerStep(before=before, body=body, answer=b"answer to " + body, state=b'{"n": ' + body + b"}", key=key)


def count(store: RebalancerStore) -> list[int]:
    """Count rebalancers, bodies and answers."""
    with store.database.read() as connection:
        queries = (sa.select(sa.func.count()).select_from(table) for table in (REBALANCERS, BODIES, ANSWERS))
        return [int(connection.execute(query).scalar_one()) for query in queries]


def age(store: RebalancerStore, seconds: float) -> None:
    """Make all rebalancers so many seconds older."""
    with store.database.begin() as connection:
        connection.execute(sa.update(REBALANCERS).values(used_s=REBALANCERS.c.used_s - seconds))


def test_a_rebalancer_is_found_again_by_its_owner(store: RebalancerStore) -> None:
    """And by nobody else."""
    kept = store.insert(replace(NEW, owner="a"))
    assert store.get(kept.id, "a") == kept
    assert kept.steps == 0
    assert kept.expires_s - kept.created_s == pytest.approx(60)
    assert (store.get(kept.id, "b"), store.get("x", "a"), store.delete(kept.id, "b")) == (None, None, False)


def test_a_step_changes_the_state(store: RebalancerStore) -> None:
    """And puts the end off."""
    kept = store.insert(NEW)
    age(store, 10)
    assert store.take_step(step(kept))
    found = store.get(kept.id, "")
    assert found is not None
    assert (found.state, found.steps, found.body) == (b'{"n": 1}', 1, b"{}")
    assert found.expires_s >= kept.expires_s


def test_of_two_steps_from_one_state_the_second_is_refused(store: RebalancerStore) -> None:
    """Nothing of it is kept."""
    kept = store.insert(NEW)
    assert store.take_step(step(kept, key="a"))
    assert not store.take_step(step(kept, b"2", key="b"))
    assert store.find_answer(kept.id, "b", b"2") is None
    assert (store.get(kept.id, "") or kept).state == b'{"n": 1}'


def test_of_many_steps_at_the_same_time_one_is_taken(store: RebalancerStore) -> None:
    """Whoever it is."""
    kept = store.insert(NEW)
    steps = [step(kept, str(k).encode(), f"k{k}") for k in range(8)]
    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(store.take_step, steps))
    assert sorted(taken) == [False] * 7 + [True]
    assert (store.get(kept.id, "") or kept).state == steps[taken.index(True)].state
    assert count(store) == [1, 1, 1]


@pytest.mark.slow
def test_the_answer_to_a_key_is_kept(store: RebalancerStore) -> None:
    """For the same body alone, and until a hundred other steps have come."""
    kept = store.insert(NEW)
    assert store.take_step(step(kept, key="a"))
    assert store.find_answer(kept.id, "a", b"1") == b"answer to 1"
    with pytest.raises(KeyReusedError):
        store.find_answer(kept.id, "a", b"2")
    for number in range(1, KEPT_ANSWERS + 1):
        assert store.find_answer(kept.id, "a", b"1") is not None
        assert store.take_step(step(replace(kept, steps=number)))
    assert (store.find_answer(kept.id, "a", b"1"), count(store)) == (None, [1, 1, 0])


def test_one_key_makes_one_rebalancer(store: RebalancerStore) -> None:
    """Also at the same time; another owner may use it, and another body may not."""
    keyed = replace(NEW, key="k")
    with ThreadPoolExecutor(4) as pool:
        kept = {each.id for each in pool.map(store.insert, [keyed] * 4)}
    found = store.find("", "k", b"{}")
    assert found is not None
    assert kept == {found.id}
    assert store.find("a", "k", b"{}") is None
    with pytest.raises(KeyReusedError):
        store.find("", "k", b"[]")
    with pytest.raises(KeyReusedError):
        store.insert(replace(keyed, body=b"[]"))


def test_no_owner_may_have_more_than_half(store: RebalancerStore) -> None:
    """And all together no more than there may be; one that is deleted makes room."""
    kept = [store.insert(replace(NEW, owner="a")) for _ in range(2)]
    with pytest.raises(RebalancersFullError):
        store.insert(replace(NEW, owner="a"))
    for _ in range(2):
        store.insert(replace(NEW, owner="b"))
    with pytest.raises(RebalancersFullError):
        store.insert(replace(NEW, owner="c"))
    assert store.delete(kept[0].id, "a")
    store.insert(replace(NEW, owner="c"))


def test_what_has_expired_is_gone(store: RebalancerStore) -> None:
    """It is not found, takes no step, and holds neither its key nor its place, before it is deleted."""
    old = [store.insert(replace(NEW, key=f"k{k}")) for k in range(4)]
    age(store, 61)
    assert (store.get(old[0].id, ""), store.find("", "k0", b"{}"), store.delete(old[0].id, "")) == (None, None, False)
    assert store.insert(replace(NEW, key="k0")).id not in {each.id for each in old}
    assert count(store) == [1, 1, 0]


@pytest.mark.parametrize("seconds", [0.0, 61.0])
def test_all_of_a_rebalancer_is_deleted(store: RebalancerStore, seconds: float) -> None:
    """By its owner, or when it has expired."""
    kept = store.insert(NEW)
    store.take_step(step(kept, key="a"))
    age(store, seconds)
    assert store.delete_expired() + store.delete(kept.id, "") == 1
    assert count(store) == [0, 0, 0]


def test_a_full_disk_takes_no_step(store: RebalancerStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it takes no jobs; what there is can be deleted."""
    kept = store.insert(NEW)
    monkeypatch.setattr(store.database, "disk", DiskSpace(tmp_path / "rows", 0))
    with pytest.raises(DiskFullError):
        store.take_step(replace(step(kept), answer=Vast()))
    assert store.delete(kept.id, "")


def test_bug_a_lost_disk_takes_no_step(store: RebalancerStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a lost database takes none: it was an error of the service."""
    monkeypatch.setattr(store.database, "disk", DiskSpace(tmp_path / "gone" / "rows", 0))
    with pytest.raises(DatabaseDownError):
        store.take_step(step(GONE))


def test_bug_a_key_whose_rebalancer_is_deleted_meanwhile_makes_another(
    store: RebalancerStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was taken when this one was inserted, and free when that was looked for."""
    insert, tries = RebalancerStore._insert, itertools.count()

    def insert_late(*args: Any) -> StoredRebalancer:
        if next(tries) == 0:
            raise sa.exc.IntegrityError("", {}, Exception())
        return insert(*args)

    monkeypatch.setattr(RebalancerStore, "_insert", insert_late)
    assert store.insert(replace(NEW, key="k")).steps == 0
