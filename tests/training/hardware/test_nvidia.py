"""Tests of what `nvidia-smi topo -m` prints."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.training.hardware.nvidia import RATES, cluster_of_topo
from tiger.training.hardware.spec import cluster_of_spec

TOPOLOGIES = Path(__file__).resolve().parents[3] / "examples" / "topologies"
LEGEND = """
Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
  NV#  = Connection traversing a bonded set of # NVLinks
GPU0 is no row here
"""
DGX_1V = """        GPU0    GPU1    GPU2    GPU3    GPU4    GPU5    GPU6    GPU7    mlx5_0  mlx5_2  CPU Affinity
GPU0     X      NV1     NV1     NV2     NV2     SYS     SYS     SYS     PIX     SYS     0-19,40-59
GPU1    NV1      X      NV2     NV1     SYS     NV2     SYS     SYS     PIX     SYS     0-19,40-59
GPU2    NV1     NV2      X      NV2     SYS     SYS     NV1     SYS     PHB     SYS     0-19,40-59
GPU3    NV2     NV1     NV2      X      SYS     SYS     SYS     NV1     PHB     SYS     0-19,40-59
GPU4    NV2     SYS     SYS     SYS      X      NV1     NV1     NV2     SYS     PIX     20-39,60-79
GPU5    SYS     NV2     SYS     SYS     NV1      X      NV2     NV1     SYS     PIX     20-39,60-79
GPU6    SYS     SYS     NV1     SYS     NV1     NV2      X      NV2     SYS     PHB     20-39,60-79
GPU7    SYS     SYS     SYS     NV1     NV2     NV1     NV2      X      SYS     PHB     20-39,60-79
mlx5_0  PIX     PIX     PHB     PHB     SYS     SYS     SYS     SYS      X      SYS
mlx5_2  SYS     SYS     SYS     SYS     PIX     PIX     PHB     PHB     SYS      X
"""
PLAIN = "     GPU0 GPU1 GPU2\nGPU0  X   PIX  SOC\nGPU1  PIX  X   PHB\nGPU2  SYS PHB   X\n"


def topo(text, **rest):
    """Return the cluster of a printed matrix."""
    return cluster_of_topo({"nvidia_smi_topo": text, **rest})


def dgx_a100():
    """Return the matrix of eight A100 behind NVSwitch with ten NICs, in tabs and escape codes as a terminal gets it."""
    gpus, nics = [f"GPU{k}" for k in range(8)], [f"NIC{k}" for k in range(10)]
    titles = ["CPU Affinity", "NUMA Affinity", "GPU NUMA ID"]
    head = "\x1b[4m\t" + "\t".join([*gpus, *nics, *titles]) + "\x1b[0m"
    near = [["PXB" if k // 2 == j // 2 else "SYS" for j in range(10)] for k in range(8)]
    rows = [
        "\t".join([a, *(" X " if a == b else "NV12" for b in gpus), *near[k], "48-63,176-191", "3", "", "N/A"])
        for k, a in enumerate(gpus)
    ]
    last = ["\t".join([a, *(near[k][j] for k in range(8)), *["SYS"] * 10, "", ""]) for j, a in enumerate(nics)]
    return "\n".join([head, *rows, *last, LEGEND, "NIC Legend:", "", "  NIC0: mlx5_0"])


def test_dgx_1v_as_printed_is_the_spec():
    """The matrix of a DGX-1 gives the links of `dgx-1v:1`."""
    cluster, spec = topo(DGX_1V + LEGEND), cluster_of_spec("dgx-1v:1")
    assert cluster.names == tuple(f"GPU{k}" for k in range(8))
    assert (cluster.table_s(1e6) == spec.table_s(1e6)).all()


def test_dgx_a100_with_nics_and_escape_codes():
    """Twelve lanes each, whatever the columns of NICs and affinities say."""
    cluster = topo(dgx_a100(), memory_bytes=80e9, speed=2)
    assert (cluster.size, len(cluster.curves), cluster.device_types().max()) == (8, 1, 0)
    assert float(cluster.seconds(0, 7, 300e9)) == pytest.approx(1 + 3.4e-6, rel=1e-12)
    assert (cluster.memory_bytes[7], cluster.speed[7]) == (80e9, 2)


def test_workstation_without_other_columns():
    """Older names of classes stand for the newer ones, and text above the matrix is passed over."""
    cluster = topo("$ nvidia-smi topo -m\n" + PLAIN.replace("\n", "\r\n") + LEGEND)
    rate = {(a, b): RATES[name] for a, b, name in [(0, 1, "PIX"), (0, 2, "SYS"), (1, 2, "PHB")]}
    for (a, b), expected in rate.items():
        assert float(cluster.seconds(a, b, 6e8)) == pytest.approx(expected.latency_s + 6e8 / expected.bandwidth)


def test_logs_that_lost_the_escape_character():
    """What is left of codes in a log is passed over as well."""
    text = dgx_a100()
    assert topo(text.replace("\x1b", "")).names == topo(text).names


def test_links_of_infinity_fabric_carry_what_they_are_known_to():
    """RCCL dumps two links of 50 GB/s inside a socket of this machine; classes may state another lane."""
    text = (TOPOLOGIES / "xgmi4.xml").read_text("utf-8")
    cluster = cluster_of_topo({"nccl_topo": text})
    assert [float(cluster.seconds(0, b, 100e9)) for b in (1, 2, 3)] == pytest.approx([1, 10, 2], rel=1e-5)
    stated = cluster_of_topo({"nccl_topo": text, "classes": {"NV#": {"bandwidth": 40e9}}})
    assert [float(stated.seconds(0, b, 80e9)) for b in (1, 2, 3)] == pytest.approx([1, 8, 2], rel=1e-5)


def test_tables_of_rocm_smi_are_no_cluster():
    """They state weights and no rates."""
    with pytest.raises(InputError, match="got what `rocm-smi --showtopo` prints, which states no bandwidths"):
        topo((TOPOLOGIES / "rocm4.txt").read_text("utf-8"))


def test_one_gpu():
    """A machine of a single GPU has no links."""
    assert topo("\tGPU0\tCPU Affinity\nGPU0\t X \t0-7\n").link.tolist() == [[-1]]


def test_classes_may_have_other_rates():
    """Stated rates win; those of NV# hold for one lane; a class may have measured times."""
    classes = {"NV#": {"bandwidth": 20, "latency": 1}, "SYS": {"table": [[0, 5], [1, 6]]}}
    cluster = topo(DGX_1V, classes=classes)
    assert [float(cluster.seconds(0, b, 40)) for b in (3, 1, 5)] == [2, 3, 45]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("GPU", "TPU", "no line that begins with a GPU"),
        ("     GPU0 GPU1 GPU2\n", "", "line 1: expected different names"),
        ("GPU1 GPU2\n", "GPU1 GPU1\n", "line 1: expected different names"),
        ("GPU1  PIX", "GPU1", "row GPU1: expected 3 entries, got 2"),
        ("PIX  SOC", "PIX  SOC 0-3", "row GPU0: expected 3 entries, got 4"),
        ("PIX  SOC", "PIX  FOO", "row GPU0, column GPU2: expected one of NV1 and up, PIX, PXB.*got 'FOO'"),
        ("PIX  SOC", "PIX  NV0", "row GPU0, column GPU2"),
        ("PIX  SOC", "PIX  NV#", "row GPU0, column GPU2"),
        ("PIX  SOC", "PIX  X", "row GPU0, column GPU2"),
        ("GPU0  X ", "GPU0 SYS", "row GPU0, column GPU0: expected X, got 'SYS'"),
        ("PIX  SOC", "PIX  PHB", "row GPU2, column GPU0: expected PHB as in row GPU0, column GPU2, got SYS"),
        ("GPU1  PIX  X   PHB\n", "", "row GPU1: expected a row for every GPU, got none"),
        ("GPU1  PIX", "GPU0  PIX", "row GPU0: expected one row"),
        ("GPU1  PIX", "GPU9  PIX", "row GPU9: expected one row"),
    ],
)
def test_malformed_matrices(old, new, reason):
    """A fault is refused by its row and column."""
    with pytest.raises(InputError, match=reason) as caught:
        topo(PLAIN.replace(old, new))
    assert caught.value.field == "cluster/nvidia_smi_topo"


