"""Windows of a route: some of its steps, local in time and on the device, are taken out and others put in."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tiger.routing.coupling import Coupling, IndexArray
from tiger.routing.gate_dag import GateDag
from tiger.routing.route import Route
from tiger.routing.swaps.layers import raise_by_bridge, raise_by_gate, raise_by_swap
from tiger.routing.swaps.prices import NOTHING
from tiger.routing.swaps.tokens import CouplingArrays, SwapStep, Tokens, build_tokens, clear_list, exchange, list_qubit
from tiger.routing.swaps.window_router import (
    DEPTH,
    AttemptCounters,
    CircuitArrays,
    NodeWindow,
    Scores,
    WindowAttempt,
    WindowState,
)
from tiger.solvers.kernel import inner_kernel, kernel
from tiger.solvers.records import allocate_records

# The most that scratch holds: nodes in a window, steps scanned for one, and SWAPs and BRIDGEs taken out or put in.
NODES, STEPS, OPS = 400, 1_200, 100
# What is added to 32-bit numbers so that all returns of a compiled function have one type.
WIDE = 0


class Span:
    """Say how far a buffer has come: lengths and positions in its arrays.

    `end` of its steps, `cursor` where a window begins, `scanned` and `taken` steps behind that, `deferred` steps not
    taken, `new` steps to put in, -1 for none; `cost` of what was taken in SWAPs and BRIDGEs; `stamp` of the window;
    `depth` of all steps in layers.
    """

    end: int
    cursor: int
    scanned: int
    taken: int
    deferred: int
    new: int
    cost: int
    stamp: int
    depth: int


class RouteBuffer(NamedTuple):
    """Hold a route under search, or a piece of one: `steps[k, 2]` from `start[N]` on; `span` is one record.

    `ahead[N]` counts the gates of a qubit from the start on, `left[N]` from the cursor, `rest[N]` behind the window.
    `full` is where the qubits are after all steps scanned, `aim` after those taken. `blocked[N]`, `deferred_node[g]`
    are the window's stamp for device qubits and nodes that wait for steps not taken, which are `deferred[k, 2]`;
    `new[k, 2]` are the steps to put in.
    """

    steps: IndexArray
    span: Sequence[Span]
    start: IndexArray
    ahead: IndexArray
    left: IndexArray
    rest: IndexArray
    full: Tokens
    aim: Tokens
    blocked: IndexArray
    deferred_node: IndexArray
    deferred: IndexArray
    new: IndexArray


class RouteStep(NamedTuple):
    """Hold a step as `steps` has it, and its device qubits, -1 for none; `costs` is 1 for a SWAP and a BRIDGE."""

    what: int
    where: int
    p: int
    q: int
    middle: int
    costs: int


def build_circuit(dag: GateDag) -> CircuitArrays:
    """Return a gate DAG for kernels; windows end where control flow begins."""
    barrier = np.zeros(len(dag.pairs), np.int32)
    barrier[dag.inner[:, 0]] = 1
    pairs, first, after = dag.pairs.copy(), dag.first.copy(), dag.after.copy()
    return CircuitArrays(pairs, first, after, dag.bridge.astype(np.int32), barrier, dag.price.copy(), dag.layers.copy())


def allocate_window_state(circuit: CircuitArrays, device: CouplingArrays) -> WindowState:
    """Return scratch for a window, with all qubits on themselves; O(g + N)."""
    size, nodes = len(device.hops), len(circuit.pairs)
    window = NodeWindow(
        nodes=_zeros(NODES),
        size=_zeros(1),
        local=_zeros(nodes) - 1,
        need=_zeros(NODES),
        line=_zeros(2 * NODES),
        begin=_zeros(size) - 1,
        close=_zeros(size),
        slot=_zeros(NODES, 2),
    )
    attempt = WindowAttempt(
        need=_zeros(NODES),
        done=_zeros(NODES),
        front=_zeros(NODES),
        head=_zeros(size),
        log=_zeros(NODES + 2 * OPS, 2),
        counters=allocate_records(AttemptCounters),
        choice=allocate_records(SwapStep),
        work=np.zeros(1, np.int64),
        weight=np.zeros(DEPTH),
        last=_zeros(size) - 1,
        before=_zeros(size) - 1,
        level=_zeros(size),
        reached=_zeros(size),
        scores=allocate_records(Scores),
    )
    return WindowState(circuit, device, build_tokens(np.arange(size, dtype=np.int32)), window, attempt)


def build_buffer(circuit: CircuitArrays, route: Route, ahead: IndexArray) -> RouteBuffer:
    """Return a buffer that begins with a route; `ahead[N]` counts the gates of every qubit, beyond its end too."""
    nodes, size, length = len(circuit.pairs), len(route.start), len(route.steps)
    steps, span = _zeros(2 * length + 4 * OPS, 2), allocate_records(Span)
    steps[:length] = route.steps
    span[0].end = length
    return RouteBuffer(
        steps=steps,
        span=span,
        start=route.start.copy(),
        ahead=ahead.copy(),
        left=_zeros(size),
        rest=_zeros(size),
        full=build_tokens(route.start),
        aim=build_tokens(route.start),
        blocked=_zeros(size),
        deferred_node=_zeros(nodes),
        deferred=_zeros(STEPS, 2),
        new=_zeros(NODES + 2 * OPS, 2),
    )


def count_gates(dag: GateDag, coupling: Coupling) -> IndexArray:
    """Return how many gates, those inside control flow included, every circuit qubit has, and 0 for spare ones."""
    ends = np.concatenate([dag.pairs[dag.pairs[:, 0] >= 0], dag.inner[:, 1:]])
    return np.bincount(ends.ravel(), minlength=coupling.size).astype(np.int32)


def _zeros(*shape: int) -> IndexArray:
    return np.zeros(shape, np.int32)


@kernel
def rewind(state: WindowState, buffer: RouteBuffer) -> None:
    """Put the cursor at the start of the route."""
    buffer.span[0].cursor = 0
    for qubit in range(len(buffer.start)):
        state.tokens.place[qubit] = buffer.start[qubit]
        state.tokens.holds[buffer.start[qubit]] = qubit
        buffer.left[qubit] = buffer.ahead[qubit]
        state.attempt.before[qubit] = NOTHING
        state.attempt.reached[qubit] = 0


@inner_kernel
def move_cursor(state: WindowState, buffer: RouteBuffer, hop: int, lead: int) -> bool:
    """Move the cursor past `hop` SWAPs and BRIDGEs, and up to `lead` steps before the next; False if there is none."""
    ahead, end = buffer.span[0].cursor, buffer.span[0].end
    while ahead < end:
        if buffer.steps[ahead, 0] < 0 or buffer.steps[ahead, 1] >= 0:
            hop -= 1
            if hop < 0:
                break
        ahead += 1
    if ahead < end:
        carry_out_to(state, buffer, ahead - lead)
    return bool(ahead < end)


@kernel
def carry_out_to(state: WindowState, buffer: RouteBuffer, goal: int) -> None:
    """Carry out the steps up to number `goal`, where the cursor is before it."""
    layers = state.circuit.price, state.circuit.layers
    before, reached = state.attempt.before, state.attempt.reached
    for k in range(buffer.span[0].cursor, goal):
        what, where = buffer.steps[k, 0], buffer.steps[k, 1]
        if what < 0:
            a, b = state.tokens.holds[-1 - what], state.tokens.holds[where]
            raise_by_swap(layers, before, reached, a, b)
            exchange(state.tokens, -1 - what, where)
        elif state.circuit.pairs[what, 0] >= 0:
            a, b = state.circuit.pairs[what]
            if where < 0:
                raise_by_gate(layers, before, reached, a, b, what)
            else:
                raise_by_bridge(layers, before, reached, a, b, state.tokens.holds[where])
            buffer.left[a] -= 1
            buffer.left[b] -= 1
    buffer.span[0].cursor = max(buffer.span[0].cursor, goal)


@inner_kernel
def extract(state: WindowState, buffer: RouteBuffer, most: int, reach: int) -> None:
    """Take steps from the cursor on, up to `most` SWAPs and BRIDGEs, up to `reach` hops from the first of them.

    A step that waits for one not taken is not taken either. Sets up the window and the goals of the tokens;
    `replace_window` and `clear_window` end that. O(N + steps scanned).
    """
    span = buffer.span[0]
    begin(state, buffer)
    centre, k = -1, span.cursor
    while k < span.end and k < span.cursor + STEPS and state.window.size[0] < NODES:
        step = read_step(state, buffer, k)
        if step.what >= 0 and state.circuit.barrier[step.what] == 1:
            break
        # Reach is measured from the first SWAP or BRIDGE; gates before it are taken wherever they are.
        if centre < 0 and step.costs == 1:
            centre = step.middle
        inside = is_inside(state, buffer, step, centre, reach)
        if inside and span.cost + step.costs > most:
            break
        if inside:
            include(state, buffer, step)
        else:
            defer(state, buffer, step)
        k += 1
    span.scanned = k - span.cursor
    span.taken = span.scanned - span.deferred
    # A step scanned costs about a sixteenth of a candidate scored.
    state.attempt.work[0] += span.scanned // 16
    build_lines(state)
    set_goals(state.tokens, buffer)


@inner_kernel
def begin(state: WindowState, buffer: RouteBuffer) -> None:
    """Begin a window at the cursor: nothing is taken or deferred."""
    tokens = state.tokens
    for qubit in range(len(buffer.start)):
        buffer.full.place[qubit] = buffer.aim.place[qubit] = tokens.place[qubit]
        buffer.full.holds[qubit] = buffer.aim.holds[qubit] = tokens.holds[qubit]
        # Gates taken are subtracted later: what is left of a qubit lies behind the window.
        buffer.rest[qubit] = buffer.left[qubit]
    buffer.span[0].cost = buffer.span[0].deferred = 0
    buffer.span[0].stamp += 1


@inner_kernel
def read_step(state: WindowState, buffer: RouteBuffer, k: int) -> RouteStep:
    """Return a step, given where the steps before it brought the qubits."""
    what, where = buffer.steps[k, 0] + WIDE, buffer.steps[k, 1] + WIDE
    if what < 0:
        return RouteStep(what, where, -1 - what, where, where, 1)
    a, b = state.circuit.pairs[what]
    if a < 0:
        return RouteStep(what, where, -1, -1, -1, 0)
    p, q = buffer.full.place[a] + WIDE, buffer.full.place[b] + WIDE
    return RouteStep(what, where, p, q, where if where >= 0 else q, 1 if where >= 0 else 0)


@inner_kernel
def is_inside(state: WindowState, buffer: RouteBuffer, step: RouteStep, centre: int, reach: int) -> bool:
    """Return whether a step is within reach and waits for nothing deferred."""
    stamp, blocked, hops = buffer.span[0].stamp, buffer.blocked, state.device.hops
    if step.what >= 0 and buffer.deferred_node[step.what] == stamp:
        return False
    if step.p < 0:
        return True
    if blocked[step.p] == stamp or blocked[step.q] == stamp or blocked[step.middle] == stamp:
        return False
    return bool(centre < 0 or (hops[centre, step.p] <= reach and hops[centre, step.q] <= reach))


@inner_kernel
def include(state: WindowState, buffer: RouteBuffer, step: RouteStep) -> None:
    """Take a step."""
    window = state.window
    buffer.span[0].cost += step.costs
    if step.what < 0:
        exchange(buffer.full, step.p, step.q)
        exchange(buffer.aim, step.p, step.q)
        return
    window.local[step.what] = window.size[0]
    window.nodes[window.size[0]] = step.what
    window.size[0] += 1
    for qubit in state.circuit.pairs[step.what]:
        if qubit >= 0:
            buffer.rest[qubit] -= 1
            window.close[qubit] += 1


@inner_kernel
def defer(state: WindowState, buffer: RouteBuffer, step: RouteStep) -> None:
    """Leave a step for later, and with it all that waits for it."""
    span, circuit = buffer.span[0], state.circuit
    buffer.deferred[span.deferred, 0] = step.what
    buffer.deferred[span.deferred, 1] = step.where
    span.deferred += 1
    # What is done later on these qubits, or waits for this node, may not move before it.
    if step.p >= 0:
        buffer.blocked[step.p] = buffer.blocked[step.q] = buffer.blocked[step.middle] = span.stamp
    if step.what < 0:
        exchange(buffer.full, step.p, step.q)
        return
    for e in range(circuit.first[step.what], circuit.first[step.what + 1]):
        buffer.deferred_node[circuit.after[e]] = span.stamp


@inner_kernel
def build_lines(state: WindowState) -> None:
    """Count what the nodes of the window wait for, and line up the gates of every qubit; O(nodes and their edges)."""
    circuit, window, offset = state.circuit, state.window, 0
    window.need[: window.size[0]] = 0
    for i in range(window.size[0]):
        node = window.nodes[i]
        # Only nodes of the window count: those before it are done, those behind it come later.
        for e in range(circuit.first[node], circuit.first[node + 1]):
            j = window.local[circuit.after[e]]
            if j >= 0:
                window.need[j] += 1
        for side in range(2):
            qubit = circuit.pairs[node, side]
            if qubit < 0:
                continue
            # Lines share one array: the first gate of a qubit reserves room for all, which `close` has counted so far.
            if window.begin[qubit] < 0:
                window.begin[qubit] = offset
                offset += window.close[qubit]
                window.close[qubit] = window.begin[qubit]
            # Nodes come in an order that respects dependencies, and so do the gates of a line.
            window.line[window.close[qubit]] = i
            window.slot[i, side] = window.close[qubit]
            window.close[qubit] += 1


@inner_kernel
def set_goals(tokens: Tokens, buffer: RouteBuffer) -> None:
    """Let qubits that have gates behind the window end where the steps taken bring them, others anywhere."""
    clear_list(tokens)
    for qubit in range(len(buffer.start)):
        tokens.goal[qubit] = buffer.aim.place[qubit] if buffer.rest[qubit] > 0 else -1
        if buffer.aim.place[qubit] != tokens.place[qubit]:
            list_qubit(tokens, qubit)


@inner_kernel
def clear_window(state: WindowState) -> None:
    """Empty the window."""
    window = state.window
    for i in range(window.size[0]):
        window.local[window.nodes[i]] = -1
        for qubit in state.circuit.pairs[window.nodes[i]]:
            if qubit >= 0:
                window.begin[qubit] = -1
                window.close[qubit] = 0
    window.size[0] = 0


@inner_kernel
def replace_window(buffer: RouteBuffer) -> None:
    """Replace the steps taken by the new ones, those deferred following; O(steps behind) if the number differs."""
    steps, span = buffer.steps, buffer.span[0]
    shift, behind = span.new - span.taken, span.cursor + span.scanned
    # What is behind the window moves by the difference in length, from its far end on where it moves back.
    if shift > 0:
        for k in range(span.end - 1, behind - 1, -1):
            steps[k + shift, 0], steps[k + shift, 1] = steps[k, 0], steps[k, 1]
    elif shift < 0:
        for k in range(behind, span.end):
            steps[k + shift, 0], steps[k + shift, 1] = steps[k, 0], steps[k, 1]
    for k in range(span.new):
        steps[span.cursor + k, 0], steps[span.cursor + k, 1] = buffer.new[k, 0], buffer.new[k, 1]
    for k in range(span.deferred):
        to = span.cursor + span.new + k
        steps[to, 0], steps[to, 1] = buffer.deferred[k, 0], buffer.deferred[k, 1]
    span.end += shift
