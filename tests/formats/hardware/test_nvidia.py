"""GPUs of a machine as nvidia-smi prints them."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tests.fuzz.test_files import damaged
from tiger.errors import InputError
from tiger.formats.hardware.description import read_printed
from tiger.model.metrics import TreeMetric

FOLDER = Path(__file__).resolve().parents[3] / "examples" / "clusters"
EXAMPLE = (FOLDER / "workstation4.topo").read_text(encoding="utf-8")
SWITCHED = "\tGPU0\tGPU1\tNIC0\nGPU0\t X \tNV12\tSYS\nGPU1\tNV12\t X \tPIX\n"


def test_distances_are_times_of_a_byte():
    """Four NVLinks carry 100 GB/s, bridges and sockets 10."""
    topology = read_printed(EXAMPLE).topology({})
    assert topology.names == ("gpu0", "gpu1", "gpu2", "gpu3")
    assert topology.metric.between(topology.hosts[:, None], topology.hosts).tolist() == [
        [0, 1, 10, 10],
        [1, 0, 10, 10],
        [10, 10, 0, 10],
        [10, 10, 10, 0],
    ]


def test_gpus_behind_a_switch_are_a_tree():
    """However many lanes there are, the nearest are 1 apart unless a distance is stated for a lane."""
    assert read_printed(SWITCHED).topology({}).metric == TreeMetric((2,), (1.0,))
    assert read_printed(SWITCHED).topology({"NV": 6.0}).metric == TreeMetric((2,), (0.5,))
    assert read_printed("\tGPU0\nGPU0\t X\n").topology({}).names == ("gpu0",)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (SWITCHED.replace("GPU", "TPU"), r"line 1: expected .* `nvidia-smi topo -m`, .* got 'TPU0\\tTPU1"),
        (SWITCHED.replace("GPU1\tNV12", "GPU1\tNV2"), "row GPU1, column GPU0: expected NV12 as in row GPU0"),
        ("\t".join(f"GPU{k}" for k in range(1025)), "expected 1 to 1,024 devices, got 1025"),
    ],
)
def test_faults_are_found_by_row_and_column(text, reason):
    """As those of clusters."""
    with pytest.raises(InputError, match=f"^topology: {reason}"):
        read_printed(text)


@pytest.mark.slow
@cases(quick=60, long=2_000)
@given(data=st.data())
def test_damaged_files_are_read_or_refused(data):
    """Nothing but GPUs or bad input comes of one."""
    text = data.draw(damaged(data.draw(st.sampled_from([EXAMPLE, SWITCHED]))))
    with suppress(InputError):
        assert read_printed(text).topology({}).names[0].startswith("gpu")
