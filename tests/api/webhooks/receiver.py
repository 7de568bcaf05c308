"""A receiver of webhooks by TLS on this machine, which answers as it is told and counts who connects."""

import json
import shutil
import ssl
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

# Names that the certificate is for.
NAMES = ("localhost", "hooks.test")


@dataclass(frozen=True)
class Received:
    """Hold a request that has come."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def event(self) -> dict[str, Any]:
        """Return the event."""
        found: dict[str, Any] = json.loads(self.body)
        return found


class Receiver(ThreadingHTTPServer):
    """Receive events and answer with the first of `answers`, a status with headers, and with 204 without any.

    Answers wait while `open` is not set.
    """

    daemon_threads = True
    # A burst of connections is not to be refused.
    request_queue_size = 128

    def __init__(self, certificate: Path, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.received: list[Received] = []
        self.answers: list[tuple[int, Mapping[str, str]]] = []
        self.connected, self.open = 0, threading.Event()
        self.open.set()
        self.tls = self.make_tls(certificate)
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    @staticmethod
    def make_tls(certificate: Path) -> ssl.SSLContext:
        """Return what a server needs to speak TLS."""
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(certificate)
        return tls

    @property
    def port(self) -> int:
        """Return where it listens."""
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        """Return what a request names."""
        return f"https://localhost:{self.port}/tiger?token=t0psecret"

    def count_events(self) -> Counter[str]:
        """Return how often each event came."""
        return Counter(received.headers["webhook-id"] for received in list(self.received))

    def process_request(self, request: Any, client_address: Any) -> None:
        """Count a connection, and go on in a thread of its own."""
        self.connected += 1
        super().process_request(request, client_address)

    def finish_request(self, request: Any, client_address: Any) -> None:
        """WebhookAnswer by TLS, if the other side goes along."""
        try:
            with self.tls.wrap_socket(request, server_side=True) as wrapped:
                super().finish_request(wrapped, client_address)
        except OSError:
            return

    def close(self) -> None:
        """Listen no more."""
        self.open.set()
        self.shutdown()
        self.server_close()
        self.thread.join()


class _Handler(BaseHTTPRequestHandler):
    """Note a request."""

    server: Receiver

    def do_POST(self) -> None:
        """WebhookAnswer."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.received.append(Received(self.path, headers, body))
        self.server.open.wait()
        status, more = self.server.answers.pop(0) if self.server.answers else (204, {})
        self.send_response(status)
        for name, value in more.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (as the base has it)
        """Say nothing."""


def make_certificate(folder: Path) -> Path:
    """Return a file with a key and a certificate of its own for the names; skip where there is no openssl."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    path = folder / "certificate.pem"
    names = ",".join(f"DNS:{name}" for name in NAMES)
    kind = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    command = ["openssl", "req", "-x509", *kind, "-subj", "/CN=tiger", "-addext", f"subjectAltName={names}"]
    subprocess.run([*command, "-keyout", path, "-out", f"{path}.cert"], check=True, capture_output=True)
    path.write_text(path.read_text() + Path(f"{path}.cert").read_text())
    return path


@contextmanager
def receive(certificate: Path, port: int = 0) -> Iterator[Receiver]:
    """Run a receiver."""
    receiver = Receiver(certificate, port)
    try:
        yield receiver
    finally:
        receiver.close()
