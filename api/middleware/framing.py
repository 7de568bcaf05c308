"""Where one request ends and the next begins: RFC 9112 without the leniency by which two readers see two requests."""

import re

import h11
from h11._receivebuffer import ReceiveBuffer

# h11's own bound on a head. It applies that to one that is still incomplete, so not to one that comes in one piece.
HEAD_BYTES = 16 << 10
# A chunk of one byte takes as long to read as any: 640,000 of them kept another request waiting for 15 s. A client may
# send so many as it happens to write them; beyond, chunks have so many bytes on average.
SHORT_CHUNKS, CHUNK_BYTES = 4096, 64
VERSIONS = (b"1.0", b"1.1")
FLAWS = {
    "a line that ends without a carriage return": re.compile(rb"(?<!\r)\n"),
    "a carriage return inside a line": re.compile(rb"\r(?!\n)"),
    "a control character": re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"),
    "a folded header": re.compile(rb"\n[ \t]"),
    "more than one Content-Length": re.compile(rb"(?is)\ncontent-length:(?:[^\r]*,|.*\ncontent-length:)"),
}
TARGET = re.compile(rb"/[^#]*|\*")
# RFC 3986, 3.2.2, without percent signs, which no name of a host needs.
HOST = re.compile(rb"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+;=-]*)(?::[0-9]*)?")


class Framing(h11.Connection):
    """Read requests as h11 does, and refuse what it lets pass although another reader may divide it otherwise.

    Behind a proxy that takes a request for one where this server sees two, the second one is somebody else's choice
    (request smuggling). What h11 already refuses is not looked for here.
    """

    def __init__(self) -> None:
        super().__init__(h11.SERVER, HEAD_BYTES)
        self._receive_buffer = _Lines()
        self.method = b""
        self._chunks, self._received = 0, 0

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """Return what comes next; raise RemoteProtocolError, with a status, for a request that is ambiguous."""
        event = super().next_event()
        if isinstance(event, h11.Request):
            self.method, self._chunks, self._received = event.method, 0, 0
            _check(event)
        if isinstance(event, h11.Data):
            self._count(event)
        return event

    def _count(self, data: h11.Data) -> None:
        """Raise RemoteProtocolError for a body that comes in too many chunks for what it is."""
        self._chunks += data.chunk_start
        self._received += len(data.data)
        if self._chunks > SHORT_CHUNKS + self._received // CHUNK_BYTES:
            raise h11.RemoteProtocolError(f"expected chunks of at least {CHUNK_BYTES} bytes, got too many shorter ones")


class _Lines(ReceiveBuffer):
    """Hand out the lines of heads, of chunks and of trailers, which end by CR LF and are not too long.

    h11 takes a bare LF for the end of a line, and joins lines that are folded, before anything else sees them.
    """

    def maybe_extract_next_line(self) -> bytearray | None:
        """Return the line that begins a chunk, None where it is not all there; raise LocalProtocolError."""
        line = super().maybe_extract_next_line()
        if line is not None:
            _check_lines(line)
        return line

    def maybe_extract_lines(self) -> list[bytearray] | None:
        """Return the lines of a head or of a trailer, None where they are not all there; raise LocalProtocolError."""
        size, raw = len(self), self._data[: HEAD_BYTES + 1]
        lines = super().maybe_extract_lines()
        _check_lines(raw[: size - len(self)])
        return lines


def _check_lines(raw: bytearray) -> None:
    """Raise LocalProtocolError for lines that are too long, or that readers may divide in several ways."""
    if len(raw) > HEAD_BYTES:
        raise h11.LocalProtocolError(f"expected lines of at most {HEAD_BYTES} bytes together, got longer ones", 431)
    for flaw, pattern in FLAWS.items():
        if pattern.search(raw):
            raise h11.LocalProtocolError(f"expected lines as RFC 9112 has them, got {flaw}")


def _check(request: h11.Request) -> None:
    """Raise RemoteProtocolError for a request of another version, of two lengths, or for no path of this server."""
    headers = dict(request.headers)
    if request.http_version not in VERSIONS:
        found = request.http_version.decode()
        raise h11.RemoteProtocolError(f"expected HTTP/1.0 or HTTP/1.1, got HTTP/{found}", error_status_hint=505)
    if b"transfer-encoding" in headers and b"content-length" in headers:
        raise h11.RemoteProtocolError("expected Content-Length or Transfer-Encoding, got both")
    if b"transfer-encoding" in headers and request.http_version == b"1.0":
        raise h11.RemoteProtocolError("expected no Transfer-Encoding with HTTP/1.0, got one")
    if not TARGET.fullmatch(request.target):
        raise h11.RemoteProtocolError("expected a target that begins with a slash, got another one")
    if not HOST.fullmatch(headers.get(b"host", b"")):
        raise h11.RemoteProtocolError("expected a host and perhaps a port as Host, got something else")
