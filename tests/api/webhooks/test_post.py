"""Requests that are sent by TLS to an address that was checked, and to no other."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from ipaddress import ip_network
from pathlib import Path

import pytest

from tests.api.webhooks.receiver import Receiver
from tiger.api.webhooks.policy import WebhookTarget
from tiger.api.webhooks.post import WebhookAnswer, make_tls_context, post

LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))


def send(target: WebhookTarget, networks: tuple[object, ...] = LOOPBACK) -> WebhookAnswer:
    """Send a little to a target."""
    return asyncio.run(post(target, {"webhook-id": "e1"}, b'{"a": 1}', networks, make_tls_context()))  # type: ignore[arg-type]


def aim_at(receiver: Receiver, host: str = "localhost") -> WebhookTarget:
    """Return a target at a receiver."""
    return WebhookTarget(host=host, port=receiver.port, path="/tiger?token=x")


class Listener:
    """Count the connections to a port of all addresses of this machine, by both protocols."""

    def __init__(self, stack: ExitStack) -> None:
        self.connected = 0
        four = stack.enter_context(socket.create_server(("0.0.0.0", 0)))
        self.port = four.getsockname()[1]
        self._sockets = [four]
        with suppress(OSError):
            six = stack.enter_context(socket.create_server(("::", self.port), family=socket.AF_INET6))
            self._sockets.append(six)
        for each in self._sockets:
            each.settimeout(0.05)
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._count, args=(each,)) for each in self._sockets]
        for thread in self._threads:
            thread.start()
        stack.callback(self.end)

    def _count(self, listening: socket.socket) -> None:
        """Accept until it is over, and once more."""
        while True:
            over = self._ended.is_set()
            try:
                listening.accept()[0].close()
                self.connected += 1
            except TimeoutError:
                if over:
                    return

    def end(self) -> int:
        """Return how many connected."""
        self._ended.set()
        for thread in self._threads:
            thread.join()
        return self.connected


@pytest.fixture
def listener() -> Iterator[Listener]:
    """Return a listener."""
    with ExitStack() as stack:
        yield Listener(stack)


def resolve_to(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """Have names stand for one answer after the other, the last again and again; return the names that were asked."""
    asked: list[str] = []

    def look_up(host: str, port: int, *_: object, **__: object) -> list[tuple[int, int, int, str, tuple[str, int]]]:
        asked.append(host)
        found = answers[min(len(asked), len(answers)) - 1]
        return [(socket.AF_INET6 if ":" in address else socket.AF_INET, 1, 6, "", (address, port)) for address in found]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return asked


def test_a_request_comes_as_it_was_sent(receiver: Receiver) -> None:
    """With the name of the host, its path and its headers."""
    assert send(aim_at(receiver)) == WebhookAnswer(status=204)
    (got,) = receiver.received
    assert (got.path, got.body, got.headers["webhook-id"]) == ("/tiger?token=x", b'{"a": 1}', "e1")
    assert (got.headers["host"], got.headers["content-type"]) == (f"localhost:{receiver.port}", "application/json")


# What each of them is read as by the resolver of this machine, or would be by another one.
HIDDEN = {
    **dict.fromkeys(("localhost", "127.0.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0.0.0.0"), None),
    **dict.fromkeys(("::1", "::ffff:127.0.0.1", "::ffff:7f00:1", "::", "localhost."), None),
    "inside.example": ["127.0.0.1"],
    "mapped.example": ["::ffff:127.0.0.1"],
    "mixed.example": ["127.0.0.1", "8.8.8.8"],
    "mixed-again.example": ["8.8.8.8", "::1"],
    "relay.example": ["2002:7f00:1::"],
    "translated.example": ["64:ff9b::7f00:1"],
    "anything.example": ["0.0.0.0"],
    "unspecified.example": ["::"],
}


def test_no_way_to_hide_an_address_leads_inside(listener: Listener, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing connects, although a port of all addresses listens: even where a policy had let such a host through."""
    assert asyncio.run(
        post(WebhookTarget(host="localhost", port=listener.port, path="/"), {}, b"", LOOPBACK, make_tls_context())
    )
    for host, found in HIDDEN.items():
        with monkeypatch.context() as patch:
            if found is not None:
                resolve_to(patch, found)
            answer = send(WebhookTarget(host=host, port=listener.port, path="/"), ())
        assert answer.status is None, host
        assert answer.error in ("the host has an address that is not global", "the host has no address"), host
    assert 1 <= listener.end() <= 2


