"""Circuits from OpenQASM 3, by Qiskit's importer, with what it would take for something else put so that it cannot."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from openqasm3 import ast, parse
from qiskit.circuit import QuantumCircuit
from qiskit_qasm3_import import convert

from tiger.circuits.entry.scan import FIELD
from tiger.errors import InputError


def parse_openqasm3(text: str) -> QuantumCircuit:
    """Return the circuit of an OpenQASM 3 text, which has been scanned.

    The importer gives the arguments of a gate to its parameters in alphabetical order, and takes ranges of qubits for
    Python's slices, which end where the register does: parameters are renamed, and ranges written out. Raises
    InputError of `circuit` for a range outside its register; what the parsers refuse are their own errors.
    """
    program = parse(text)
    sizes = dict(_sizes(program))
    for node in list(_nodes(program)):
        if isinstance(node, ast.QuantumGateDefinition):
            _rename_parameters(node)
        elif isinstance(node, ast.IndexedIdentifier):
            node.indices = [_write_out(index, node.name.name, sizes) for index in node.indices]
        elif isinstance(node, ast.IndexExpression):
            name = node.collection.name if isinstance(node.collection, ast.Identifier) else ""
            node.index = _write_out(node.index, name, sizes)
    return convert(program)


def _nodes(value: object) -> Iterator[ast.QASMNode]:
    """Yield a node and all below it."""
    if isinstance(value, list):
        for item in value:
            yield from _nodes(item)
    elif isinstance(value, ast.QASMNode) and is_dataclass(value):
        yield value
        for field in fields(value):
            yield from _nodes(getattr(value, field.name))


def _sizes(program: ast.Program) -> Iterator[tuple[str, int]]:
    """Yield the registers by name, with their sizes."""
    for node in program.statements:
        if isinstance(node, ast.QubitDeclaration):
            yield node.qubit.name, _number(node.size) or 1
        elif isinstance(node, ast.ClassicalDeclaration) and isinstance(node.type, ast.BitType):
            yield node.identifier.name, _number(node.type.size) or 1


def _number(node: ast.Expression | None) -> int | None:
    """Return a whole number that is written as such, None for any other expression."""
    if isinstance(node, ast.UnaryExpression) and node.op is ast.UnaryOperator["-"]:
        inner = _number(node.expression)
        return None if inner is None else -inner
    return node.value if isinstance(node, ast.IntegerLiteral) else None


def _rename_parameters(gate: ast.QuantumGateDefinition) -> None:
    """Give the parameters of a gate names whose order is that of the definition, and that no other gate has."""
    names = {each.name: f"{k:09d} {gate.name.name} {each.name}" for k, each in enumerate(gate.arguments)}
    for node in _nodes([gate.arguments, gate.qubits, gate.body]):
        if isinstance(node, ast.Identifier):
            node.name = names.get(node.name, node.name)


def _write_out(index: ast.IndexElement, name: str, sizes: dict[str, int]) -> ast.IndexElement:
    """Return the set of numbers that a range of a register stands for, any other index as it is."""
    if not (isinstance(index, list) and len(index) == 1 and isinstance(index[0], ast.RangeDefinition)):
        return index
    found = index[0]
    if found.start is found.end is found.step is None:
        return index
    step = 1 if found.step is None else _number(found.step)
    size = sizes.get(name)
    first, last = (None if size is None else 0), (None if size is None else size - 1)
    start = (first if (step or 1) > 0 else last) if found.start is None else _number(found.start)
    end = (last if (step or 1) > 0 else first) if found.end is None else _number(found.end)
    if not step or start is None or end is None:
        raise _fault(found, "a range of whole numbers")
    limit = sum(sizes.values()) if size is None else size
    ends = [place + limit if place < 0 and size is not None else place for place in (start, end)]
    if not all(0 <= place < limit for place in ends) or (ends[1] - ends[0]) * step < 0:
        raise _fault(found, f"a range that holds bits of its register, from 0 to {limit - 1}")
    places = range(ends[0], ends[1] + (1 if step > 0 else -1), step)
    return ast.DiscreteSet([ast.IntegerLiteral(place) for place in places])


def _fault(node: ast.QASMNode, wanted: str) -> InputError:
    """Return the error for a passage."""
    line = f"line {node.span.start_line}: " if node.span else ""
    return InputError(FIELD, f"{line}expected {wanted}, got another")
