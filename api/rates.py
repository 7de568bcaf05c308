"""How often and how much at once one key, or one address where there are no keys, may ask."""

import math
import time
from collections import Counter
from collections.abc import Sequence
from http import HTTPStatus

import limits
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tiger.api.keys import OPEN
from tiger.api.problems import Problem, turn_away

NAMES_KEPT = 10_000
BUSY_S = 1


def parse(text: str) -> list[limits.RateLimitItem]:
    """Return the rates that a text such as `600/minute` or `20/second;600/minute` states; raise ValueError."""
    try:
        found = limits.parse_many(text)
    except ValueError:
        found = []
    if not found or any(rate.amount < 1 for rate in found):
        raise ValueError(f"expected a rate such as 600/minute, or several as 20/second;600/minute, got {text!r}")
    return sorted(found)


class Rates:
    """Answer 429 to a request that is one too many, and say of every other what is left."""

    def __init__(self, app: ASGIApp, rates: Sequence[limits.RateLimitItem], max_concurrent: int | None) -> None:
        self.app = app
        self.rates = tuple(rates)
        self.max_concurrent = max_concurrent
        self.limiter = MovingWindowRateLimiter(MemoryStorage())
        self.running: Counter[str] = Counter()
        self.names: set[str] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on while its owner is within bounds; health always is."""
        if scope["type"] != "http" or scope["path"] in OPEN:
            await self.app(scope, receive, send)
            return
        name = _name(scope)
        problem = self._busy(name) or self._over(name)
        if problem is not None:
            await turn_away(problem, scope, receive, send)
            return
        self.running[name] += 1
        try:
            await self.app(scope, receive, self._told(name, send))
        finally:
            self.running[name] -= 1
            if not self.running[name]:
                del self.running[name]

    def _busy(self, name: str) -> Problem | None:
        """Return the refusal of an owner who has too many requests under way."""
        if self.max_concurrent is None or self.running[name] < self.max_concurrent:
            return None
        detail = f"expected at most {self.max_concurrent} requests at once, got another one"
        return Problem(HTTPStatus.TOO_MANY_REQUESTS, detail, headers={"Retry-After": str(BUSY_S)})

    def _over(self, name: str) -> Problem | None:
        """Return the refusal of an owner who has asked too often, or count the request."""
        full = next((rate for rate in self.rates if not self.limiter.test(rate, name)), None)
        if full is not None:
            left = self.limiter.get_window_stats(full, name).reset_time - time.time()
            headers = self._headers(name) | {"Retry-After": str(max(1, math.ceil(left)))}
            detail = f"expected at most {full.amount} requests in {full.get_expiry()} s, got another one"
            return Problem(HTTPStatus.TOO_MANY_REQUESTS, detail, headers=headers)
        self._remember(name)
        for rate in self.rates:
            self.limiter.hit(rate, name)
        return None

    def _remember(self, name: str) -> None:
        """Keep memory bounded whatever addresses come: the storage keeps a name for ever, so it begins anew."""
        if len(self.names) >= NAMES_KEPT and name not in self.names:
            self.limiter.storage.reset()
            self.names.clear()
        self.names.add(name)

    def _told(self, name: str, send: Send) -> Send:
        """Return a `send` that adds to an answer what is left."""

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self._headers(name))
            await send(message)

        return told

    def _headers(self, name: str) -> dict[str, str]:
        """Return the rates and what is left of them, as the IETF's draft-ietf-httpapi-ratelimit-headers-10 writes."""
        if not self.rates:
            return {}
        now, states = time.time(), []
        for rate in self.rates:
            reset, left = self.limiter.get_window_stats(rate, name)
            states.append(f'"{rate.get_expiry()}s";r={max(0, left)};t={max(0, math.ceil(reset - now))}')
        policies = (f'"{rate.get_expiry()}s";q={rate.amount};w={rate.get_expiry()}' for rate in self.rates)
        return {"RateLimit-Policy": ", ".join(policies), "RateLimit": ", ".join(states)}


def _name(scope: Scope) -> str:
    """Return whose request it is: the owner of its key, else its address."""
    owner: str = scope.get("state", {}).get("owner", "")
    client: tuple[str, int] | None = scope.get("client")
    return owner or (client[0] if client else "")
