"""The example for Kubernetes: it names what the service and its image have, and fits the rules of clusters."""

import re
from pathlib import Path

import pytest

from tiger.api.app import create_app
from tiger.api.settings import PREFIX, Settings, load

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
DEPLOYMENT, SERVICE = yaml.safe_load_all((ROOT / "examples" / "kubernetes.yaml").read_text(encoding="utf-8"))
POD = DEPLOYMENT["spec"]["template"]
(SERVER,) = POD["spec"]["containers"]
PROBES = ("startupProbe", "readinessProbe", "livenessProbe")
ROUTES = ("/readyz/workers", "/readyz", "/healthz")


def test_the_settings_are_known_and_good(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server starts with them; keys and the address of the database come from a secret."""
    secret = {entry["name"] for entry in SERVER["env"] if "secretKeyRef" in entry.get("valueFrom", {})}
    assert secret == {"TIGER_API_KEYS", "TIGER_DATABASE_URL"}
    given = {"TIGER_API_KEYS": "0123456789abcdef", "TIGER_DATABASE_URL": "postgresql://tiger:secret@postgres/tiger"}
    for entry in SERVER["env"]:
        monkeypatch.setenv(entry["name"], entry.get("value") or given[entry["name"]])
    assert {f"{PREFIX}{name.upper()}" for name in load().model_fields_set} == {entry["name"] for entry in SERVER["env"]}


@pytest.mark.slow
def test_probes_ask_for_routes_that_the_service_has(tmp_path: Path) -> None:
    """By the name of the port that it listens on; what restarts a server does not look at the database."""
    routes = {getattr(route, "path", "") for route in create_app(Settings(data_dir=tmp_path)).routes}
    probes = {name: SERVER[name]["httpGet"] for name in PROBES}
    assert {probe["path"] for probe in probes.values()} <= routes
    assert {name: probe["path"] for name, probe in probes.items()} == dict(zip(PROBES, ROUTES, strict=True))
    assert {probe["port"] for probe in probes.values()} == {SERVER["ports"][0]["name"]}


def test_the_service_finds_the_servers() -> None:
    """By their labels and by the port that the image listens on."""
    labels = POD["metadata"]["labels"]
    assert SERVICE["spec"]["selector"] == DEPLOYMENT["spec"]["selector"]["matchLabels"] == labels
    (port,) = SERVER["ports"]
    assert SERVICE["spec"]["ports"][0]["targetPort"] == port["name"]
    assert f"EXPOSE {port['containerPort']}\n" in DOCKERFILE


def test_containers_are_restricted() -> None:
    """As the restricted standard for pods asks, with a user that is known by its number not to be root."""
    rules = SERVER["securityContext"]
    assert (rules["allowPrivilegeEscalation"], rules["capabilities"]) == (False, {"drop": ["ALL"]})
    assert POD["spec"]["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    assert re.search(r"^USER [1-9]\d*:0$", DOCKERFILE, re.MULTILINE)


def test_what_is_written_to_are_volumes() -> None:
    """All else is read alone: the data folder is the image's, and each volume is there and mounted."""
    assert SERVER["securityContext"]["readOnlyRootFilesystem"] is True
    mounts = {mount["mountPath"]: mount["name"] for mount in SERVER["volumeMounts"]}
    assert mounts.keys() == {"/tmp", *re.findall(r"^VOLUME (\S+)$", DOCKERFILE, re.MULTILINE)}
    assert sorted(mounts.values()) == sorted(volume["name"] for volume in POD["spec"]["volumes"])
