"""The size of an OpenQASM text, measured before anything parses it."""

import re
from dataclasses import dataclass
from typing import NamedTuple

from tiger.circuits.entry.nesting import NESTING, check_nesting
from tiger.errors import InputError
from tiger.model.wording import describe

FIELD = "circuit"
# To define a gate costs a parser as much memory as so many operations.
DEFINITION = 16
LIBRARIES = {2: "qelib1.inc", 3: "stdgates.inc"}
# Operations on one and two qubits that gates of the libraries on more are written out as.
WIDE = {"ccx": 15, "cswap": 17, "rccx": 9, "rc3x": 18, "c3x": 31, "c3sqrtx": 27, "c4x": 69}
# Where the parsers of the two languages disagree on what a comment is, code could hide in the difference.
_COMMENT = {2: re.compile(r"//[^\n]*"), 3: re.compile(r"//[^\r\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)}
_VERSION = re.compile(r"\s*OPENQASM\s+(\d{1,9})(?:\.\d{1,9})?\s*;")
_INCLUDE = re.compile(r"\binclude\b\s*([^;]*)")
_LONG = re.compile(r"(?<![\w.])\d{19,}(?![\d.eE])")
_DECLARED = re.compile(r"\b(qreg|creg|qubit|bit)\b\s*(\w+)?\s*(\[[^\[\];]*\]?)?\s*(\w+)?")
_SIZE = re.compile(r"\[\s*(\d[\d_]*|0[xX][\da-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+)\s*\]")
_PHYSICAL = re.compile(r"\$(\d+)")
_BLOCK = re.compile(r"/\*")
_FOREIGN = re.compile(r"#?\bpragma\b|@\w+|\bdefcal\w*|\bcal\b|\bextern\b")
_STATEMENT = re.compile(r"([^;{}]*)([;{}]|\Z)")
_GATE = re.compile(r"\bgate\s+(\w+)")
_WORD = re.compile(r"([^\W\d]\w*)\s*(\[\s*\d+\s*\])?")
_ALIAS = re.compile(r"\blet\s+(\w+)")
_WIDENED = re.compile(r"\b(?:neg)?ctrl\s*(?:\(|@[^;]*\b(?:neg)?ctrl\b)")


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitLimits:
    """Bound a circuit by its qubits, its operations with all gates of its own written out, and the bytes of its text.

    The definition of a gate counts as several operations. Classical bits are bounded by the number of operations, and
    OpenQASM 3 has a bound of its own on its text, since its parser takes about 10 kB and 0.3 ms for every gate.
    """

    max_qubits: int = 4096
    max_gates: int = 1_000_000
    max_bytes: int = 67_108_864
    max_bytes_3: int = 4_194_304


class Scan(NamedTuple):
    """Hold what a text says about itself: its language, 2 or 3, the gates that it defines, and itself without comments.

    `gates` has the number of operations of every gate by name; `plain` has the lines of the text.
    """

    language: int
    gates: dict[str, int]
    plain: str


def scan(text: str, limits: CircuitLimits) -> Scan:
    """Return what an OpenQASM text says about itself; raise InputError of `circuit` for one that is too large or deep.

    What is counted is never less than what a parser would build: registers, operations on whole registers, and gates
    that are defined by others. Files are not read: an include of anything but the language's own library is refused,
    and so are pragmas, annotations and calibrations, whose text could hide the rest from this scan. O(text).
    """
    size = len(text.encode(errors="replace"))
    if size > limits.max_bytes:
        raise InputError(FIELD, f"expected at most {limits.max_bytes} bytes of text, got {size}")
    language, plain = _strip_comments(text)
    if language == 3 and size > limits.max_bytes_3:
        raise InputError(FIELD, f"expected at most {limits.max_bytes_3} bytes of OpenQASM 3, got {size}")
    _check_words(plain, language)
    check_nesting(FIELD, plain)
    registers = _registers(plain, limits)
    counter = _Counter(plain, registers, limits)
    for match in _STATEMENT.finditer(plain):
        counter.take(match)
    return Scan(language, counter.gates, plain)


class _Counter:
    """Count the operations of a text, statement by statement."""

    def __init__(self, text: str, registers: dict[str, int], limits: CircuitLimits) -> None:
        self._text, self._registers, self._limits = text, registers, limits
        self.gates: dict[str, int] = {}
        self._depth: dict[str, int] = {}
        self._count = 0
        self._gate, self._blocks = "", 0

    def take(self, match: re.Match[str]) -> None:
        """Count a statement, which ends or opens or closes a block; match[1] has its words."""
        words, end = _WORD.findall(match[1]), match[2]
        gate = _GATE.search(match[1]) if end == "{" and not self._blocks else None
        if gate is not None:
            self._gate = gate[1]
            self.gates[gate[1]], self._depth[gate[1]] = 0, 1
            self._grow(match, DEFINITION)
        elif words:
            self._add(match, words)
        if gate is not None or self._blocks:
            self._blocks += {"{": 1, "}": -1}.get(end, 0)

    def _add(self, match: re.Match[str], words: list[tuple[str, str]]) -> None:
        """Count a statement where it stands: in the definition of a gate, or among what the circuit does."""
        _check_modifiers(self._text, match)
        size = max(self.gates.get(name, WIDE.get(name, 1)) for name, _ in words)
        if self._blocks:
            gate = self._gate
            self.gates[gate] = min(self.gates[gate] + size, self._limits.max_gates + 1)
            self._depth[gate] = max(self._depth[gate], *(1 + self._depth.get(name, 0) for name, _ in words))
            if self._depth[gate] > NESTING:
                raise _fault(self._text, match, f"expected gates defined by others at most {NESTING} deep, got more")
            return
        self._grow(match, size * max((self._registers.get(name, 1) for name, index in words if not index), default=1))

    def _grow(self, match: re.Match[str], size: int) -> None:
        """Count operations; raise InputError where there are too many."""
        self._count += size
        if self._count > self._limits.max_gates:
            raise _fault(self._text, match, f"expected at most {self._limits.max_gates} operations, got more")


def _strip_comments(text: str) -> tuple[int, str]:
    """Return the major version that a text declares, and the text without comments."""
    for language, comment in _COMMENT.items():
        plain = comment.sub(_lines, text)
        match = _VERSION.match(plain)
        if match is not None and int(match[1]) == language:
            return language, plain
    raise InputError(FIELD, "expected text that begins with OPENQASM 2.0; or OPENQASM 3.0;, got another beginning")


def _lines(match: re.Match[str]) -> str:
    """Return blanks on as many lines as a passage has."""
    return " " + "\n" * match[0].count("\n")


def _check_words(text: str, language: int) -> None:
    """Raise InputError for includes of files, whole numbers that no parser holds, and passages in other languages."""
    for match in _INCLUDE.finditer(text):
        if match[1].strip()[1:-1] != LIBRARIES[language]:
            wanted = f"expected no include but {LIBRARIES[language]!r}"
            raise _fault(text, match, f"{wanted}, as files are never read, got {describe(match[1].strip())}")
    for match in _LONG.finditer(text):
        raise _fault(text, match, f"expected whole numbers of at most 18 digits, got {len(match[0])}")
    if language == 2 and (block := _BLOCK.search(text)):
        raise _fault(text, block, "expected comments from // to the end of the line alone, got '/*'")
    if language == 3:
        for match in _FOREIGN.finditer(text):
            reason = f"expected no pragmas, annotations or calibrations, got {describe(match[0])}"
            raise _fault(text, match, reason)


def _registers(text: str, limits: CircuitLimits) -> dict[str, int]:
    """Return the number of qubits of every register by name; raise InputError where there are too many bits."""
    sizes: dict[str, int] = {}
    qubits = bits = 0
    for match in _DECLARED.finditer(text):
        size = 1 if match[3] is None else _parse_size(text, match)
        if match[1] in ("qreg", "qubit"):
            sizes[f"{match[2] or match[4]}"] = size
            qubits += size
            if qubits > limits.max_qubits:
                raise _fault(text, match, f"expected at most {limits.max_qubits} qubits, got more")
        elif (bits := bits + size) > limits.max_gates:
            raise _fault(text, match, f"expected at most {limits.max_gates} classical bits, got more")
    for match in _PHYSICAL.finditer(text):
        if len(match[1]) > 9 or int(match[1]) >= limits.max_qubits:
            raise _fault(text, match, f"expected at most {limits.max_qubits} qubits, got {describe(match[0])}")
    return sizes | dict.fromkeys(_ALIAS.findall(text), qubits)


def _parse_size(text: str, match: re.Match[str]) -> int:
    """Return the size of a register; an expression could come to any number, and is refused."""
    size = _SIZE.fullmatch(match[3])
    if size is None:
        raise _fault(text, match, f"expected the size of a register as a whole number, got {describe(match[3])}")
    digits = size[1].replace("_", "").lower()
    return int(digits, 0) if digits[:2] in ("0x", "0o", "0b") else int(digits[:20])


def _check_modifiers(text: str, match: re.Match[str]) -> None:
    """Raise InputError for a modified gate on more than two qubits, whose matrix a parser might compute."""
    _, modifier, gate = match[1].rpartition("@")
    if modifier and (gate.rpartition(")")[2].count(",") > 1 or _WIDENED.search(match[1])):
        reason = "expected gates on one or two qubits, got a modified one on more: decompose it first"
        raise _fault(text, match, f"{reason}, as Qiskit's transpile does with basis_gates=['u', 'cx']")


def _fault(text: str, match: re.Match[str], reason: str) -> InputError:
    """Return the error for a passage, with its line."""
    start = match.start() + len(match[0]) - len(match[0].lstrip())
    return InputError(FIELD, f"line {text.count(chr(10), 0, start) + 1}: {reason}")
