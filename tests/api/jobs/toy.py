"""A solve that does as its body says, and a server of nothing but jobs: `toy.py DATA_DIR [DATABASE_URL]`."""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from tiger.api.jobs.engine import DurableJobs
from tiger.api.jobs.settings import JobSettings
from tiger.api.middleware import log
from tiger.api.pool import processes as workers
from tiger.api.pool.processes import Workers
from tiger.api.seams.files import Draft, Solution
from tiger.api.seams.upload import NO_UPLOADS, UploadText
from tiger.errors import InputError
from tiger.run.deadline import ENDING
from tiger.run.progress import Progress


def solve(
    kind: str, body: bytes, tell: Callable[[Progress], None], uploads: Mapping[str, UploadText] = NO_UPLOADS
) -> Solution:
    """Use a processor or sleep, telling of it, or die or fail, and append `n` to the file `log`, as the body says."""
    asked = json.loads(body)
    if "child" in asked and (child := os.fork()):
        os.waitpid(child, 0)
    elif "child" in asked:
        _burn(asked["child"])
        os._exit(0)
    _burn(asked.get("burn", 0))
    if "fault" in asked:
        {"die": os._exit, "bad": _bad, "bug": int}[asked["fault"]]("x" if asked["fault"] == "bug" else 9)
    end_s = time.monotonic() + asked.get("sleep", 0)
    while time.monotonic() < end_s and not (asked.get("polite") and ENDING.is_set()):
        tell(Progress("toy", None, 7.0, 6.0))
        time.sleep(0.01)
    if "log" in asked:
        with Path(asked["log"]).open("a", encoding="ascii") as log:
            log.write(f"{asked['n']}\n")
    texts = {"texts": [text.unpack() for text in uploads.values()]} if uploads else {}
    report = json.dumps({"n": asked.get("n"), "ended": ENDING.is_set(), **texts}).encode()
    return Solution(
        report, [Draft(name, "", "text/plain", partial(_write, what)) for name, what in asked.get("files", {}).items()]
    )


def _burn(seconds: float) -> None:
    """Use so many seconds of a processor."""
    end_s = time.process_time() + seconds
    while time.process_time() < end_s:
        pass


def _write(what: str) -> str:
    """Return a text, in good time or not, or come to grief over it."""
    match what:
        case "die":
            os._exit(9)
        case "hang" | "slow":
            time.sleep(60 if what == "hang" else 2.5)
        case "bug":
            int(what)
    return what


def _bad(_: int) -> None:
    """Find fault with the body."""
    raise InputError("tasks", "expected others")


async def _serve(data_dir: Path, url: str | None) -> None:
    """Work off jobs until told to end."""
    pool = Workers(2)
    jobs = DurableJobs(JobSettings(data_dir=data_dir, database_url=url, dead_s=6, beat_s=1, reap_s=2), pool, solve)
    await jobs.start()
    done = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, done.set)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await done.wait()
    await jobs.stop()
    await pool.stop()


if __name__ == "__main__":
    log.configure()
    workers.PRELOADED[1:-1] = ["toy"]
    asyncio.run(_serve(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None))
