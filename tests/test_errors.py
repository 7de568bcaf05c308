"""Tests of the exception of bad input."""

import pickle

from tiger.errors import InputError


def test_the_message_names_the_field():
    """Tests field, reason and text."""
    error = InputError("pinned/t1", "expected a node, got 'x'")
    assert (error.field, error.reason, str(error)) == (
        "pinned/t1",
        "expected a node, got 'x'",
        "pinned/t1: expected a node, got 'x'",
    )


def test_it_survives_the_way_out_of_another_process():
    """Tests that pickling keeps both parts."""
    error = pickle.loads(pickle.dumps(InputError("seed", "expected less")))
    assert (type(error), error.field, error.reason) == (InputError, "seed", "expected less")
