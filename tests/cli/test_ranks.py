"""Tests of `tiger ranks`: the order that it prints, the verdict, and what bad input gets."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tiger.cli.app import run

Run = Callable[..., tuple[int, str, str]]
# Two leaf switches whose hosts do not follow one another in the file.
CONF = "SwitchName=a Nodes=n0,n2\nSwitchName=b Nodes=n1,n3\nSwitchName=c Switches=a,b\n"
GPUS = "\tGPU0\tGPU1\nGPU0\tX\tNV1\nGPU1\tNV1\tX\n"
MACHINE = str(Path(__file__).resolve().parents[2] / "examples" / "topologies" / "gpu_node.xml")
TWO_NUMA = str(Path(__file__).resolve().parents[1] / "data" / "hwloc" / "two_numa.xml")
CORES = {
    "nodes": [{"id": f"{host}/core{core}"} for host in ("a", "b") for core in range(2)],
    "edges": [
        {"source": "a/core0", "target": "a/core1", "weight": 1},
        {"source": "b/core0", "target": "b/core1", "weight": 1},
        {"source": "a/core0", "target": "b/core0", "weight": 9},
    ],
}


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs `tiger ranks` in a folder of its own and returns status, output and complaints."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cluster.conf").write_text(CONF)
    (tmp_path / "cores.json").write_text(json.dumps(CORES))
    (tmp_path / "gpus.topo").write_text(GPUS)
    # Ranks 0 and 3 talk to each other, and 1 and 2 do.
    (tmp_path / "traffic.csv").write_text("0,0,0,5\n0,0,5,0\n0,5,0,0\n5,0,0,0\n")

    def call(*arguments: str) -> tuple[int, str, str]:
        status = run(["ranks", *arguments])
        return status, *capsys.readouterr()

    return call


def test_the_order_alone_goes_to_standard_output(cli: Run) -> None:
    """The summary with the verdict, and the command that takes the order, go to standard error."""
    status, out, err = cli("traffic.csv", "--cluster", "cluster.conf", "--slots", "2", "--pack", "--emit", "openmpi")
    lines = out.splitlines()
    assert (status, [line.partition("=")[0] for line in lines]) == (0, [f"rank {rank}" for rank in range(4)])
    assert lines[0].split()[1].partition("=")[2] == lines[3].split()[1].partition("=")[2]
    assert "verdict              use this order: the cost found is 100.0% below that of the block order" in err
    assert "\nmpirun --rankfile FILE -n 4 PROGRAM\nfree slots: 4, " in err


def test_a_job_is_checked_by_what_it_printed(cli: Run) -> None:
    """That replaces the order on standard output, and another order ends with 1."""
    order = ("traffic.csv", "--cluster", "cluster.conf", "--slots", "2")
    hosts = cli(*order, "--emit", "slurm")[1].split()
    Path("said").write_text("".join(f"{rank} {host}\n" for rank, host in enumerate(hosts)))
    assert cli(*order, "--check", "said")[:2] == (0, "4 of 4 ranks run where the order says\n")
    Path("said").write_text("".join(f"{rank} {host}\n" for rank, host in enumerate(reversed(hosts[1:]))))
    status, out, err = cli(*order, "--emit", "slurm", "--check", "said")
    assert (status, "rank 3: expected" in out, "srun" in err) == (1, True, False)
    Path("said").write_text("what\n")
    status, out, err = cli(*order, "--check", "said")
    assert (status, out, err.startswith("tiger: error: check: line 1: expected RANK HOST [CORES]")) == (2, "", True)
    assert cli(*order, "--check", "said", "--json", "-")[0] == 2


def test_launchers_have_consecutive_ranks_where_they_need_them(cli: Run) -> None:
    """Standard error says what that costs; the summary has both costs."""
    order = ("halo:4x4", "--cluster", "cluster.conf", "--slots", "4")
    status, out, err = cli(*order, "--emit", "mpich")
    assert (status, len(out.splitlines())) == (0, 4)
    assert "hosts not contiguous" in err
    assert err.splitlines()[-1].startswith("consecutive ranks on every host cost ")
    assert "MPICH makes" not in err
    _, out, err = cli(*order, "--emit", "mpich", "--no-contiguous-hosts")
    assert len(out.splitlines()) > 4
    assert "nodes of the 4 hosts, whose ranks are not consecutive" in err


def test_bug_slots_beside_an_even_share_were_not_said_to_be_free(cli: Run) -> None:
    """Four ranks on two hosts of three slots each leave two; six on four have no equal shares, on three they do."""
    _, _, err = cli("traffic.csv", "--cluster", "cluster.conf", "--slots", "3", "--nodes", "2", "--emit", "openmpi")
    assert "\nfree slots: 2, 1 on " in err
    status, _, err = cli("ring:6", "--cluster", "cluster.conf", "--slots", "3", "--emit", "torchrun")
    assert (status, "6 on 4 hosts of up to 3 slots; 6 slots are free, and --nodes 3 --slots 2 makes" in err) == (
        2,
        True,
    )


def test_without_a_launcher_the_summary_is_the_result(cli: Run) -> None:
    """As that of `tiger assign`, and with JSON in a file or alone."""
    status, out, err = cli(
        "traffic.csv", "--cluster", "cluster.conf", "--slots", "2", "--pack", "--json", "report.json"
    )
    assert (status, out.startswith("solved: cost 0"), err) == (0, True, "")
    verdict = json.loads(Path("report.json").read_text())["verdict"]
    assert (verdict["metric"], verdict["order"], verdict["gain"], verdict["keep"]) == ("cost", "block", 1.0, False)


def test_the_threshold_and_the_order_of_hosts_are_those_stated(cli: Run) -> None:
    """The hosts of a permutation are started in the order of the allocation; a gain of all is below no threshold."""
    hosts = ["--cluster", "cluster.conf", "--allocation", "n1 n0", "--slots", "2"]
    status, _, err = cli(
        "traffic.csv", *hosts, "--emit", "permutation", "--threshold", "0.5", "--islands", "2", "--json", "report.json"
    )
    report = json.loads(Path("report.json").read_text())
    assert (status, report["threshold"], report["islands"], report["verdict"]["keep"]) == (0, 0.5, 2, False)
    assert "--host n1:2,n0:2 " in err
    assert cli("traffic.csv", *hosts, "--threshold", "1")[0] == 2


@pytest.mark.slow
def test_links_of_a_regular_tree_are_those_of_its_switches(cli: Run) -> None:
    """By their names in the report and in a file of what others use, which the choice of nodes keeps off."""
    conf = "SwitchName=leaf0 Nodes=n[0-1]\nSwitchName=leaf1 Nodes=n[2-3]\nSwitchName=top Switches=leaf[0-1]\n"
    Path("even.conf").write_text(conf)
    Path("busy.csv").write_text("n0,leaf0,0.5\n")
    options = ("--cluster", "even.conf", "--slots", "2", "--nodes", "2", "--routing", "equal")
    status, out, _ = cli("alltoall:4", *options, "--running", "busy.csv", "--json", "-")
    report = json.loads(out)
    assert (status, set(report["mapping"].values())) == (0, {"n2", "n3"})
    status, out, _ = cli("alltoall:4", "--cluster", "even.conf", "--objective", "max-link-load", "--json", "-")
    links = [(link["a"], link["b"]) for link in json.loads(out)["links"]]
    assert (status, links[:2]) == (0, [("leaf0", "top"), ("leaf1", "top")])


def test_nodes_inside_hosts_are_cores_of_theirs(cli: Run) -> None:
    """No number of slots has to be stated then."""
    status, out, _ = cli("traffic.csv", "--cluster", "cores.json", "--emit", "openmpi")
    hosts = [line.split()[1].partition("=")[2] for line in out.splitlines()]
    assert (status, hosts[0] == hosts[3], hosts[1] == hosts[2], set(hosts)) == (0, True, True, {"a", "b"})
    assert {line.split()[2] for line in out.splitlines()} == {"slot=0", "slot=1"}


@pytest.mark.parametrize("hosts", [["--node-topology", TWO_NUMA], ["--slots", "16"]])
def test_ranks_of_mpi_and_openmp_have_cores_of_their_own(cli: Run, hosts: list[str]) -> None:
    """Four ranks of four cores on each of four hosts, none of which is left empty, and no order above block."""
    ask = ["halo:4x4", "--cluster", "cluster.conf", *hosts, "--cores-per-rank", "4"]
    status, out, err = cli(*ask, "--emit", "prrte", "--json", "report.json")
    cores = ["0:0-3", "0:4-7", "0:8-11", "0:12-15"] if "--slots" not in hosts else ["0-3", "4-7", "8-11", "12-15"]
    bound = sorted(line.partition("=")[2] for line in out.splitlines())
    assert (status, bound) == (0, sorted(f"n{host} slot={own}" for host in range(4) for own in cores))
    assert " -x OMP_NUM_THREADS=4 PROGRAM\n" in err
    report = json.loads(Path("report.json").read_text())
    assert report["cost"] <= report["baselines"]["block"]


def test_slurm_is_told_the_masks_of_the_ranks_of_a_host(cli: Run) -> None:
    """Of four cores each, in the domains of the host."""
    ask = ["halo:4x4", "--cluster", "cluster.conf", "--node-topology", TWO_NUMA, "--cores-per-rank", "4"]
    status, _, err = cli(*ask, "--emit", "slurm")
    assert status == 0
    assert "OMP_NUM_THREADS=4 SLURM_HOSTFILE=FILE srun " in err
    assert " --cpu-bind=mask_cpu:0xf,0xf0,0xf00,0xf000 PROGRAM\n" in err


def test_ranks_of_a_host_take_as_many_hosts_as_they_fill(cli: Run) -> None:
    """Eight ranks, four a host and two a domain, take two hosts of the four."""
    per = ["--node-topology", TWO_NUMA, "--ranks-per", "node=4,numa=2"]
    status, out, _ = cli("halo:4x2", "--cluster", "cluster.conf", *per, "--emit", "csv")
    rows = [line.split(",") for line in out.splitlines()[1:]]
    assert (status, len({row[2] for row in rows})) == (0, 2)
    assert sorted(row[4] for row in rows) == sorted(["core0", "core1", "core8", "core9"] * 2)


@pytest.mark.parametrize(("units", "cores"), [("numa", "0-7"), ("socket", "0-15"), ("host", "0-15")])
def test_ranks_are_bound_to_units_of_several_cores(cli: Run, units: str, cores: str) -> None:
    """Or to none of a host, which is all of its cores."""
    ask = ["ring:4", "--cluster", "cluster.conf", "--node-topology", TWO_NUMA, "--units", units]
    status, out, _ = cli(*ask, "--emit", "csv")
    rows = [line.split(",") for line in out.splitlines()[1:]]
    assert (status, {row[5] for row in rows}, len({row[2] for row in rows})) == (0, {cores}, 4)


def test_cores_of_a_machine_are_stated_beside_its_hosts(cli: Run) -> None:
    """Ranks that talk to each other share a host, and slots are the cores inside it."""
    whole = ["--cluster", "cluster.conf", "--allocation", "n0,n1", "--node-topology", "tree:2@1"]
    status, out, _ = cli("traffic.csv", *whole, "--levels", "unit=3,node=30", "--emit", "csv")
    rows = [line.split(",") for line in out.splitlines()[1:]]
    hosts = [next(cell for cell in row if cell in ("n0", "n1")) for row in rows]
    assert (status, hosts[0] == hosts[3], hosts[1] == hosts[2], set(hosts)) == (0, True, True, {"n0", "n1"})


@pytest.mark.parametrize(
    ("hardware", "emit", "line"),
    [
        (MACHINE, "openmpi", "rank 0=g01 slot="),
        (MACHINE, "slurm", "g01"),
        (MACHINE, "mpich", "g01:4"),
        ("gpus.topo", "mpich", "localhost:4"),
        ("gpus.topo", "csv", "0,0,localhost,"),
    ],
)
def test_bug_units_of_a_machine_are_no_hosts(cli: Run, hardware: str, emit: str, line: str) -> None:
    """The machine is the host, by the name in its description if there is one."""
    status, out, _ = cli("traffic.csv", "--cluster", hardware, "--slots", "2", "--emit", emit)
    assert status == 0
    assert out.splitlines()[emit == "csv"].startswith(line)


def test_gpus_of_a_machine_are_units_of_hosts(cli: Run) -> None:
    """Those that talk to each other share a PCIe switch or a socket."""
    inside = ["--node-topology", MACHINE, "--units", "gpu", "--levels", "gpu=1,pci=3,node=30"]
    status, out, _ = cli("ring:4", "--cluster", "cluster.conf", *inside, "--nodes", "1", "--emit", "torchrun")
    hosts = {line.split()[0] for line in out.splitlines()}
    assert (status, len(hosts), out.count("CUDA_VISIBLE_DEVICES=0,1,2,3")) == (0, 1, 4)


@pytest.mark.parametrize(
    ("arguments", "field", "reason"),
    [
        (["--cluster", "cluster.conf", "--emit", "openmpi"], "emit", "a stated number of slots (--slots)"),
        (["--cluster", "grid:2x2", "--slots", "1", "--emit", "prrte"], "emit", "expected hosts named by"),
        (["--cluster", "cluster.conf", "--emit", "lsf"], "emit", "expected one of openmpi, prrte, slurm, "),
        (["--cluster", "cluster.conf", "--emit", "csv", "--json", "-"], "emit", "expected a file for --json"),
        (["--cluster", "cluster.conf", "--levels", "node"], "levels", "expected NAME=X,.. with numbers, got 'node'"),
        (["--cluster", "cluster.conf", "--units", "gpu"], "units", "expected them with a machine"),
        (["--cluster", "cluster.conf", "--units", "gpus"], "units", "expected one of core, l3, numa, socket, "),
        (["--cluster", "gpus.topo", "--units", "core"], "units", "others than gpu0, .., got 'core'"),
        (
            ["--cluster", "gpus.topo", "--slots", "2", "--emit", "openmpi"],
            "emit",
            "binds ranks to cores, got 'localhost",
        ),
        (
            ["--cluster", "cluster.conf", "--levels", "node=1,node=2"],
            "levels",
            "expected different names, got",
        ),
        (
            ["--cluster", "cluster.conf", "--levels", "core=1"],
            "levels",
            "expected levels out of node, rack, got",
        ),
        (
            ["--cluster", "cluster.conf", "--node-topology", "n0=tree:2@1", "--node-topology", "tree:2@1"],
            "node_topology",
            "expected HOSTS=FILE for each of several, got 'tree:2@1'",
        ),
        (
            ["--cluster", "cluster.conf", "--node-topology", "n0=tree:2@1"],
            "node_topology",
            "expected the inside of every node that holds tasks, got none for 'n2'",
        ),
        (
            ["--cluster", "cluster.conf", "--node-topology", TWO_NUMA, "--cores-per-rank", "17"],
            "cores_per_rank",
            "expected at most 16, the cores of a host, got 17",
        ),
        (
            ["--cluster", "cluster.conf", "--slots", "16", "--cores-per-rank", "17"],
            "cores_per_rank",
            "expected at most 16, the slots of a host, got 17",
        ),
        (["--cluster", "cluster.conf", "--cores-per-rank", "2"], "cores_per_rank", "expected the inside of hosts"),
        (["--cluster", "cluster.conf", "--cores-per-rank", "0"], "cores_per_rank", "from 1 to 1048576, got 0"),
        (["--cluster", "cluster.conf", "--ranks-per", "node=3"], "ranks_per", "expected as many ranks as fill hosts"),
        (["--cluster", "cluster.conf", "--ranks-per", "core=2"], "ranks_per", "parts out of node, socket, numa, l3"),
        (["--cluster", "cluster.conf", "--ranks-per", "numa=2"], "ranks_per", "expected node alone for hosts whose"),
        (
            ["--cluster", "cluster.conf", "--slots", "2", "--ranks-per", "node=4"],
            "ranks_per",
            "expected at most 2 for each node, got node=4",
        ),
        (
            ["--cluster", "cluster.conf", "--ranks-per", "node=2", "--nodes", "3"],
            "nodes",
            "expected 2, as 4 ranks fill hosts of 2 each, got 3",
        ),
        (["--cluster", "none.conf"], "cluster", "cannot read 'none.conf'"),
        (["--cluster", "cluster.conf", "--allocation", "n7"], "allocation/0", "expected nodes of the topology"),
    ],
)
def test_bad_input_is_named(cli: Run, arguments: list[str], field: str, reason: str) -> None:
    """One line with the field, and nothing else."""
    status, out, err = cli("traffic.csv", *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"tiger: error: {field}: ")
    assert reason in err


def test_torchrun_needs_as_many_ranks_on_every_host(cli: Run) -> None:
    """The complaint says what is free."""
    status, _, err = cli("ring:7", "--cluster", "cluster.conf", "--slots", "2", "--pack", "--emit", "torchrun")
    assert status == 2
    assert err.startswith("tiger: error: emit: expected a number of ranks that hosts can share equally for torchrun")
    assert err.endswith("got 7 on 4 hosts of up to 2 slots; 1 slots are free\n")
    few = ["--slots", "2", "--pack", "--nodes", "2"]
    status, _, err = cli("ring:3", "--cluster", "cluster.conf", *few, "--emit", "torchrun")
    advice = "; 1 slots are free, and --nodes 3 --slots 1 makes shares equal"
    assert (status, err.endswith(f"got 3 on 2 hosts of up to 2 slots{advice}\n")) == (2, True)


def test_hosts_with_unequal_shares_are_refused_with_advice(cli: Run) -> None:
    """What makes shares equal is solved then."""
    ask = ["ring:3", "--cluster", "cluster.conf", "--pack", "--emit", "torchrun"]
    status, _, err = cli(*ask, "--slots", "2")
    assert (status, err.endswith("5 slots are free, and --nodes 3 --slots 1 makes shares equal\n")) == (2, True)
    assert cli(*ask, "--slots", "1", "--nodes", "3")[0] == 0


def test_uneven_hosts_are_given_with_their_slots(cli: Run) -> None:
    """In a host file or as text, and the number for all hosts is refused beside them by its name."""
    ask = ["ring:6", "--cluster", "cluster.conf", "--allocation", "n1 slots=4;n0 slots=3;n2 slots=1"]
    status, out, _ = cli(*ask, "--emit", "mpich")
    assert (status, sum(int(line.split(":")[1]) for line in out.split())) == (0, 6)
    status, _, err = cli(*ask, "--pack", "--emit", "torchrun")
    assert (status, err.endswith("2 slots are free, and 3 slots on 2 of the hosts make shares equal\n")) == (2, True)
    assert cli(*ask, "--slots", "3")[2].startswith("tiger: error: slots: expected none beside hosts that come with")


def test_what_cannot_be_met_has_no_order(cli: Run) -> None:
    """The status says so, and standard output stays empty."""
    status, out, err = cli("ring:9", "--cluster", "cluster.conf", "--slots", "2", "--emit", "slurm")
    assert (status, out) == (1, "")
    assert err.startswith("infeasible: ")


@pytest.mark.long
def test_an_order_is_drawn_beside_what_is_emitted(cli: Run, tmp_path: Path) -> None:
    """The picture goes to its file alone."""
    arguments = ("traffic.csv", "--cluster", "cluster.conf", "--slots", "2", "--emit", "slurm")
    assert cli(*arguments, "--plot", "p.svg")[:2] == cli(*arguments)[:2]
    assert (tmp_path / "p.svg").read_bytes().startswith(b"<?xml")
