"""What placing a chain imports."""

import subprocess
import sys

HEAVY = ("dimod", "networkx", "numba", "scipy")
CODE = f"""
import sys
from tiger.cli.app import run
from tiger.placement.entry.place import place
layer = {{"forward_s": 1, "backward_s": 2, "parameter_bytes": 10, "activation_bytes": 5}}
model = {{"layers": [{{"name": name, **layer}} for name in "abcd"]}}
assert place(model, {{"devices": [{{"name": "x"}}, {{"name": "y"}}], "uniform_bandwidth": 10}}).optimal
print(*({{*{HEAVY!r}}} & {{*sys.modules}}))
"""


def test_a_small_chain_is_placed_without_heavy_libraries() -> None:
    """They would take longer than the answer."""
    done = subprocess.run([sys.executable, "-c", CODE], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == ""
