"""Tests of the command that looks at the machine."""

import json
import logging
import os
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from tiger.api.seams.job import DatabaseDownError
from tiger.cli import diagnosis
from tiger.cli.app import run
from tiger.cli.diagnosis import Diagnosis, Finding
from tiger.errors import InputError
from tiger.solvers.kernel import UncompiledError
from tiger.solvers.kernel_folders import REMEDY, Place

NOWHERE = "cannot be written to: /opt/kernels"
Doctor = Callable[[], tuple[int, dict[str, dict[str, object]]]]


@pytest.fixture
def doctor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Doctor:
    """Return a function that looks at a machine without D-Wave's software, and at two groups of kernels."""
    for name in ("TIGER_DATABASE_URL", "TIGER_API_KEYS", "DWAVE_API_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TIGER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setattr("tiger.cli.warm.stages_of", lambda _: [("dense", bool), ("ring", bool)])
    monkeypatch.setattr("tiger.solvers.samplers.cloud.find_token", bool)

    def look() -> tuple[int, dict[str, dict[str, object]]]:
        status = run(["doctor", "--json", "-"])
        document = json.loads(capsys.readouterr().out)
        assert document["schema"] == "tiger.doctor/1"
        assert document["good"] is (status == 0)
        return status, {finding["name"]: finding for finding in document["findings"]}

    return look


def test_a_machine_on_which_all_works(doctor: Doctor) -> None:
    """Versions, kernels, solvers, database, processors and memory."""
    status, found = doctor()
    assert status == 0
    assert found["kernels"]["value"] == "2 of 2 groups compiled"
    assert {"python", "tiger", "numba", "qiskit", "matplotlib", "solvers", "processors", "memory"} <= set(found)
    assert "neal" in str(found["solvers"]["value"])
    assert found["database"]["good"] is True


def test_kernels_that_are_not_compiled_are_named(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are no fault, as the first use compiles them; nothing is compiled here."""

    def load() -> None:
        raise UncompiledError

    monkeypatch.setattr("tiger.cli.warm.stages_of", lambda _: [("dense", bool), ("ring", load)])
    status, found = doctor()
    assert (status, found["kernels"]["value"], found["kernels"]["good"]) == (0, "1 of 2 groups compiled", False)
    assert found["kernels"]["advice"] == "tiger warm, or the first use compiles: ring"


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [True, False])
def test_bug_a_kernel_cache_that_cannot_be_written_to_is_told(
    compiled: object, doctor: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the remedy where kernels are missing; where all are there, nothing has to be written."""

    def load() -> None:
        if not compiled:
            raise UncompiledError

    place = Place(folder=None, unwritable=(Path("/opt/kernels"),), lasts=False)
    monkeypatch.setattr("tiger.solvers.kernel_folders.find_place", lambda: place)
    monkeypatch.setattr("tiger.cli.warm.stages_of", lambda _: [("ring", load)])
    _, found = doctor()
    assert (found["kernel cache"]["value"], found["kernel cache"]["good"]) == (NOWHERE, bool(compiled))
    assert found["kernel cache"]["advice"] == ("" if compiled else REMEDY)
    assert found["kernels"]["advice"] == ("" if compiled else "the first use compiles: ring")


def test_a_package_that_is_missing_is_a_fault_where_it_is_needed(
    doctor: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And is not where an extra has it; both say how to get it."""

    def look_up(package: str) -> str:
        if package in ("qiskit", "matplotlib"):
            raise PackageNotFoundError
        return "1.0"

    monkeypatch.setattr(diagnosis, "version", look_up)
    status, found = doctor()
    assert status == 1
    assert (found["qiskit"]["needed"], found["qiskit"]["advice"]) == (True, "pip install tiger-mapper")
    assert (found["matplotlib"]["needed"], found["matplotlib"]["advice"]) == (False, "pip install 'tiger-mapper[plot]'")


def test_a_package_that_was_not_installed_is_noted(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs from its source, and versions of what it needs are not known."""

    def fail(_: str) -> None:
        raise PackageNotFoundError

    monkeypatch.setattr(diagnosis, "requires", fail)
    status, found = doctor()
    assert (status, found["tiger-mapper"]["value"]) == (0, "run from its source")


def test_bug_looking_leaves_the_log_as_it_was(doctor: Doctor) -> None:
    """A program that runs the command afterwards heard no warning of TIGER any more."""
    level = logging.getLogger("tiger").level
    doctor()
    assert logging.getLogger("tiger").level == level


@pytest.mark.parametrize(("token", "value"), [(True, "set"), (False, "not set")])
def test_the_token_is_never_shown(token: object, value: str, doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether there is one is all that is said."""
    monkeypatch.setenv("DWAVE_API_TOKEN", "DEV-secret")
    monkeypatch.setattr("tiger.solvers.samplers.cloud.find_token", lambda: bool(token))
    status, found = doctor()
    assert (status, found["D-Wave's token"]["value"]) == (0, value)
    assert "secret" not in json.dumps(found)


def test_without_dwaves_software_the_extra_is_named(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not needed."""

    def fail() -> bool:
        raise InputError("solver", "D-Wave's software is not installed: pip install 'tiger-mapper[dwave]'")

    monkeypatch.setattr("tiger.solvers.samplers.cloud.find_token", fail)
    status, found = doctor()
    assert status == 0
    assert "pip install 'tiger-mapper[dwave]'" in str(found["D-Wave's solvers"]["advice"])


def test_a_setting_that_cannot_be_used_is_a_fault(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the server would not start with it."""
    monkeypatch.setenv("TIGER_WORKERS", "none")
    status, found = doctor()
    assert (status, found["TIGER_WORKERS"]["value"]) == (1, "cannot be used")


def test_misspelt_variables_are_named(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the nearest there is, and those that are set."""
    monkeypatch.setenv("TIGER_MAX_TASK", "5")
    status, found = doctor()
    assert (status, found["TIGER_MAX_TASK"]["advice"]) == (0, "did you mean TIGER_MAX_TASKS?")
    assert found["variables"]["value"] == "TIGER_DATA_DIR"


def test_a_folder_that_cannot_be_written_is_a_fault(
    doctor: Doctor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The jobs of a service would have no place; nothing is made to find that out."""
    monkeypatch.setattr("os.access", lambda *_: False)
    status, found = doctor()
    assert (status, found["database"]["good"]) == (1, False)
    assert "TIGER_DATA_DIR" in str(found["database"]["advice"])
    assert list(tmp_path.iterdir()) == []


class Store:
    """Stand for a database that does not answer, or does."""

    down = False

    def __init__(self, url: str) -> None:
        assert url == "postgresql://me:secret@host/jobs"

    def read(self) -> "Store":
        """Return the connection."""
        if self.down:
            raise DatabaseDownError
        return self

    def __enter__(self) -> None:
        """Connect."""

    def __exit__(self, *_: object) -> None:
        """Disconnect."""

    def close(self) -> None:
        """Close all connections."""


@pytest.mark.parametrize("down", [True, False])
def test_a_database_is_asked(down: object, doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its password is not shown."""
    monkeypatch.setenv("TIGER_DATABASE_URL", "postgresql://me:secret@host/jobs")
    monkeypatch.setattr(Store, "down", down)
    monkeypatch.setattr("tiger.api.jobs.database.Database", Store)
    status, found = doctor()
    assert status == int(bool(down))
    assert found["database"]["value"] == f"PostgreSQL, {'no answer' if down else 'answers'}"
    assert "secret" not in json.dumps(found)


def test_bug_a_folder_that_may_not_be_looked_into_is_a_fault(
    doctor: Doctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asking for what is inside raises then, which is no end of the command."""
    locked, own = tmp_path / "locked", Path.stat

    def refuse(path: Path, **options: bool) -> os.stat_result:
        if locked in path.parents:
            raise PermissionError
        return own(path, **options)

    locked.mkdir()
    monkeypatch.setenv("TIGER_DATA_DIR", str(locked / "data"))
    monkeypatch.setattr(Path, "stat", refuse)
    monkeypatch.setattr(os, "access", lambda path, _: path == tmp_path)
    status, found = doctor()
    assert (status, found["database"]["good"]) == (1, False)


def test_a_table_says_what_to_do(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Faults come first, then a row for each finding."""
    findings = (Finding(name="one", value="1"), Finding(name="two", value="no", good=False, advice="get it"))
    fault = Finding(name="three", value="no", good=False, needed=True, advice="get that")
    monkeypatch.setattr("tiger.cli.diagnosis.diagnose", lambda: Diagnosis(findings=(*findings, fault)))
    assert run(["doctor"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "faults: three"
    assert [line.split() for line in lines[3:]] == [
        ["one", "1", "ok"],
        ["two", "no", "note", "get", "it"],
        ["three", "no", "fault", "get", "that"],
    ]


def test_a_driver_of_the_database_that_is_missing_is_a_fault(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever names PostgreSQL needs its extra, and is told how to get it."""
    monkeypatch.setenv("TIGER_DATABASE_URL", "postgresql://me@nowhere/tiger")
    monkeypatch.setitem(sys.modules, "psycopg", None)
    status, found = doctor()
    assert (status, found["TIGER_DATABASE_URL"]["good"]) == (1, False)
    assert found["TIGER_DATABASE_URL"]["advice"] == "expected psycopg: pip install 'tiger-mapper[postgres]'"
