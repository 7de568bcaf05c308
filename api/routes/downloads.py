"""Files of jobs as answers: compressed as they are kept, for clients that take that."""

import asyncio
import re
from urllib.parse import quote

from fastapi import Request, Response

from tiger.api.seams.files import JobFile

# The content coding of RFC 9110 that has the format of zlib, in which files are kept.
CODING = "deflate"
ZERO = re.compile(r"q=0(\.0{0,3})?")


async def answer_with_view(request: Request, file: JobFile) -> Response:
    """Answer with a file as a document to be shown."""
    return await _answer(request, file, {})


async def answer_with_download(request: Request, file: JobFile) -> Response:
    """Answer with a file to be saved under its name."""
    # As RFC 6266 has names beyond ASCII.
    name = f'filename="{file.name}"' if file.name.isascii() else f"filename*=UTF-8''{quote(file.name, safe='')}"
    return await _answer(request, file, {"Content-Disposition": f"attachment; {name}"})


async def _answer(request: Request, file: JobFile, headers: dict[str, str]) -> Response:
    """Answer with a file, unpacked in a thread where the client does not take it as it is kept."""
    headers |= {"Vary": "Accept-Encoding"}
    if takes_packed(request.headers.get("accept-encoding", "")):
        return Response(file.packed, headers=headers | {"Content-Encoding": CODING}, media_type=file.media_type)
    return Response(await asyncio.to_thread(file.unpack), headers=headers, media_type=file.media_type)


def takes_packed(accepted: str) -> bool:
    """Return whether a client names the coding, and not with a weight of 0."""
    parts = ([part.strip().lower() for part in coding.split(";")] for coding in accepted.split(","))
    return any(name == CODING and not any(map(ZERO.fullmatch, weights)) for name, *weights in parts)
