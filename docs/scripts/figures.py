"""Draw the pictures of the documentation again: `python docs/scripts/figures.py [FOLDER]`, by default docs/images."""

import subprocess
import sys
from pathlib import Path

import tiger
from tiger.plotting.picturefile import write_figure

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
# What `tiger COMMAND .. --plot FILE` draws.
COMMANDS = {
    "mapping.png": ("assign", "stencil8x8.json", "--topology", "torus:4x4x4", "--seed", "1"),
    "circuit.png": ("layout", "circuits/qft5.qasm", "--coupling", str(EXAMPLES / "circuits/noisy7.json")),
    "timeline.png": (
        "place",
        "models/gpt2-medium.json",
        "--cluster",
        "dgx:1",
        "--schedule",
        "1f1b",
        "--microbatches",
        "8",
    ),
    "loads.png": (
        "place",
        "models/two_towers.csv",
        "--cluster",
        str(EXAMPLES / "clusters/pair_and_host.json"),
        "--mode",
        "dag",
    ),
}


def main() -> int:
    """Draw all pictures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images"
    for name, (command, source, *options) in COMMANDS.items():
        line = [command, str(EXAMPLES / source), *options, "--plot", str(folder / name)]
        subprocess.run([sys.executable, "-m", "tiger", *line], check=True, stdout=subprocess.DEVNULL)
    draw_orders(folder)
    tuned = tiger.assign(EXAMPLES / "butko11.ram", EXAMPLES / "mesh_4x4_het.arc", solver="neal", seed=1)
    write_figure(tuned.plot("tuning"), folder / "tuning.png")
    sampled = tiger.assign("halo:5x5*3+ring:25*2", "grid:5x5", solver="neal")
    write_figure(sampled.plot("samples"), folder / "samples.png")
    return 0


def draw_orders(folder: Path) -> None:
    """Draw other pictures of ranks in a fat tree: communication matrix, loads of links, and what stages reach."""
    report = tiger.assign("halo:16x16", "tree:4x8x8@1,10,100", seed=1)
    for picture in ("matrix", "links", "convergence"):
        write_figure(report.plot(picture), folder / f"{picture}.png")


if __name__ == "__main__":
    sys.exit(main())
