"""Files of samples: what other software drew from a model."""

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import dimod
import numpy as np

from tiger.errors import InputError
from tiger.mapping.exchange.decode_samples import FIELD, SampleRows, WindowRows
from tiger.mapping.exchange.sample_folder import list_files
from tiger.model.arrays import BitArray, FloatArray, IntArray
from tiger.model.jsontext import read_json
from tiger.model.text import is_number, read_text
from tiger.model.wording import describe

# A read without blanks, and the number of a variable in a header; nine digits are more than any model has variables.
BITS, LABEL = re.compile("[01]{2,}"), re.compile(r"[A-Za-z_]*\[?(\d{1,9})\]?")
NOTE = re.compile(r"^\s*#\s*fingerprint=(\S+)", re.MULTILINE)
WANTED = "expected bits 0 and 1, or spins -1 and 1"
NO_SET = "expected a dimod SampleSet as its to_serializable() states it"
OTHER_FILE = "expected the file that tiger encode --variables writes, got another"
# Counts add up exactly in float64.
MOST_READS = 1 << 53
LARGEST = sys.float_info.max


def read_samples(path: str | Path) -> SampleRows:
    """Read a file of samples, bits 0 and 1 or spins -1 and 1; raise InputError of `samples` for any other.

    A `.json` file is a dimod SampleSet (`SampleSet.to_serializable`) on variables 0, 1, .. in any order, as numbers or
    text. Any other is text, a read in each line, its values in the order of the variables, or in that of a first line
    which numbers them (`0,1,2`, `x0,x1,x2`); commas or blanks stand between values, or nothing between bits (`0101`).
    Lines that begin with # are notes. `info["fingerprint"]` of the one, or the note `# fingerprint=..` of the other,
    says which problem the samples are of.
    """
    text = read_text(Path(path), FIELD)
    return _read_sample_set(text) if Path(path).suffix.lower() == ".json" else _read_table(text)


def read_windows(folder: str | Path) -> list[WindowRows]:
    """Read the files of samples that a solve kept in a folder; raise InputError of `samples` for any other."""
    paths = list_files(Path(folder))
    if not paths:
        raise InputError(FIELD, f"expected a folder in which a solve has kept samples, got {str(folder)!r} without any")
    return [_read_window(path) for path in paths]


def _read_window(path: Path) -> WindowRows:
    """Read the samples of a window."""
    text = read_text(path, FIELD)
    try:
        rows = _read_sample_set(text)
    except InputError as error:
        raise InputError(FIELD, f"{path.name}: {error.reason}") from None
    info = dimod.SampleSet.from_serializable(read_json(text, FIELD)).info
    variables, mapping = info.get("variables"), info.get("mapping")
    if not _has_pairs(variables, rows.bits.shape[1]) or not _has_names(mapping):
        raise InputError(FIELD, f"{path.name}: expected the variables and the mapping that a solve keeps, got others")
    return WindowRows(rows, tuple((task, node) for task, node in variables), mapping)


def _has_pairs(variables: object, count: int) -> bool:
    """Return whether these are as many pairs of names, or of nulls."""
    return (
        isinstance(variables, list)
        and len(variables) == count
        and all(isinstance(pair, list) and len(pair) == 2 for pair in variables)
        and all(name is None or isinstance(name, str) for pair in variables for name in pair)
    )


def _has_names(mapping: object) -> bool:
    """Return whether this maps texts to texts."""
    return isinstance(mapping, dict) and all(isinstance(name, str) for name in mapping.values())


def read_variables(path: str | Path, rows: SampleRows) -> SampleRows:
    """Return samples with fingerprint and offset of the model, read from what `tiger encode --variables` wrote.

    Raises InputError of `variables` for another file, and for one of another model than the samples state.
    """
    given = read_json(read_text(Path(path), "variables"), "variables")
    known = given if isinstance(given, dict) else {}
    origin, offset = known.get("fingerprint"), known.get("offset")
    if not isinstance(origin, str) or isinstance(offset, bool) or not isinstance(offset, int | float):
        raise InputError("variables", OTHER_FILE)
    if not abs(offset) <= LARGEST:
        raise InputError("variables", OTHER_FILE)
    if rows.fingerprint not in (None, origin):
        raise InputError(
            "variables", f"expected fingerprint {describe(rows.fingerprint)}, as in the samples, got {describe(origin)}"
        )
    return rows._replace(fingerprint=origin, offset=float(offset))


