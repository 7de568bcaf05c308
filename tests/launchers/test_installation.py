"""The script of `make launchers`."""

import shutil
import subprocess
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / ".ci" / "launchers"


def test_bug_what_could_not_be_installed_is_tried_again(tmp_path) -> None:
    """Not taken for installed from then on; Slurm is here, for all that the script sees."""
    (tmp_path / ".ci").mkdir()
    script = shutil.copy(SCRIPT, tmp_path / ".ci" / "launchers")
    for name in ("slurmctld", "munged", "srun"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    run = subprocess.run(
        ["bash", script],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin", "PYTHON": "false"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert [line.split()[1] for line in run.stderr.splitlines()] == ["openmpi", "mpich", "impi-rt"]
    assert not list(tmp_path.rglob(".installed"))
