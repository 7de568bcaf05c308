"""Comparisons as rows of both databases: with their new jobs or not at all, by their key, and what expires."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import sqlalchemy as sa

from tiger.api.jobs.comparison_store import ComparisonStore
from tiger.api.jobs.database import Database
from tiger.api.jobs.migrations import BODIES, COMPARISONS, JOBS, KEPT
from tiger.api.jobs.store import Store
from tiger.api.jobs.usage import sum_kept
from tiger.api.seams.comparison import NewComparison, NewEntry
from tiger.api.seams.job import JobOrder, JobTerms, KeyReusedError
from tiger.api.seams.quota import QueueFullError, QuotaExceededError, Quotas
from tiger.errors import InputError


@pytest.fixture
def jobs(kept_tables: Database) -> Store:
    """Return jobs of which none is left from before, and four of which may wait."""
    with kept_tables.begin() as connection:
        for table in (COMPARISONS, BODIES, JOBS, KEPT):
            connection.execute(sa.delete(table))
    return Store(kept_tables, 4)


@pytest.fixture
def store(kept_tables: Database, jobs: Store) -> ComparisonStore:
    """Return comparisons of which none is left from before, either."""
    return ComparisonStore(kept_tables, jobs.add, 60.0)


def new(count: int, key: str | None = None, body: bytes = b"{}") -> NewComparison:
    """Return a comparison of some new jobs."""
    order = JobOrder(kind="plan", body=b"[]", terms=JobTerms(tags=("a",)))
    entries = tuple(NewEntry(label=f"{k}", job=order, request={"seed": k}) for k in range(count))
    return NewComparison(body=body, kind="plan", entries=entries, key=key)


def count(kept_tables: Database) -> list[int]:
    """Count comparisons, jobs and bodies."""
    with kept_tables.read() as connection:
        queries = (sa.select(sa.func.count()).select_from(table) for table in (COMPARISONS, JOBS, BODIES))
        return [int(connection.execute(query).scalar_one()) for query in queries]


def test_a_comparison_is_kept_with_its_new_jobs(store: ComparisonStore, jobs: Store) -> None:
    """And found by its owner alone; to forget it leaves the jobs."""
    known, _ = jobs.insert(JobOrder(kind="plan", body=b"{}"))
    asked = new(2)
    kept = store.insert(replace(asked, entries=(*asked.entries, NewEntry(label="x", job=known.id, request=None))))
    assert store.get(kept.id, "") == kept
    assert (store.get(kept.id, "me"), store.get("x", ""), store.delete(kept.id, "me")) == (None, None, False)
    first, _, last = kept.entries
    assert (last.job, last.request, first.request) == (known.id, None, {"seed": 0})
    job = jobs.get(first.job, "")
    assert job is not None
    assert (job.kind, job.status, job.terms.tags, jobs.get_body(job.id, "")) == ("plan", "queued", ("a",), b"[]")
    assert (jobs.get_body(job.id, "me"), jobs.get_body("x", "")) == (None, None)
    assert [store.delete(kept.id, "") for _ in range(2)] == [True, False]
    assert count(store.database) == [0, 3, 3]


def test_all_new_jobs_are_kept_or_none(store: ComparisonStore) -> None:
    """Where there is room for some of them only, nothing of the comparison is left."""
    store.insert(new(2))
    with pytest.raises(QueueFullError) as refused:
        store.insert(new(3))
    assert (refused.value.used, refused.value.limit) == (2, 4)
    assert count(store.database) == [1, 2, 2]


def test_the_same_key_at_once_is_one_comparison_and_one_set_of_jobs(store: ComparisonStore) -> None:
    """Whoever comes second is given the first; another body is refused, and a key that was forgotten is free."""
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: store.insert(new(2, "k")), range(4)))
    assert found == [found[0]] * 4
    assert count(store.database) == [1, 2, 2]
    assert store.find("", "k", b"{}") == found[0]
    assert store.find("me", "k", b"{}") is None
    with pytest.raises(KeyReusedError):
        store.insert(new(2, "k", b"[]"))
    store.delete(found[0].id, "")
    assert store.insert(new(2, "k", b"[]")).id != found[0].id


def test_a_page_begins_where_the_last_one_ended(store: ComparisonStore) -> None:
    """The newest come first, whatever is forgotten meanwhile."""
    ids = [store.insert(new(0)).id for _ in range(3)][::-1]
    first, cursor = store.page("", None, 2)
    assert [each.id for each in first] == ids[:2]
    store.delete(ids[1], "")
    rest, end = store.page("", cursor, 2)
    assert ([each.id for each in rest], end, store.page("me", None, 2)) == (ids[2:], None, ((), None))
    with pytest.raises(InputError, match="after: expected the cursor of a page"):
        store.page("", "x", 2)


def test_bug_what_is_kept_of_comparisons_counts(store: ComparisonStore) -> None:
    """Of jobs that there are, too, so that nobody fills the disk with them; to forget one makes room."""
    few = replace(store, quotas_of=lambda _: Quotas(kept_bytes=1))
    entries = (NewEntry(label="x", job="0" * 32, request=None),) * 2
    asked = replace(new(0), entries=entries, owner="kept")
    for _ in range(2):
        first = few.insert(asked)
        with pytest.raises(QuotaExceededError, match="kept_bytes"):
            few.insert(asked)
        assert few.delete(first.id, "kept")
    few.insert(asked)
    assert replace(few, keep_s=-1.0).delete_expired() == 1
    few.insert(asked)


def test_what_is_older_than_jobs_are_kept_is_forgotten(store: ComparisonStore) -> None:
    """The jobs go by their own age."""
    old, young = store.insert(new(1)), store.insert(new(1))
    with store.database.begin() as connection:
        older = sa.update(COMPARISONS).where(COMPARISONS.c.id == old.id)
        connection.execute(older.values(created_s=COMPARISONS.c.created_s - 61))
    assert [store.delete_expired() for _ in range(2)] == [1, 0]
    assert (store.get(old.id, ""), store.get(young.id, "")) == (None, young)
    assert count(store.database) == [1, 2, 2]


def test_a_comparison_counts_among_what_its_owner_keeps(store: ComparisonStore, jobs: Store) -> None:
    """Also one of jobs that there are, which adds nothing else, and until it is deleted or expires."""
    ended, _ = jobs.insert(JobOrder(kind="plan", body=b"{}"))
    jobs.cancel(ended.id, "")
    asked = NewComparison(body=b"", kind="plan", entries=(NewEntry(label="a", job=ended.id, request={"seed": 1}),))

    def kept() -> int:
        with store.database.read() as connection:
            return sum_kept(connection, "")

    assert kept() == 0
    first = store.insert(asked)
    with store.database.read() as connection:
        assert kept() == connection.execute(sa.select(sa.func.length(COMPARISONS.c.entries))).scalar_one() > 0
    full = replace(store, quotas_of=lambda _: Quotas(kept_bytes=10, processor_s_per_day=1e-9))
    with pytest.raises(QuotaExceededError, match="kept_bytes"):
        full.insert(asked)
    assert count(store.database)[0] == 1
    store.delete(first.id, "")
    assert kept() == 0
    store.insert(asked)
    assert replace(store, keep_s=-1.0).delete_expired() == 1
    assert kept() == 0
