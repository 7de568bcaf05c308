"""What the process of a server imports before it answers."""

import subprocess
import sys

import pytest

# Its workers load them meanwhile.
HEAVY = ("dimod", "matplotlib", "networkx", "numba", "qiskit", "scipy.optimize")
CODE = f"import sys, tiger.api.app; print(*({{*{HEAVY!r}}} & {{*sys.modules}}))"


@pytest.mark.slow
def test_a_server_starts_without_what_its_workers_need() -> None:
    """They would take as long as all else."""
    done = subprocess.run([sys.executable, "-c", CODE], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == ""
