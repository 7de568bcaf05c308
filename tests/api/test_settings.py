"""The settings of the service."""

import os
import sys
from pathlib import Path

import pytest

from tiger.api.settings import Settings, load, rows
from tiger.errors import InputError


def test_the_defaults_bound_bodies_tasks_and_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without variables the documented limits hold."""
    for name in Settings.model_fields:
        monkeypatch.delenv(f"TIGER_{name.upper()}", raising=False)
    settings = load()
    assert (settings.max_body_bytes, settings.max_tasks, settings.max_time_s) == (4_194_304, 4096, 60.0)
    assert (settings.workers, settings.max_qubits) == (os.cpu_count(), 1200)
    assert not settings.enable_dwave


def test_a_variable_replaces_a_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """`TIGER_WORKERS` sets the workers, and `TIGER_ENABLE_DWAVE` opens D-Wave's solvers."""
    monkeypatch.setenv("TIGER_WORKERS", "3")
    monkeypatch.setenv("TIGER_ENABLE_DWAVE", "1")
    assert (load().workers, load().enable_dwave) == (3, True)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TIGER_WORKERS", "many"),
        ("TIGER_WORKERS", "0"),
        ("TIGER_MAX_TASKS", "-1"),
        ("TIGER_MAX_QUBITS", "0"),
        ("TIGER_MAX_BODY_BYTES", "1.5"),
        ("TIGER_MAX_TIME_S", "inf"),
        ("TIGER_MAX_TIME_S", "0"),
        ("TIGER_ENABLE_DWAVE", "perhaps"),
        ("TIGER_MAX_EDGES", "0"),
        ("TIGER_MAX_GATES", "0"),
        ("TIGER_MAX_COUPLERS", "0"),
        ("TIGER_MAX_JOBS", "0"),
        ("TIGER_MAX_MEMORY_BYTES", "1000000"),
        ("TIGER_MAX_WAIT_S", "nan"),
        ("TIGER_MAX_CONCURRENT", "0"),
        ("TIGER_RETENTION_DAYS", "0"),
        ("TIGER_RATE", "often"),
        ("TIGER_EXECUTOR", "dask:here"),
        ("TIGER_CORS_ORIGINS", r"\*"),
        ("TIGER_CORS_ORIGINS", "https://a.example/"),
        ("TIGER_WEBHOOK_HOSTS", "https://a.example"),
        ("TIGER_WEBHOOK_HOSTS", "127.0.0.1"),
        ("TIGER_WEBHOOK_NETWORKS", "inside"),
    ],
)
def test_a_bad_variable_is_named_with_its_value(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """A value out of bounds or of another type is bad input."""
    monkeypatch.setenv(name, value.replace("\\", ""))
    with pytest.raises(InputError, match=f"{name}: .*{value}"):
        load()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TIGER_API_KEYS", "secret"),
        ("TIGER_DATABASE_URL", "mysql://me:secret@host/db"),
        ("TIGER_DATABASE_URL", "secret"),
    ],
)
def test_a_bad_secret_is_named_without_its_value(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """Neither a key nor a password gets into a message."""
    monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=f"{name}: expected") as refusal:
        load()
    assert "secret" not in str(refusal.value)


def test_data_lie_where_the_desktop_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """An absolute XDG_DATA_HOME counts, a relative one does not."""
    monkeypatch.delenv("TIGER_DATA_DIR", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert load().data_dir == Path("/data/tiger")
    monkeypatch.setenv("XDG_DATA_HOME", "data")
    assert load().data_dir == Path.home() / ".local/share/tiger"


def test_jobs_are_in_the_data_folder_unless_a_database_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The default is a SQLite file."""
    monkeypatch.delenv("TIGER_DATABASE_URL", raising=False)
    monkeypatch.setenv("TIGER_DATA_DIR", str(tmp_path))
    assert load().store_url == f"sqlite:///{tmp_path}/tiger.sqlite"
    monkeypatch.setenv("TIGER_DATABASE_URL", "postgresql://u:p@host/tiger")
    assert load().store_url == "postgresql://u:p@host/tiger"


def test_a_file_is_no_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The variable is named."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("TIGER_DATA_DIR", str(tmp_path / "file"))
    with pytest.raises(InputError, match="TIGER_DATA_DIR: expected a folder"):
        load()


@pytest.mark.parametrize("name", ["RATE", "MAX_CONCURRENT", "DATABASE_URL", "EXECUTOR", "API_KEYS", "CORS_ORIGINS"])
def test_an_empty_variable_is_unset(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Files of variables cannot leave one out."""
    monkeypatch.setenv(f"TIGER_{name}", "")
    assert getattr(load(), name.lower()) in (None, ())


def test_a_cluster_needs_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said before the first job would find out."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.setenv("TIGER_EXECUTOR", "dask://localhost:8786")
    with pytest.raises(InputError, match=r"TIGER_EXECUTOR: .*tiger-mapper\[dask\]"):
        load()


def test_lists_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blanks around them do not count."""
    monkeypatch.setenv("TIGER_CORS_ORIGINS", "https://a.example, http://localhost:3000,")
    monkeypatch.setenv("TIGER_TRUSTED_PROXIES", "10.0.0.1,10.0.0.2")
    assert load().cors_origins == ("https://a.example", "http://localhost:3000")
    assert load().trusted_proxies == ("10.0.0.1", "10.0.0.2")


@pytest.mark.parametrize("text", ["*", "proxy.example", "10.0.0.1/8"])
def test_bug_proxies_are_trusted_by_address_alone(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """A name matches nothing, and with anybody's word on addresses nothing is counted by them."""
    monkeypatch.setenv("TIGER_TRUSTED_PROXIES", f"::1,10.0.0.0/8,{text}")
    with pytest.raises(InputError, match="TIGER_TRUSTED_PROXIES: expected addresses or networks") as refusal:
        load()
    assert repr(text) in str(refusal.value)


def test_the_table_says_where_each_came_from(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every variable is in it."""
    monkeypatch.delenv("TIGER_MAX_TASKS", raising=False)
    monkeypatch.setenv("TIGER_WORKERS", "3")
    found = {name: (value, origin) for name, value, origin in rows(load())}
    assert set(found) == {f"TIGER_{name.upper()}" for name in Settings.model_fields}
    assert (found["TIGER_WORKERS"], found["TIGER_MAX_TASKS"]) == (("3", "environment"), ("4096", "default"))
    assert found["TIGER_ENABLE_DWAVE"][0] == "false"


def test_the_table_shows_neither_keys_nor_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys are told apart by their owners, and a URL keeps its host."""
    monkeypatch.setenv("TIGER_API_KEYS", "secret-secret-secret,secret-secret-secret-2")
    monkeypatch.setenv("TIGER_DATABASE_URL", "postgresql://me:secret@host:5432/db?password=secret")
    found = {name: value for name, value, _ in rows(load())}
    assert "secret" not in str(found) + repr(load())
    assert found["TIGER_API_KEYS"].count("***") == 2
    assert found["TIGER_DATABASE_URL"] == "postgresql://me:***@host:5432/db?***"
