"""What OSU micro-benchmarks and nccl-tests print for pairs of nodes, one pair after another, each under its names.

Sources: OSU micro-benchmarks up to 7, https://mvapich.cse.ohio-state.edu/benchmarks/, and nccl-tests,
https://github.com/NVIDIA/nccl-tests.
"""

import re
from dataclasses import dataclass, field

from tiger.errors import InputError
from tiger.formats.hardware.measured import TIMES, Measurement, fill_pairs, rate_nodes
from tiger.formats.hardware.plain import PlainHardware
from tiger.model.text import RawLine, read_amounts, read_wholes
from tiger.model.wording import describe

FIELD = "topology"
_PAIR = re.compile(r"#\s*pair(?:\s+(.*))?")
# What `tail -v -n +1 a,b.txt a,c.txt` prints above the content of each file.
_FILE = re.compile(r"==> (?:.*/)?([^/]+?)(?:\.(?:txt|out|log))? <==")
# The title of a table, and the unit of its values.
_TITLES = (
    (re.compile(r"# Size\s+(?:Avg )?Latency ?\(us\)"), "us"),
    (re.compile(r"# Size\s+(?:Bandwidth \()?MB/s"), "MB/s"),
    (re.compile(r"#\s+size\s.*\sbusbw\s"), "GB/s"),
)
# Tables that look like those of osu_bw, and sum over both directions or over several pairs.
_SUMS = re.compile(r"#.*\bBi-?directional\b.*|# \[ pairs: (?!1 ).*", re.IGNORECASE)
_ROW = re.compile(r"[0-9]+(?:\s|$)")


@dataclass(slots=True)
class _Output:
    """Hold what is printed for two nodes, and the line that names them."""

    line: int
    nodes: tuple[str, str]
    lines: list[RawLine] = field(default_factory=list)


@dataclass(slots=True)
class _PingPongTable:
    """Hold the unit of a table, the column of its values, negative from the right, and the value for each size."""

    unit: str
    column: int
    values: dict[int, float] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Return the size that counts: the smallest for latencies, the largest for bandwidths."""
        return min(self.values) if self.unit in TIMES else max(self.values)


def is_output(text: str) -> bool:
    """Return whether a text names pairs of nodes, or has tables of these benchmarks."""
    lines = map(str.strip, text.split("\n"))
    return any(_PAIR.fullmatch(line) or _FILE.fullmatch(line) or _find_table(line) for line in lines)


def read_nodes(text: str) -> PlainHardware:
    """Return the nodes of pairs, as far apart as `measured.read_nodes` says of their latencies or bandwidths.

    `# pair A B` or `==> A,B.txt <==` names a pair, and one table follows. A latency is that of the smallest message, a
    bandwidth that of the largest one; unit and size must be those of the first pair. Raises InputError of `topology`
    with the line at fault, or with the pairs that are missing.
    """
    outputs = _split_outputs(text)
    if not outputs:
        raise InputError(FIELD, "expected pairs of nodes, got none")
    tables = [_read_table(output) for output in outputs]
    first, measurements = tables[0], list[Measurement]()
    for output, table in zip(outputs, tables, strict=True):
        if (table.unit, table.size) != (first.unit, first.size):
            what = f"expected {first.unit} for {first.size} bytes as below line {outputs[0].line}"
            raise InputError(FIELD, f"line {output.line}: {what}, got {table.unit} for {table.size}")
        measurements.append(Measurement(f"line {output.line}", *output.nodes, table.values[table.size]))
    return rate_nodes(*fill_pairs(measurements), first.unit)


def _split_outputs(text: str) -> list[_Output]:
    """Return the measurements printed for every pair that a text names."""
    outputs = list[_Output]()
    for number, line in enumerate(text.split("\n"), 1):
        content = line.strip()
        nodes = _find_nodes(number, content)
        if nodes is not None:
            outputs.append(_Output(number, nodes))
        elif content and not outputs:
            what = "expected a line `# pair A B` above what is printed for nodes A and B"
            raise InputError(FIELD, f"line {number}: {what}, got {describe(content)}")
        elif content:
            outputs[-1].lines.append((number, content))
    return outputs


def _find_nodes(number: int, line: str) -> tuple[str, str] | None:
    """Return the two nodes that a line names, None where it is not about a pair."""
    pair, file = _PAIR.fullmatch(line), _FILE.fullmatch(line)
    if pair is not None:
        nodes = (pair[1] or "").split()
    elif file is not None:
        # Names of hosts often have hyphens, and hardly ever commas.
        nodes = file[1].split("," if "," in file[1] else "-")
    else:
        return None
    if len(nodes) != 2 or not all(nodes):
        what = "expected two nodes, as in `# pair A B` or in the name of a file A,B.txt"
        raise InputError(FIELD, f"line {number}: {what}, got {describe(line)}")
    return nodes[0], nodes[1]


def _read_table(output: _Output) -> _PingPongTable:
    """Return the one table of two nodes, whose rows may have other lines between them, as launchers print those."""
    table = None
    for number, line in output.lines:
        begun = _find_table(line)
        if _SUMS.fullmatch(line):
            what = "expected the bandwidth of one pair in one direction, as osu_bw prints it"
            raise InputError(FIELD, f"line {number}: {what}, got {describe(line)}")
        if begun is not None:
            if table is not None:
                raise InputError(FIELD, f"line {number}: expected one table for two nodes, got another")
            table = begun
        elif _ROW.match(line):
            if table is None:
                what = "expected rows below the title of their columns"
                raise InputError(FIELD, f"line {number}: {what}, got {describe(line)}")
            _read_row(table, number, line.split())
    if table is None or not table.values:
        a, b = map(describe, output.nodes)
        what = f"expected what osu_latency, osu_bw or sendrecv_perf prints for {a} and {b}"
        raise InputError(FIELD, f"line {output.line}: {what}, got no table")
    return table


def _find_table(line: str) -> _PingPongTable | None:
    """Return the table that a line is the title of, without rows."""
    unit = next((unit for title, unit in _TITLES if title.match(line)), None)
    if unit is None:
        return None
    words = line.split()
    # nccl-tests leave columns on the left blank, and print times before and after a second buffer on the right.
    return _PingPongTable(unit, words.index("busbw") - len(words) if "busbw" in words else 1)


def _read_row(table: _PingPongTable, number: int, words: list[str]) -> None:
    """Add the value of a row to its table."""
    where = f"line {number}"
    if not -len(words) < table.column < len(words):
        raise InputError(FIELD, f"{where}: expected a value in every row, got {len(words)} columns")
    size = int(read_wholes(FIELD, where, words[:1])[0])
    if size in table.values:
        raise InputError(FIELD, f"{where}: expected each size once, got {size} again")
    table.values[size] = float(read_amounts(FIELD, where, [words[table.column]])[0])
