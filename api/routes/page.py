"""The page and its files, which need no key and hold no data, and the JSON index beside it."""

import gzip
import hashlib
import mimetypes
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fastapi import FastAPI, Request, Response
from pydantic import BaseModel, ConfigDict

from tiger import __version__
from tiger.api.middleware.problems import Problem, RefusedError

FOLDER = Path(__file__).resolve().parents[1] / "page"
# Where the page finds its files, relative to itself, so that it works behind a prefix.
MOUNT = "/page/"
# What a browser may load for the page, its workers included: what this service sends, and nothing from inside markup.
POLICY = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"
# Browsers ask each time whether a file is still the same, which is quick, and never mix two versions.
CACHING = {"Cache-Control": "no-cache", "Vary": "Accept, Accept-Encoding", "Content-Security-Policy": POLICY}
# What a compressed answer saves of smaller files is less than its headers.
LEAST_BYTES = 512
ROUTES = (
    "/assign",
    "/place",
    "/plan",
    "/experts",
    "/views",
    "/jobs",
    "/comparisons",
    "/uploads",
    "/rebalancers",
    "/webhooks",
    "/usage",
    "/solvers",
    "/topologies",
    "/healthz",
    "/readyz",
    "/metrics",
    "/docs",
)


class IndexBody(BaseModel):
    """Say what answers here, and where."""

    model_config = ConfigDict(extra="forbid", title="Index")

    name: str
    version: str
    openapi: str
    routes: list[str]


@dataclass(frozen=True, slots=True)
class StaticFile:
    """Hold a file of the page, plain and compressed, its media type, and a tag of its content."""

    content: bytes
    compressed: bytes
    media_type: str
    tag: str

    def answer(self, request: Request) -> Response:
        """Answer with the file, or that it is the one which the client has."""
        headers = CACHING | {"ETag": self.tag}
        if self.tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        if "gzip" in request.headers.get("accept-encoding", "") and len(self.content) >= LEAST_BYTES:
            return Response(self.compressed, headers=headers | {"Content-Encoding": "gzip"}, media_type=self.media_type)
        return Response(self.content, headers=headers, media_type=self.media_type)


def add_page(app: FastAPI) -> None:
    """Add the page, its files and the index."""
    app.add_api_route("/", show_index, methods=["GET", "HEAD"], include_in_schema=False)
    app.add_api_route(f"{MOUNT}{{name:path}}", send_file, methods=["GET", "HEAD"], include_in_schema=False)


async def show_index(request: Request) -> Response:
    """Answer a browser with the page, and programs with the name, the version and the routes of the service."""
    if prefers_page(request.headers.get("accept", "")):
        return read_file("index.html").answer(request)
    index = IndexBody(name="TIGER", version=__version__, openapi="/openapi.json", routes=list(ROUTES))
    return Response(index.model_dump_json(), headers={"Vary": "Accept"}, media_type="application/json")


async def send_file(request: Request, name: str) -> Response:
    """Answer with a file of the page."""
    if name not in list_files():
        raise RefusedError(Problem(404, "The page has no such file."))
    return read_file(name).answer(request)


def prefers_page(accept: str) -> bool:
    """Return whether an Accept header names HTML, and JSON with no higher quality."""
    qualities = {}
    for part in accept.split(","):
        kind, *parameters = (piece.strip().lower() for piece in part.split(";"))
        stated = next((piece[2:] for piece in parameters if piece.startswith("q=")), "1")
        qualities[kind] = float(stated) if stated.replace(".", "", 1).isdecimal() else 0.0
    return qualities.get("text/html", 0.0) > 0 and qualities["text/html"] >= qualities.get("application/json", 0.0)


@cache
def list_files() -> frozenset[str]:
    """Return the names of the files of the page, relative to its folder; no other file is ever read."""
    # Types are for those who write the page.
    files = (path for path in FOLDER.rglob("*") if path.is_file() and not path.name.endswith(".d.ts"))
    return frozenset(path.relative_to(FOLDER).as_posix() for path in files)


@cache
def read_file(name: str) -> StaticFile:
    """Read and compress a file of the page once."""
    content = (FOLDER / name).read_bytes()
    # Not by the system's table, which another machine has otherwise.
    kind = mimetypes.types_map.get(Path(name).suffix, "text/plain")
    media_type = "text/javascript" if name.endswith(".js") else kind
    tag = f'"{hashlib.sha256(content).hexdigest()[:20]}"'
    return StaticFile(content, gzip.compress(content, mtime=0), media_type, tag)
