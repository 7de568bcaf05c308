"""Draw the pictures of the documentation again: `python docs/scripts/figures.py [FOLDER]`, by default docs/images."""

import subprocess
import sys
from pathlib import Path

from matplotlib.figure import Figure

import tiger
from tiger.entry import problem_of
from tiger.plotting.mapping import draw

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
PLACED = {
    "timeline.png": ("models/gpt2-medium.json", "dgx:1", "--schedule", "1f1b", "--microbatches", "8"),
    "loads.png": ("models/two_towers.csv", str(EXAMPLES / "clusters/pair_and_host.json"), "--mode", "dag"),
}


def main() -> int:
    """Draw all pictures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images"
    draw_mapping(folder / "mapping.png")
    draw_tuning(folder / "tuning.png")
    for name, (model, cluster, *options) in PLACED.items():
        command = ["place", str(EXAMPLES / model), "--cluster", cluster, *options, "--plot", str(folder / name)]
        subprocess.run([sys.executable, "-m", "tiger", *command], check=True, stdout=subprocess.DEVNULL)
    return 0


def draw_mapping(path: Path) -> None:
    """Draw the stencil on a torus."""
    tasks, hardware = EXAMPLES / "stencil8x8.json", "torus:4x4x4"
    report = tiger.assign(tasks, hardware, seed=1)
    draw(problem_of(tasks, hardware), report.mapping, path)


def draw_tuning(path: Path) -> None:
    """Draw the rounds of tuning of the original tool's example: penalties, feasible reads, and best read."""
    report = tiger.assign(EXAMPLES / "butko11.ram", EXAMPLES / "mesh_4x4_het.arc", solver="neal", seed=1)
    rounds = next(stage.detail["rounds"] for stage in report.stages if stage.name == "qubo")
    numbers = range(1, len(rounds) + 1)
    figure = Figure(figsize=(9, 5.4), layout="constrained")
    above, middle, below = figure.subplots(3, 1, sharex=True)
    above.bar(numbers, [row["penalty_scale"] for row in rounds], color="#56697a")
    above.set_ylabel("penalty over\nsafe bound")
    middle.bar(numbers, [100 * row["feasible_share"] for row in rounds], color="#3b78b5")
    middle.axhspan(25, 75, color="#3b78b5", alpha=0.15, label="aim")
    middle.set_ylabel("feasible\nreads, %")
    middle.legend(frameon=False)
    drawn = [(k, row["best_raw"]) for k, row in zip(numbers, rounds, strict=True) if row["best_raw"] is not None]
    below.plot(*zip(*drawn, strict=True), "o-", color="#b03a2e", label="best read as drawn")
    below.axhline(report.cost, color="#4c8c4a", label="after repair and polish")
    below.set_ylabel("cost")
    below.set_xlabel("round of 48 reads")
    below.legend(frameon=False)
    for axes in (above, middle, below):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    sys.exit(main())
