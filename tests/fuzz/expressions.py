"""What expressions of classical bits and variables come to."""

from collections.abc import Callable, Mapping

from qiskit.circuit import ClassicalRegister, Clbit
from qiskit.circuit.classical import expr, types

Op, Sign = expr.Binary.Op, expr.Unary.Op
BINARY: dict[Op, Callable[[int, int], int]] = {
    Op.BIT_AND: lambda a, b: a & b,
    Op.BIT_OR: lambda a, b: a | b,
    Op.BIT_XOR: lambda a, b: a ^ b,
    Op.LOGIC_AND: lambda a, b: int(bool(a and b)),
    Op.LOGIC_OR: lambda a, b: int(bool(a or b)),
    Op.EQUAL: lambda a, b: int(a == b),
    Op.NOT_EQUAL: lambda a, b: int(a != b),
    Op.LESS: lambda a, b: int(a < b),
    Op.LESS_EQUAL: lambda a, b: int(a <= b),
    Op.ADD: lambda a, b: a + b,
}


def evaluate(node: object, values: Mapping[object, int]) -> int:
    """Return the number that an expression, a bit or a register comes to; `values` has bits and variables."""
    if isinstance(node, Clbit):
        return values[node]
    if isinstance(node, ClassicalRegister):
        return sum(values[bit] << k for k, bit in enumerate(node))
    if isinstance(node, expr.Var):
        return values[node] if node.standalone else evaluate(node.var, values)
    if isinstance(node, expr.Value):
        return int(node.value)
    if isinstance(node, expr.Cast):
        return _wrap(evaluate(node.operand, values), node.type)
    if isinstance(node, expr.Index):
        return evaluate(node.target, values) >> evaluate(node.index, values) & 1
    if isinstance(node, expr.Unary):
        inner = evaluate(node.operand, values)
        return int(not inner) if node.op is Sign.LOGIC_NOT else _wrap(~inner, node.type)
    if isinstance(node, expr.Binary):
        return _wrap(BINARY[node.op](evaluate(node.left, values), evaluate(node.right, values)), node.type)
    raise TypeError(f"expected an expression that is known, got {node!r}")


def assign(target: expr.Expr, value: int, values: Mapping[object, int]) -> dict[object, int]:
    """Return what a store writes, by bit and variable."""
    if isinstance(target, expr.Index):
        return {target.target.var[evaluate(target.index, values)]: value}
    if target.standalone:
        return {target: value}
    bits = [target.var] if isinstance(target.var, Clbit) else list(target.var)
    return {bit: value >> k & 1 for k, bit in enumerate(bits)}


def _wrap(value: int, kind: types.Type) -> int:
    """Return a number as its type holds it."""
    return value % 2**kind.width if isinstance(kind, types.Uint) else int(bool(value))
