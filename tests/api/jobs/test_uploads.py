"""Uploads beside jobs that a server works off: what a worker gets, and what waits for what."""

import asyncio
import hashlib
import json
import zlib
from asyncio import Runner

import pytest

from tiger.api.jobs.engine import DurableJobs
from tiger.api.seams.job import Job, JobOrder
from tiger.api.seams.upload import NewUpload, UploadInUseError


async def keep(jobs: DurableJobs, text: str) -> str:
    """Keep a text, and return its id."""
    content = text.encode()
    digest = hashlib.sha256(content).hexdigest()
    packed = zlib.compress(content)
    new = NewUpload(id=digest, owner="", name="a.csv", size=len(content), packed=packed)
    return (await jobs.uploads.insert(new))[0].id


async def submit(jobs: DurableJobs, upload: str, **asked: object) -> Job:
    """Submit a job that uses an upload."""
    body = json.dumps({"tasks": {"upload": upload}, **asked}).encode()
    return await jobs.submit(JobOrder(kind="assign", body=body, uploads=(upload,)))


async def wait(jobs: DurableJobs, job: Job) -> Job:
    """Return a job that has ended."""
    async with asyncio.timeout(60):
        async for seen in jobs.watch(job.id, ""):
            job = seen
    return job


def test_a_worker_gets_the_texts(loop: Runner, jobs: DurableJobs) -> None:
    """Of a job that refers to some, and of no other."""

    async def run() -> tuple[Job, Job]:
        upload = await keep(jobs, "a text\n")
        with_text = await wait(jobs, await submit(jobs, upload, n=1))
        without = await wait(jobs, await jobs.submit(JobOrder(kind="assign", body=b'{"n": 2}')))
        return with_text, without

    first, second = loop.run(run())
    assert json.loads(first.report or b"") == {"n": 1, "ended": False, "texts": ["a text\n"]}
    assert "texts" not in json.loads(second.report or b"")


def test_what_a_job_waits_for_is_not_deleted(loop: Runner, jobs: DurableJobs) -> None:
    """Until it has ended or is cancelled."""

    async def run() -> bool:
        upload = await keep(jobs, "another\n")
        job = await submit(jobs, upload, sleep=60, polite=True)
        with pytest.raises(UploadInUseError):
            await jobs.uploads.delete(upload, "")
        await jobs.cancel(job.id, "")
        await wait(jobs, job)
        return await jobs.uploads.delete(upload, "")

    assert loop.run(run())
