"""The name of a server."""

import os
from pathlib import Path

from tiger.api.jobs.server import claim_name


def test_the_name_is_the_same_after_a_restart(tmp_path: Path) -> None:
    """Its jobs are its own again."""
    first = claim_name(tmp_path / "new")
    first.close()
    again = claim_name(tmp_path / "new")
    assert again.name == first.name
    again.close()


def test_two_servers_of_one_folder_have_two_names(tmp_path: Path) -> None:
    """The second is not taken for the first come back."""
    first, second = claim_name(tmp_path), claim_name(tmp_path)
    assert first.name != second.name
    first.close()
    second.close()


def test_bug_nobody_else_may_read_the_name(tmp_path: Path) -> None:
    """Whatever the mask of the process says."""
    before = os.umask(0)
    try:
        claim_name(tmp_path).close()
    finally:
        os.umask(before)
    assert (tmp_path / "server.0").stat().st_mode & 0o077 == 0
