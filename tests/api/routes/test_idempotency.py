"""The Idempotency-Key header."""

import pytest

from tiger.api.middleware.problems import RefusedError
from tiger.api.routes.idempotency import key_of


@pytest.mark.parametrize("key", ["a", '"8e03978e-40d5"', "x" * 255, "!~"])
def test_a_key_is_taken_as_it_is(key: str) -> None:
    """Quotes included."""
    assert key_of([key]) == key


def test_a_request_needs_no_key() -> None:
    """Without one it is not repeated."""
    assert key_of([]) is None


@pytest.mark.parametrize("headers", [[""], ["x" * 256], ["a b"], ["\xe9"], ["a\x00"], ["a\n"], ["a", "a"]])
def test_a_malformed_key_is_400(headers: list[str]) -> None:
    """It is not shown."""
    with pytest.raises(RefusedError) as refusal:
        key_of(headers)
    assert refusal.value.problem.status == 400
    assert refusal.value.problem.errors[0].pointer == "#/Idempotency-Key"
