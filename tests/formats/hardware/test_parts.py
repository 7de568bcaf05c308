"""What of a machine ranks get."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.formats.hardware.description import read_xml
from tiger.formats.hardware.levels import LevelHardware
from tiger.formats.hardware.parts import divide_machine
from tiger.formats.hardware.units import UnitOptions, parse_ranks_per

FOLDER = Path(__file__).resolve().parents[3]
TWO_NUMA = (FOLDER / "tests" / "data" / "hwloc" / "two_numa.xml").read_text(encoding="utf-8")
TWO_SOCKETS = (FOLDER / "examples" / "two_sockets.xml").read_text(encoding="utf-8")
GPU_NODE = (FOLDER / "examples" / "topologies" / "gpu_node.xml").read_text(encoding="utf-8")


def divide(text: str, **options) -> LevelHardware:
    """Return what ranks run as of a machine in XML."""
    machine = read_xml(text, options.get("units") or "core")
    assert isinstance(machine, LevelHardware)
    return divide_machine(machine, UnitOptions(**options))


def cores_of(machine: LevelHardware) -> list[tuple[int, ...]]:
    """Return the cores of every unit."""
    return [own.cores for own in machine.resources]


def test_cores_are_grouped_within_numa_domains() -> None:
    """Four of four on a host of two domains of eight, and none across them where they do not divide it."""
    machine = divide(TWO_NUMA, cores_per_rank=4)
    assert machine.names == ("core0-3", "core4-7", "core8-11", "core12-15")
    assert cores_of(divide(TWO_NUMA, cores_per_rank=3))[1:3] == [(3, 4, 5), (8, 9, 10)]
    assert cores_of(divide(TWO_NUMA, cores_per_rank=8)) == [tuple(range(8)), tuple(range(8, 16))]
    assert cores_of(divide(TWO_NUMA, cores_per_rank=9)) == [tuple(range(9))]
    assert machine.slots == (1,) * 4


def test_groups_are_cut_out_of_caches_where_that_loses_none() -> None:
    """Of six cores in two caches, groups of three are one a cache, and of two three that cross them in pairs."""
    core = '<object type="Core"/>'
    text = f'<topology version="2.0"><object type="Machine"><object type="L3Cache">{core * 3}</object>'
    text += f'<object type="L3Cache">{core * 3}</object></object></topology>'
    assert cores_of(divide(text, cores_per_rank=3)) == [(0, 1, 2), (3, 4, 5)]
    assert cores_of(divide(text, cores_per_rank=2)) == [(0, 1), (2, 3), (4, 5)]
    uneven = text.replace(core * 3, core * 5, 1)
    assert cores_of(divide(uneven, cores_per_rank=3)) == [(0, 1, 2), (5, 6, 7)]


MACHINES = st.lists(st.lists(st.integers(1, 6), min_size=1, max_size=3), min_size=1, max_size=4)


@given(caches=MACHINES, size=st.integers(1, 9))
def test_groups_are_as_many_as_domains_have_room_for(caches: list[list[int]], size: int) -> None:
    """Each inside one domain unless a rank needs more than the largest has, and no core in two."""
    memory = '<object type="Group"><object type="NUMANode"/>'
    domains = [f"{memory}{''.join(map(write_cache, own))}</object>" for own in caches]
    counts = [sum(own) for own in caches]
    text = f'<topology version="2.0"><object type="Machine">{"".join(domains)}</object></topology>'
    domain_of = [k for k, count in enumerate(counts) for _ in range(count)]
    if size > sum(counts):
        return
    groups = cores_of(divide(text, cores_per_rank=size))
    cores = [core for own in groups for core in own]
    assert (len(set(cores)), {len(own) for own in groups}) == (len(cores), {size})
    if size <= max(counts):
        assert len(groups) == sum(count // size for count in counts)
        assert all(len({domain_of[core] for core in own}) == 1 for own in groups)
    else:
        assert len(groups) == sum(counts) // size


def write_cache(cores: int) -> str:
    """Return a cache with some cores."""
    core = '<object type="Core"/>'
    return f'<object type="L3Cache">{core * cores}</object>'


def test_processors_and_packages_follow_the_cores() -> None:
    """Both threads of every core, and the package with the number of its first core."""
    second = divide(TWO_SOCKETS, cores_per_rank=4).resources[2]
    assert (second.cores, second.cpus, second.package) == ((8, 9, 10, 11), tuple(range(16, 24)), (1, 8))
    assert divide(TWO_SOCKETS, cores_per_rank=16).resources[0].package is None


@pytest.mark.parametrize(
    ("units", "names", "size"),
    [("l3", 4, 4), ("numa", 4, 4), ("socket", 2, 8), ("host", 1, 16)],
)
def test_units_of_several_cores_have_all_of_them(units, names, size) -> None:
    """As many ranks run on each as it has cores for, where that is stated."""
    machine = divide(TWO_SOCKETS, units=units)
    assert (machine.names[0], len(machine.names)) == (f"{units}0", names)
    assert {len(own) for own in cores_of(machine)} == {size}
    assert divide(TWO_SOCKETS, units=units, cores_per_rank=2).slots == (size // 2,) * names


def test_units_are_as_far_apart_as_their_cores() -> None:
    """Domains of a socket 2, of two sockets 4."""
    metric = divide(TWO_SOCKETS, units="numa").topology({}).metric
    assert (metric.between(0, 1), metric.between(0, 2)) == (2, 4)


def test_ranks_of_parts_are_spread_over_what_is_inside() -> None:
    """One rank in each domain before a second, and the least of several limits counts."""
    slots = divide(TWO_SOCKETS, ranks_per="node=4,socket=2").slots
    assert [k for k, slot in enumerate(slots) if slot] == [0, 4, 8, 12]
    assert divide(TWO_SOCKETS, units="numa", ranks_per="numa=3,node=8").slots == (2, 2, 2, 2)
    assert divide(TWO_SOCKETS, cores_per_rank=2, ranks_per="l3=1").slots == (1, 0) * 4


def test_devices_get_the_cores_and_the_card_near_them() -> None:
    """Two GPUs of each socket share its two cores; the only card is nearest to all."""
    near = divide(GPU_NODE, units="gpu").resources
    assert [(own.gpu, own.cores, own.cpus, own.nic) for own in near] == [(k, (k,), (k,), "mlx5_0") for k in range(4)]
    assert [own.nic for own in divide(GPU_NODE, units="nic").resources] == ["mlx5_0"]
    assert divide(GPU_NODE, units="nic", cores_per_rank=1).resources[0].cores == (0,)


def test_bug_devices_near_a_package_took_the_cores_of_those_near_its_memory() -> None:
    """A card behind the package of two domains with a GPU each has the second core of the first, not the first."""
    card = '<object type="PCIDev" pci_busid="0000:0{}:00.0" pci_type="0302 [10de:20b5]"/>'
    domain = '<object type="Group"><object type="NUMANode"/><object type="Core"/><object type="Core"/>{}</object>'
    inside = "".join((domain.format(card.format(1)), domain.format(card.format(2)), card.format(3)))
    machine = (
        f'<topology version="2.0"><object type="Machine"><object type="Package">{inside}</object></object></topology>'
    )
    assert cores_of(divide(machine, units="gpu", cores_per_rank=1)) == [(0,), (2,), (1,)]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (TWO_NUMA, {"cores_per_rank": 17}, "cores_per_rank: expected at most 16, the cores of a host, got 17"),
        (GPU_NODE, {"cores_per_rank": 5}, "cores_per_rank: expected at most 4, the cores of g01, got 5"),
        (GPU_NODE, {"units": "gpu", "cores_per_rank": 2}, "cores_per_rank: expected at most 1, the cores of gpu0"),
        (
            GPU_NODE,
            {"units": "numa", "cores_per_rank": 3},
            "cores_per_rank: expected at most 2, the cores of numa0",
        ),
        (GPU_NODE, {"units": "l3"}, "units: expected units that all cores of the machine are in, got 'l3'"),
        (TWO_NUMA, {"ranks_per": "numa=9"}, "ranks_per: expected at most 8 for each numa of a host, got numa=9"),
        (TWO_NUMA, {"ranks_per": "socket=1,node=2"}, "ranks_per: expected at most 1 for each node of a host"),
        (TWO_NUMA, {"units": "socket", "ranks_per": "numa=1"}, "ranks_per: expected parts that socket0, .. are inside"),
    ],
)
def test_what_a_machine_does_not_have_is_refused(text, options, message) -> None:
    """The option at fault is named, with what the machine has."""
    with pytest.raises(InputError) as caught:
        divide(text, **options)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("text", ["", "node", "node=0", "node=x", "core=2", "node=1,node=2", "node=9999999999"])
def test_malformed_ranks_of_parts_are_refused(text: str) -> None:
    """The field is named."""
    with pytest.raises(InputError, match=r"^ranks_per: expected "):
        parse_ranks_per(text)
