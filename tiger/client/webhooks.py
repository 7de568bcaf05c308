"""What a receiver of webhooks needs: the check that an event comes from the service and is not an old one."""

import hmac
import math
import time
from collections.abc import Mapping, Sequence

from tiger.client.errors import Document
from tiger.errors import InputError
from tiger.model.http import read_secret, sign_webhook
from tiger.model.jsontext import read_json


def verify_webhook(
    headers: Mapping[str, str], body: bytes, secrets: str | Sequence[str], tolerance_s: float = 300.0
) -> Document:
    """Return the event of a webhook, once its signature by one of the secrets (Standard Webhooks) has been checked.

    `headers` are those of the request, in whatever case, and `body` its bytes as they came. An event that was signed
    more than `tolerance_s` seconds before or after now is refused. Its `id` is the same whenever it is sent again.
    Raises InputError of the header at fault, of `secrets` for one that is none, or of `body` for one that is no object.
    """
    keys = [_read_key(secret) for secret in ([secrets] if isinstance(secrets, str) else secrets)]
    # Some servers hand bytes that are no text over as surrogates, which cannot be encoded.
    lower = {name.lower(): value.encode(errors="replace").decode() for name, value in headers.items()}
    webhook_id, timestamp, signatures = (_expect(lower, f"webhook-{name}") for name in ("id", "timestamp", "signature"))
    sent_s = float(timestamp[:15]) if timestamp.isascii() and timestamp.isdecimal() else math.nan
    if not abs(time.time() - sent_s) <= tolerance_s:
        raise InputError("webhook-timestamp", f"expected seconds since 1970 within {tolerance_s:g} s of now")
    good = False
    for key in keys:
        expected = sign_webhook(key, webhook_id, timestamp, body).encode()
        for signature in signatures.split(" "):
            # All are compared, so that the time tells nothing of which one was close.
            good |= hmac.compare_digest(expected, signature.encode())
    if not good:
        raise InputError("webhook-signature", "expected a signature by one of the secrets, got none")
    event = read_json(body.decode("utf-8", "replace"))
    if not isinstance(event, dict):
        raise InputError("body", "expected a JSON object, got something else")
    return event


def _read_key(secret: str) -> bytes:
    """Return what a secret signs with; raise InputError for one that is none."""
    try:
        key = read_secret(secret)
    except ValueError as error:
        raise InputError("secrets", str(error)) from None
    if not key:
        raise InputError("secrets", "expected secrets that are not empty")
    return key


def _expect(headers: Mapping[str, str], name: str) -> str:
    """Return a header; raise InputError where it is missing."""
    if name not in headers:
        raise InputError(name, "expected this header, got none")
    return headers[name]
