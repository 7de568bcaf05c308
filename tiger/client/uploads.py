"""Files that a service keeps for several requests, seen from its client."""

import gzip
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Self
from urllib.parse import urlencode, urlsplit

from tiger.client.connection import Call, Connection
from tiger.client.errors import Document, ServiceError
from tiger.model.text import read_file

# Arguments that may be a file, by their names, which are those of the fields of requests.
FIELDS = ("tasks", "topology", "model", "cluster", "costs")
# Seconds that a service may take to keep a file, which it does in less than ten.
KEEP_S = 60.0


class RemoteUpload(str):
    """Be the path of a file here that a service keeps as well, by the `id` that requests refer to.

    It stands in place of the path in the arguments of a client, which still reads the file to check what is asked.
    """

    id: str
    _connection: Connection

    def __new__(cls, path: Path, document: Document, connection: Connection) -> Self:
        """Return the path of a file, with what the service says of it."""
        made = super().__new__(cls, path.absolute())
        made.id, made._connection = str(document.get("id", "")), connection
        return made

    def __repr__(self) -> str:
        """Show path and id."""
        return f"RemoteUpload({str(self)!r}, id={self.id!r})"

    @property
    def reference(self) -> dict[str, object]:
        """Return what stands in requests in place of its text."""
        return {"file": Path(self).name, "upload": self.id}

    def delete(self) -> None:
        """Have the service forget it; raise ServiceError (409) where a job that uses it has not ended.

        One that is gone already is no error.
        """
        delete_upload(self._connection, self.id)


def upload_file(connection: Connection, path: Path) -> RemoteUpload:
    """Have a service keep a file, unless it does so already; raise InputError of `path` for one that cannot be read."""
    content = gzip.compress(read_file(path, "path"), mtime=0)
    headers = {"Content-Type": "application/octet-stream", "Content-Encoding": "gzip"}
    query = urlencode({"name": path.name})
    call = Call(method="POST", path=f"uploads?{query}", headers=headers, body=content, wait_s=KEEP_S)
    return RemoteUpload(path, connection.document(call)[1], connection)


def list_uploads(connection: Connection) -> Iterator[Document]:
    """Yield what a service says of each upload of a key, the newest first."""
    path: str | None = "uploads"
    while path is not None:
        page = connection.document(Call(method="GET", path=path))[1]
        listed, following = page.get("uploads"), page.get("next")
        yield from listed if isinstance(listed, Sequence) else ()
        path = f"uploads?{urlsplit(following).query}" if isinstance(following, str) else None


def delete_upload(connection: Connection, upload_id: str) -> None:
    """Have a service forget an upload; one that is gone already is no error."""
    try:
        connection.send(Call(method="DELETE", path=f"uploads/{upload_id}"))
    except ServiceError as error:
        if error.status != HTTPStatus.NOT_FOUND:
            raise


def refer_to_uploads(document: Mapping[str, object], arguments: object) -> Mapping[str, object]:
    """Return the document of a request that refers to those of its arguments which are uploads, in place of texts."""
    changed = dict(document)
    for name in FIELDS:
        given, stated = getattr(arguments, name, None), document.get(name)
        if isinstance(given, RemoteUpload):
            network = name == "cluster" and isinstance(stated, Mapping) and "hosts" in stated
            # A network of hosts is a file within the cluster that it makes with what is inside them.
            changed[name] = {**stated, "hosts": given.reference} if network else given.reference  # type: ignore[dict-item]  # a mapping then
    inside, stated = getattr(arguments, "node_topology", None), document.get("node_topology")
    if isinstance(stated, list):
        sources = list(inside.values()) if isinstance(inside, Mapping) else [inside]
        changed["node_topology"] = [
            {**each, "topology": source.reference} if isinstance(source, RemoteUpload) else each
            for each, source in zip(stated, sources, strict=False)
        ]
    return changed
