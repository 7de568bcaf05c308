"""What writers write is read as the same cuts."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.placement.emission.deployment import Deployment
from tiger.placement.emission.formats import WRITERS
from tiger.training.layouts.reading import read_layout
from tiger.training.models.sizes import model_of

Deploy = Callable[..., Deployment]


@pytest.mark.parametrize("system", [name for name in WRITERS if name not in ("sglang", "llama.cpp")])
@given(st.data())
def test_cuts_come_back_from_every_writer(deploy: Deploy, system: str, data: st.DataObject) -> None:
    """Of tables and of shapes, whatever the cuts; with virtual stages where the system has them."""
    stages = data.draw(st.integers(1, 6))
    counts = (1, 2, 3) if system in ("megatron", "torch") else (1,)
    virtual = data.draw(st.sampled_from([count for count in counts if stages % count == 0]))
    # vLLM has a decoder layer in every stage.
    inner = st.sets(st.integers(2, 11), min_size=stages - 1, max_size=stages - 1)
    cuts = (0, *sorted(data.draw(inner)), 13)
    shape = model_of("transformer:layers=11,hidden=64,heads=4,vocabulary=100,sequence=32").given
    layers = {"layers": shape} if data.draw(st.booleans()) else {}
    made = deploy(cuts, np.arange(stages // virtual).reshape(-1, 1, 1), **layers)
    assert read_layout(WRITERS[system](made), made.layers) == cuts
