"""One request by https to an address that has been checked: no redirect, no proxy, no second look at the name."""

import asyncio
import ssl
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import h11

from tiger.api.webhooks.addresses import UnsentError, resolve
from tiger.api.webhooks.policy import HTTPS, Network, WebhookTarget
from tiger.model.http import read_retry_after

# Seconds for looking a name up and for connecting, for all of a request, and for the body of an answer.
CONNECT_S, TOTAL_S, BODY_S = 3.0, 10.0, 1.0
# Bytes of the head of an answer, and of its body, of which nothing is kept.
HEAD_BYTES, BODY_BYTES = 8192, 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookAnswer:
    """Hold the status of an answer and the seconds that it asks to wait, or in a sentence why there was none."""

    status: int | None = None
    retry_after_s: float | None = None
    error: str | None = None


def make_tls_context() -> ssl.SSLContext:
    """Return what checks certificates and names, by the authorities of this machine or of SSL_CERT_FILE."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


async def post(
    target: WebhookTarget, headers: Mapping[str, str], body: bytes, networks: Sequence[Network], tls: ssl.SSLContext
) -> WebhookAnswer:
    """Send a JSON body to a target, once its host has turned out to be at global addresses or in the networks.

    Returns within `TOTAL_S` seconds, with the reason where no answer came.
    """
    try:
        async with asyncio.timeout(TOTAL_S):
            reader, writer = await _connect(target, networks, tls)
            try:
                return await _exchange(reader, writer, target, headers, body)
            finally:
                # Nothing more is expected, and a receiver may not keep this waiting.
                writer.transport.abort()
    except UnsentError as error:
        return WebhookAnswer(error=str(error))
    except TimeoutError:
        return WebhookAnswer(error="no answer came in time")
    except ssl.SSLCertVerificationError as error:
        return WebhookAnswer(error=f"the certificate cannot be verified: {error.verify_message}")
    except h11.RemoteProtocolError:
        return WebhookAnswer(error="what came was no answer by HTTP/1.1")
    except OSError as error:
        return WebhookAnswer(error=f"the connection failed: {type(error).__name__}")


async def _connect(
    target: WebhookTarget, networks: Sequence[Network], tls: ssl.SSLContext
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to the first address of a host that can be reached, with the certificate of its name."""
    async with asyncio.timeout(CONNECT_S):
        *addresses, last = await resolve(target.host, target.port, networks)
    for address in addresses:
        with suppress(OSError):
            return await _open(address, target, tls)
    return await _open(last, target, tls)


async def _open(
    address: str, target: WebhookTarget, tls: ssl.SSLContext
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to an address, which is one of numbers and looked up nowhere."""
    async with asyncio.timeout(CONNECT_S):
        return await asyncio.open_connection(address, target.port, ssl=tls, server_hostname=target.host)


async def _exchange(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    target: WebhookTarget,
    headers: Mapping[str, str],
    body: bytes,
) -> WebhookAnswer:
    """Send the request and read the answer, of which the head counts."""
    http = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_BYTES)
    host = target.host if target.port == HTTPS else f"{target.host}:{target.port}"
    about = {"Content-Type": "application/json", "Content-Length": str(len(body)), "User-Agent": "TIGER"}
    sent = {"Host": host, "Connection": "close", **about, **headers}
    request = h11.Request(method="POST", target=target.path, headers=[*sent.items()])
    for event in (request, h11.Data(data=body), h11.EndOfMessage()):
        writer.write(http.send(event) or b"")
    await writer.drain()
    while isinstance(head := await _read_event(http, reader), h11.InformationalResponse):
        pass
    if not isinstance(head, h11.Response):
        raise h11.RemoteProtocolError("expected an answer")
    wait = next((value.decode("latin-1") for name, value in head.headers if name == b"retry-after"), "")
    await _read_body(http, reader)
    return WebhookAnswer(status=head.status_code, retry_after_s=read_retry_after(wait))


async def _read_body(http: h11.Connection, reader: asyncio.StreamReader) -> None:
    """Read a little of a body, as some receivers fail where nobody takes what they say."""
    left = BODY_BYTES
    with suppress(OSError, h11.RemoteProtocolError):
        async with asyncio.timeout(BODY_S):
            while left > 0 and isinstance(event := await _read_event(http, reader), h11.Data):
                left -= len(event.data)


async def _read_event(http: h11.Connection, reader: asyncio.StreamReader) -> object:
    """Return the next event of the answer."""
    while (event := http.next_event()) is h11.NEED_DATA:
        http.receive_data(await reader.read(BODY_BYTES))
    return event
