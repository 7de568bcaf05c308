"""Traces of a router: which experts each token chose in each layer, from arrays, `.npy` files and text."""

import warnings
from contextlib import suppress
from pathlib import Path
from tokenize import TokenError
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from tiger.errors import InputError
from tiger.model.text import read_text, read_wholes
from tiger.model.wording import describe

FIELD = "trace"
# Choices in a trace: those of 8 experts a token in 64 layers, of half a million tokens, read in seconds.
CHOICE_LIMIT = 2**28
# Rows at a time, so that a file is never in memory as a whole.
ROWS = 65_536
TEXT_ENDINGS = (".csv", ".txt")

# What numpy raises for files that are none of its own, or cut: their headers are parsed as Python.
NO_ARRAY = (ValueError, TypeError, KeyError, SyntaxError, TokenError, OverflowError, MemoryError, RecursionError)

Numbers = NDArray[np.integer]


class TokenSplit(NamedTuple):
    """Hold the tokens that a placement is made for, and those it is tested on, each [tokens, layers, k]."""

    training: Numbers
    held_out: Numbers


def read_trace(source: object) -> Numbers:
    """Return a trace [tokens, layers, k] of expert numbers from 0 on; raise InputError of `trace`, or TypeError.

    The source is an array or a file: [tokens, layers] of the expert of each token, or [tokens, layers, k] of the k that
    it chose. A `.npy` file is mapped into memory and not read; `.csv` and `.txt` have a token a line, its experts
    separated by commas or blanks. `check_choices` looks at the numbers themselves.
    """
    if isinstance(source, np.ndarray):
        return _check_shape(source)
    if not isinstance(source, str | Path):
        raise TypeError(f"expected trace as an array or a path, got {type(source).__name__}")
    path = Path(source)
    return _check_shape(_read_lines(path) if path.suffix.lower() in TEXT_ENDINGS else map_array(path, FIELD))


def split_trace(trace: Numbers, held_out: float) -> TokenSplit:
    """Return the tokens up to the last share `held_out`, and these; raise InputError unless both have some.

    The last ones are taken, and not random ones, for tokens of one text choose alike.
    """
    kept = len(trace) - int(np.ceil(len(trace) * held_out))
    if kept < 1:
        raise InputError("held_out", f"expected to leave some of the {len(trace)} tokens, got {held_out:g}")
    return TokenSplit(trace[:kept], trace[kept:])


def map_array(path: Path, field: str) -> NDArray[np.generic]:
    """Return the array of a `.npy` file, mapped into memory; raise InputError for anything else, pickles included."""
    fault = f"cannot read {describe(str(path), 300)}"
    if not path.is_file():
        raise InputError(field, f"{fault}: expected a file, .npy or text that ends in {' or '.join(TEXT_ENDINGS)}")
    try:
        with warnings.catch_warnings():
            # Of a header that Python 2 has written, or that looks like one.
            warnings.simplefilter("ignore")
            return np.lib.format.open_memmap(path, mode="r")
    except OSError as error:
        raise InputError(field, f"{fault}: {error.strerror or 'expected an array of numpy'}") from None
    except NO_ARRAY:
        raise InputError(field, f"{fault}: expected a whole array of numbers, as numpy.save writes it") from None


def check_choices(trace: Numbers, experts: int, first_token: int = 0) -> None:
    """Raise InputError of `trace` that names the token and layer of a number that is no expert, or one that is twice.

    A router gives a token k different experts; one that is there twice would count twice.
    """
    bad = (trace < 0) | (trace >= experts)
    if bad.any():
        token, layer, choice = np.argwhere(bad)[0].tolist()
        got = int(trace[token, layer, choice])
        where = f"token {first_token + token} in layer {layer}"
        raise InputError(FIELD, f"expected experts 0 to {experts - 1}, got {got} for {where}, both counted from 0")
    ordered = np.sort(trace, axis=2)
    twice = ordered[..., 1:] == ordered[..., :-1]
    if twice.any():
        token, layer, choice = np.argwhere(twice)[0].tolist()
        where = f"token {first_token + token} in layer {layer}"
        what = f"got {int(ordered[token, layer, choice])} twice for {where}, both counted from 0"
        raise InputError(FIELD, f"expected different experts, {what}")


def _check_shape(array: NDArray[np.generic]) -> Numbers:
    """Return an array of whole numbers as [tokens, layers, k], or raise InputError."""
    if array.dtype.kind not in "iu":
        raise InputError(FIELD, f"expected whole numbers, got an array of {describe(str(array.dtype))}")
    if array.ndim not in (2, 3):
        raise InputError(FIELD, f"expected [tokens, layers] or [tokens, layers, k], got {array.ndim} dimensions")
    if array.size > CHOICE_LIMIT:
        raise InputError(FIELD, f"expected at most {CHOICE_LIMIT:,} choices of experts, got {array.size:,}")
    numbers = cast(Numbers, array)
    shaped = numbers[:, :, None] if array.ndim == 2 else numbers
    if shaped.shape[0] < 1 or shaped.shape[1] < 2 or shaped.shape[2] < 1:
        raise InputError(FIELD, f"expected tokens, and layers from 2, got the shape {array.shape}")
    return shaped


def _read_lines(path: Path) -> Numbers:
    """Return the array of a text, a token a line; raise InputError that names the line."""
    lines = [(k, line.replace(",", " ").split()) for k, line in enumerate(read_text(path, FIELD).splitlines(), 1)]
    lines = [(k, words) for k, words in lines if words]
    if not lines:
        raise InputError(FIELD, "expected a token a line, got none")
    layers = len(lines[0][1])
    for number, words in lines:
        if len(words) != layers:
            raise InputError(FIELD, f"line {number}: expected {layers} experts as in the first, got {len(words)}")
    with suppress(InputError):
        # All at once is ten times as fast; only where that fails is the line looked for.
        return read_wholes(FIELD, "lines", [word for _, words in lines for word in words]).reshape(-1, layers)
    return np.array([read_wholes(FIELD, f"line {number}", words) for number, words in lines])
