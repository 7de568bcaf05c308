"""A rebalancer that the service keeps, a step of it, and the interface of what stores them."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRebalancer:
    """Hold the checked body of a request, the state it comes to at first, for whom, and the key of the request."""

    body: bytes
    state: bytes
    owner: str = ""
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRebalancer:
    """Hold a rebalancer: the request that it came of, its state after so many steps, and when it will be forgotten."""

    id: str
    owner: str
    body: bytes
    state: bytes
    steps: int
    created_s: float
    expires_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RebalancerStep:
    """Hold a step from one state of a rebalancer to the next: its body, its answer, and the key of its request."""

    before: StoredRebalancer
    body: bytes
    answer: bytes
    state: bytes
    key: str | None = None


class Rebalancers(Protocol):
    """Store rebalancers. One of another owner is as unknown as one that never was, or that has expired.

    Every call may raise DatabaseDownError.
    """

    async def insert(self, new: NewRebalancer) -> StoredRebalancer:
        """Keep a rebalancer and return it, or the one of the same key.

        Raises KeyReusedError, QuotaExceededError or DiskFullError.
        """

    async def find(self, owner: str, key: str, body: bytes) -> StoredRebalancer | None:
        """Return the rebalancer that a request with a key has made; raise KeyReusedError for another body."""

    async def get(self, rebalancer_id: str, owner: str) -> StoredRebalancer | None:
        """Return a rebalancer."""

    async def find_answer(self, rebalancer_id: str, key: str, body: bytes) -> bytes | None:
        """Return the answer to a step that was taken with a key; raise KeyReusedError for another body."""

    async def take_step(self, step: RebalancerStep) -> bool:
        """Keep a step, and return whether it was from the last state, as it is not where another came first.

        Raises DiskFullError.
        """

    async def delete(self, rebalancer_id: str, owner: str) -> bool:
        """Forget a rebalancer, and return whether there was one."""
