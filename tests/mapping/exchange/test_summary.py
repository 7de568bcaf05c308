"""Tests of what is said of a model that was written."""

import pytest

from tiger.mapping.exchange.export import EncodedModel
from tiger.mapping.exchange.summary import model_summary

MODEL = EncodedModel(
    variables=(("t0", "a"), ("t0", "b\n"), ("t1", "a"), (None, "a"), (None, "b\n")),
    couplers=12,
    offset=3.5,
    fingerprint="0a1b",
    penalty=2.25,
    scale=0.5,
)


@pytest.mark.parametrize(
    "line",
    [
        "wrote out.bqm",
        "variables 5, of which 2 slack bits",
        "couplers 12",
        "offset 3.5",
        "fingerprint 0a1b",
        "penalty 2.25, 0.5 times the safe bound",
        r"0 is task t0 on node a; 1 is task t0 on node b\n; ..; slack bits last",
    ],
)
def test_a_model_is_described(line: str) -> None:
    """Its figures, and how to read its variables, stand on lines of their own."""
    assert line in [" ".join(found.split()) for found in model_summary(MODEL, "out.bqm").splitlines()]


def test_a_constrained_model_has_no_penalties() -> None:
    """Its constraints are counted in their place."""
    text = model_summary(
        EncodedModel(variables=MODEL.variables[:3], couplers=1, offset=0.0, fingerprint="", constraints=4), "out.cqm"
    )
    assert "constraints          4\n" in text
    assert "variables            3\n" in text
    assert "penalty" not in text
    assert "slack" not in text
