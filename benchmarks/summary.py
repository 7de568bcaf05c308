"""Summaries of the README and of pages, one row a table, read from what the other measurements have left."""

import math
import re
from collections.abc import Iterable, Iterator
from itertools import takewhile

HEAD = ("field", "measure", "peers", "TIGER", "where TIGER loses", "`python -m benchmarks`")


def table(page: str, names: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Yield the heading and one row for each of the named tables, which a text holds."""
    yield HEAD
    for name in names:
        yield (*MAKERS[name](rows(page, name)), f"`{name}`")


def rows(page: str, name: str) -> list[list[str]]:
    """Return the cells of a table, without its heading."""
    text = re.search(rf"<!-- table: {name} -->\n(.*?)\n<!-- end -->", page, re.DOTALL)
    if text is None:
        raise SystemExit(f"expected the table {name}, found none")
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text[1].splitlines()[2:]]


def _row(table: list[list[str]], start: str) -> list[str]:
    """Return the row whose first cell begins so, bold or not."""
    return next([cell.replace("**", "") for cell in row] for row in table if row[0].strip("*").startswith(start))


def _split(cell: str) -> tuple[str, str]:
    """Return the two parts of a cell such as `1.000 (0.22 s)`."""
    first, _, rest = cell.partition(" (")
    return first, rest.removesuffix(")")


def _span(table: list[list[str]], column: int) -> str:
    """Return the smallest and the largest number of a column."""
    return _range(row[column].partition(" ")[0] for row in table)


def _range(numbers: Iterable[str]) -> str:
    """Return the smallest and the largest number."""
    values = sorted(numbers, key=float)
    return values[0] if values[0] == values[-1] else f"{values[0]} to {values[-1]}"


def _tuning(table: list[list[str]]) -> tuple[str, ...]:
    row = _row(table, "mean of the eight")
    tabu = "".join(f", tabu of 0.05 s {gap} %" for gap in row[13:])
    peers = f"neal with dimod's weights {row[1]} %, scipy FAQ {row[8]} %{tabu}"
    own = f"`neal` {_split(row[5])[0]} %"
    loss = f"`auto` {_split(row[6])[0]} %, in {_split(row[6])[1]} instead of {_split(row[5])[1]}"
    return "QUBOs of 9 to 20 tasks", "gap to the best cost", peers, own, loss


def _layers(table: list[list[str]]) -> tuple[str, ...]:
    row = _row(table, "mean")
    own, loss = f"`neal` {_split(row[3])[0]} %", f"`auto` {_split(row[4])[0]} %, one tuned QUBO {row[2]} %"
    return "layered task graphs", "gap to the best cost", f"the original tool's partition {row[1]} %", own, loss


def _qap(table: list[list[str]]) -> tuple[str, ...]:
    row, worst = _row(table, "all"), _row(table, "tai*a")
    # Columns of the longer limit are as many again; peers end in scipy's.
    later = len(row) // 2 + 1
    strongest = ("memetic tabu", "robust tabu", "scipy FAQ")[3 - later]
    peers, loss = f"{strongest} {row[3]} %", f"tai\\*a: {worst[2]} % after 1 s, {worst[later]} % after 10 s"
    return f"QAPLIB, {row[1]} instances", "gap to the best known, 1 s", peers, f"{row[2]} %", loss


def _constrained(table: list[list[str]]) -> tuple[str, ...]:
    row, worst = _row(table, "all"), max(float(row[5].partition("(")[2].rstrip(")")) for row in table)
    loss = f"up to {worst:.3f} on one problem" if worst > 1 else "nowhere"
    return "memory, forbidden pairs", "cost over plain annealing's", "annealing, equal time 1", _split(row[5])[0], loss


def _sparse(table: list[list[str]]) -> tuple[str, ...]:
    row, large = _row(table, "geometric mean"), _row(table, "65,536")
    loss = f"65,536 tasks: {_split(large[4])[1]}, Scotch {_split(large[2])[1]}"
    return "large sparse task graphs", "cost over Scotch's", "Scotch 1", row[4], loss


def _anytime(table: list[list[str]]) -> tuple[str, ...]:
    means = [row for row in table if "geometric mean" in row[0]]
    cases = [row for row in table if row not in means]
    late = max(_seconds(row[3]) / _seconds(row[2]) for row in cases)
    loss = f"{_count_above([float(row[4]) for row in cases])}; answers after up to {late:.1f} times the peer's time"
    peers = "Scotch, KaHIP, SharedMap 1, METIS at 1.5 times its time 1"
    return "the same, in each peer's time", "cost over the peer's, means", peers, _span(means, 4), loss


def _seconds(cell: str) -> float:
    """Return the seconds of a cell such as `2,392,138 (2.97 s)`."""
    return float(_split(cell)[1].removesuffix(" s"))


def _hypergraphs(table: list[list[str]]) -> tuple[str, ...]:
    ratios = [float(row[-1].split(" / ")[0]) for row in table]
    peers = "Mt-KaHyPar, equal time 1"
    return "messages to many tasks", "cost over Mt-KaHyPar's", peers, f"{_mean(ratios):.3f}", _count_above(ratios)


def _count_above(ratios: list[float]) -> str:
    """Return how many ratios are above 1, and by how much at most."""
    above = sum(ratio > 1 for ratio in ratios)
    return f"above in {above} of {len(ratios)}, by {100 * max(ratios) - 100:.1f} % at most" if above else "nowhere"


def _mean(ratios: list[float]) -> float:
    """Return the geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def _ranks(table: list[list[str]]) -> tuple[str, ...]:
    row = _row(table, "geometric mean")
    plain = [each for each in table if each[1] and not each[1].endswith("cores")]
    behind = sum(_first(row[5]) > min(_first(row[3]), _first(row[4])) for row in plain)
    peers = f"block 1, cyclic {row[2]}, Scotch {row[3]}, SharedMap {row[4]}"
    loss = f"more hop-bytes than a peer in {behind} of {len(plain)}"
    return "orders of 1,024 ranks", "hop-bytes / largest link load", peers, row[5], loss


def _folds(table: list[list[str]]) -> tuple[str, ...]:
    row = _row(table, "all drawn")
    own, loss = f"{row[3]}, from {row[4]} to {row[5]}", f"{row[7]} of {row[2]} dearer" if int(row[7]) else "nowhere"
    return "halos on tori, grids and trees", "cost over the best box's", "best box and fold of it 1", own, loss


def _first(cell: str) -> float:
    """Return the first number of a cell, infinity where there is none."""
    found = re.match("[0-9.]+", cell)
    return float(found[0]) if found else math.inf


def _circuits(table: list[list[str]]) -> tuple[str, ...]:
    row = _row(table, "all")
    qiskit, sabre, tket, own = (_split(row[k]) for k in (1, 2, 3, 5))
    peers = f"Qiskit level 3 {qiskit[0]}, SABRE at equal time {sabre[0]}, tket {tket[0]}"
    field = f"{re.sub('[^0-9]', '', row[0])} circuits"
    return field, "extra CX over Qiskit's", peers, own[0], f"{own[1]} a circuit, Qiskit {qiskit[1]}"


def _record(table: list[list[str]]) -> tuple[str, ...]:
    starts = "all", "seconds", "at effort 1", "its seconds", "published: best"
    row, seconds, quick, quick_s, best = (_row(table, start) for start in starts)
    # Three columns a device: LightSABRE, TIGER with the order of gates kept, and TIGER without.
    peer, own, first, published = (
        sum(int(cell.replace(",", "")) for cell in cells) for cells in (row[3::3], row[4::3], quick[4::3], best[3::3])
    )
    peers = f"LightSABRE 1, best published {published / peer:.3f}"
    loss = f"{_range(quick_s[4::3])} and {_range(seconds[4::3])} s a circuit, LightSABRE {_range(seconds[3::3])} s"
    found = f"{first / peer:.3f}, at effort 4 {own / peer:.3f}"
    return "24 circuits of papers, 3 devices", "extra CX over LightSABRE's", peers, found, loss


def _delivered(table: list[list[str]]) -> tuple[str, ...]:
    gates, depth = (sum(int(row[k].split(", ")[2]) for row in table) for k in (5, 8))
    slow = [row[-1].split(", ") for row in table if row[1] == "3"]
    theirs, ours = (sum(float(row[k]) for row in slow) / len(slow) for k in (0, 1))
    loss = f"more gates in {gates}, more depth in {depth} of {sum(int(row[2]) for row in table)}; level 3 takes"
    loss += f" {ours:.1f} s, Qiskit's {theirs:.2f} s"
    return "whole `transpile`", "two-qubit gates over Qiskit's", "Qiskit 1", _span(table, 4), loss


def _noise(table: list[list[str]]) -> tuple[str, ...]:
    least = min(int(row[3].removesuffix(" %")) for row in table)
    behind = [row[8] for row in table if not row[8].startswith("0 ")]
    losses = f"behind in {' and '.join(behind)}" if behind else "nowhere"
    loss = f"{losses}; without waiting times behind in up to {100 - least} %"
    return (
        "error rates",
        "estimated success over Qiskit's",
        "Qiskit 1, best of seeds in equal time",
        _span(table, 7),
        loss,
    )


def _chains(table: list[list[str]]) -> tuple[str, ...]:
    peers = f"uniform {_span(table, 2)}, by time {_span(table, 4)}"
    return "chains of layers", "bottleneck over the optimum", peers, _span(table, 5), "nowhere: the splits are optimal"


def _placements(table: list[list[str]]) -> tuple[str, ...]:
    even = sum(float(row[5]) <= 1.01 for row in table)
    loss = f"at most 1 % gained in {even} of {len(table)}"
    return "transformers on GPUs", "uniform iteration over TIGER's", "uniform 1", _span(table, 5), loss


def _serving(table: list[list[str]]) -> tuple[str, ...]:
    even = sum(float(row[8]) <= 1.01 for row in table)
    loss = f"at most 1 % over the best of three simple splits in {even} of {len(table)}"
    best = [float(row[7]) / float(row[8]) for row in table]
    peers = f"by memory 1, best of three {min(best):.2f} to {max(best):.2f}"
    return "serving on unequal devices", "tokens/s of one sequence over llama.cpp's split", peers, _span(table, 7), loss


def _plans_published(table: list[list[str]]) -> tuple[str, ...]:
    # Rows without a number of GPUs are summaries.
    runs = [row for row in table if row[1]]
    counted, looked_up = ([float(row[k]) for row in runs] for k in (5, 7))
    worst = max(abs(ratio - 1) for ratio in counted)
    peers = f"by tables of operations {_mean(looked_up):.3f}"
    loss = f"up to {100 * worst:.0f} % off; orders of runs on one kind of GPU by TFLOP/s differ where these are close"
    return (
        "published training runs",
        "predicted over measured time, means",
        peers,
        f"counted {_mean(counted):.3f}",
        loss,
    )


def _operators(table: list[list[str]]) -> tuple[str, ...]:
    ratios = [float(row[7]) / float(row[4]) for row in table]
    worst = max(1 - float(row[9]) / float(row[7]) for row in table)
    loss, peers = f"gap to the bound up to {100 * worst:.0f} %", "exact cuts of linear orders 1"
    return "graphs of operators", "largest load over exact cuts'", peers, f"{_mean(ratios):.3f}", loss


def _scale(table: list[list[str]]) -> tuple[str, ...]:
    metis = [row for row in table if row[1] == "METIS"]
    own = [row for row in table if row[1] == "TIGER, throughput"]
    loss = f"{_span(own, 5)} s, METIS {_span(metis, 5)} s"
    peers = f"METIS {_span(metis, 2)}"
    return "200,000 and 1,000,000 operators", "largest load over the mean", peers, _span(own, 2), loss


def _online(table: list[list[str]]) -> tuple[str, ...]:
    loss = f"{sum(not row[2].endswith('100 %') for row in table)} of {len(table)} rows miss some cases"
    peers = f"hill climbing {_span(table, 3)}, annealing {_span(table, 4)}"
    return "plans from measurements", "runs to within 3 %, median", peers, _span(table, 2), loss


def _dynamic(table: list[list[str]]) -> tuple[str, ...]:
    # The cases without a head come first.
    bare = list(takewhile(lambda row: row[2] == "no", table))
    static = sorted(float(row[3]) / float(row[6]) for row in bare)
    still = sum(float(row[3]) <= 1 for row in bare)
    peers = f"best static cuts {static[0]:.2f} to {static[-1]:.2f}"
    loss = f"{still} of {len(bare)} gain nothing without a head"
    return "models that change", "time of uniform cuts over TIGER's", peers, _span(bare, 3), loss


def _expert_loads(table: list[list[str]]) -> tuple[str, ...]:
    means = [row for row in table if row[0] == "even" or row[0].startswith("Zipf")]
    peers, loss = f"EPLB {_span(means, 2)}", "nowhere" if _keeps_below(means) else "above EPLB's in some layers"
    return "experts by load", "largest load over the bound", peers, _span(means, 4), loss


def _keeps_below(table: list[list[str]]) -> bool:
    """Return whether no layer of a table is above EPLB's."""
    return all(row[6].startswith("0 and 0 ") for row in table)


def _plans(table: list[list[str]]) -> tuple[str, ...]:
    loss = f"{_span(table, 9)} s of search, where the usual plan takes none"
    return "degrees of parallelism", "usual iteration over TIGER's", "usual plan 1", _span(table, 6), loss


def _calculon_plans(table: list[list[str]]) -> tuple[str, ...]:
    usual, ours = (_range(row[k] for row in table if row[k] != "-") for k in (6, 8))
    loss = "everywhere: its own search is complete, on regular clusters of one kind of GPU"
    return "plans judged by Calculon", "seconds over the optimum's", f"usual plan {usual}", ours, loss


def _islands(table: list[list[str]]) -> tuple[str, ...]:
    loss = f"cost over one island's {_span(table, 5)}"
    return "two workers, half the effort", "time over one island's", "one island 1", _span(table, 7), loss


MAPPING = {
    "tuning": _tuning,
    "layers": _layers,
    "qap": _qap,
    "constrained": _constrained,
    "sparse": _sparse,
    "anytime": _anytime,
    "hypergraphs": _hypergraphs,
    "ranks": _ranks,
    "folds": _folds,
}
CIRCUITS = {"record": _record, "circuits": _circuits, "delivered": _delivered, "noise": _noise}
NETWORKS = {
    "chains": _chains,
    "placements": _placements,
    "serving": _serving,
    "operators": _operators,
    "scale": _scale,
    "online": _online,
    "dynamic": _dynamic,
    "expert_loads": _expert_loads,
    "plans": _plans,
    "calculon_plans": _calculon_plans,
    "plans_published": _plans_published,
}
MAKERS = MAPPING | CIRCUITS | NETWORKS | {"islands": _islands}
README = (
    "tuning",
    "qap",
    "sparse",
    "anytime",
    "ranks",
    "record",
    "delivered",
    "noise",
    "operators",
    "expert_loads",
    "calculon_plans",
    "plans_published",
)
# The tables that each summary is of, by its name in the pages.
SUMMARIES: dict[str, Iterable[str]] = {
    "summary": README,
    "summary-mapping": MAPPING,
    "summary-circuits": CIRCUITS,
    "summary-networks": NETWORKS,
    "summary-service": ["islands"],
}
