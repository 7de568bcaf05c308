"""What services and clients agree on in headers."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from tiger.model.http import read_retry_after, read_secret, sign_webhook


def test_a_signature_is_that_of_standard_webhooks() -> None:
    """As the library `standardwebhooks` 1.1.0 signs the same."""
    secret = read_secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    signature = sign_webhook(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", b'{"test": 2432232314}')
    assert signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_secret_is_base64_or_a_text() -> None:
    """By its prefix; base64 may lack its padding, and what is none shows nothing of itself."""
    assert [read_secret(text) for text in ("whsec_AAECAw==", "whsec_AAECAw", "whsec-AAECAw", "é")] == [
        b"\x00\x01\x02\x03",
        b"\x00\x01\x02\x03",
        b"whsec-AAECAw",
        b"\xc3\xa9",
    ]
    for text in ("whsec_t0p!secret", "whsec_A", "whsec_é"):
        with pytest.raises(ValueError, match="expected base64") as refusal:
            read_secret(text)
        assert text[6:] not in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *(("120", 120.0), (" 0 ", 0.0), ("9" * 99, 1e9 - 1)),
        *((text, None) for text in ("", "soon", "-1", "1.5", "٣")),
    ],
)
def test_retry_after_in_seconds(text: str, seconds: float | None) -> None:
    """Whole ones, and nothing else is taken for some."""
    assert read_retry_after(text) == seconds


def test_retry_after_at_a_time() -> None:
    """Never less than none; a time without a zone says nothing."""
    later = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    assert 3500 < (read_retry_after(later) or 0) <= 3600
    assert read_retry_after("Fri, 01 Jan 2021 00:00:00 GMT") == 0.0
    assert read_retry_after("Fri, 01 Jan 2021 00:00:00") is None
