"""API keys."""

import hashlib
from collections.abc import Callable
from unittest import mock

import httpx
import pytest
from fastapi import FastAPI, Request
from fastapi.testclient import TestClient

from tiger.api.middleware.keys import Guard, parse

GOOD, OTHER = "k" * 32, "another-key-of-16+"
Get = Callable[..., httpx.Response]


def client_of(text: str) -> TestClient:
    """Return a client of a service with keys, whose routes tell who asks."""
    app = FastAPI()
    app.add_middleware(Guard, keys=parse(text))

    def owner(request: Request) -> str:
        return str(request.state.owner)

    for path in ("/who", "/healthz", "/readyz"):
        app.add_api_route(path, owner)
    return TestClient(app)


@pytest.fixture(scope="module")
def guarded() -> TestClient:
    """Return a client of a service with two keys."""
    return client_of(f"{GOOD}, {OTHER}")


def name_of(key: str) -> str:
    """Return the name of a key's owner, worked out here."""
    return hashlib.sha256(key.encode()).hexdigest()[:12]


@pytest.mark.parametrize("key", [GOOD, OTHER])
@pytest.mark.parametrize(
    ("header", "scheme"), [("X-API-Key", ""), ("Authorization", "Bearer "), ("Authorization", "bearer  ")]
)
def test_a_good_key_lets_in_by_either_header(guarded: TestClient, key: str, header: str, scheme: str) -> None:
    """Its owner is named after its digest."""
    answer = guarded.get("/who", headers={header: scheme + key})
    assert (answer.status_code, answer.json()) == (200, name_of(key))


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-API-Key": ""},
        {"X-API-Key": GOOD[:-1]},
        {"X-API-Key": GOOD + "k"},
        {"X-API-Key": GOOD.upper()},
        {"X-API-Key": f"{GOOD},{OTHER}"},
        {"X-API-Key": "\xe9" * 32},
        {"Authorization": "Bearer"},
        {"Authorization": GOOD},
        {"Authorization": f"Basic {GOOD}"},
        {"Authorization": f"Bearer {GOOD[:-1]}", "X-API-Key": GOOD},
        {"Authorization": f"Bearer {OTHER}", "X-API-Key": GOOD},
    ],
)
def test_a_request_without_one_good_key_is_refused(guarded: TestClient, headers: dict[str, str]) -> None:
    """The answer is a problem document that says how to identify, whatever stands there instead of a key."""
    answer = guarded.get("/who", headers={name: value.encode("latin-1") for name, value in headers.items()})
    assert (answer.status_code, answer.headers["content-type"]) == (401, "application/problem+json")
    assert answer.headers["www-authenticate"] == 'Bearer realm="tiger"'
    assert GOOD[:-1] not in answer.text


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_needs_no_key(guarded: TestClient, path: str) -> None:
    """Whoever watches the server has none."""
    assert guarded.get(path).status_code == 200


@pytest.mark.parametrize("path", ["/healthz/", "//healthz", "/healthz/../who", "/HEALTHZ", "/none"])
def test_nothing_that_looks_like_health_does_either(guarded: TestClient, path: str) -> None:
    """The open paths are exact, and what does not exist is not told from what does."""
    assert guarded.get(f"http://testserver{path}").status_code == 401


def test_a_web_socket_is_refused(guarded: TestClient) -> None:
    """The guard stands before other protocols, too."""
    from starlette.websockets import WebSocketDisconnect

    with pytest.raises(WebSocketDisconnect), guarded.websocket_connect("/who"):
        pass


def test_without_keys_everyone_is_nobody() -> None:
    """All requests have the same owner, even those that send a key."""
    assert client_of("").get("/who", headers={"X-API-Key": GOOD}).json() == ""


@pytest.mark.parametrize("headers", [{"Content-Length": "999999"}, {"Transfer-Encoding": "chunked"}])
def test_a_body_that_nobody_will_read_ends_the_connection(guarded: TestClient, headers: dict[str, str]) -> None:
    """A large body is not read for someone without a key."""
    assert guarded.post("/who", content=b"x", headers=headers).headers["connection"] == "close"


def test_every_key_is_compared(guarded: TestClient) -> None:
    """The first one that fits does not end the comparison, and digests are compared rather than keys."""
    with mock.patch("hmac.compare_digest", return_value=False) as compare:
        guarded.get("/who", headers={"X-API-Key": GOOD})
    digest = hashlib.sha256(GOOD.encode()).digest()
    assert [call.args for call in compare.call_args_list] == [
        (digest, digest),
        (hashlib.sha256(OTHER.encode()).digest(), digest),
    ]


def test_keys_are_not_kept() -> None:
    """What is kept, and shown of it, has digests and names alone."""
    (key,) = parse(GOOD)
    assert key.digest == hashlib.sha256(GOOD.encode()).digest()
    assert repr(key) == f"Key(owner='{name_of(GOOD)}')"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("short", "16 to 256 characters, got 5 in key 1"),
        (f"{GOOD},{'x' * 257}", "got 257 in key 2"),
        (f"{GOOD}, {GOOD}", "every key once"),
        ("with a blank inside it", "visible ASCII"),
        ("\xe9" * 20, "visible ASCII"),
        (" , ", "got commas alone"),
    ],
)
def test_bad_keys_are_refused_without_being_shown(text: str, reason: str) -> None:
    """The message counts them instead."""
    with pytest.raises(ValueError, match=reason) as refusal:
        parse(text)
    assert text.partition(",")[0] not in str(refusal.value) or not text.strip(" ,")


@pytest.mark.parametrize("text", ["", "  "])
def test_a_blank_text_has_no_keys(text: str) -> None:
    """A variable that is set to nothing is as good as unset."""
    assert parse(text) == ()


def test_a_trailing_comma_is_no_key() -> None:
    """Lists are often written so."""
    assert len(parse(f"{GOOD},{OTHER},")) == 2
