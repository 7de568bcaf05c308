"""GPUs of AMD as rocm-smi prints them."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tests.fuzz.test_files import damaged
from tiger.errors import InputError
from tiger.formats.files import read_hardware
from tiger.formats.hardware.rocm import is_matrix, read_machine
from tiger.model.metrics import TreeMetric
from tiger.model.text import FileText

EXAMPLE = (Path(__file__).resolve().parents[3] / "examples" / "topologies" / "rocm4.txt").read_text("utf-8")
ONE = "== Weight between two GPUs ==\n  GPU0\nGPU0 0\n== Link Type between two GPUs ==\n  GPU0\nGPU0 0\n"


@pytest.mark.parametrize("name", ["machine.txt", "machine.topo"])
def test_weights_are_distances(name):
    """A hop of Infinity Fabric is 1, and PCIe across sockets 52 fifteenths of it."""
    hardware = read_hardware(FileText(name, EXAMPLE))
    assert hardware.distances == {"XGMI": 1.0, "PCIE": pytest.approx(52 / 15)}
    topology = hardware.topology({"PCIE": 5.0})
    assert (topology.names, topology.host) == (("gpu0", "gpu1", "gpu2", "gpu3"), "localhost")
    table = topology.metric.between(topology.hosts[:, None], topology.hosts)
    assert table.tolist() == [[0, 1, 5, 1], [1, 0, 1, 5], [5, 1, 0, 1], [1, 5, 1, 0]]


def test_farther_links_of_a_kind_are_as_much_farther():
    """Two hops of Infinity Fabric weigh 30."""
    two = EXAMPLE.replace("52", "30").replace("PCIE", "XGMI")
    hardware = read_machine(two)
    assert hardware.distances == {"XGMI": 1.0}
    assert hardware.topology({}).metric.between(0, 2) == 2


def test_a_machine_may_have_a_gpu_alone_and_no_infinity_fabric():
    """Its tables say little."""
    assert read_machine(ONE).topology({}).names == ("gpu0",)
    plain = read_machine(EXAMPLE.replace("XGMI", "PCIE").replace("15 ", "52 ").replace("15\n", "52\n"))
    assert plain.topology({}).metric == TreeMetric((4,), (1.0,))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("Weight between", "Hopes between", "expected the table 'Weight' of `rocm-smi --showtopo`, got none"),
        ("Link Type between", "Hopes between", "expected the table 'Link Type' of `rocm-smi --showtopo`, got none"),
        ("15           52", "52           52", "Weight, row GPU0, column GPU1: expected '15' as in row GPU1, got '52'"),
        ("0            15", "0            N/A", "Weight, row GPU0, column GPU1: expected '15' as in row GPU1"),
        ("GPU0   0            15", "GPU0   1            15", "Weight, row GPU0, column GPU0: expected 0, got '1'"),
        ("GPU1   15           0            15           52", "", "Weight, row GPU1: expected a row for every GPU"),
        ("GPU1   15           0", "GPU0   15           0", "line 7: Weight: expected one row of 4 entries"),
        ("GPU1   15 ", "GPU1   15 15", "line 7: Weight: expected one row of 4 entries"),
        ("GPU2         GPU3\n", "GPU2         GPU2\n", "line 5: expected 1 to 1,024 different GPUs above"),
    ],
)  # fmt: skip
def test_bad_tables_are_named(old, new, reason):
    """By table, row and column."""
    text = EXAMPLE.replace(old, new, 1)
    assert text != EXAMPLE
    with pytest.raises(InputError, match=f"^topology: {reason}"):
        read_machine(text)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("15", "0", "Weight, row GPU0, column GPU1: expected a whole number from 1 on, got '0'"),
        ("52", "N/A", "Weight, row GPU0, column GPU2: expected a whole number from 1 on, got 'N/A'"),
        ("PCIE", "XXXX", "Link Type, row GPU0, column GPU2: expected XGMI or PCIE, got 'XXXX'"),
    ],
)
def test_unknown_links_are_named(old, new, reason):
    """As where the driver does not know them."""
    with pytest.raises(InputError, match=f"^topology: {reason}"):
        read_machine(EXAMPLE.replace(old, new))


def test_tables_of_different_gpus_are_refused():
    """They would be of two machines."""
    weights, middle, types = EXAMPLE.partition("===== Link")
    with pytest.raises(InputError, match=r"^topology: Link Type: expected the GPUs of the table of weights, got GPU4"):
        read_machine(weights + middle + types.replace("GPU0", "GPU4"))


@pytest.mark.slow
@cases(quick=60, long=2_000)
@given(data=st.data())
def test_damaged_tables_are_read_or_refused(data):
    """Nothing but GPUs or bad input comes of one."""
    text = data.draw(damaged(data.draw(st.sampled_from([EXAMPLE, ONE]))))
    with suppress(InputError):
        assert read_machine(text).topology({}).names[0].startswith("gpu")
        assert is_matrix(text)
