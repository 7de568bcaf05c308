"""The set of containers: everything that it names exists, and its settings are good ones."""

import re
import shlex
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tiger.api.settings import PREFIX, load

yaml = pytest.importorskip("yaml")
pytest.importorskip("distributed")

ROOT = Path(__file__).resolve().parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
SERVICES = COMPOSE["services"]
KEY = "0123456789abcdef0123456789abcdef"
SET = {"TIGER_API_KEYS": KEY, "POSTGRES_PASSWORD": "5ecret"}
VARIABLE = re.compile(r"\$\{(\w+)(?::(-|\?)([^}]*))?\}")


def fill(text: str, given: dict[str, str]) -> str:
    """Return a text with its variables filled in, as Compose does, or raise KeyError with the message for one."""

    def value(match: re.Match[str]) -> str:
        name, kind, rest = match.groups()
        if kind == "?" and not given.get(name):
            raise KeyError(rest)
        return given.get(name) or rest or ""

    return VARIABLE.sub(value, text)


def settings(given: dict[str, str]) -> dict[str, str]:
    """Return the environment of a server."""
    return {name: fill(str(text), given) for name, text in SERVICES["api"]["environment"].items()}


def context(command: list[str]) -> dict[str, object]:
    """Return the options of a command of Dask's, which refuses those that it does not know."""
    assert [point.name for point in entry_points(group="console_scripts") if point.name == command[0]] == ["dask"]
    (found,) = (point for point in entry_points(group="dask_cli") if point.name == command[1])
    return found.load().make_context(command[1], command[2:]).params


def test_the_settings_are_known_and_good(monkeypatch) -> None:
    """A server starts with them."""
    for name, text in settings(SET).items():
        monkeypatch.setenv(name, text)
    found = load()
    assert {f"{PREFIX}{name.upper()}" for name in found.model_fields_set} == set(SERVICES["api"]["environment"])
    assert (len(found.api_keys), found.executor) == (1, "dask://scheduler:8786")


def test_bug_the_jobs_of_a_container_outlive_it(monkeypatch) -> None:
    """Its user has made the folder that they are in, as a volume mounted where there is none is root's."""
    monkeypatch.setenv("HOME", "/home/tiger")
    for name in ("XDG_DATA_HOME", "TIGER_DATA_DIR"):
        monkeypatch.delenv(name, raising=False)
    folder = load().data_dir
    made, _, own = DOCKERFILE.partition("USER 10001:0\nWORKDIR /home/tiger\n")
    assert f"mkdir -m 770 {folder} && " in made
    assert f"VOLUME {folder}\n" in own


def test_bug_a_cluster_could_not_tell_that_the_user_is_not_root() -> None:
    """It knows numbers alone; whichever it takes is of group 0, and finds its home and the kernels all the same."""
    user, _, group = re.findall(r"^USER (.+)$", DOCKERFILE, re.MULTILINE)[-1].partition(":")
    assert (int(user) > 0, int(group)) == (True, 0)
    environment = dict(re.findall(r"\b([A-Z_]+)=(/\S+|\w+)", DOCKERFILE))
    assert {environment[name].rpartition("/")[0] for name in ("HOME", "NUMBA_CACHE_DIR")} == {"/home", "/opt/tiger"}
    assert environment["NUMBA_CPU_NAME"] == "generic"


def test_containers_of_the_image_write_to_their_volumes_alone() -> None:
    """And have no privileges that they could use."""
    for name in ("api", "scheduler", "worker"):
        service = SERVICES[name]
        assert (service["read_only"], service["tmpfs"], service["cap_drop"]) == (True, ["/tmp"], ["ALL"])
        assert service["security_opt"] == ["no-new-privileges:true"]


@pytest.mark.parametrize("missing", SET)
def test_keys_and_password_are_required(missing: str) -> None:
    """It is said what they are, and how to make them."""
    texts = [str(text) for service in SERVICES.values() for text in service.get("environment", {}).values()]
    with pytest.raises(KeyError, match="openssl rand"):
        [fill(text, SET | {missing: ""}) for text in texts]


def test_the_database_is_the_one_beside() -> None:
    """User, password and name are those that it is made with, and its files outlive it."""
    made = {name: fill(text, SET) for name, text in SERVICES["postgres"]["environment"].items()}
    parts = urlsplit(settings(SET)["TIGER_DATABASE_URL"])
    assert (parts.username, parts.password) == (made["POSTGRES_USER"], made["POSTGRES_PASSWORD"])
    assert (parts.hostname, parts.path) == ("postgres", f"/{made['POSTGRES_DB']}")
    assert [line.split(":")[0] for line in SERVICES["postgres"]["volumes"]] == list(COMPOSE["volumes"])


def test_the_cluster_can_be_started() -> None:
    """Its commands take their options, and workers find the scheduler where servers do."""
    scheduler, worker = (context(SERVICES[name]["command"]) for name in ("scheduler", "worker"))
    assert worker["scheduler"] == f"tcp://scheduler:{scheduler['port']}"
    assert settings(SET)["TIGER_EXECUTOR"] == f"dask://scheduler:{scheduler['port']}"
    assert worker["nthreads"] == 1
    assert all(map(find_spec, worker["preload"]))


def test_one_image_serves_and_shares() -> None:
    """It has Dask, and what it runs unless told otherwise listens to others, on the port that is published."""
    assert {SERVICES[name]["image"] for name in ("api", "scheduler", "worker")} == {"tiger"}
    assert '".[all]"' in DOCKERFILE
    command = shlex.split(DOCKERFILE.rpartition("CMD [")[2].replace(",", " ").rstrip("]\n"))
    inside = command[command.index("--port") + 1]
    assert command[:4] == ["tiger", "serve", "--host", "0.0.0.0"]
    assert "command" not in SERVICES["api"]
    first, last = re.fullmatch(rf"(\d+)-(\d+):{inside}", SERVICES["api"]["ports"][0]).groups()
    assert int(last) - int(first) + 1 == SERVICES["api"]["deploy"]["replicas"]


def test_only_servers_are_reached_from_outside() -> None:
    """Whoever reaches the scheduler can run anything."""
    outside = [name for name, service in SERVICES.items() if "outside" in service["networks"] or "ports" in service]
    assert outside == ["api"]
    assert COMPOSE["networks"]["inside"]["internal"] is True


def test_whatever_is_waited_for_is_checked() -> None:
    """Who waits until another is healthy names one that has a check of its own."""
    for service in SERVICES.values():
        for name, wanted in service.get("depends_on", {}).items():
            assert wanted == {"condition": "service_healthy"}
            assert "test" in SERVICES[name]["healthcheck"]
