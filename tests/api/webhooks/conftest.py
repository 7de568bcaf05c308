"""A receiver of webhooks, whose certificate is trusted."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.webhooks.receiver import Receiver, make_certificate, receive


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with a key and a certificate."""
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def receiver(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    """Return a receiver."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with receive(certificate) as receiver:
        yield receiver
