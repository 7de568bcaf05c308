"""Models as text: coordinates, the format of qbsolv, and spins, a line for every variable and every coupler."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tiger.mapping.exchange.couplers import SortedCouplers
from tiger.model.arrays import FloatArray

FORMS = (".coo", ".qubo", ".ising")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TextModel:
    """Hold a model to be written: biases `linear[v]`, an offset, and couplers, with values to divide by `divisor`."""

    form: str
    linear: FloatArray
    offset: float
    couplers: SortedCouplers
    count: int
    divisor: float = 1.0

    def lines(self, origin: str) -> Iterator[bytes]:
        """Yield the content in parts, offset and fingerprint `origin` in comments, with all digits of the biases."""
        yield "\n".join([*self._head(origin), ""]).encode()
        yield "".join([f"{k} {k} {_digits(bias)}\n" for k, bias in enumerate(self.linear.tolist())]).encode()
        for terms in self.couplers:
            columns = terms.row.tolist(), terms.col.tolist(), (terms.value / self.divisor).tolist()
            yield "".join(
                [f"{low} {high} {_digits(bias)}\n" for low, high, bias in zip(*columns, strict=True)]
            ).encode()

    def _head(self, origin: str) -> list[str]:
        """Return the lines before the biases."""
        if self.form == ".qubo":
            size = len(self.linear)
            return [f"c offset={self.offset!r}", f"c fingerprint={origin}", f"p qubo 0 {size} {size} {self.count}"]
        kind = "SPIN" if self.form == ".ising" else "BINARY"
        return [f"# vartype={kind}", f"# offset={self.offset!r}", f"# fingerprint={origin}"]


def text_model(form: str, linear: FloatArray, offset: float, couplers: SortedCouplers) -> TextModel:
    """Return a model of bits as it is to be written in a form, that of spins s = 2 x - 1 with their biases."""
    count = couplers.merge()
    if form != ".ising":
        return TextModel(form=form, linear=linear, offset=offset, couplers=couplers, count=count)
    fields, constant = linear / 2, offset + float(linear.sum()) / 2
    for terms in couplers:
        for ends in (terms.row, terms.col):
            fields += np.bincount(ends, terms.value / 4, len(fields))
        constant += float(terms.value.sum()) / 4
    return TextModel(form=form, linear=fields, offset=constant, couplers=couplers, count=count, divisor=4.0)


def _digits(value: float) -> str:
    """Return a number in full and without an exponent, which dimod does not read."""
    text = repr(value)
    return np.format_float_positional(value, trim="0") if "e" in text else text
