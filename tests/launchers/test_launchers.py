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
LEFT, DEVICES = "all, the GPU being left to the program", "all, each with its GPU"
IN_ORDER = r"all as to hosts, \d+ as to cores: ranks take the cores of their host in order, not as mapped"
EQUAL = "refused: expected a number of ranks that hosts can share equally for torchrun"
UNPINNED = r"all as to hosts, \d+ as to cores: Intel MPI binds no ranks where hosts have different numbers of them"


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


def expect(name, job):
    """Return what may come of a launcher and a job."""
    most = (DEVICES if name == "torchrun" or "wrapper" in name else LEFT) if job.gpus else "all"
    if name in ("mpich", "intel", "slurm"):
        # They have one list of cores for all hosts; how ranks are mapped depends on the cores of this machine.
        return [most, IN_ORDER, *[UNPINNED] * (name == "intel" and job.name == "uneven")]
    return [most, *[EQUAL] * (name == "torchrun" and job.name == "uneven")]


def test_all_launchers_are_started(programs):
    """Or looked for, at least."""
    assert [program.name for program in programs] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_ranks_run_where_the_order_says(programs, name, tmp_path):
    """Of a plain job, an uneven one, one of several cores a rank and one on GPUs."""
    program = find_program(programs, name)
    for job in list_jobs(program):
        said = describe_run(program, job, tmp_path)
        assert any(re.match(f"{text}($|, got )", said) for text in expect(name, job)), (job.name, said)


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
