"""Tests of what is known of the terminal."""

import os
import sys

import pytest

from tiger.run import terminal


@pytest.mark.parametrize(("text", "shown"), [("é ü", "é ü"), ("a\tb", "a\\tb"), ("\udcff", "\\udcff"), ("", "")])
def test_printable_escapes_what_is_not(text: str, shown: str) -> None:
    """Letters of every language stay, control signs and broken bytes do not."""
    assert terminal.escape(text) == shown


def test_the_width_is_that_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """COLUMNS first, as in other programs; there is none where results do not go to a terminal."""
    assert terminal.columns() is None
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "61")
    assert terminal.columns() == 61
    monkeypatch.setenv("COLUMNS", "0")
    monkeypatch.setattr("os.get_terminal_size", lambda _: os.terminal_size((62, 9)))
    monkeypatch.setattr(sys.stdout, "fileno", lambda: 1, raising=False)
    assert terminal.columns() == 62
