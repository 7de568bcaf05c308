"""A reader of requests as RFC 9112 has them and no other, to count how many there are in what was sent."""

import re
from dataclasses import dataclass

TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
TEXT = rb"[\t -~\x80-\xff]*"
LINE = re.compile(rb"(" + TOKEN + rb") ([!-~]+) HTTP/1\.([01])\r\n")
FIELD = re.compile(rb"(" + TOKEN + rb"):[ \t]*(" + TEXT + rb")\r\n")
CHUNK = re.compile(rb"([0-9A-Fa-f]+)[ \t]*(?:;" + TEXT + rb")?\r\n")
STATUS = re.compile(rb"HTTP/1\.1 ([0-9]{3}) [^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n")


@dataclass(frozen=True, slots=True)
class Reading:
    """Hold how many whole requests there are, and what follows: `nothing`, a `part` of one, or `no` request."""

    count: int
    rest: str


class _PartError(Exception):
    """Say that more must come."""


class _NoneError(Exception):
    """Say that what comes is no request."""


def read(raw: bytes) -> Reading:
    """Read what is sent on one connection, up to a request that ends it."""
    count, at, last = 0, 0, False
    while at < len(raw) and not last:
        try:
            at, last = _read_request(raw, at)
        except _PartError:
            return Reading(count, "part")
        except _NoneError:
            return Reading(count, "no")
        count += 1
    return Reading(count, "nothing")


def split_answers(raw: bytes) -> list[tuple[int, bytes, bytes]]:
    """Return status, headers and body of the final answers on a connection; no answer has a bare head in its body."""
    found = list(STATUS.finditer(raw))
    ends = [*(match.start() for match in found[1:]), len(raw)]
    whole = [(int(match[1]), match[2].lower(), raw[match.end() : end]) for match, end in zip(found, ends, strict=False)]
    return [answer for answer in whole if answer[0] >= 200]


def _read_request(raw: bytes, at: int) -> tuple[int, bool]:
    """Return where a request ends, and whether the connection ends with it."""
    line, at = _match(LINE, raw, at)
    fields: dict[bytes, list[bytes]] = {}
    while raw[at : at + 2] != b"\r\n":
        field, at = _match(FIELD, raw, at)
        fields.setdefault(field[1].lower(), []).append(field[2].strip(b" \t"))
    last = line[3] == b"0" or b"close" in b",".join(fields.get(b"connection", [])).lower().replace(b" ", b"").split(
        b","
    )
    return _find_end(raw, at + 2, fields), last


def _find_end(raw: bytes, at: int, fields: dict[bytes, list[bytes]]) -> int:
    """Return where the body ends that begins at a place."""
    lengths, codings = fields.get(b"content-length", []), fields.get(b"transfer-encoding", [])
    if len(lengths) + len(codings) > 1 or any(coding.lower() != b"chunked" for coding in codings):
        raise _NoneError
    if not all(re.fullmatch(rb"[0-9]+", length) for length in lengths):
        raise _NoneError
    if codings:
        return _read_chunks(raw, at)
    end = at + int(lengths[0] if lengths else 0)
    if end > len(raw):
        raise _PartError
    return end


def _read_chunks(raw: bytes, at: int) -> int:
    """Return where a body in chunks ends, after its trailer."""
    while True:
        head, at = _match(CHUNK, raw, at)
        size = int(head[1], 16)
        if size == 0:
            break
        if raw[at + size : at + size + 2] != b"\r\n"[: max(0, len(raw) - at - size)]:
            raise _NoneError
        at += size + 2
        if at > len(raw):
            raise _PartError
    while raw[at : at + 2] != b"\r\n":
        _, at = _match(FIELD, raw, at)
    return at + 2


def _match(pattern: re.Pattern[bytes], raw: bytes, at: int) -> tuple[re.Match[bytes], int]:
    """Return what a pattern matches at a place, and where that ends."""
    found = pattern.match(raw, at)
    if found is not None:
        return found, found.end()
    raise _NoneError if b"\n" in raw[at:] else _PartError
