"""Sums that vector instructions do in a fixed order, so that they round the same on every processor."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from tiger.model.arrays import FloatArray

# Terms that are added at once, whatever number of them a processor's vector holds.
LANES = 8


def sum_steps(gain: FloatArray, loss: FloatArray, far: FloatArray, near: FloatArray) -> float:
    """Return the sum over t of (gain[t] - loss[t]) (far[t] - near[t]); compiled for contiguous rows.

    Terms eight apart are added in order, then these eight sums, then what is left: a compiler may not split a plain sum
    into several, and where it is told that it may, the number of them is that of the processor.
    """
    lanes, whole = [0.0] * LANES, len(gain) // LANES * LANES
    for t in range(whole):
        lanes[t % LANES] += (gain[t] - loss[t]) * (far[t] - near[t])
    total = 0.0
    for lane in lanes:
        total += lane
    for t in range(whole, len(gain)):
        total += (gain[t] - loss[t]) * (far[t] - near[t])
    return float(total)


def _build_lanes(_: Any, gain: Any, loss: Any, far: Any, near: Any, whole: Any) -> Any:
    """Build the sum of the first `whole` terms, a multiple of the lanes."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        vector = ir.VectorType(ir.DoubleType(), LANES)
        starts = [
            context.make_array(kind)(context, builder, value).data
            for kind, value in zip(signature.args[:4], values[:4], strict=True)
        ]
        lanes = cgutils.alloca_once_value(builder, ir.Constant(vector, [0.0] * LANES))
        with cgutils.for_range_slice(builder, values[4].type(0), values[4], values[4].type(LANES)) as (first, _):
            terms = []
            for start in starts:
                place = builder.bitcast(builder.gep(start, [first]), vector.as_pointer())
                terms.append(builder.load(place, align=8))
            term = builder.fmul(builder.fsub(terms[0], terms[1]), builder.fsub(terms[2], terms[3]))
            builder.store(builder.fadd(builder.load(lanes), term), lanes)
        total, sums = ir.Constant(ir.DoubleType(), 0.0), builder.load(lanes)
        for lane in range(LANES):
            total = builder.fadd(total, builder.extract_element(sums, ir.Constant(ir.IntType(32), lane)))
        return total

    return types.float64(gain, loss, far, near, whole), generate


_sum_lanes: Any = intrinsic(_build_lanes)


@overload(sum_steps)
def _compile_sum_steps(gain: Any, loss: Any, far: Any, near: Any) -> Any:  # noqa: ARG001  # numba matches the names
    """Return the compiled replacement of `sum_steps`."""

    def add(gain: Any, loss: Any, far: Any, near: Any) -> Any:
        whole = len(gain) // LANES * LANES
        total = _sum_lanes(gain, loss, far, near, whole)
        for t in range(whole, len(gain)):
            total += (gain[t] - loss[t]) * (far[t] - near[t])
        return total

    return add
