"""O(m^2) steps as vector instructions: tabu search's prices with the lowest of each column, and updates of fields.

Given loops over arrays, a compiler asks for every row whether they overlap, and stores a minimum only where it changes,
which takes tens of cycles a vector on AMD's Zen 3: an iteration on tai60a takes 4.0 us so, and 1.3 us as here.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

SingleArray = NDArray[np.float32]

# Numbers of single precision at once, as many as the widest vector holds. Rows are padded to a multiple of it.
LANES = 16
# More than any price.
NEVER = np.float32(3e38)


def scan_prices(
    price: SingleArray,
    barred: NDArray[np.int32],
    rows: tuple[SingleArray, SingleArray, SingleArray],
    lowest: tuple[SingleArray, SingleArray],
    iteration: int,
) -> None:
    """Add products to `price[u, v]`, u < v, and put the lowest of every column into `lowest[0][v]`.

    The product is `kept[u] (moved[u] - moved[v]) (turned[v] - turned[u])` for the `rows` moved, turned and kept, and
    `lowest[1][v]` the lowest whose `barred[u, v]` has come. Entries from the diagonal to the end of its lanes change
    as well. O(m^2); compiled for contiguous arrays.
    """
    (moved, turned, kept), (least, free) = rows, lowest
    for v in range(price.shape[1]):
        least[v] = free[v] = NEVER
        for u in range(min(v // LANES * LANES + LANES, len(price))):
            price[u, v] += kept[u] * ((moved[u] - moved[v]) * (turned[v] - turned[u]))
            least[v] = min(least[v], price[u, v])
            if barred[u, v] <= iteration:
                free[v] = min(free[v], price[u, v])


def add_products(field: SingleArray, volume: SingleArray, step: SingleArray) -> None:
    """Add `volume[u] step[v]` to every `field[u, v]`; O(m^2); compiled for contiguous arrays."""
    for u in range(len(field)):
        for v in range(field.shape[1]):
            field[u, v] += volume[u] * step[v]


class _Lanes:
    """Build instructions for LANES numbers at once in a kernel under compilation."""

    def __init__(self, context: Any, builder: Any) -> None:
        self._context, self.builder = context, builder

    def start(self, kind: Any, array: Any) -> Any:
        """Return where the numbers of an array begin."""
        return self._context.make_array(kind)(self._context, self.builder, array).data

    def starts(self, kind: Any, arrays: Any) -> list[Any]:
        """Return where the numbers of every array of a tuple begin."""
        return [self.start(kind.dtype, array) for array in cgutils.unpack_tuple(self.builder, arrays)]

    def at(self, start: Any, offset: Any) -> Any:
        """Return the place of the lanes from a number on."""
        kind = ir.VectorType(start.type.pointee, LANES)
        return self.builder.bitcast(self.builder.gep(start, [offset]), kind.as_pointer())

    def load(self, start: Any, offset: Any) -> Any:
        """Return the lanes from a number on."""
        return self.builder.load(self.at(start, offset), align=4)

    def spread(self, number: Any) -> Any:
        """Return lanes that are all one number."""
        lanes = ir.Constant(ir.VectorType(number.type, LANES), ir.Undefined)
        lanes = self.builder.insert_element(lanes, number, ir.IntType(32)(0))
        return self.builder.shuffle_vector(lanes, lanes, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))

    def spread_from(self, start: Any, offset: Any) -> Any:
        """Return lanes that are all one number of an array."""
        return self.spread(self.builder.load(self.builder.gep(start, [offset])))

    def lower(self, lowest: Any, lanes: Any) -> None:
        """Lower minima to the lanes that are less."""
        known = self.builder.load(lowest)
        self.builder.store(self.builder.select(self.builder.fcmp_ordered("<", lanes, known), lanes, known), lowest)


def _build_scan(_: Any, price: Any, barred: Any, rows: Any, lowest: Any, iteration: Any) -> Any:
    """Build `scan_prices`, in columns of LANES so that minima stay in registers."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        lanes, kinds = _Lanes(context, builder), signature.args
        prices, tenures = lanes.start(kinds[0], values[0]), lanes.start(kinds[1], values[1])
        (moved, turned, kept), ends = lanes.starts(kinds[2], values[2]), lanes.starts(kinds[3], values[3])
        size, wide = cgutils.unpack_tuple(builder, context.make_array(kinds[0])(context, builder, values[0]).shape)
        now = lanes.spread(builder.trunc(values[4], ir.IntType(32)))
        never = lanes.spread(ir.FloatType()(float(NEVER)))
        minima = [cgutils.alloca_once_value(builder, never) for _ in ends]
        with cgutils.for_range_slice(builder, size.type(0), wide, size.type(LANES)) as (v, _):
            gain, turn, end = lanes.load(moved, v), lanes.load(turned, v), builder.add(v, size.type(LANES))
            for lowest in minima:
                builder.store(never, lowest)
            with cgutils.for_range(builder, builder.select(builder.icmp_signed("<", end, size), end, size)) as row:
                u, entry = row.index, builder.add(builder.mul(row.index, wide), v)
                # Taillard 1991, eq. 3: the price of a swap of two other tasks changes by a product, in O(1).
                product = builder.fmul(
                    builder.fsub(lanes.spread_from(moved, u), gain), builder.fsub(turn, lanes.spread_from(turned, u))
                )
                product = builder.fmul(lanes.spread_from(kept, u), product)
                here = builder.fadd(lanes.load(prices, entry), product)
                builder.store(here, lanes.at(prices, entry), align=4)
                legal = builder.icmp_signed("<=", lanes.load(tenures, entry), now)
                lanes.lower(minima[0], here)
                lanes.lower(minima[1], builder.select(legal, here, never))
            for end, lowest in zip(ends, minima, strict=True):
                builder.store(builder.load(lowest), lanes.at(end, v), align=4)
        return context.get_dummy_value()

    return types.void(price, barred, rows, lowest, iteration), generate


