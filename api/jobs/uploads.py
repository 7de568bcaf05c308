"""The uploads that the service keeps, whose rows are read and written in threads."""

from collections.abc import Callable, Iterable, Mapping

from tiger.api.jobs.rebalancers import Query
from tiger.api.jobs.upload_store import UploadStore
from tiger.api.seams.upload import NewUpload, Upload, UploadText


class DurableUploads:
    """Keep uploads in a database: Uploads. `deleted` is called once one is, to give its room back to the disk."""

    def __init__(self, store: UploadStore, query: Query, deleted: Callable[[], None] = lambda: None) -> None:
        self._store, self._query, self._deleted = store, query, deleted

    async def insert(self, new: NewUpload) -> tuple[Upload, bool]:
        """Keep a text."""
        return await self._query(self._store.insert, new)

    async def get(self, upload_id: str, owner: str) -> Upload | None:
        """Return an upload."""
        return await self._query(self._store.get, upload_id, owner)

    async def page(self, owner: str, after: str | None, limit: int) -> tuple[tuple[Upload, ...], str | None]:
        """Return a page of uploads."""
        return await self._query(self._store.page, owner, after, limit)

    async def list_names(self, ids: Iterable[str], owner: str) -> Mapping[str, UploadText]:
        """Return the names of uploads."""
        return await self._query(self._store.list_names, ids, owner)

    async def read(self, ids: Iterable[str], owner: str) -> Mapping[str, UploadText]:
        """Return the texts of uploads."""
        return await self._query(self._store.read, ids, owner)

    async def delete(self, upload_id: str, owner: str) -> bool:
        """Delete an upload, and return whether there was one."""
        gone = await self._query(self._store.delete, upload_id, owner)
        if gone:
            self._deleted()
        return gone
