"""Tests of the loads and the peer of the table of experts on unlike devices."""

import numpy as np

from benchmarks.unlike_experts import EXPERTS, GPUS, LAYERS, Row, add_case, draw_weight


def test_loads_have_their_number() -> None:
    """The same one, the same loads."""
    weight = draw_weight(0.8, 3)
    assert weight.shape[0] == LAYERS
    assert weight.shape[1] in EXPERTS
    assert np.array_equal(weight, draw_weight(0.8, 3))


def test_no_load_is_above_eplbs_or_below_the_bound() -> None:
    """Nor below a division by speed, whatever the slots."""
    row = Row()
    add_case(row, draw_weight(0.4, 0)[:, : 4 * GPUS], 0.25)
    assert (row.above, len(row.gain)) == (0, LAYERS)
    assert max(row.gain) < 1 <= min(row.equal) * (1 + 1e-9)
    assert min(row.mean + row.by_speed) >= 1 - 1e-9
    assert all(usual >= best * (1 - 1e-9) for usual, best in zip(row.eplb, row.renamed, strict=True))