def _build_add(_: Any, field: Any, volume: Any, step: Any) -> Any:
    """Build `add_products`, row by row, as fields may exceed the first cache."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        lanes = _Lanes(context, builder)
        fields, volumes, steps = (lanes.start(*pair) for pair in zip(signature.args, values, strict=True))
        shape = context.make_array(signature.args[0])(context, builder, values[0]).shape
        size, wide = cgutils.unpack_tuple(builder, shape)
        with cgutils.for_range(builder, size) as row:
            start, volume = builder.mul(row.index, wide), lanes.spread_from(volumes, row.index)
            with cgutils.for_range_slice(builder, size.type(0), wide, size.type(LANES)) as (v, _):
                entry, product = builder.add(start, v), builder.fmul(volume, lanes.load(steps, v))
                builder.store(builder.fadd(lanes.load(fields, entry), product), lanes.at(fields, entry), align=4)
        return context.get_dummy_value()

    return types.void(field, volume, step), generate


_scan_lanes: Any = intrinsic(_build_scan)
_add_lanes: Any = intrinsic(_build_add)


@overload(scan_prices)
def _compile_scan(price: Any, barred: Any, rows: Any, lowest: Any, iteration: Any) -> Any:  # noqa: ARG001  # as numba asks
    """Return the compiled replacement of `scan_prices`, None for arrays with gaps, which it would misread."""
    if not _are_contiguous(price, barred, *rows, *lowest):
        return None

    def scan(price: Any, barred: Any, rows: Any, lowest: Any, iteration: Any) -> None:
        _scan_lanes(price, barred, rows, lowest, iteration)

    return scan


@overload(add_products)
def _compile_add(field: Any, volume: Any, step: Any) -> Any:
    """Return the compiled replacement of `add_products`, None for arrays with gaps."""
    if not _are_contiguous(field, volume, step):
        return None

    def add(field: Any, volume: Any, step: Any) -> None:
        _add_lanes(field, volume, step)

    return add


def _are_contiguous(*kinds: Any) -> bool:
    """Return whether types are those of arrays whose rows follow each other."""
    return all(kind.layout == "C" for kind in kinds)
