"""Maps of experts to write."""

import numpy as np
import pytest
from hypothesis import strategies as st

from tiger.expert_maps.maps.expert_map import ExpertMap


@pytest.fixture(scope="session")
def expert_map() -> ExpertMap:
    """Return two layers of four experts on three GPUs with two slots each."""
    return ExpertMap(np.array([[0, 1, 2, 3, 0, 1], [3, 2, 1, 0, 3, 2]]), 3)


@st.composite
def maps(draw: st.DrawFn, extra: int = 3) -> ExpertMap:
    """Draw maps of a few layers, with up to so many replicas more than experts."""
    gpus, size = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    experts = gpus * size - draw(st.integers(0, min(extra, gpus * size - 1)))
    more = gpus * size - experts
    layers = [
        draw(
            st.permutations(
                [*range(experts), *draw(st.lists(st.integers(0, experts - 1), min_size=more, max_size=more))]
            )
        )
        for _ in range(draw(st.integers(1, 3)))
    ]
    return ExpertMap(np.array(layers), gpus)
