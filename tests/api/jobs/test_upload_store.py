"""Uploads as rows of both databases: the same text once, jobs that use it, and what is deleted when."""

import hashlib
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest
import sqlalchemy as sa

from tiger.api.jobs.claims import Claims, Outcome
from tiger.api.jobs.database import Database
from tiger.api.jobs.disk import DiskSpace
from tiger.api.jobs.migrations import BODIES, JOB_UPLOADS, JOBS, UPLOAD_TEXTS, UPLOADS
from tiger.api.jobs.store import Store
from tiger.api.jobs.upload_store import UploadStore
from tiger.api.jobs.usage import sum_kept
from tiger.api.seams.job import DiskFullError, Job, JobOrder, KeyReusedError
from tiger.api.seams.upload import NewUpload, UploadInUseError, UploadText
from tiger.errors import InputError


@pytest.fixture
def store(kept_tables: Database) -> UploadStore:
    """Return rows of which none is left from before."""
    with kept_tables.begin() as connection:
        for table in (JOB_UPLOADS, UPLOAD_TEXTS, UPLOADS, JOBS, BODIES):
            connection.execute(sa.delete(table))
    return UploadStore(kept_tables, 60.0)


def new(text: str = "a,b\n", owner: str = "me", name: str = "a.csv") -> NewUpload:
    """Return a text to be kept."""
    content = text.encode()
    digest = hashlib.sha256(content).hexdigest()
    return NewUpload(id=digest, owner=owner, name=name, size=len(content), packed=zlib.compress(content))


def submit(store: UploadStore, *ids: str, owner: str = "me") -> Job:
    """Submit a job that uses uploads."""
    body = " ".join(ids).encode()
    return Store(store.database, 99).insert(JobOrder(kind="assign", body=body, owner=owner, uploads=ids))[0]


def end(store: UploadStore) -> None:
    """Have the next job run, and end."""
    claims = Claims(store.database, "here")
    claim = claims.claim_next()
    assert claim is not None
    assert claims.finish(claim.lease, Outcome(status="done", report=b"{}"))


def count(store: UploadStore) -> list[int]:
    """Count uploads, texts and uses."""
    with store.database.read() as connection:
        queries = (sa.select(sa.func.count()).select_from(table) for table in (UPLOADS, UPLOAD_TEXTS, JOB_UPLOADS))
        return [int(connection.execute(query).scalar_one()) for query in queries]


def age(store: UploadStore, seconds: float) -> None:
    """Have all uploads last been used long ago."""
    with store.database.begin() as connection:
        connection.execute(sa.update(UPLOADS).values(used_s=UPLOADS.c.used_s - seconds))


def test_the_same_text_of_an_owner_is_one_upload(store: UploadStore) -> None:
    """It keeps its first name; another owner's is another."""
    first, fresh = store.insert(new())
    again, more = store.insert(new(name="b.csv"))
    assert (fresh, more, again.name, again.used_s >= first.used_s) == (True, False, "a.csv", True)
    assert replace(again, used_s=first.used_s) == first
    assert store.insert(new(owner="you"))[1]
    assert count(store) == [2, 2, 0]
    assert store.get(first.id, "them") is None
    assert store.read([first.id], "them") == store.list_names([first.id], "them") == {}
    assert not store.delete(first.id, "them")
    assert store.read([first.id, "0" * 64], "me") == {first.id: UploadText("a.csv", new().packed)}
    assert store.list_names([first.id], "me") == {first.id: UploadText("a.csv")}


def test_the_same_text_at_the_same_moment_is_one_upload(store: UploadStore) -> None:
    """One of the requests has made it, and none fails."""
    with ThreadPoolExecutor(6) as threads:
        found = list(threads.map(lambda _: store.insert(new()), range(12)))
    assert [fresh for _, fresh in found].count(True) == 1
    assert count(store) == [1, 1, 0]


def test_pages_have_each_upload_once(store: UploadStore) -> None:
    """The newest first."""
    ids = [store.insert(new(str(k)))[0].id for k in range(5)]
    store.insert(new(owner="you"))
    first, cursor = store.page("me", None, 2)
    second, following = store.page("me", cursor, 2)
    third, last = store.page("me", following, 2)
    assert sorted(each.id for each in (*first, *second, *third)) == sorted(ids)
    assert (first[0].created_s >= third[0].created_s, len(third), last) == (True, 1, None)
    with pytest.raises(InputError, match="after: expected the cursor of a page"):
        store.page("me", "x", 2)


