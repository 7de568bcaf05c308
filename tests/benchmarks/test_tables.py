"""Tests of the command that takes measurements again."""

import pytest

from benchmarks import __main__ as command


def test_bug_figures_of_a_peer_that_is_missing_were_lost(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The table is printed, and its page is left as it is; summaries are of the pages."""
    replaced = list[str]()
    monkeypatch.setattr(command, "PEERS", {"cold": ("no_such_peer",)})
    monkeypatch.setattr(command, "replace", lambda name, _: replaced.append(name))
    monkeypatch.setattr(command.cold, "table", lambda *_: iter([("a", "b"), ("1", "2")]))
    monkeypatch.setattr("sys.argv", ["benchmarks", "cold"])
    assert command.main() == 1
    out, err = capsys.readouterr()
    assert "| 1 | 2 |" in out
    assert "cold is left as it is in the documentation, for want of no_such_peer (pip install no_such_peer)" in err
    assert replaced == list(command.summary.SUMMARIES)
