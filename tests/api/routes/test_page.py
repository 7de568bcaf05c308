"""The page and its files as the service sends them, without a browser."""

import gzip
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.memory import in_memory
from tiger.api.app import create_app
from tiger.api.middleware.keys import parse
from tiger.api.routes.page import FOLDER, POLICY, list_files, prefers_page
from tiger.api.settings import Settings

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
VENDOR = FOLDER / "vendor"
# Bytes of all files together that a browser loads, as they are sent, so that the page is soon there over a slow line.
MOST_BYTES = 700_000
READ_BY_PEOPLE = {"vendor/LICENSES.txt", "vendor/SHA256SUMS"}
Get = Callable[..., httpx.Response]


@pytest.fixture
def get(tmp_path: Path, request: pytest.FixtureRequest) -> Get:
    """Return a function that gets a path of a service, with keys where a test asks for them."""
    from fastapi.testclient import TestClient

    keys = parse("a-key-of-this-test") if getattr(request, "param", False) else ()
    client = TestClient(create_app(Settings(data_dir=tmp_path, api_keys=keys), in_memory))
    return client.get


def test_a_browser_is_shown_the_page_and_a_program_the_index(get: Get) -> None:
    """The root answers by what is asked for."""
    page, index = get("/", headers=HTML), get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert "<title>TIGER</title>" in page.text
    assert index.json()["name"] == "TIGER"
    assert {get(path).status_code for path in index.json()["routes"] if path in ("/jobs", "/solvers", "/healthz")} == {
        200
    }


@pytest.mark.parametrize(
    "accept", ["application/json, text/html;q=0.9", "text/html;q=0", "*/*", "", "text/html;q=x", "application/json"]
)
def test_the_page_is_for_those_who_prefer_it(accept: str) -> None:
    """JSON goes to all others."""
    assert prefers_page("text/html, application/json")
    assert not prefers_page(accept)


@pytest.mark.parametrize("get", [True], indirect=True)
def test_the_page_needs_no_key_and_holds_no_data(get: Get) -> None:
    """Files and page are for everybody, what they show is not."""
    assert get("/", headers=HTML).status_code == get("/page/app.js").status_code == get("/").status_code == 200
    assert {get(path).status_code for path in ("/jobs", "/solvers", "/docs", "/openapi.json")} == {401}


def test_files_are_sent_compressed_and_once(get: Get) -> None:
    """A browser that has a file is told so by its tag."""
    first = get("/page/vendor/cytoscape.js", headers={"Accept-Encoding": "gzip"})
    assert first.headers["content-encoding"] == "gzip"
    assert first.headers["content-type"].startswith("text/javascript")
    again = get("/page/vendor/cytoscape.js", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert get("/page/style.css", headers={"Accept-Encoding": "identity"}).text == (FOLDER / "style.css").read_text()


@pytest.mark.parametrize(
    "path", ["/page/", "/page/none.js", "/page/types.d.ts", "/page/..%2fapp.py", "/page/vendor", "/page/%00"]
)
def test_no_other_file_is_ever_sent(get: Get, path: str) -> None:
    """Only what lies in the folder has a name."""
    assert get(path).status_code == 404


@pytest.mark.slow
def test_the_policy_of_the_page_is_its_own(get: Get) -> None:
    """The documentation begins with a script in its markup, which the page's policy forbids."""
    assert get("/", headers=HTML).headers["content-security-policy"] == POLICY
    assert get("/page/vendor/elk-worker.js").headers["content-security-policy"] == POLICY
    assert "'unsafe-inline'" in get("/docs").headers["content-security-policy"]
    assert get("/jobs").headers["content-security-policy"].startswith("default-src 'none'")


def test_the_page_stays_out_of_the_documentation(document: dict[str, Any]) -> None:
    """OpenAPI has neither the page nor a file."""
    assert [path for path in document["paths"] if path == "/" or path.startswith("/page")] == []


@pytest.mark.slow
def test_the_page_is_light() -> None:
    """All files together, as they are sent."""
    assert sum(len(gzip.compress((FOLDER / name).read_bytes())) for name in list_files() - READ_BY_PEOPLE) <= MOST_BYTES


def test_files_of_the_page_name_no_other_host() -> None:
    """Whoever has no internet sees the same page; links in comments of licences are no requests."""
    own = [FOLDER / name for name in list_files() if not name.startswith("vendor/") and not name.endswith(".svg")]
    assert [
        path.name for path in own if re.search(r"https?://(?!www\.w3\.org/)", path.read_text(encoding="utf-8"))
    ] == []


def test_every_import_of_the_page_is_there() -> None:
    """A module that is missing would leave the page empty."""
    for path in [*FOLDER.glob("*.js"), *FOLDER.glob("draw/*.js")]:
        for found in re.findall(r"(?:from|import)\s*\(?\"(\./[^\"]+|\.\./[^\"]+)\"", path.read_text(encoding="utf-8")):
            if not found.endswith("types"):
                assert (path.parent / found).is_file(), f"{path.name} imports {found}"


def test_third_party_code_is_what_was_bundled() -> None:
    """Every file has the hash that the script wrote, and there are no others."""
    sums = dict(reversed(line.split()) for line in (VENDOR / "SHA256SUMS").read_text(encoding="utf-8").splitlines())
    files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in VENDOR.iterdir()}
    assert files.pop("SHA256SUMS")
    assert files == sums


def test_every_bundled_package_is_listed_with_its_licence() -> None:
    """The list follows the lock file, which has hashes and no addresses."""
    lock = json.loads((FOLDER.parents[1] / "docs/scripts/vendor/package-lock.json").read_text(encoding="utf-8"))
    texts = (VENDOR / "LICENSES.txt").read_text(encoding="utf-8")
    for place, package in lock["packages"].items():
        if place and not package.get("dev"):
            assert f"{place.removeprefix('node_modules/')} {package['version']}, {package['license']}" in texts
        assert "resolved" not in package
        assert not place or package["integrity"].startswith("sha512-")
