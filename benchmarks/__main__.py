"""Take the measurements again and put the tables into the documentation, and their summaries there and into README.

    python -m benchmarks [TABLE ..] [--data FOLDER] [--circuits FOLDER] [--profiles FOLDER] [--graphs FOLDER]
                         [--records FOLDER] [--print]
    python -m benchmarks cold [--before CHECKOUT]
    python -m benchmarks soak [--minutes N]
    python -m benchmarks summary

Without names all tables are measured, except for the soak of the service. `--data` (or TIGER_QAPLIB) names a folder of
QAPLIB `.dat` files, `--circuits` (or TIGER_CIRCUITS) one with circuits of RevLib and QASMBench in `revlib/` and
`qasmbench/`, those of the record table in `record/`, and `coupling_maps.json`, `--profiles` (or TIGER_PROFILES) one
with PipeDream's `graph.txt` profiles, each under the name of its model, `--graphs` (or TIGER_GRAPHS) one with operator
graphs of dnn-partitioning, `--records` (or TIGER_RECORDS) one with the structured instances dre* and tai*e as QAPLIB
writes them; without them their rows are left out or built here, and tables that have such rows are
printed but not put into a page. `sparse`, `anytime`, `large` and `ranks` compare with Scotch where `scotch_gmap` is
installed, `anytime` and `ranks` with SharedMap where `chszlablib` is, `circuits` with tket where `pytket-qiskit` is,
`logical` where `pytket` is, `anytime`, `large` and `scale` with METIS where `pymetis` is, `hypergraphs` with Mt-KaHyPar
where `mtkahypar` is, `online` with optuna's TPE where `optuna` is; `launchers` starts what `make launchers` installs,
`plans_published` looks times up where `aiconfigurator-core` is (the extra `measured`); without one of these their
tables are printed alone, too, with how to install it on stderr, and the exit code is 1.
"""

import argparse
import os
import re
import shutil
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from benchmarks import (
    affinity,
    anytime,
    bounds,
    browser,
    calculon_plans,
    chains,
    circuits,
    cold,
    constrained,
    delivered,
    dynamic,
    embeddings,
    expert_loads,
    experts,
    folds,
    holes,
    hypergraphs,
    islands,
    large,
    launchers,
    layers,
    lists,
    logical,
    movement,
    multipath,
    next_batch,
    noise,
    online,
    operators,
    optima,
    original,
    placements,
    plans,
    plans_published,
    published,
    qap,
    ranks,
    record,
    rings,
    sampler_value,
    samplers,
    scale,
    schedules,
    service,
    serving,
    soak,
    sparse,
    structured,
    summary,
    sweeps,
    targets,
    timed,
    tuning,
    unlike_experts,
)
from benchmarks.launcher_programs import list_absent
from benchmarks.peers import is_installed
from tiger.errors import InputError

MODULES = (
    original,
    tuning,
    layers,
    samplers,
    sampler_value,
    qap,
    structured,
    constrained,
    sparse,
    anytime,
    large,
    ranks,
    launchers,
    holes,
    folds,
    embeddings,
    multipath,
    rings,
    hypergraphs,
    circuits,
    record,
    timed,
    optima,
    bounds,
    delivered,
    logical,
    targets,
    lists,
    movement,
    noise,
    chains,
    placements,
    schedules,
    serving,
    operators,
    scale,
    online,
    dynamic,
    plans,
    calculon_plans,
    sweeps,
    published,
    plans_published,
    islands,
    expert_loads,
    next_batch,
    unlike_experts,
    experts,
    affinity,
    service,
    browser,
    cold,
)
TABLES = {module.__name__.rpartition(".")[2]: module for module in MODULES}
FOLDERS = {
    "tuning": "data",
    "qap": "data",
    "structured": "records",
    "islands": "data",
    "circuits": "circuits",
    "record": "circuits",
    "timed": "circuits",
    "optima": "circuits",
    "bounds": "circuits",
    "movement": "circuits",
    "noise": "circuits",
    "chains": "profiles",
    "operators": "graphs",
    "scale": "graphs",
    "calculon_plans": "calculon",
}
ROOT = Path(__file__).parent.parent
# The commands and packages that tables compare with, and leave out where they are missing.
PEERS = {
    "sparse": ("scotch_gmap",),
    "anytime": ("scotch_gmap", "chszlablib", "pymetis"),
    "large": ("scotch_gmap", "pymetis"),
    "ranks": ("scotch_gmap", "chszlablib"),
    "scale": ("pymetis",),
    "circuits": ("pytket.extensions.qiskit",),
    "logical": ("pytket",),
    "hypergraphs": ("mtkahypar",),
    "online": ("optuna",),
    "plans_published": ("aiconfigurator_core", "pyarrow"),
    "calculon_plans": ("psutil",),
}
# Where a peer comes from that has another name there, or from elsewhere than `pip install`.
SOURCES = {
    "scotch_gmap": "the system's package scotch",
    "pytket.extensions.qiskit": "pip install pytket-qiskit",
    "aiconfigurator_core": "pip install aiconfigurator-core",
}
# The pages with the tables that the summaries are of.
SUMMARIZED = tuple(sorted((ROOT / "docs" / "benchmarks").glob("*.md")))
PAGES = (ROOT / "README.md", ROOT / "docs" / "operations.md", *SUMMARIZED)


