"""What services and their clients agree on in headers: when to ask again, and how a webhook is signed."""

import base64
import hashlib
import hmac
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

# What a secret in base64 begins with; any other is taken as the text it is.
SECRET_PREFIX = "whsec_"  # noqa: S105 (no secret itself)
SIGNATURE_VERSION = "v1"


def read_retry_after(text: str) -> float | None:
    """Return the seconds that `Retry-After` asks to wait (RFC 9110), None for a text that says nothing of the kind."""
    stripped = text.strip()
    if stripped.isascii() and stripped.isdecimal():
        return float(stripped[:9])
    try:
        return max(0.0, (parsedate_to_datetime(stripped) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None


def read_secret(text: str) -> bytes:
    """Return the bytes that a secret signs with: base64 after `whsec_`, or else the text itself in UTF-8.

    Raises ValueError, which shows nothing of the secret, for what is no base64.
    """
    encoded = text.removeprefix(SECRET_PREFIX)
    if encoded == text:
        return text.encode()
    try:
        return base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except ValueError:
        raise ValueError(f"expected base64 after {SECRET_PREFIX}") from None


def sign_webhook(secret: bytes, webhook_id: str, timestamp: str, body: bytes) -> str:
    """Return the signature of a body as Standard Webhooks has it: HMAC-SHA256 of `id.timestamp.body` in base64."""
    digest = hmac.new(secret, f"{webhook_id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return f"{SIGNATURE_VERSION},{base64.b64encode(digest).decode()}"
