"""What the release before wrote: its reports are read, and its service's database is taken over."""

import json
import sqlite3
from pathlib import Path

import pytest

from tests.api.jobs.service import Service, until
from tiger.cli.app import run
from tiger.cli.explain import explain_text
from tiger.client.reports import read_report
from tiger.errors import InputError

OLD = Path(__file__).resolve().parent / "data" / "release-0.2.0"
REPORTS = sorted(OLD.glob("*.json"))


def add_missing(stated: object, read: object) -> object:
    """Return what is stated, with the members of objects that it lacks as they were read."""
    if isinstance(stated, list) and isinstance(read, list) and len(stated) == len(read):
        return [add_missing(*pair) for pair in zip(stated, read, strict=True)]
    if not (isinstance(stated, dict) and isinstance(read, dict)):
        return stated
    return read | {name: add_missing(value, read.get(name)) for name, value in stated.items()}


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_reports_of_the_release_before_are_read(path: Path) -> None:
    """With all that they state; what is new since has its default."""
    stated = json.loads(path.read_text(encoding="utf-8"))
    read = read_report(stated).to_dict()
    assert add_missing(stated, read) == read


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_reports_of_the_release_before_are_explained(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As those of now are."""
    assert run(["explain", str(path)]) == 0
    assert "What was found" in capsys.readouterr().out


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_members_that_were_always_there_are_asked_for(path: Path) -> None:
    """By name: a mapping that is missing is no mapping of nothing."""
    stated = json.loads(path.read_text(encoding="utf-8"))
    for name in stated.keys() - {"schema"}:
        damaged = json.dumps({other: value for other, value in stated.items() if other != name})
        with pytest.raises(InputError, match=f"^report/{name}: expected it, got none"):
            explain_text(damaged)


@pytest.mark.long
def test_the_database_of_the_release_before_is_taken_over(tmp_path: Path) -> None:
    """What had ended stays as it was, and what a killed server had begun is done."""
    database = sqlite3.connect(tmp_path / "tiger.sqlite")
    database.executescript((OLD / "jobs.sql").read_text(encoding="utf-8"))
    before = dict(database.execute("SELECT id, status FROM tiger_jobs").fetchall())
    database.close()
    service = Service(tmp_path, TIGER_RETENTION_DAYS="36500").ready()
    try:
        (begun,) = (name for name, status in before.items() if status == "running")
        until(lambda: service.statuses([begun]) == ["done"], 120)
        listed = {job["id"]: job["status"] for job in service.http.get("/jobs").json()["jobs"]}
        assert listed == before | {begun: "done"}
        for name in (name for name, status in listed.items() if status == "done"):
            assert read_report(service.http.get(f"/jobs/{name}").json()["report"]).seed in (0, 7)
    finally:
        service.close()
