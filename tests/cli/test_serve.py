"""`tiger serve`, as far as it does not listen."""

import pytest

from tiger.cli.app import run


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_without_keys_only_this_machine_is_served(
    host: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message names the option and what would open it."""
    monkeypatch.delenv("TIGER_API_KEYS", raising=False)
    assert run(["serve", "--host", host, "--port", "0"]) == 2
    error = capsys.readouterr().err
    assert error == f"tiger: error: host: expected a loopback address while no keys are set, got {host!r}\n"


def test_the_settings_are_a_table(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Values, where each came from, and no secret."""
    monkeypatch.setenv("TIGER_API_KEYS", "secret-secret-secret")
    monkeypatch.setenv("TIGER_MAX_TASKS", "77")
    assert run(["serve", "--show-config"]) == 0
    lines = {line.split()[0]: line.split()[1:] for line in capsys.readouterr().out.splitlines()}
    assert lines["TIGER_MAX_TASKS"] == ["77", "environment"]
    assert lines["TIGER_RATE"] == ["none", "default"]
    assert "secret" not in str(lines)


def test_a_bad_variable_is_bad_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither the table nor the server begins."""
    monkeypatch.setenv("TIGER_API_KEYS", "short")
    for arguments in (["serve", "--show-config"], ["serve"]):
        assert run(arguments) == 2
        assert capsys.readouterr().err.startswith("tiger: error: TIGER_API_KEYS: expected keys of 16")
