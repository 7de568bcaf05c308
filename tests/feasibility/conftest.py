"""First mappings are looked for without an eye on the clock."""

import pytest

from tiger.feasibility import start


@pytest.fixture(autouse=True)
def _no_hurry(monkeypatch):
    """Give a search all the time that a busy machine may take."""
    monkeypatch.setattr(start, "LIMIT_S", 3600.0)
