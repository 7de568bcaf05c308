"""How seconds and memory grow with the number of tasks: a plot over 1,024 to 65,536 tasks on 256 nodes.

    python -m benchmarks.scaling [PICTURE]

The picture is docs/images/scaling.svg unless another is named.
"""

import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot as plt

from benchmarks.graphs import build_full_problem, geometric, triangulate
from benchmarks.memory import read_peak_mb
from tiger.mapping.mapper import solve

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "scaling.svg"
SIZES = tuple(1024 << k for k in range(7))
HARDWARE = "tree:8x8x4@1,10,100"
KINDS = {"points near each other": geometric, "points triangulated": triangulate}


def main() -> int:
    """Measure every size in a process of its own and draw the plot."""
    picture = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE
    mpl.rcParams["svg.hashsalt"] = "tiger"
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
    for kind in KINDS:
        rows = [_measure(kind, size) for size in SIZES]
        left.loglog(SIZES, [seconds for seconds, _ in rows], "o-", label=kind)
        right.semilogx(SIZES, [memory for _, memory in rows], "o-", label=kind)
        for size, (seconds, memory) in zip(SIZES, rows, strict=True):
            print(f"{kind}: {size} tasks, {seconds:.2f} s, {1e6 * seconds / size:.0f} us a task, {memory:.0f} MB")
    left.set(xlabel="tasks", ylabel="seconds at effort 1", title=f"{HARDWARE.partition('@')[0]}, auto")
    right.set(xlabel="tasks", ylabel="peak memory of the process, MB", ylim=(0, None))
    left.legend()
    for axes in (left, right):
        axes.grid(visible=True, alpha=0.3)
    figure.savefig(picture, metadata={"Date": None})
    return 0


def _measure(kind: str, size: int) -> tuple[float, float]:
    """Return the seconds of a solve and the peak memory in MB of a new process for it, kernels loaded before."""
    code = f"from benchmarks.scaling import measure_once; measure_once({kind!r}, {size})"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    seconds, memory = run.stdout.split()
    return float(seconds), float(memory)


def measure_once(kind: str, size: int) -> None:
    """Solve a small problem, then one of a size; print its seconds, and the peak memory of all in MB."""
    solve(build_full_problem(KINDS[kind](1, 512), HARDWARE))
    report = solve(build_full_problem(KINDS[kind](0, size), HARDWARE))
    print(report.seconds, read_peak_mb())


if __name__ == "__main__":
    sys.exit(main())
