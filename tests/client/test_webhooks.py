"""What a receiver checks of a webhook."""

import time

import pytest

from tiger.client import InputError, verify_webhook
from tiger.model.http import read_secret, sign_webhook

OLD, NEW = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "a-plain-secret-of-24-chars"
BODY = b'{"id": "e1", "event": "job.done"}'


def sign(*secrets: str, age_s: float = 0.0, body: bytes = BODY) -> dict[str, str]:
    """Return the headers of an event."""
    timestamp = str(int(time.time() - age_s))
    signatures = [sign_webhook(read_secret(secret), "e1", timestamp, body) for secret in secrets]
    return {"Webhook-Id": "e1", "Webhook-Timestamp": timestamp, "Webhook-Signature": " ".join(signatures)}


def test_an_event_is_returned_once_it_is_checked() -> None:
    """Whichever of the secrets is known while one is changed, and whatever other versions of signatures come along."""
    event = {"id": "e1", "event": "job.done"}
    both = sign(NEW, OLD)
    assert verify_webhook(both, BODY, OLD) == verify_webhook(both, BODY, [NEW]) == event
    assert verify_webhook(sign(NEW), BODY, [OLD, NEW]) == event
    older = sign(OLD)
    older["Webhook-Signature"] = f"v1a,abc v2,é {older['Webhook-Signature']}"
    assert verify_webhook(older, BODY, OLD) == event
    assert verify_webhook(sign(OLD, age_s=100), BODY, OLD, tolerance_s=200) == event


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"Webhook-Id": "e2"}, "webhook-signature"),
        ({"Webhook-Signature": ""}, "webhook-signature"),
        ({"Webhook-Signature": "v1,"}, "webhook-signature"),
        ({"Webhook-Signature": "v1,\udcff"}, "webhook-signature"),
        ({"Webhook-Id": "\udcff"}, "webhook-signature"),
        ({"Webhook-Signature": sign(NEW)["Webhook-Signature"]}, "webhook-signature"),
        ({"Webhook-Timestamp": "soon"}, "webhook-timestamp"),
        ({"Webhook-Timestamp": "nan"}, "webhook-timestamp"),
        ({"Webhook-Timestamp": "-1"}, "webhook-timestamp"),
        (sign(OLD, age_s=301), "webhook-timestamp"),
        (sign(OLD, age_s=-9000), "webhook-timestamp"),
    ],
)
def test_an_event_that_may_be_anybodys_is_refused(changes: dict[str, str], field: str) -> None:
    """The header at fault is named."""
    with pytest.raises(InputError) as refusal:
        verify_webhook(sign(OLD) | changes, BODY, OLD)
    assert refusal.value.field == field


@pytest.mark.parametrize("name", sign(OLD))
def test_a_header_that_is_missing_is_named(name: str) -> None:
    """Without it there is nothing to check."""
    with pytest.raises(InputError, match=f"{name.lower()}: expected this header"):
        verify_webhook({other: value for other, value in sign(OLD).items() if other != name}, BODY, OLD)


def test_a_body_is_what_was_signed() -> None:
    """To the byte, and a JSON object."""
    with pytest.raises(InputError, match="webhook-signature"):
        verify_webhook(sign(OLD), BODY + b" ", OLD)
    with pytest.raises(InputError, match="body: expected a JSON object"):
        verify_webhook(sign(OLD, body=b"[]"), b"[]", OLD)


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_!"])
def test_a_secret_that_signs_nothing_is_refused(secret: str) -> None:
    """Anybody could sign with an empty one."""
    with pytest.raises(InputError, match="secrets: expected"):
        verify_webhook(sign(OLD), BODY, [OLD, secret])
