"""The Prefer header: what is read from it, and what is said of it."""

import time

import pytest

from tiger.api.routes.prefer import DEFAULT_WAIT_S, Preference, applied_header, preference


@pytest.mark.parametrize(
    ("headers", "at_once", "wait_s"),
    [
        ([], False, None),
        (["respond-async"], True, None),
        (["wait=5"], False, 5.0),
        (["Respond-Async, WAIT=5"], True, 5.0),
        (["respond-async", "wait=5"], True, 5.0),
        (['wait="5"'], False, 5.0),
        (["wait = 5"], False, 5.0),
        (["wait=0"], False, 0.0),
        (["wait=5, wait=9"], False, 5.0),
        (["wait=900"], False, 60.0),
        (["wait=" + "9" * 5000], False, 60.0),
        (["return=minimal; wait=1, wait=5"], False, 5.0),
        (['x="a, wait=1", wait=5'], False, 5.0),
        (["wait=5; x=y"], False, 5.0),
        (["@, wait=5"], False, 5.0),
    ],
)
def test_preferences_are_read_from_all_headers(headers: list[str], *, at_once: bool, wait_s: float | None) -> None:
    """The first of a name counts, and a wait is bounded."""
    assert preference(headers, 60.0) == Preference(at_once=at_once, wait_s=wait_s)


@pytest.mark.parametrize(
    "text",
    ["wait", "wait=", "wait=-1", "wait=1.5", "wait=nan", "wait=x", "wait=\u0665", "respond-async=no", ",,=,", '"'],
)
def test_what_is_malformed_is_ignored(text: str) -> None:
    """RFC 7240 asks so."""
    assert preference([text], 60.0) == Preference()


@pytest.mark.parametrize(
    "text",
    [
        *('a="' * 20_000, "a" * 60_000, "a;" * 30_000, "a , " * 20_000, '"\\' * 30_000),
        *("a" + " " * 60_000 + "x", "a=" + " " * 60_000 + '"', " " * 60_000 + '"', 'a;"\\",' * 10_000),
    ],
)
def test_no_header_takes_long(text: str) -> None:
    """The server does nothing else meanwhile."""
    began_s = time.process_time()
    assert preference([text], 60.0) == Preference()
    assert time.process_time() - began_s < 2


def test_no_wait_is_longer_than_the_service_allows() -> None:
    """Neither one that is asked for nor the one of who asks for none."""
    assert preference([], 2.0).patience_s == preference(["wait=9"], 2.0).patience_s == 2.0


@pytest.mark.parametrize(
    ("headers", "patience_s"), [([], DEFAULT_WAIT_S), (["respond-async"], 0.0), (["respond-async, wait=3"], 3.0)]
)
def test_patience_has_a_default(headers: list[str], patience_s: float) -> None:
    """Ten seconds, none for a client that asks to be answered at once."""
    assert preference(headers, 60.0).patience_s == patience_s


def test_only_what_was_followed_is_said() -> None:
    """An answer in time did not put anything off."""
    both = Preference(at_once=True, wait_s=3.0)
    assert applied_header(both.put_off) == {"Preference-Applied": "respond-async, wait=3"}
    assert applied_header(both.waited) == {"Preference-Applied": "wait=3"}
    assert applied_header(Preference().waited) == {}
