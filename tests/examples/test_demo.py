"""Tests of how the demonstration waits for its service."""

import sys
from pathlib import Path

import pytest

from tiger.client import ServiceError
from tiger.run.progress import Progress

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))

import demo

ADDRESS = "print('TIGER is listening on http://127.0.0.1:9', flush=True); "
LIVES = ADDRESS + "import time; time.sleep(3600)"
COMPILES = """import sys; print('{"event": "compiling: dense"}', file=sys.stderr, flush=True); """


@pytest.fixture
def run(monkeypatch):
    """Return a function that has the demonstration run code in the place of `tiger serve`."""
    return lambda code: monkeypatch.setattr(demo, "SERVE", (sys.executable, "-c", code))


def test_the_line_says_what_is_compiled_and_which_stage_runs(run):
    """Tests the newer of both, as the log and the client tell it."""
    run(COMPILES + LIVES)
    with demo.serve() as service:
        assert service.url == "http://127.0.0.1:9"
        assert str(service.__rich__()) == "The service: compiling: dense"
        service.ask("tasks", lambda progress: progress(Progress("anneal", 0.5, None)))
        assert str(service.__rich__()) == "tasks: anneal"


def test_bug_a_busy_service_is_asked_until_it_answers(run):
    """Tests that nothing but its end keeps a demonstration from its answer."""
    answers = [ServiceError(503, "starting"), ServiceError(429, "busy"), "report"]

    def call(progress):
        answer = answers.pop(0)
        if isinstance(answer, ServiceError):
            raise answer
        return answer

    run(LIVES)
    with demo.serve() as service:
        assert service.ask("tasks", call) == "report"


@pytest.mark.slow
def test_bug_a_service_that_ends_is_shown_with_its_exit_code(run):
    """Tests one that ends before it has an address, and one that ends before it answers."""

    def call(progress):
        raise ServiceError(None, "no answer")

    run("import sys; sys.exit('no space left')")
    with pytest.raises(SystemExit, match=r"(?s)exit code 1.*no space left"), demo.serve():
        pass
    run(ADDRESS + "import sys; sys.exit(3)")
    with demo.serve() as service, pytest.raises(SystemExit, match="exit code 3"):
        service.ask("tasks", call)


def test_a_request_that_fails_is_named(run):
    """Tests a service that lives on."""

    def call(progress):
        raise ServiceError(500, "disk full")

    run(LIVES)
    with demo.serve() as service, pytest.raises(SystemExit, match="tasks: disk full"):
        service.ask("tasks", call)
