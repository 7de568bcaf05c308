"""Hostile requests: each is answered once, in order and without a failure of the server, which then goes on."""

import json
import re
import socket
from collections.abc import Iterator
from copy import deepcopy
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.api.jobs.service import TINY, Service
from tests.fuzz import wire
from tests.fuzz.profile import LONG, cases
from tiger.api.routes.examples import EXAMPLES, PLACEMENTS, PLANS, PREVIEWS, REBALANCERS, STEPS

Address = tuple[str, int]
LAST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
# Statuses that say that a request is none, and end its connection; 503 is of a server that is not warm yet.
NONE = {400, 431, 501, 505}
FINE = {501, 503, 505}

METHODS = ["GET"] * 3 + ["POST"] * 2 + ["DELETE", "HEAD", "PUT", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW", "get"]
ROUTES = [
    "assign",
    "place",
    "plan",
    "views",
    "jobs",
    "jobs/x",
    "jobs/x/events",
    "jobs/x/view",
    "jobs/x/files",
    "jobs/x/files/y",
    "rebalancers",
    "rebalancers/x",
    "rebalancers/x/steps",
]
ROUTES += ["solvers", "topologies", "healthz", "readyz", "metrics"]
PATHS = [f"/{route}" for route in [*ROUTES, "docs", "openapi.json", "none", "", "/"]]
PATHS += [f"/jobs?limit={value}" for value in ("0", "x", "1e9", "9" * 20, "1&limit=2", "%zz", "&=")]
PATHS += [f"/jobs?after={value}" for value in ("%00", "9" * 22, "1,x", "%F0%9F%98%80", "", "1,1")]
PATHS += [f"/jobs/x?wait={value}" for value in ("nan", "-1", "1e999", "", "1&wait=x")]
PATHS += [f"/jobs/{name}" for name in ("", "%00", "%2e%2e", "x%2Fevents", "%ED%A0%80", "%ff", "x" * 9000, "..", "x;y")]
PATHS += ["*", "healthz", "http://localhost/healthz", "//elsewhere/healthz", "/healthz#x", "?x", "localhost:80"]
PATHS += ["/static-offline-docs/../x", "/HEALTHZ", "/healthz/", "/healthz%20", "/docs/.."]
HEADERS = [
    *("Content-Type: application/json", "Content-Type: application/json; charset=utf-16", "Content-Type: text/plain"),
    *("Content-Type:", "Content-Encoding: gzip", "Content-Encoding: identity", "Accept: text/html;q=x", "Accept:"),
    *("Prefer: respond-async", "Prefer: wait=0", "Prefer: wait=99999999999999999999", 'Prefer: "', "Prefer: =;,=;"),
    *("Idempotency-Key: ", "Idempotency-Key: " + "k" * 300, 'Idempotency-Key: "a', "Idempotency-Key: \xff"),
    *(
        "Last-Event-ID: -1",
        "Last-Event-ID: " + "9" * 400,
        "X-Request-Id: a b",
        "X-Request-Id: \xff",
        "Range: bytes=9-0",
    ),
    *("If-None-Match: *", "If-Modified-Since: x", "If-Match: *", "Expect: 100-continue", "Expect: x", "TE: trailers"),
    *("Host: elsewhere", "Host:", "Host: localhost:x", "Host: a@localhost", "Host: [::1]x", "X-Forwarded-For: ,,"),
    *(
        "Origin: null",
        "Authorization: Bearer",
        "X-API-Key: \xff",
        "Cookie: a=\x01",
        "Upgrade: h2c",
        "Upgrade: websocket",
    ),
    *("Connection: Upgrade", "Connection: close", "Connection: keep-alive, x", "Connection: content-length", "X: \x7f"),
    *("Content-Length: 0", "Content-Length: 2", "Content-Length: -1", "Content-Length: +2", "Content-Length: 0x2"),
    *("Content-Length: 2, 2", "Content-Length: " + "9" * 25, "Content-Length: 99999999", "content-length:2"),
    *("Transfer-Encoding: chunked", "Transfer-Encoding: Chunked", "Transfer-Encoding: gzip, chunked"),
    *("Transfer-Encoding: xchunked", "Transfer-Encoding: identity", "Transfer-Encoding : chunked", "Content_Length: 2"),
    *("X : y", ": y", "X", "X: a\n b", "X: a\r\n b", "X: a\rY: b", "X: \0", "X: " + "a" * 17000, "X\xff: y"),
]
BODIES = [
    *(b"", b"{}", b"[]", b"\n", b"null", b"2\r\n{}\r\n0\r\n\r\n", b"2;a=b\r\n{}\r\n0\r\nX: y\r\n\r\n", b"0\r\n\r\n"),
    *(b"0\r\n\n", b"0\n\n", b"2 \r\n{}\r\n0\r\n\r\n", b"2;a\rb\r\n{}\r\n0\r\n\r\n", b"-2\r\n{}\r\n0\r\n\r\n"),
    *(
        b"2\r\n{}0\r\n\r\n",
        b"0x2\r\n{}\r\n0\r\n\r\n",
        b"f" * 20 + b"\r\n{}",
        b"1\r\n{}\r\n0\r\n\r\n",
        b" 2\r\n{}\r\n0\r\n\r\n",
    ),
]
NOISE = [b"\r", b"\n", b"\r\n", b"\0", b" ", b"\t", b":", b",", b"\x0b", b"\x80", b"0", b"HTTP/1.1", b"\r\n\r\n", b"%"]
VERSIONS = ["1.1"] * 8 + ["1.0", "1.2", "2.0", "9.9", "0.9", "1.10"]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    """Return the address of a server process; it has failed on nothing by the end, and still answers."""
    service = Service(tmp_path_factory.mktemp("requests") / "data", TIGER_MAX_TIME_S="1", TIGER_MAX_JOBS="50")
    try:
        service.listen()
        parts = urlsplit(str(service.http.base_url))
        yield str(parts.hostname), int(parts.port or 0)
        assert service.http.get("/healthz").status_code == 200
        jobs = service.http.get("/jobs").json()["jobs"]
        problems = [service.http.get(f"/jobs/{job['id']}").json().get("problem") for job in jobs]
        assert [problem for problem in problems if problem and problem["status"] == 500] == []
        assert (service.said("Traceback"), service.said('"event": "failed"')) == (0, 0)
    finally:
        service.close()


@st.composite
def requests(draw: st.DrawFn) -> bytes:
    """Draw a request, in order or not."""
    method, path = draw(st.sampled_from(METHODS)), draw(st.sampled_from(PATHS))
    headers = ["Host: localhost", *draw(st.lists(st.sampled_from(HEADERS), max_size=3))]
    lines = [f"{method} {path} HTTP/{draw(st.sampled_from(VERSIONS))}", *headers, "", ""]
    raw = "\r\n".join(lines).encode("latin-1") + draw(st.sampled_from(BODIES))
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        at = draw(st.integers(0, len(raw)))
        raw = raw[:at] + draw(st.sampled_from(NOISE)) + raw[at + draw(st.integers(0, 3)) :]
    return raw


def ask(address: Address, raw: bytes, wanted: int) -> bytes:
    """Send bytes, and return what is answered until the server closes, or there are so many answers."""
    received = b""
    with socket.create_connection(address, timeout=20) as client:
        try:
            client.sendall(raw)
            while wanted < 0 or len(wire.split_answers(received)) < wanted:
                part = client.recv(1 << 16)
                received += part
                if not part:
                    break
        except ConnectionError:
            pass
    return received


def check_answer(status: int, headers: bytes, body: bytes) -> None:
    """Check that an answer is no failure, and a problem document where it is a refusal."""
    assert status < 500 or status in FINE
    if status < 400 or not body or b"text/plain" in headers:
        return
    assert b"content-type: application/problem+json\r\n" in headers
    problem = json.loads(body, parse_constant=pytest.fail)
    assert problem["status"] == status
    assert problem["detail"]
    assert status != 422 or all(error["pointer"].startswith("#") for error in problem["errors"])


@pytest.mark.long
@given(raw=requests())
@cases(quick=25, long=3000)
def test_no_bytes_are_taken_for_more_requests_than_they_are(address: Address, raw: bytes) -> None:
    """Whoever reads by the book counts as many, so that no proxy in between lets one pass inside another."""
    reading = wire.read(raw + LAST)
    found = wire.split_answers(ask(address, raw + LAST, reading.count if reading.rest == "part" else -1))
    for answer in found:
        check_answer(*answer)
    assert min(1, reading.count) <= len(found) <= reading.count + (reading.rest != "nothing")
    if len(found) > reading.count:
        assert found[-1][0] in NONE | {408}
        assert b"connection: close\r\n" in found[-1][1]


# Bodies of more than 64 KiB wait for a worker, which a server that has just begun has not warmed up yet.
MANY = 100_000 if LONG else 20_000
ODD: list[object] = [
    *(
        None,
        True,
        -1,
        0,
        0.5,
        -0.0,
        1e308,
        2**31,
        2**63,
        -(2**63),
        10**400,
        float("nan"),
        float("inf"),
        "",
        " ",
        "\x00",
    ),
    *(
        "\ud800",
        "\ufeff",
        "x" * MANY,
        [],
        {},
        [[]],
        {"": {}},
        "torus:0x0",
        "torus:1x1",
        "grid:5",
        "ring:4",
        "tree:4@1",
    ),
    *(
        "hypercube:64",
        "torus:99999x99999x99999",
        "random",
        "greedy",
        "exact",
        "neal",
        "one-to-one",
        "levels",
        "capacity",
    ),
    *({"0": 0}, [["0", 0]], 'OPENQASM 2.0; include "/etc/passwd";', "OPENQASM 3.0; qubit[100000000] q;", "success"),
]
NAMES = [
    *(
        "",
        "x",
        "tasks",
        "topology",
        "file",
        "text",
        "circuit",
        "model",
        "cluster",
        "seed",
        "effort",
        "time_limit_s",
        "solver",
        "rule",
    )
]
NAMES += [*("objective", "pinned", "level", "nodes", "edges", "links", "weight", "id", "source", "target", "__proto__")]
WORKED = {
    "/assign": EXAMPLES,
    "/place": PLACEMENTS,
    "/plan": PLANS,
    "/views": PREVIEWS,
    "/rebalancers": REBALANCERS,
    "/rebalancers/x/steps": STEPS,
}
# Routes whose work is never limited by its request.
UNLIMITED = ("/views", "/rebalancers", "/rebalancers/x/steps")
BASES = [("/assign", TINY), *((path, each["value"]) for path, named in WORKED.items() for each in named.values())]
WORDS = [
    b"NaN",
    b"-Infinity",
    b"1e999",
    b"01",
    b"+1",
    b"1_0",
    b"9" * 5000,
    b"[" * MANY,
    b'{"a":' * (MANY // 5),
    b"\xff",
]
WORDS += [
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b'"\\ud800"',
    b'"\\u0000"',
    b"//",
    b"'x'",
    b",,",
    b"\0",
    b"tru",
    b"}",
    b'"a":1,',
]


@st.composite
def bodies(draw: st.DrawFn) -> tuple[str, bytes]:
    """Draw a path, and a body that is damaged in its tree or in its text."""
    path, base = draw(st.sampled_from(BASES))
    tree = json.loads(json.dumps(base if path in UNLIMITED else {**base, "time_limit_s": 0.05}))
    for _ in range(draw(st.integers(0, 2))):
        _damage(draw, tree)
    text = json.dumps(tree).encode()
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 3]))):
        places = [match.start() for match in re.finditer(rb'[\[{:,"}\]]', text)]
        at = draw(st.sampled_from(places or [0])) + draw(st.integers(0, 1))
        text = text[:at] + draw(st.sampled_from(WORDS)) + text[at + draw(st.sampled_from([0, 0, 1, 5])) :]
    coding = draw(st.sampled_from(["utf-8"] * 9 + ["utf-16", "utf-32-be"]))
    return path, text if coding == "utf-8" else text.decode("latin-1").encode(coding)