def test_a_name_that_changes_is_looked_up_once(
    receiver: Receiver, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection goes to the address that was checked, and another answer is checked again."""
    asked = resolve_to(monkeypatch, ["127.0.0.1"], ["127.0.0.2"])
    only = (ip_network("127.0.0.1/32"),)
    assert send(aim_at(receiver, "hooks.test"), only) == WebhookAnswer(status=204)
    assert asked == ["hooks.test"]
    again = send(WebhookTarget(host="hooks.test", port=listener.port, path="/"), only)
    assert again == WebhookAnswer(error="the host has an address that is not global")
    assert (len(asked), receiver.connected, listener.end()) == (2, 1, 0)


def test_an_address_that_refuses_leaves_the_next(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    """As hosts have several, of which some may be down."""
    resolve_to(monkeypatch, ["127.0.0.2", "127.0.0.1"])
    assert send(aim_at(receiver, "hooks.test")) == WebhookAnswer(status=204)


def test_a_redirect_is_not_followed(receiver: Receiver, listener: Listener) -> None:
    """Wherever it leads."""
    receiver.answers = [(302, {"Location": f"https://localhost:{listener.port}/"}), (307, {"Location": "/again"})]
    assert [send(aim_at(receiver)).status, send(aim_at(receiver)).status] == [302, 307]
    assert (len(receiver.received), listener.end()) == (2, 0)


def test_no_proxy_of_the_environment_is_used(
    receiver: Receiver, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would connect to what was never checked."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{listener.port}")
    assert send(aim_at(receiver)) == WebhookAnswer(status=204)
    assert listener.end() == 0


def test_a_certificate_has_to_be_of_the_host(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    """And of an authority that is trusted."""
    resolve_to(monkeypatch, ["127.0.0.1"])
    wrong = send(aim_at(receiver, "other.test"))
    assert "certificate cannot be verified: Hostname mismatch" in str(wrong.error)
    monkeypatch.setenv("SSL_CERT_FILE", str(Path(__file__)))
    assert "certificate cannot be verified" in str(send(aim_at(receiver, "hooks.test")).error)
    assert receiver.received == []


def test_a_receiver_says_when_to_come_again(receiver: Receiver) -> None:
    """In seconds, or at a time that is past by now."""
    receiver.answers = [(503, {"Retry-After": "90"}), (429, {"Retry-After": "Fri, 01 Jan 2021 00:00:00 GMT"})]
    assert [send(aim_at(receiver)).retry_after_s, send(aim_at(receiver)).retry_after_s] == [90.0, 0.0]


@pytest.mark.parametrize(
    ("said", "error"),
    [
        (b"HTTP/1.1 200 OK\r\nX: " + b"a" * 20_000, "what came was no answer by HTTP/1.1"),
        (b"SSH-2.0\r\n\r\n", "what came was no answer by HTTP/1.1"),
        (b"", "what came was no answer by HTTP/1.1"),
        (None, "no answer came in time"),
    ],
)
def test_what_is_no_answer_fails(
    certificate: Path, monkeypatch: pytest.MonkeyPatch, said: bytes | None, error: str
) -> None:
    """A head without an end, another protocol, nothing, or silence."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    monkeypatch.setattr("tiger.api.webhooks.post.TOTAL_S", 0.3 if said is None else 60.0)
    with ExitStack() as stack:
        listening = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        tls = Receiver.make_tls(certificate)
        over = threading.Event()

        def answer() -> None:
            with suppress(OSError), tls.wrap_socket(listening.accept()[0], server_side=True) as connection:
                got = b""
                # All of it, as a connection with bytes unread is reset.
                while not got.endswith(b'{"a": 1}'):
                    got += connection.recv(10_000)
                if said is None:
                    over.wait()
                else:
                    connection.sendall(said)

        thread = threading.Thread(target=answer)
        thread.start()
        found = send(WebhookTarget(host="localhost", port=listening.getsockname()[1], path="/"))
        over.set()
        thread.join()
    assert found == WebhookAnswer(error=error)
