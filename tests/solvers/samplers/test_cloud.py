"""Tests of connections to D-Wave's cloud and of the advice on what goes wrong."""

import builtins
import importlib.metadata
import threading

import pytest

pytest.importorskip("dwave.system")

from dwave.cloud import exceptions as cloud
from dwave.cloud.api import exceptions as api
from dwave.embedding.exceptions import MissingChainError

from tiger.errors import InputError
from tiger.solvers.samplers.cloud import await_answer, find_token, open_connection, translate_errors

SPENT = "Problem not accepted because user has insufficient remaining solver access time in project x"
TOO_LARGE = "constrained quadratic model must have 9 or fewer variables; .. exceeds the advertised capabilities"


class Line:
    """Stand for a connection that notes when it is closed."""

    def __init__(self):
        """Be open."""
        self.closed = threading.Event()

    def close(self):
        """Be closed."""
        self.closed.set()


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (ValueError("API token not defined"), "set DWAVE_API_TOKEN, or run `dwave config create`"),
        (ValueError(TOO_LARGE), "nothing was submitted .*must have 9 or fewer variables"),
        (cloud.SolverAuthenticationError(), "check DWAVE_API_TOKEN"),
        (api.ResourceAccessForbiddenError(), "check DWAVE_API_TOKEN"),
        (cloud.SolverNotFoundError("none"), "set DWAVE_API_REGION or DWAVE_API_SOLVER"),
        (cloud.SolverOfflineError("offline"), "ask again later, or choose another"),
        (cloud.SolverFailureError(SPENT), "time or its rate of requests is used up"),
        (api.ResourceLimitsExceededError(), "time or its rate of requests is used up"),
        (cloud.RequestTimeout(), "check the network, DWAVE_API_REGION or DWAVE_API_ENDPOINT, and DWAVE_API_PROXY"),
        (cloud.PollingTimeout("too long"), "check the network"),
        (ConnectionError("refused"), "check the network"),
        (cloud.SolverFailureError("no luck"), "failed: ask again later .*no luck"),
        (cloud.InvalidAPIResponseError("JSON"), "failed: ask again later"),
        (cloud.CanceledFutureError(), "failed: ask again later"),
        (cloud.ConfigFileParseError("line 3"), "correct DWAVE_CONFIG_FILE .*line 3"),
        (MissingChainError(7), "no embedding on this QPU"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_errors_come_with_advice(error, advice):
    """Tests every kind that D-Wave's software raises; its own words stay."""
    with pytest.raises(InputError, match=advice) as refusal, translate_errors():
        raise error
    assert refusal.value.field == "solver"
    assert str(error) in refusal.value.reason


def test_a_missing_extra_is_named(monkeypatch):
    """Tests the line that installs it."""
    real = builtins.__import__

    def without(name, *rest):
        if name.startswith("dwave.system"):
            raise ModuleNotFoundError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=r"pip install 'tiger-mapper\[dwave\]'"), translate_errors():
        import dwave.system  # noqa: F401


def test_the_extra_exists():
    """Tests that the line installs something."""
    assert "dwave" in importlib.metadata.metadata("tiger-mapper").get_all("Provides-Extra")


def test_advice_given_before_stays():
    """Tests that InputError passes as it is, and that errors of the program do too."""
    with pytest.raises(InputError, match="effort: here"), translate_errors():
        raise InputError("effort", "here")
    with pytest.raises(ZeroDivisionError), translate_errors():
        raise ZeroDivisionError


def test_a_connection_made_for_the_occasion_is_closed():
    """Tests that it is, and that one which was given is not."""
    given, connection = Line(), Line()
    with open_connection(given, Line) as lent:
        assert lent is given
    with pytest.raises(KeyError), open_connection(None, lambda: connection):
        raise KeyError
    assert connection.closed.wait(5)
    assert not given.closed.is_set()


def test_waiting_ends_when_told():
    """Tests an answer that is there, one that comes, and one that does not."""
    asked = iter([False, False, True])
    assert await_answer(lambda: True, lambda: True)
    assert await_answer(lambda: next(asked), lambda: False)
    assert not await_answer(lambda: False, lambda: True)


def test_a_token_is_found_where_there_is_one(monkeypatch, tmp_path):
    """In the environment or the configuration file; a file that cannot be read is bad input."""
    monkeypatch.delenv("DWAVE_API_TOKEN", raising=False)
    file = tmp_path / "dwave.conf"
    monkeypatch.setenv("DWAVE_CONFIG_FILE", str(file))
    file.write_text("[defaults]\n")
    assert not find_token()
    file.write_text("[defaults]\ntoken = DEV-0\n")
    assert find_token()
    file.write_text("token\n")
    with pytest.raises(InputError, match="configuration file"):
        find_token()
