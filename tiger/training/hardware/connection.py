"""How long messages take over a connection, as documents state it, and the numbering of equal ones."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tiger.errors import InputError
from tiger.formats.hardware.nccltests import read_output
from tiger.formats.quantity import convert_quantity
from tiger.model.units import GIGABYTE
from tiger.model.values import check_amount, check_positive, read_name
from tiger.training.hardware.cluster import NO_LINK, Curve
from tiger.training.hardware.device import NICS, check_count
from tiger.training.hardware.limits import COST_LIMIT
from tiger.training.hardware.record import check_names, check_record, check_text, require
from tiger.training.hardware.tables import curve_of_csv, curve_of_pairs, curve_of_run

# The text that nccl-tests print.
NCCL_TESTS = "nccl_tests"
CONNECTION_FIELDS = ("bandwidth", "latency", "table")


@dataclass(frozen=True, slots=True)
class Affine:
    """Hold a latency in seconds, a bandwidth in bytes per second and direction, and whether it is a wire."""

    bandwidth: float
    latency_s: float = 0.0
    wire: bool = False


Connection = Affine | Curve


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Number connections from 0, equal ones alike, so that there is one curve for many links."""

    numbers: dict[Affine | tuple[bytes, bytes, bool], int] = field(default_factory=dict)
    curves: list[Curve] = field(default_factory=list)

    def number(self, connection: Connection | None) -> int:
        """Return the number of a connection, -1 for none."""
        if connection is None:
            return NO_LINK
        key = connection.key if isinstance(connection, Curve) else connection
        if key not in self.numbers:
            self.numbers[key] = len(self.curves)
            self.curves.append(_curve(connection))
        return self.numbers[key]


def connection(field: str, fields: Mapping[str, object], prefix: str = "") -> Connection | None:
    """Return the connection of `bandwidth` and `latency` (default 0), or of `table`; None where all are missing.

    A table is a list of pairs `[bytes, seconds]`, `{"csv": TEXT, "where": {COLUMN: VALUE}}`, or `{"nccl_tests": TEXT,
    "nics": NUMBER}` of a measured collective, whose messages then take as long as it says. Raises InputError for both
    at once, and for a latency alone.
    """
    bandwidth, latency, table = (f"{prefix}{name}" for name in CONNECTION_FIELDS)
    if table in fields:
        if bandwidth in fields or latency in fields:
            raise InputError(f"{field}/{table}", f"expected either this field or {bandwidth}, got both")
        return _table(f"{field}/{table}", fields[table])
    if bandwidth not in fields:
        if latency in fields:
            raise InputError(f"{field}/{bandwidth}", f"expected this field beside {latency}, got none")
        return None
    rate, delay = f"{field}/{bandwidth}", f"{field}/{latency}"
    given = Affine(
        check_positive(rate, convert_quantity(rate, fields[bandwidth], "bytes/s")),
        check_amount(delay, convert_quantity(delay, fields.get(latency, 0), "seconds")),
    )
    if given.latency_s > COST_LIMIT:
        raise InputError(delay, f"expected at most {COST_LIMIT:g} s, got {given.latency_s:g}")
    if GIGABYTE / given.bandwidth > COST_LIMIT:
        raise InputError(rate, f"expected a gigabyte in at most {COST_LIMIT:g} s, got {given.bandwidth:g} bytes/s")
    return given


def _table(field: str, value: object) -> Curve:
    """Return the curve of measured times."""
    if not isinstance(value, Mapping):
        return curve_of_pairs(field, value)
    if NCCL_TESTS in value:
        fields, at = check_record(field, value, (NCCL_TESTS, NICS)), f"{field}/{NCCL_TESTS}"
        nics = check_count(f"{field}/{NICS}", fields[NICS]) if NICS in fields else None
        return curve_of_run(read_output(check_text(at, fields[NCCL_TESTS]), at), at, nics)
    fields = check_record(field, value, ("csv", "where"))
    where = check_names(f"{field}/where", fields.get("where", {}))
    wanted = {name: read_name(f"{field}/where/{name}", word) for name, word in where.items()}
    return curve_of_csv(check_text(f"{field}/csv", require(field, fields, "csv")), wanted, f"{field}/csv")


def _curve(connection: Connection) -> Curve:
    """Return the curve of a connection."""
    if isinstance(connection, Curve):
        return connection
    return Curve.affine(connection.bandwidth, connection.latency_s, wire=connection.wire)
