"""Which bytes are one request."""

import h11
import pytest

from tiger.api.middleware.framing import HEAD_BYTES, Framing

GET = (b"GET / HTTP/1.1", b"Host: localhost")
CHUNKED = (b"POST / HTTP/1.1", b"Host: localhost", b"Transfer-Encoding: chunked")
SIZED = (b"POST / HTTP/1.1", b"Host: localhost", b"Content-Length: 2")


def head(*lines: bytes, end: bytes = b"\r\n") -> bytes:
    """Return lines as a head."""
    return end.join((*lines, b"", b""))


def read(raw: bytes, step: int = 1 << 20) -> tuple[list[bytes], int]:
    """Return the bodies of the requests that are sent in pieces, and the status of the refusal of the last, else 0."""
    connection, bodies = Framing(), list[bytes]()
    for at in range(0, len(raw), step):
        connection.receive_data(raw[at : at + step])
        try:
            _take(connection, bodies)
        except h11.RemoteProtocolError as error:
            return bodies, error.error_status_hint
    return bodies, 0


def _take(connection: Framing, bodies: list[bytes]) -> None:
    """Take whatever there is, and answer each request at its end."""
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA or isinstance(event, h11.ConnectionClosed):
            return
        if isinstance(event, h11.Request):
            bodies.append(b"")
        if isinstance(event, h11.Data):
            bodies[-1] += event.data
        if isinstance(event, h11.EndOfMessage):
            connection.send(h11.Response(status_code=204, headers=[]))
            connection.send(h11.EndOfMessage())
            connection.start_next_cycle()


@pytest.mark.parametrize("step", [1, 7, 1 << 20])
@pytest.mark.parametrize(
    ("raw", "body"),
    [
        (head(*GET), b""),
        (head(*GET, b"X: \xff", b"Y:", b"Z:a\tb "), b""),
        (head(b"OPTIONS * HTTP/1.1", GET[1]), b""),
        (head(b"GET /a%20b?c=http://d HTTP/1.1", b"Host: [::1]:8000"), b""),
        (head(*SIZED) + b"{}", b"{}"),
        (head(*SIZED) + b"\n\r", b"\n\r"),
        (head(*CHUNKED) + b"2;a=b\r\n\r\n\r\n0\r\nX: y\r\n\r\n", b"\r\n"),
    ],
)
def test_requests_in_order_are_read(raw: bytes, body: bytes, step: int) -> None:
    """One after the other, in whatever pieces they come."""
    assert read(raw + raw, step) == ([body, body], 0)


@pytest.mark.parametrize("step", [1, 7, 1 << 20])
@pytest.mark.parametrize(
    "raw",
    [
        head(*CHUNKED, b"Content-Length: 5") + b"0\r\n\r\n",
        head(CHUNKED[0], b"Content-Length: 5", *CHUNKED[1:]) + b"0\r\n\r\n",
        head(b"POST / HTTP/1.0", *CHUNKED[1:]) + b"0\r\n\r\n",
        head(*SIZED, b"content-length: 2") + b"{}",
        head(*SIZED[:2], b"Content-Length: 2, 2") + b"{}",
        head(*GET, b"X: a", b" b"),
        head(*CHUNKED[:2], b"Transfer-Encoding:", b"\tchunked") + b"0\r\n\r\n",
        head(*GET, end=b"\n"),
        head(*GET, b"X: a\nY: b"),
        head(*GET)[:-2] + b"\n",
        head(*GET, b"X: a\rY: b"),
        head(*GET, b"X: a\x01"),
        head(*GET, b"X: a\x7f"),
        head(*GET[:1], b"Host: localhost:80@elsewhere"),
        head(*GET[:1], b"Host: [::1]elsewhere"),
        head(*GET[:1], b"Host: localhost/x"),
        head(b"GET http://localhost/ HTTP/1.1", GET[1]),
        head(b"CONNECT localhost:80 HTTP/1.1", GET[1]),
        head(b"GET /#x HTTP/1.1", GET[1]),
        head(b"GET / HTTP/1.1 ", GET[1]),
    ],
)
def test_bug_an_ambiguous_head_is_refused(raw: bytes, step: int) -> None:
    """What follows it, a request or a part of its body, is not looked at."""
    assert read(raw + head(*GET), step) == ([], 400)


@pytest.mark.parametrize("step", [1, 7, 1 << 20])
@pytest.mark.parametrize(
    "body",
    [
        b"0\r\n\n",
        b"0\r\nX: y\n\n",
        b"0\r\nX: y\r\n z\r\n\r\n",
        b"2;a\rb\r\n{}\r\n0\r\n\r\n",
        b"2;\0\r\n{}\r\n0\r\n\r\n",
    ],
)
def test_bug_an_ambiguous_body_is_refused(body: bytes, step: int) -> None:
    """The request that might follow it is none."""
    found, status = read(head(*CHUNKED) + body + head(*GET), step)
    assert (len(found), status) == (1, 400)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "count", "status"), [(1, 4096, 0), (1, 4200, 400), (64, 9000, 0), (32, 9000, 400)])
def test_bug_a_body_in_crumbs_is_refused(size: int, count: int, status: int) -> None:
    """It kept everybody else waiting, as a chunk of one byte takes as long to read as any."""
    chunk = b"%x\r\n%s\r\n" % (size, b"x" * size)
    assert read(head(*CHUNKED) + chunk * count + b"0\r\n\r\n", 1 << 16)[1] == status


@pytest.mark.parametrize("version", [b"0.9", b"1.2", b"2.0", b"9.9"])
def test_bug_another_version_is_refused(version: bytes) -> None:
    """It says 505, as only 1.0 and 1.1 are spoken."""
    assert read(head(GET[0].replace(b"1.1", version), GET[1])) == ([], 505)


@pytest.mark.parametrize("coding", [b"gzip, chunked", b"identity", b"xchunked"])
def test_another_transfer_coding_is_refused(coding: bytes) -> None:
    """It says 501."""
    assert read(head(*SIZED[:2], b"Transfer-Encoding: " + coding)) == ([], 501)


@pytest.mark.parametrize("step", [4096, 1 << 20])
@pytest.mark.parametrize(
    "raw",
    [
        head(b"GET /" + b"a" * HEAD_BYTES + b" HTTP/1.1", GET[1]),
        head(*GET, b"X: " + b"a" * HEAD_BYTES),
        head(*CHUNKED) + b"2;" + b"a" * HEAD_BYTES + b"\r\n{}\r\n0\r\n\r\n",
        head(*CHUNKED) + b"0\r\n" + head(b"X: " + b"a" * HEAD_BYTES),
    ],
)
def test_bug_a_long_head_is_refused_in_whatever_pieces_it_comes(raw: bytes, step: int) -> None:
    """In one piece it had no bound."""
    assert read(raw, step)[1] == 431
