"""The launchers that are installed, started with the commands that are printed: every rank says where it is.

`make launchers` installs those that .ci/run does without. Where one cannot state an order, the reason is expected.
"""

import re
import subprocess

import pytest

from benchmarks.launcher_programs import FOLDER, HOSTS, open_programs
from benchmarks.launchers import describe_run, list_jobs, run_words, solve_job

pytestmark = pytest.mark.long
NAMES = [
    *("openmpi", "permutation", "prrte", "simulated", "mpich", "mpich-wrapper", "intel", "intel-wrapper"),
    *("slurm", "slurm-wrapper", "torchrun"),
]
RANK_FILE = "refused: expected cores or hosts for a rank file"
LEFT = "all, the GPU being left to the program"
IN_ORDER = r"all as to hosts, \d+ as to cores: ranks take the cores of their host in order, not as mapped"
# What else than `all` comes of a launcher and a job.
OTHERS = {
    **dict.fromkeys((("openmpi", "GPUs"), ("prrte", "GPUs"), ("simulated", "GPUs")), RANK_FILE),
    **dict.fromkeys((("mpich", "GPUs"), ("intel", "GPUs"), ("slurm", "GPUs")), LEFT),
    ("intel", "plain"): IN_ORDER,
    ("intel", "uneven"): r"all as to hosts, \d+ as to cores: Intel MPI binds no ranks where hosts have different",
    ("slurm", "plain"): IN_ORDER,
    ("torchrun", "GPUs"): "all, each with its GPU",
    ("torchrun", "uneven"): "refused: expected a number of ranks that hosts can share equally for torchrun",
}


@pytest.fixture(scope="module", name="programs")
def _programs(tmp_path_factory):
    """Return the launchers, the daemons of Slurm running."""
    with open_programs(tmp_path_factory.mktemp("launchers")) as programs:
        yield programs


def find_program(programs, name):
    """Return the launcher of a name, or skip with the reason where it is not here."""
    (program,) = [each for each in programs if each.name == name]
    if program.missing is not None:
        pytest.skip(f"{program.title}: {program.missing}; make launchers")
    return program


def test_all_launchers_are_started(programs):
    """Or looked for, at least."""
    assert [program.name for program in programs] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_ranks_run_where_the_order_says(programs, name, tmp_path):
    """Of a plain job, an uneven one, one of several cores a rank and one on GPUs."""
    program = find_program(programs, name)
    found = {job.name.partition(",")[0]: describe_run(program, job, tmp_path) for job in list_jobs(program)}
    for job, said in found.items():
        assert re.match(OTHERS.get((name, job), "all$"), said), (job, said)


def test_mpich_makes_one_node_of_a_host_whose_ranks_are_consecutive(programs, tmp_path):
    """The ranks of its shared memory are all of the host, by `MPI_Comm_split_type`; otherwise fewer."""
    program = find_program(programs, "mpich")
    (tmp_path / "shared.py").write_text(
        "from mpi4py import MPI\n"
        "shared = MPI.COMM_WORLD.Split_type(MPI.COMM_TYPE_SHARED)\n"
        "__import__('sys').stdout.write(f'{shared.size} of a node\\n')\n"
    )
    report = solve_job(program, list_jobs(program)[0])
    mpich = FOLDER / "mpich" / "bin" / "python"
    for emit, shared in (("mpich", len(report.mapping) // len(HOSTS)), ("apart", 1)):
        runs = report.rank_order.runs if emit == "mpich" else [(host, 1) for _ in range(2) for host in HOSTS]
        (tmp_path / "file").write_text("".join(f"{host}:{count}\n" for host, count in runs))
        words = [*program.words, "-f", str(tmp_path / "file"), "-n", str(len(report.mapping)), str(mpich)]
        printed = run_words([*words, str(tmp_path / "shared.py")], program)
        assert re.findall(r"(\d+) of a node", printed) == [str(shared)] * len(report.mapping)


def test_prrte_refuses_ranks_that_share_a_core_unless_allowed(programs, tmp_path):
    """As the command that is printed does."""
    program = find_program(programs, "prrte")
    (tmp_path / "ranks").write_text("rank 0=n0 slot=0\nrank 1=n0 slot=0\n")
    words = [*program.words, "--host", "n0:2", "--map-by", f"rankfile:file={tmp_path / 'ranks'}", "-n", "2"]
    with pytest.raises(subprocess.CalledProcessError) as failed:
        run_words([*words, "true"], program)
    assert "overload-allowed" in failed.value.stderr + failed.value.stdout
    assert run_words([*words, "--bind-to", "core:overload-allowed", "hostname"], program) == "n0\nn0\n"
