"""API keys: who may ask, named by digests, which alone are kept."""

import hashlib
import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from tiger.api.middleware.problems import Problem, refuse

OPEN = frozenset(("/", "/healthz", "/readyz", "/readyz/database", "/readyz/workers"))
# The files of the page, which hold no data: it asks for the key, and sends it with what it fetches.
OPEN_FOLDER = "/page/"
# Characters of a key, and of its name, which are enough of its digest to know keys apart.
SHORTEST, LONGEST, NAME = 16, 256, 12
WRITTEN = re.compile(r"[!-+\--~]+")
NEEDED = "Needed where the operator has set keys; one of the two headers will do."
SCHEMES = {
    "key": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": NEEDED},
    "bearer": {"type": "http", "scheme": "bearer", "description": NEEDED},
}
# What stands for a key in the log, and what may be one in a path.
HIDDEN, WORD = "***", re.compile(rf"[^/?&=\s]{{{SHORTEST},{LONGEST}}}")
CHALLENGE = {"WWW-Authenticate": 'Bearer realm="tiger"'}


@dataclass(frozen=True, slots=True)
class Key:
    """Hold the SHA-256 digest of a key, and the name of its owner: its account's, or the digest's first 12 digits."""

    digest: bytes = field(repr=False)
    owner: str

    @property
    def digits(self) -> str:
        """Return what tells the key from others in a log, and is of no use to who would guess it."""
        return self.digest.hex()[:NAME]


def parse(text: str) -> tuple[Key, ...]:
    """Return the keys that a comma-separated text states, none for a blank one.

    Raises ValueError, which shows nothing of any key, for one that is too short, too long, repeated or cannot be sent.
    """
    stated = [part.strip() for part in text.split(",") if part.strip()]
    if text.strip() and not stated:
        raise ValueError("expected keys separated by commas, got commas alone")
    return read_keys(stated)


def read_keys(stated: Sequence[str], owner: str | None = None) -> tuple[Key, ...]:
    """Return keys, of one owner where it is named; raise ValueError as `parse` does."""
    for number, key in enumerate(stated, 1):
        if not SHORTEST <= len(key) <= LONGEST:
            raise ValueError(f"expected keys of {SHORTEST} to {LONGEST} characters, got {len(key)} in key {number}")
        if not WRITTEN.fullmatch(key):
            raise ValueError(f"expected keys of visible ASCII characters, got another one in key {number}")
    digests = [_digest(key) for key in stated]
    if len(set(digests)) < len(digests):
        raise ValueError("expected every key once, got one again")
    return tuple(Key(digest, owner or digest.hex()[:NAME]) for digest in digests)


def is_open(path: str) -> bool:
    """Return whether anybody may ask for a path."""
    return path in OPEN or path.startswith(OPEN_FOLDER)


class Guard:
    """Let requests with a good key in, and answer 401 to the others; health and the page need none."""

    def __init__(self, app: ASGIApp, keys: Sequence[Key]) -> None:
        self.app = app
        self.keys = tuple(keys)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its owner and the digits of its key in `state`, "" and None where no keys are set."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        key = self._find_key(scope) if self.keys else None
        owner = key.owner if key is not None else "" if not self.keys else None
        if owner is None and scope["type"] == "http" and not is_open(scope["path"]):
            await refuse(_make_problem(scope), scope, receive, send)
            return
        if owner is None and scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        scope.setdefault("state", {}).update(owner=owner or "", key=None if key is None else key.digits)
        await self.app(scope, receive, send)

    def _find_key(self, scope: Scope) -> Key | None:
        """Return the key that a request sends, None without a good one."""
        sent = _sent_keys(scope)
        if len(sent) != 1:
            return None
        digest, found = _digest(sent.pop()), None
        # Every key is compared, so that the time tells nothing of which one was close.
        for key in self.keys:
            if hmac.compare_digest(key.digest, digest):
                found = key
        return found


@dataclass(frozen=True, slots=True)
class Mask:
    """Find keys in what a client may choose and the log shows: those that are set, and those that it sends.

    So it does with `secrets`, which are those of webhooks.
    """

    keys: Sequence[Key] = ()
    secrets: Sequence[str] = field(default=(), repr=False)

    def hide(self, scope: Scope, text: str) -> str:
        """Return a text of a request without the keys and the secrets in it."""
        for sent in sorted(_sent_keys(scope).union(self.secrets), key=len, reverse=True):
            if len(sent) >= SHORTEST:
                text = text.replace(sent, HIDDEN)
        known = {key.digest for key in self.keys}
        return WORD.sub(lambda word: HIDDEN if _digest(word[0]) in known else word[0], text) if known else text


def _sent_keys(scope: Scope) -> set[str]:
    """Return the keys that a request sends, by either header; it is for one."""
    headers = Headers(scope=scope)
    bearers = (value.partition(" ") for value in headers.getlist("authorization"))
    tokens = {token.strip() for kind, _, token in bearers if kind.lower() == "bearer"}
    return {key for key in tokens | set(headers.getlist("x-api-key")) if key}


def _digest(key: str) -> bytes:
    """Return the SHA-256 digest of a key; keys are long and random, so that nothing slower is needed."""
    return hashlib.sha256(key.encode("latin-1", "replace")).digest()


def _make_problem(scope: Scope) -> Problem:
    """Return the problem of a request without a good key."""
    found = "a wrong one" if _sent_keys(scope) else "none"
    detail = f"expected an API key as X-API-Key or as Authorization: Bearer, got {found}"
    return Problem(HTTPStatus.UNAUTHORIZED, detail, headers=CHALLENGE)
