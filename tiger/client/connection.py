"""The connection to a service, which repeats requests that are not answered."""

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx

from tiger import __version__
from tiger.client.errors import Document, ServiceError, error_of
from tiger.errors import InputError
from tiger.model.http import read_retry_after

BUSY = (429, 503)
KEY_HEADER = "X-API-Key"


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Say for how long a service that cannot be reached is asked again.

    For `asking_s` seconds with a new request, for `waiting_s` about a job that it keeps, and where it says itself when
    to come back (429 and 503 with Retry-After). Pauses grow twofold, from `first_s` to `most_s`.
    """

    asking_s: float = 3.0
    waiting_s: float = 60.0
    first_s: float = 0.2
    most_s: float = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Hold a request: method, path, headers and body; `wait_s` is how long the service may take before it answers.

    `kept` says that it is about a job which the service keeps.
    """

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    wait_s: float = 0.0
    kept: bool = False


class Connection:
    """Send requests to a service below a URL, with a key where it wants one.

    Raises InputError of `server` for a URL that is none, and of `key` for a key that no header can carry.
    """

    def __init__(self, url: str, key: str, timeout_s: float, patience: Patience) -> None:
        headers = {"User-Agent": f"tiger/{__version__}", "Accept": "application/json"}
        if key:
            headers[KEY_HEADER] = check_header("key", key)
        self._timeout_s, self._patience = timeout_s, patience
        # Redirects are not followed, as the key would go along to wherever they lead.
        self._http = httpx.Client(base_url=_base(url), headers=headers, timeout=timeout_s)

    def close(self) -> None:
        """Close what is open."""
        self._http.close()

    def send(self, call: Call) -> httpx.Response:
        """Return the answer to a request that went well; raise InputError or ServiceError for any other."""
        patience = self._patience
        begun, pause = time.monotonic(), patience.first_s
        while True:
            answer = self._try(call)
            stated = None if isinstance(answer, ServiceError) else _retry_after(answer)
            if isinstance(answer, httpx.Response) and stated is None:
                break
            # A service that says when to come back is up, and one that keeps a job will be again.
            limit = patience.waiting_s if call.kept or stated is not None else patience.asking_s
            wait = pause if stated is None else max(stated, pause)
            if time.monotonic() + wait > begun + limit:
                break
            time.sleep(wait)
            pause = min(2 * pause, patience.most_s)
        if isinstance(answer, ServiceError):
            raise answer
        if not answer.is_success:
            raise error_of(answer.status_code, _object(answer), answer.reason_phrase)
        return answer

    def document(self, call: Call) -> tuple[int, Document]:
        """Return status and document of an answer that went well; raise as `send` does, and for one that is no JSON."""
        answer = self.send(call)
        document = _object(answer)
        if document is None:
            raise ServiceError(answer.status_code, "expected a JSON object, got something else: is this TIGER?")
        return answer.status_code, document

    @contextmanager
    def lines(self, path: str, silence_s: float) -> Iterator[Iterable[str]]:
        """Yield the lines of a stream of events; raise ServiceError where there is none, and httpx's errors later."""
        headers = {"Accept": "text/event-stream"}
        timeout = httpx.Timeout(self._timeout_s, read=silence_s)
        with self._http.stream("GET", path, headers=headers, timeout=timeout) as answer:
            if not answer.is_success or "event-stream" not in answer.headers.get("content-type", ""):
                raise ServiceError(answer.status_code, "expected a stream of events, got something else")
            yield answer.iter_lines()

    def _try(self, call: Call) -> httpx.Response | ServiceError:
        """Return the answer to one request, or why there is none."""
        headers = dict(call.headers)
        if call.body is not None:
            headers.setdefault("Content-Type", "application/json")
        timeout = httpx.Timeout(self._timeout_s, read=self._timeout_s + call.wait_s)
        try:
            return self._http.request(call.method, call.path, headers=headers, content=call.body, timeout=timeout)
        except httpx.TransportError as error:
            reason = str(error) or type(error).__name__
            return ServiceError(None, f"no answer from {self._http.base_url.netloc.decode()}: {reason}")


def _base(url: str) -> httpx.URL:
    """Return the URL below which the routes are."""
    try:
        base = httpx.URL(url)
    except (httpx.InvalidURL, TypeError):
        base = httpx.URL("")
    if base.scheme not in ("http", "https") or not base.host:
        raise InputError("server", "expected a URL such as http://localhost:8000, got something else")
    return base.copy_with(query=None, fragment=None)


def check_header(field: str, text: str) -> str:
    """Return a text that a header can carry; raise InputError of a field, without the text, for any other."""
    if not (text.isascii() and text.isprintable()) or text != text.strip():
        raise InputError(field, "expected printable ASCII without blanks around it, got something else")
    return text


def _retry_after(answer: httpx.Response) -> float | None:
    """Return the seconds after which a busy service may be asked again, None where it does not state them."""
    return read_retry_after(answer.headers.get("retry-after", "")) if answer.status_code in BUSY else None


def _object(answer: httpx.Response) -> Document | None:
    """Return the JSON object of an answer, None for anything else."""
    try:
        document = json.loads(answer.content)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
