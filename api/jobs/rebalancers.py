"""The rebalancers that the service keeps, whose rows are read and written in threads."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from tiger.api.jobs.rebalancer_store import RebalancerStore
from tiger.api.jobs.worker_context import Answer, Parts
from tiger.api.seams.rebalancer import NewRebalancer, RebalancerStep, StoredRebalancer


class Query(Protocol):
    """Call a function that waits for the database, in a thread."""

    def __call__(self, function: Callable[[*Parts], Answer], /, *args: *Parts) -> Awaitable[Answer]:
        """Return what the function returns; raise DatabaseDownError, also where no answer comes."""


class DurableRebalancers:
    """Keep rebalancers in a database: Rebalancers."""

    def __init__(self, store: RebalancerStore, query: Query) -> None:
        self._store, self._query = store, query

    async def insert(self, new: NewRebalancer) -> StoredRebalancer:
        """Keep a rebalancer."""
        return await self._query(self._store.insert, new)

    async def find(self, owner: str, key: str, body: bytes) -> StoredRebalancer | None:
        """Return the rebalancer of a key."""
        return await self._query(self._store.find, owner, key, body)

    async def get(self, rebalancer_id: str, owner: str) -> StoredRebalancer | None:
        """Return a rebalancer."""
        return await self._query(self._store.get, rebalancer_id, owner)

    async def find_answer(self, rebalancer_id: str, key: str, body: bytes) -> bytes | None:
        """Return the answer to a step with a key."""
        return await self._query(self._store.find_answer, rebalancer_id, key, body)

    async def take_step(self, step: RebalancerStep) -> bool:
        """Keep a step, and return whether it was from the last state."""
        return await self._query(self._store.take_step, step)

    async def delete(self, rebalancer_id: str, owner: str) -> bool:
        """Forget a rebalancer, and return whether there was one."""
        return await self._query(self._store.delete, rebalancer_id, owner)