@pytest.mark.parametrize(
    ("rest", "field"),
    [
        ({"memory_bytes": -1}, "cluster/memory_bytes"),
        ({"memory": 1}, "cluster"),
        ({"classes": []}, "cluster/classes"),
        ({"classes": {"NV2": {"bandwidth": 1}}}, "cluster/classes"),
        ({"classes": {"SYS": {}}}, "cluster/classes/SYS"),
        ({"classes": {"SYS": {"bandwidth": 0}}}, "cluster/classes/SYS/bandwidth"),
        ({"classes": {"NV#": {"table": [[0, 1], [1, 2]]}}}, "cluster/classes/NV#"),
    ],
)
def test_malformed_fields_beside_the_text(rest, field):
    """What stands beside the text is checked as well."""
    with pytest.raises(InputError) as caught:
        topo(PLAIN, **rest)
    assert caught.value.field == field


@given(st.data())
def test_printed_matrices_are_read_back(data):
    """Any matrix of known classes gives every pair its rate."""
    size = data.draw(st.integers(1, 5))
    word = st.sampled_from(["NV1", "NV18", "PIX", "PXB", "PHB", "NODE", "SYS"])
    entry = {(a, b): data.draw(word) for a in range(size) for b in range(a)}
    rows = [
        "\t".join([f"GPU{a}", *(" X " if a == b else entry[max(a, b), min(a, b)] for b in range(size))])
        for a in range(size)
    ]
    cluster = topo("\n".join(["\t".join(["", *(f"GPU{k}" for k in range(size))]), *rows]))
    for (a, b), name in entry.items():
        rate = RATES["NV#"].bandwidth * int(name[2:]) if name[:2] == "NV" else RATES[name].bandwidth
        assert float(cluster.seconds(a, b, 1e12)) == pytest.approx(1e12 / rate, rel=1e-4)


@given(st.text(alphabet="GPU01 X\tNVSYIX\n#", max_size=60))
def test_any_other_text(text):
    """Any text is a cluster or bad input."""
    with suppress(InputError):
        assert topo("GPU0 GPU1\n" + text).size == 2
