"""How often and how much at once one key, or one address where there are no keys, may ask."""

import math
import re
import time
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tiger.api.middleware.keys import is_open
from tiger.api.middleware.problems import Problem, refuse, refuse_for_quota
from tiger.api.seams.quota import QuotaExceededError

# Owners whose requests are remembered; where more ask, all begin from zero: no flood of addresses fills the memory.
NAMES_KEPT = 10_000
# Seconds after which one of the requests under way may have ended.
BUSY_S = 1
UNITS_S = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}
WRITTEN = re.compile(rf"\s*([0-9]{{1,9}})\s*(?:/|per)\s*({'|'.join(UNITS_S)})\s*")


@dataclass(frozen=True, slots=True)
class Rate:
    """Allow `amount` requests in any `window_s` seconds."""

    window_s: int
    amount: int


def parse(text: str) -> list[Rate]:
    """Return the rates that a text such as `600/minute` or `20/second;600/minute` states; raise ValueError."""
    matches = [WRITTEN.fullmatch(part) for part in re.split("[;,]", text)]
    rates = [Rate(UNITS_S[part[2]], int(part[1])) for part in matches if part is not None]
    if len(rates) < len(matches) or any(rate.amount < 1 for rate in rates):
        raise ValueError(f"expected a rate such as 600/minute, or several as 20/second;600/minute, got {text!r}")
    return sorted(rates, key=lambda rate: rate.window_s)


class Rates:
    """Answer 429 to a request that is one too many, and say of every other what is left."""

    def __init__(self, app: ASGIApp, rates: Sequence[Rate], max_concurrent: int | None) -> None:
        self.app = app
        self.rates = tuple(rates)
        self.max_concurrent = max_concurrent
        self.running: Counter[str] = Counter()
        self.windows: dict[str, tuple[_Window, ...]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on while its owner is within bounds; health always is."""
        if scope["type"] != "http" or is_open(scope["path"]):
            await self.app(scope, receive, send)
            return
        name = _name(scope)
        problem = self._refuse_busy(name) or self._count_or_refuse(name)
        if problem is not None:
            await refuse(problem, scope, receive, send)
            return
        self.running[name] += 1
        try:
            await self.app(scope, receive, self._send_with_rates(name, send))
        finally:
            self.running[name] -= 1
            if not self.running[name]:
                del self.running[name]

    def _refuse_busy(self, name: str) -> Problem | None:
        """Return the refusal of an owner who has too many requests under way."""
        if self.max_concurrent is None or self.running[name] < self.max_concurrent:
            return None
        detail = f"expected at most {self.max_concurrent} requests at once, got another one"
        over = QuotaExceededError("concurrent_requests", self.running[name], self.max_concurrent, BUSY_S)
        return refuse_for_quota(over, detail)

    def _count_or_refuse(self, name: str) -> Problem | None:
        """Return the refusal of an owner who has asked too often, or count the request."""
        windows = self._windows(name)
        # Before the last of them there would be another refusal.
        full = max((window for window in windows if not window.left), key=lambda window: window.reset_s, default=None)
        if full is not None:
            detail = f"expected at most {full.rate.amount} requests in {full.rate.window_s} s, got another one"
            over = QuotaExceededError("rate", full.rate.amount, full.rate.amount, max(1, full.reset_s))
            problem = refuse_for_quota(over, detail)
            return replace(problem, headers={**self._headers(name), **problem.headers})
        for window in windows:
            window.count()
        return None

    def _windows(self, name: str) -> "tuple[_Window, ...]":
        """Return the windows of an owner; memory is bounded whatever addresses come, as then all begin from zero."""
        windows = self.windows.pop(name, None)
        if windows is None and len(self.windows) >= NAMES_KEPT:
            self.windows.clear()
        # The owner who asked last comes last, so that the first is the first of whom nothing is left to remember.
        first = next(iter(self.windows), None)
        if first is not None and all(window.is_empty() for window in self.windows[first]):
            del self.windows[first]
        self.windows[name] = kept = windows or tuple(map(_Window, self.rates))
        return kept

    def _send_with_rates(self, name: str, send: Send) -> Send:
        """Return a `send` that adds to an answer what is left."""

        async def send_with_rates(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self._headers(name))
            await send(message)

        return send_with_rates

    def _headers(self, name: str) -> dict[str, str]:
        """Return the rates and what is left of them, as the IETF's draft-ietf-httpapi-ratelimit-headers-10 writes."""
        if not self.rates:
            return {}
        states = (f'"{window.rate.window_s}s";r={window.left};t={window.reset_s}' for window in self._windows(name))
        policies = (f'"{rate.window_s}s";q={rate.amount};w={rate.window_s}' for rate in self.rates)
        return {"RateLimit-Policy": ", ".join(policies), "RateLimit": ", ".join(states)}


class _Window:
    """Remember the requests of the last seconds, by a clock that nobody sets."""

    def __init__(self, rate: Rate) -> None:
        self.rate = rate
        self._times: deque[float] = deque()

    @property
    def left(self) -> int:
        """Return how many requests there may still be."""
        since = time.monotonic() - self.rate.window_s
        while self._times and self._times[0] <= since:
            self._times.popleft()
        return self.rate.amount - len(self._times)

    @property
    def reset_s(self) -> int:
        """Return after how many seconds there may be one more than now, 0 where none has been counted."""
        if not self._times:
            return 0
        # Rounding may make it a second more than there is.
        return min(self.rate.window_s, max(0, math.ceil(self._times[0] + self.rate.window_s - time.monotonic())))

    def is_empty(self) -> bool:
        """Return whether there has been no request lately."""
        return self.left == self.rate.amount

    def count(self) -> None:
        """Count a request."""
        self._times.append(time.monotonic())


def _name(scope: Scope) -> str:
    """Return whose request it is: the owner of its key, else its address."""
    owner: str = scope.get("state", {}).get("owner", "")
    client: tuple[str, int] | None = scope.get("client")
    return owner or (client[0] if client else "")
