"""Tests of the command that prints the OpenAPI document."""

import json
from pathlib import Path

import pytest

from tiger.api.app import create_app
from tiger.api.pool import processes
from tiger.cli.app import run


@pytest.mark.long
def test_the_document_is_that_of_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Word by word and every time, without a folder of data, a database or a worker."""
    monkeypatch.setenv("TIGER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setattr(processes, "prepare", pytest.fail)
    printed = []
    for _ in range(2):
        assert run(["openapi"]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    assert list(tmp_path.iterdir()) == []
    assert json.dumps(json.loads(printed[0])) == json.dumps(create_app().openapi())


def test_a_bad_setting_is_bad_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """As of the service itself."""
    monkeypatch.setenv("TIGER_MAX_TASKS", "none")
    assert run(["openapi"]) == 2
    assert capsys.readouterr().err.startswith("tiger: error: TIGER_MAX_TASKS: ")
