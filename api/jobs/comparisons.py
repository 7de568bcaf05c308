"""The comparisons that the service keeps, whose rows are read and written in threads."""

from collections.abc import Callable

from tiger.api.jobs.comparison_store import ComparisonStore
from tiger.api.jobs.rebalancers import Query
from tiger.api.seams.comparison import NewComparison, StoredComparison


class DurableComparisons:
    """Keep comparisons in a database: Comparisons. `submitted` is called where some have come with new jobs."""

    def __init__(self, store: ComparisonStore, query: Query, submitted: Callable[[], None]) -> None:
        self._store, self._query, self._submitted = store, query, submitted

    async def insert(self, new: NewComparison) -> StoredComparison:
        """Keep a comparison with its new jobs."""
        kept = await self._query(self._store.insert, new)
        self._submitted()
        return kept

    async def find(self, owner: str, key: str, body: bytes) -> StoredComparison | None:
        """Return the comparison of a key."""
        return await self._query(self._store.find, owner, key, body)

    async def get(self, comparison_id: str, owner: str) -> StoredComparison | None:
        """Return a comparison."""
        return await self._query(self._store.get, comparison_id, owner)

    async def page(self, owner: str, after: str | None, limit: int) -> tuple[tuple[StoredComparison, ...], str | None]:
        """Return a page of comparisons, and the cursor of the next."""
        return await self._query(self._store.page, owner, after, limit)

    async def delete(self, comparison_id: str, owner: str) -> bool:
        """Forget a comparison, and return whether there was one."""
        return await self._query(self._store.delete, comparison_id, owner)
