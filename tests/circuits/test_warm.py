"""Tests of loading what maps circuits."""

from tiger.circuits import warm


def test_loading_is_announced_and_done_once() -> None:
    """The second time costs nothing."""
    seen: list[str] = []
    warm.warm(seen.append)
    warm.warm(seen.append)
    assert seen == ["circuits", "circuits"]
    assert warm.load.cache_info().misses == 1