def _damage(draw: st.DrawFn, tree: dict[str, object]) -> None:
    """Put an odd value into a tree, or take one out of it."""
    at: dict[object, object] | list[object] = tree  # type: ignore[assignment]  # of which JSON has nothing but strings
    for _ in range(draw(st.integers(0, 4))):
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        inner = [key for key in keys if isinstance(at[key], dict | list) and at[key]]  # type: ignore[call-overload,index]
        if not inner:
            break
        at = at[draw(st.sampled_from(inner))]  # type: ignore[call-overload,index,assignment]
    value = deepcopy(draw(st.sampled_from(ODD)))
    if isinstance(at, list):
        at.insert(draw(st.integers(0, len(at))), value)
    else:
        name = draw(st.sampled_from([*at, *NAMES]))
        at[name] = value
        if draw(st.booleans()):
            del at[name]


@pytest.mark.long
@given(
    made=bodies(),
    prefer=st.sampled_from(["respond-async", "respond-async", "wait=0", "wait=2"] if LONG else ["wait=0"]),
)
@cases(quick=15, long=2000)
def test_a_damaged_body_is_refused_or_answered(address: Address, made: tuple[str, bytes], prefer: str) -> None:
    """A refusal says where the fault is, as strict JSON."""
    path, body = made
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nPrefer: {prefer}\r\n"
    raw = f"{head}Connection: close\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
    ((status, headers, answer),) = wire.split_answers(ask(address, raw, -1))
    check_answer(status, headers, answer)
    assert status in (200, 201, 202, 400, 404, 413, 422, 429, 503)
