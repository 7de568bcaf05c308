"""What launchers are told of cores, devices and threads, by hand."""

from dataclasses import replace

import pytest

from tests.launchers.orders import BY_CORE, NODES, SWAPPED
from tiger.errors import InputError
from tiger.launchers import rankfile, wrapper
from tiger.launchers.binding import describe_binding, list_variables, write_mask, write_numbers
from tiger.launchers.formats import LAUNCHERS, describe_use
from tiger.launchers.order import RankOrder, order_ranks
from tiger.model.resources import Package, Resources, join_cores

# Four cores of two threads each, in two packages.
CORES = [Resources(cores=(k,), cpus=(k, k + 4), package=Package(k // 2, k // 2 * 2)) for k in range(4)]
HALVES = (join_cores(CORES[:2]), join_cores(CORES[2:]))
MAPPED = {"0": "n0/core0-1", "1": "n0/core2-3", "2": "n1/core0-1", "3": "n1/core2-3"}


def bind(mapping: dict[str, str]) -> RankOrder:
    """Return the order of ranks on halves of two hosts."""
    names = tuple(f"n{host}/core{own}" for host in (0, 1) for own in ("0-1", "2-3"))
    counts, turn = NODES.counts[:1].repeat(4) // 2, NODES.turn[:1].repeat(4)
    return order_ranks(
        mapping, replace(NODES, names=names, counts=counts, turn=turn, resources=HALVES * 2, cores_per_rank=2)
    )


AS_MAPPED = bind(MAPPED)
# Ranks of the second host are on its cores in the other order.
TURNED = bind(MAPPED | {"2": "n1/core2-3", "3": "n1/core0-1"})


def test_cray_binds_processes_as_srun_starts_them() -> None:
    """By slots, which are the same on all hosts, in whatever order their ranks are."""
    text = describe_binding("cray", TURNED)
    assert (text.options, text.remark) == (describe_binding("slurm", AS_MAPPED).options, None)


def test_numbers_and_masks() -> None:
    """Ranges of consecutive numbers, and hexadecimal bits."""
    assert (write_numbers((0, 1, 2, 8)), write_numbers(()), write_mask((0, 3))) == ("0-2,8", "", "0x9")


def test_rank_files_have_the_cores_of_packages() -> None:
    """Counted from the first of the package; one core, and cores of several packages, through all of them."""
    assert rankfile.write(AS_MAPPED).splitlines()[:2] == ["rank 0=n0 slot=0:0-1", "rank 1=n0 slot=1:0-1"]
    assert rankfile.write(BY_CORE).splitlines()[0] == "rank 0=n1 slot=1"
    whole = order_ranks({"0": "n0"}, replace(NODES, resources=(join_cores(CORES),) * 3))
    assert rankfile.write(whole) == "rank 0=n0 slot=0-3\n"
    assert rankfile.write(order_ranks({"0": "n0"}, replace(NODES, cores_per_rank=4))) == "rank 0=n0 slot=0-3\n"


@pytest.mark.parametrize(
    ("launcher", "command"),
    [
        ("openmpi", "mpirun --rankfile FILE -n 4 -x OMP_NUM_THREADS=2 PROGRAM"),
        ("prrte", " -x OMP_NUM_THREADS=2 PROGRAM"),
        ("slurm", " --cpu-bind=mask_cpu:0x33,0xcc PROGRAM"),
        ("mpich", " -bind-to user:0+4+1+5,2+6+3+7 PROGRAM"),
        ("intel", "OMP_NUM_THREADS=2 I_MPI_PIN_DOMAIN='[0x33,0xcc]' mpiexec "),
    ],
)
def test_launchers_are_told_the_binding(launcher: str, command: str) -> None:
    """By the numbers of the operating system but in rank files, with the threads; nothing is left to say."""
    said = describe_use(launcher, AS_MAPPED)
    assert command in said
    assert ("OMP_NUM_THREADS=2" in said, said.count("\n")) == (True, 1)


def test_one_list_for_all_hosts_says_where_it_is_not_as_mapped() -> None:
    """Ranks take the cores of their host in order then, which is another than that mapped."""
    text = describe_binding("slurm", TURNED)
    assert text.options[-1] == "--cpu-bind=mask_cpu:0x33,0xcc"
    assert str(text.remark).startswith("ranks take the cores of their host in order")


@pytest.mark.parametrize(
    ("launcher", "mapping", "remark"),
    [
        ("mpich", {"0": "n0/core0-1", "1": "n1/core0-1", "2": "n0/core2-3"}, "MPICH binds no ranks of hosts that come"),
        ("intel", {"0": "n0/core0-1", "1": "n0/core2-3", "2": "n1/core0-1"}, "Intel MPI binds no ranks where hosts"),
        ("slurm", {"0": "n0/core0-1", "1": "n1/core2-3"}, "this binds no rank to its cores, as its list is that of"),
        ("kueue", MAPPED, "this binds no rank to its cores, nor sets OMP_NUM_THREADS"),
    ],
)
def test_launchers_that_cannot_bind_say_so(launcher, mapping, remark) -> None:
    """The wrapper can."""
    text = describe_binding(launcher, bind(mapping))
    assert (text.options, [word for word in text.variables if "PIN" in word]) == ((), [])
    assert str(text.remark).startswith(remark)
    assert "--emit wrapper" in str(text.remark)


def test_processors_that_are_not_known_are_not_made_up() -> None:
    """Of hosts with slots alone the cores are known, by the numbers of hwloc."""
    order = order_ranks({"0": "n0"}, replace(NODES, cores_per_rank=4))
    for launcher in ("slurm", "mpich", "intel"):
        assert "their processors are not known" in str(describe_binding(launcher, order).remark)
    with pytest.raises(InputError, match="got cores 0-3 alone"):
        wrapper.write(order)


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_bug_the_wrapper_was_advised_where_it_is_refused(launcher: str) -> None:
    """Of hosts with slots alone, that come several times and have different numbers of ranks."""
    order = order_ranks({"0": "n0", "1": "n1", "2": "n0"}, replace(NODES, cores_per_rank=4))
    assert "wrapper" not in str(describe_binding(launcher, order).remark)


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_nothing_is_said_where_nothing_is_known(launcher: str) -> None:
    """Ranks on hosts as a whole."""
    assert describe_binding(launcher, SWAPPED) == ((), (), None)


def test_devices_have_the_variables_of_their_libraries() -> None:
    """The GPU by its bus, and the card by its exact name, with the port for UCX."""
    own = Resources(cores=(0,), cpus=(0,), gpu=2, nic="mlx5_1", threads=8)
    order = order_ranks({"0": "n0"}, replace(NODES, resources=(own,) * 3, cores_per_rank=8))
    assert list_variables(order.bindings[0]) == {
        "OMP_NUM_THREADS": "8",
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "CUDA_VISIBLE_DEVICES": "2",
        "NCCL_IB_HCA": "=mlx5_1",
        "UCX_NET_DEVICES": "mlx5_1:1",
    }
    assert str(describe_binding("slurm", order).remark).startswith("GPUs and network cards are left to the program")