def main() -> int:
    """Measure and print the tables that were asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument(
        "tables", nargs="*", metavar="TABLE", help=f"{', '.join(TABLES)} (default: all), soak, or summary"
    )
    parser.add_argument("--data", type=Path, default=os.environ.get("TIGER_QAPLIB"), help="folder of QAPLIB files")
    parser.add_argument("--circuits", type=Path, default=os.environ.get("TIGER_CIRCUITS"), help="folder of circuits")
    parser.add_argument("--profiles", type=Path, default=os.environ.get("TIGER_PROFILES"), help="folder of profiles")
    parser.add_argument("--graphs", type=Path, default=os.environ.get("TIGER_GRAPHS"), help="folder of operator graphs")
    parser.add_argument(
        "--records", type=Path, default=os.environ.get("TIGER_RECORDS"), help="folder of dre* and tai*e"
    )
    parser.add_argument(
        "--calculon", type=Path, default=os.environ.get("TIGER_CALCULON"), help="checkout of calculon-ai/calculon"
    )
    parser.add_argument("--minutes", type=float, default=30.0, help="how long a soak is (default: 30)")
    parser.add_argument("--before", type=cold.checkout, help="another checkout, which cold is compared with")
    parser.add_argument("--print", action="store_true", help="leave the pages as they are")
    args = parser.parse_args()
    folders = {
        name: Path(folder)
        for name in ("data", "circuits", "profiles", "graphs", "records", "calculon")
        if (folder := getattr(args, name))
    }
    for name, folder in folders.items():
        if not folder.is_dir():
            parser.error(f"argument --{name}: expected a folder, got {folder}")
    makers = {name: partial(module.table, say, folders.get(FOLDERS.get(name, ""))) for name, module in TABLES.items()}
    makers["cold"] = partial(cold.table, say, args.before)
    makers["soak"] = partial(soak.table, say, args.minutes)
    makers |= {name: partial(summarize, name) for name in summary.SUMMARIES}
    unknown = [name for name in args.tables if name not in makers]
    if unknown:
        parser.error(f"TABLE: expected one of {', '.join(makers)}, got {unknown[0]!r}")
    lacking = False
    for name in args.tables or TABLES:
        try:
            text = markdown(makers[name]())
        except InputError as error:
            parser.error(str(error))
        print(f"\n{text}\n", flush=True)
        if args.print:
            continue
        usual = "make launchers" if name == "launchers" else "pip install {}"
        missing = [f"{peer} ({SOURCES.get(peer, usual.format(peer))})" for peer in list_missing(name)]
        if missing:
            lacking = True
            print(f"{name} is left as it is in the documentation, for want of {', '.join(missing)}", file=sys.stderr)
        elif name not in FOLDERS or FOLDERS[name] in folders:
            replace(name, text)
    if not args.print:
        for name in summary.SUMMARIES:
            replace(name, markdown(summarize(name)))
    return int(lacking)


def list_missing(name: str) -> list[str]:
    """Return the commands and packages of a table's peers that are not installed, so that it would lose figures."""
    if name == "launchers":
        return list_absent()
    return [peer for peer in PEERS.get(name, ()) if shutil.which(peer) is None and not is_installed(peer)]


def summarize(name: str) -> Iterable[tuple[str, ...]]:
    """Return a summary of tables as they stand in the documentation."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in SUMMARIZED)
    return summary.table(text, summary.SUMMARIES[name])


def say(message: str) -> None:
    """Show progress on stderr."""
    print(f"measuring {message}", file=sys.stderr, flush=True)


def markdown(rows: Iterable[tuple[str, ...]]) -> str:
    """Return rows, the heading first, as a table."""
    head, *body = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([head, "|" + " --- |" * (head.count("|") - 1), *body])


def replace(name: str, text: str) -> None:
    """Put a table between its markers, which are on one of the pages."""
    pattern = re.compile(rf"(<!-- table: {name} -->\n)(?:(?!<!-- ).)*(<!-- end -->)", re.DOTALL)
    pages = {
        path: pattern.subn(lambda match: f"{match[1]}{text}\n{match[2]}", path.read_text(encoding="utf-8"))
        for path in PAGES
    }
    found = sum(count for _, count in pages.values())
    if found != 1:
        raise SystemExit(f"expected markers for the table {name} once, found them {found} times")
    for path, (page, count) in pages.items():
        if count:
            path.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