def _read_table(text: str) -> SampleRows:
    """Read lines of values."""
    lines = list(_split_lines(text))
    order = _read_header(lines[0][1]) if lines else None
    rows = [_values(number, words) for number, words in lines[0 if order is None else 1 :]]
    if not rows:
        raise InputError(FIELD, f"{WANTED}, a read in each line, got no read")
    noted = NOTE.search(text)
    bits = _bits(np.array(rows))
    bits = bits if order is None else bits[:, np.argsort(order)]
    return SampleRows(bits, np.ones(len(rows), np.int64), fingerprint=noted and noted[1])


def _split_lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the words of each line, as many as the first has."""
    width = 0
    for number, line in enumerate(text.splitlines(), 1):
        words = line.replace(",", " ").split()
        if not words or words[0].startswith("#"):
            continue
        # Bits without blanks: no value has several digits.
        words = list(words[0]) if BITS.fullmatch(words[0]) and len(words) == 1 else words
        width = width or len(words)
        if len(words) != width:
            raise InputError(FIELD, f"line {number}: expected {width} values, as before, got {len(words)}")
        yield number, words


def _read_header(words: Sequence[str]) -> IntArray | None:
    """Return the variable of each column if a line numbers all of them, which no read does; else None."""
    labels = [LABEL.fullmatch(word) for word in words]
    if not all(labels) or all(word in ("0", "1") for word in words):
        return None
    numbers = np.array([int(label[1]) for label in labels if label], np.int64)
    return numbers if np.array_equal(np.sort(numbers), np.arange(len(words))) else None


def _values(number: int, words: Sequence[str]) -> BitArray:
    """Return the values of a line."""
    odd = [word for word in words if not is_number(word) or float(word) not in (-1, 0, 1)]
    if odd:
        raise InputError(FIELD, f"line {number}: {WANTED}, got {describe(odd[0])}")
    return np.array(words, np.float64).astype(np.int8)


def _read_sample_set(text: str) -> SampleRows:
    """Read a dimod SampleSet."""
    given = read_json(text, FIELD)
    try:
        sample_set = dimod.SampleSet.from_serializable(given)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError(FIELD, f"{NO_SET}, got a fault: {describe(str(error), 120)}") from None
    values, counts, labels = sample_set.record.sample, sample_set.record.num_occurrences, list(sample_set.variables)
    if values.dtype.kind not in "iuf" or values.shape[1:] != (len(labels),):
        raise InputError(FIELD, f"{NO_SET}, got values that are no numbers, or not one for each variable")
    # Other software often has text where the model has numbers.
    if sorted(labels, key=str) == sorted(map(str, range(len(labels)))):
        labels = [int(label) for label in labels]
    stranger = [label for label in labels if label not in range(len(labels))]
    if stranger:
        raise InputError(FIELD, f"expected the model's variables, 0 to {len(labels) - 1}, got {describe(stranger[0])}")
    if not len(values):
        raise InputError(FIELD, "expected at least one read, got none")
    if counts.dtype.kind not in "iu" or counts.shape != values.shape[:1] or not _has_counts(counts):
        raise InputError(FIELD, f"expected num_occurrences of 1 or more, of at most {MOST_READS:g} in all")
    bits = _bits(values[:, np.argsort(np.array(labels, np.int64))])
    origin = sample_set.info.get("fingerprint")
    return SampleRows(bits, counts.astype(np.int64), _energies(sample_set), origin if isinstance(origin, str) else None)


def _energies(sample_set: dimod.SampleSet) -> FloatArray | None:
    """Return the energies of rows, None where they are no numbers."""
    energies = np.asarray(sample_set.record.energy)
    return energies.astype(np.float64) if energies.dtype.kind in "iuf" and energies.ndim == 1 else None


def _has_counts(counts: IntArray) -> bool:
    """Return whether every row stands for a read or more, and their sum is exact."""
    return bool(counts.min() >= 1 and counts.sum(dtype=np.float64) <= MOST_READS)


def _bits(values: BitArray) -> BitArray:
    """Return values as bits."""
    wrong = ~np.isin(values, (-1, 0, 1))
    if wrong.any():
        raise InputError(FIELD, f"{WANTED}, got {describe(values[wrong][0])}")
    if (values == 0).any() and (values == -1).any():
        raise InputError(FIELD, f"{WANTED}, got 0 and -1 together")
    return (values > 0).astype(np.int8)