def test_bytes_are_those_that_are_kept(store: UploadStore) -> None:
    """Compressed, of one owner."""
    texts = ["a" * 1000, "b" * 2000]
    kept = [store.insert(new(text))[0].kept for text in texts]
    store.insert(new(owner="you"))
    assert sum(kept) < 100
    with store.database.read() as connection:
        assert (sum_kept(connection, "me"), sum_kept(connection, "nobody")) == (sum(kept), 0)


def test_an_upload_that_a_job_waits_for_stays(store: UploadStore) -> None:
    """Until the job has ended; what it used is told until it is purged."""
    upload = store.insert(new())[0].id
    job = submit(store, upload)
    found = store.get(upload, "me")
    assert found is not None
    assert found.jobs == 1
    assert store.read_of_job(job.id) == {upload: UploadText("a.csv", new().packed)}
    with pytest.raises(UploadInUseError):
        store.delete(upload, "me")
    age(store, 61.0)
    assert store.delete_expired() == 0
    end(store)
    assert store.delete(upload, "me")
    assert (count(store), store.read_of_job(job.id)) == ([0, 0, 1], {})
    assert Store(store.database, 9).purge(job.id, "me")
    assert count(store) == [0, 0, 0]


def test_what_nobody_has_used_for_long_is_deleted(store: UploadStore) -> None:
    """To upload it again, or to submit a job, is to use it."""
    old, again, asked = (store.insert(new(text))[0].id for text in "abc")
    age(store, 61.0)
    store.insert(new("b"))
    submit(store, asked)
    end(store)
    assert (store.delete_expired(), store.delete_expired()) == (1, 0)
    assert set(store.list_names([old, again, asked], "me")) == {again, asked}


def test_old_jobs_free_what_they_used(store: UploadStore) -> None:
    """As purged ones do."""
    upload = store.insert(new())[0].id
    job = submit(store, upload)
    end(store)
    Store(store.database, 9).delete([job.id])
    assert count(store) == [1, 1, 0]


def test_a_job_is_not_kept_whose_upload_is_gone(store: UploadStore) -> None:
    """Nor is anything else of it."""
    kept = store.insert(new())[0].id
    with pytest.raises(InputError, match="upload: expected uploads that are kept, got 0000"):
        submit(store, "0" * 64, kept)
    with pytest.raises(InputError):
        submit(store, kept, owner="you")
    assert (count(store), Store(store.database, 9).waiting()) == ([1, 1, 0], 0)


def test_a_job_is_known_by_its_key(store: UploadStore) -> None:
    """With the same body, whatever has become of its uploads."""
    upload, jobs = store.insert(new())[0].id, Store(store.database, 9)
    order = JobOrder(kind="assign", body=b"{}", owner="me", key="k", uploads=(upload,))
    assert jobs.find(order) is None
    jobs.insert(order)
    end(store)
    store.delete(upload, "me")
    assert jobs.find(order) is not None
    assert not jobs.insert(order)[1]
    assert jobs.find(replace(order, owner="you")) is None
    with pytest.raises(KeyReusedError):
        jobs.find(replace(order, body=b"[]"))


def test_an_upload_is_either_deleted_or_used(store: UploadStore) -> None:
    """Whoever comes first of two at the same moment, a job that is kept has its texts."""
    for number in range(8):
        upload = store.insert(new(str(number)))[0].id
        together = Barrier(2)

        def use(upload: str = upload, together: Barrier = together) -> bool:
            together.wait()
            try:
                return bool(submit(store, upload))
            except InputError:
                return False

        def drop(upload: str = upload, together: Barrier = together) -> bool:
            together.wait()
            try:
                return store.delete(upload, "me")
            except UploadInUseError:
                return False

        with ThreadPoolExecutor(2) as threads:
            used, dropped = threads.submit(use), threads.submit(drop)
        assert used.result() != dropped.result()
        assert (store.get(upload, "me") is not None) == used.result()


def test_a_full_disk_takes_no_upload(store: UploadStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is reserved is for the ends of jobs."""

    def refuse(_: DiskSpace, size: int) -> None:
        raise DiskFullError(str(size))

    if store.database.disk is None:
        pytest.skip("PostgreSQL looks after its own disk")
    monkeypatch.setattr(DiskSpace, "require", refuse)
    with pytest.raises(DiskFullError):
        store.insert(new())
    assert count(store) == [0, 0, 0]
