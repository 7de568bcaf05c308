"""Excerpts of a route: some of its steps, local in time and on the device, are taken out and others put in."""

from typing import NamedTuple

import numpy as np

from tiger.circuits.coupling import Coupling, IndexArray
from tiger.circuits.gate_dag import GateDag
from tiger.circuits.route import Route
from tiger.circuits.routing.corridor import DEPTH, Circuit, Scene, Trial, Window
from tiger.circuits.routing.tokens import Device, Tokens, clear_roster, enlist, exchange, tokens_of
from tiger.solvers.kernel import inner_kernel, kernel

NODES, STEPS, OPS = 400, 1_200, 100
# What is added to 32-bit numbers so that all returns of a compiled function have one type.
WIDE = 0
END, CURSOR, SCANNED, TAKEN, LATER, FRESH, COST, STAMP = range(8)


class Lane(NamedTuple):
    """Hold a route under search, or a piece of one: `steps[:span[END]]` from `start[N]` on.

    `ahead[N]` counts the gates of a qubit from the start on, `left[N]` from the cursor, `rest[N]` behind the excerpt.
    `full` is where the qubits are after all steps scanned, `aim` after those taken. `shut[N]`, `late[g]` are
    `span[STAMP]` for device qubits and nodes that have to wait for steps not taken, which are `later[:span[LATER]]`.
    `fresh[:span[FRESH]]` are the steps to put in, none if that is -1; `span[COST]` counts SWAPs and BRIDGEs taken.
    """

    steps: IndexArray
    span: IndexArray
    start: IndexArray
    ahead: IndexArray
    left: IndexArray
    rest: IndexArray
    full: Tokens
    aim: Tokens
    shut: IndexArray
    late: IndexArray
    later: IndexArray
    fresh: IndexArray


class Step(NamedTuple):
    """Hold a step as `steps` has it, and its device qubits, -1 for none; `costs` is 1 for a SWAP and a BRIDGE."""

    what: int
    where: int
    p: int
    q: int
    middle: int
    costs: int


def circuit_of(dag: GateDag) -> Circuit:
    """Return a gate DAG for kernels; windows end where control flow begins."""
    fence = np.zeros(len(dag.pairs), np.int32)
    fence[dag.inner[:, 0]] = 1
    pairs, first, after = dag.pairs.copy(), dag.first.copy(), dag.after.copy()
    return Circuit(pairs, first, after, dag.bridge.astype(np.int32), fence)


def scene_of(circuit: Circuit, device: Device) -> Scene:
    """Return a scene with scratch for a window, and all qubits on themselves; O(g + N)."""
    size, nodes = len(device.hops), len(circuit.pairs)
    window = Window(
        nodes=_zeros(NODES),
        size=_zeros(1),
        local=_zeros(nodes) - 1,
        need=_zeros(NODES),
        line=_zeros(2 * NODES),
        begin=_zeros(size) - 1,
        close=_zeros(size),
        slot=_zeros(NODES, 2),
    )
    trial = Trial(
        need=_zeros(NODES),
        done=_zeros(NODES),
        front=_zeros(NODES),
        head=_zeros(size),
        log=_zeros(NODES + 2 * OPS, 2),
        tally=_zeros(5),
        choice=_zeros(3),
        work=np.zeros(1, np.int64),
        weight=np.zeros(DEPTH + 3),
    )
    return Scene(circuit, device, tokens_of(np.arange(size, dtype=np.int32)), window, trial)


def lane_of(circuit: Circuit, route: Route, ahead: IndexArray) -> Lane:
    """Return a lane that begins with a route; `ahead[N]` counts the gates of every qubit, those behind its end too."""
    nodes, size, length = len(circuit.pairs), len(route.start), len(route.steps)
    steps, span = _zeros(2 * length + 4 * OPS, 2), _zeros(8)
    steps[:length] = route.steps
    span[END] = length
    return Lane(
        steps=steps,
        span=span,
        start=route.start.copy(),
        ahead=ahead.copy(),
        left=_zeros(size),
        rest=_zeros(size),
        full=tokens_of(route.start),
        aim=tokens_of(route.start),
        shut=_zeros(size),
        late=_zeros(nodes),
        later=_zeros(STEPS, 2),
        fresh=_zeros(NODES + 2 * OPS, 2),
    )


def gates_of(dag: GateDag, coupling: Coupling) -> IndexArray:
    """Return how many gates, those inside control flow included, every circuit qubit has, and 0 for spare ones."""
    ends = np.concatenate([dag.pairs[dag.pairs[:, 0] >= 0], dag.inner[:, 1:]])
    return np.bincount(ends.ravel(), minlength=coupling.size).astype(np.int32)


def _zeros(*shape: int) -> IndexArray:
    return np.zeros(shape, np.int32)


@kernel
def rewind(scene: Scene, lane: Lane) -> None:
    """Put the cursor at the start of the route."""
    lane.span[CURSOR] = 0
    for qubit in range(len(lane.start)):
        scene.tokens.place[qubit] = lane.start[qubit]
        scene.tokens.holds[lane.start[qubit]] = qubit
        lane.left[qubit] = lane.ahead[qubit]


@kernel
def onward(scene: Scene, lane: Lane, hop: int, lead: int) -> bool:
    """Move the cursor past `hop` SWAPs and BRIDGEs, and up to `lead` steps before the next; False if there is none."""
    ahead, end = lane.span[CURSOR], lane.span[END]
    while ahead < end:
        if lane.steps[ahead, 0] < 0 or lane.steps[ahead, 1] >= 0:
            hop -= 1
            if hop < 0:
                break
        ahead += 1
    if ahead < end:
        walk(scene, lane, ahead - lead)
    return bool(ahead < end)


@kernel
def walk(scene: Scene, lane: Lane, goal: int) -> None:
    """Carry out the steps up to number `goal`, where the cursor is before it."""
    for k in range(lane.span[CURSOR], goal):
        what, where = lane.steps[k, 0], lane.steps[k, 1]
        if what < 0:
            exchange(scene.tokens, -1 - what, where)
        else:
            for qubit in scene.circuit.pairs[what]:
                if qubit >= 0:
                    lane.left[qubit] -= 1
    lane.span[CURSOR] = max(lane.span[CURSOR], goal)


@kernel
def take_out(scene: Scene, lane: Lane, most: int, reach: int) -> None:
    """Take steps from the cursor on, up to `most` SWAPs and BRIDGEs, up to `reach` hops from the first of them.

    A step that waits for one not taken is not taken either. Sets up the window and the goals of the tokens; `put_in`
    and `clear` end that. O(N + steps scanned).
    """
    span = lane.span
    begin(scene, lane)
    centre, k = -1, span[CURSOR]
    while k < span[END] and k < span[CURSOR] + STEPS and scene.window.size[0] < NODES:
        step = step_at(scene, lane, k)
        if step.what >= 0 and scene.circuit.fence[step.what] == 1:
            break
        if centre < 0 and step.costs == 1:
            centre = step.middle
        inside = is_free(scene, lane, step, centre, reach)
        if inside and span[COST] + step.costs > most:
            break
        if inside:
            take(scene, lane, step)
        else:
            put_off(scene, lane, step)
        k += 1
    span[SCANNED] = k - span[CURSOR]
    span[TAKEN] = span[SCANNED] - span[LATER]
    scene.trial.work[0] += span[SCANNED] // 16
    line_up(scene)
    set_goals(scene.tokens, lane)


@kernel
def begin(scene: Scene, lane: Lane) -> None:
    """Begin an excerpt at the cursor: nothing is taken or put off."""
    tokens = scene.tokens
    for qubit in range(len(lane.start)):
        lane.full.place[qubit] = lane.aim.place[qubit] = tokens.place[qubit]
        lane.full.holds[qubit] = lane.aim.holds[qubit] = tokens.holds[qubit]
        lane.rest[qubit] = lane.left[qubit]
    lane.span[COST] = lane.span[LATER] = 0
    lane.span[STAMP] += 1


@inner_kernel
def step_at(scene: Scene, lane: Lane, k: int) -> Step:
    """Return a step, given where the steps before it brought the qubits."""
    what, where = lane.steps[k, 0] + WIDE, lane.steps[k, 1] + WIDE
    if what < 0:
        return Step(what, where, -1 - what, where, where, 1)
    a, b = scene.circuit.pairs[what]
    if a < 0:
        return Step(what, where, -1, -1, -1, 0)
    p, q = lane.full.place[a] + WIDE, lane.full.place[b] + WIDE
    return Step(what, where, p, q, where if where >= 0 else q, 1 if where >= 0 else 0)


@kernel
def is_free(scene: Scene, lane: Lane, step: Step, centre: int, reach: int) -> bool:
    """Return whether a step is within reach and waits for nothing put off."""
    stamp, shut, hops = lane.span[STAMP], lane.shut, scene.device.hops
    if step.what >= 0 and lane.late[step.what] == stamp:
        return False
    if step.p < 0:
        return True
    if shut[step.p] == stamp or shut[step.q] == stamp or shut[step.middle] == stamp:
        return False
    return bool(centre < 0 or (hops[centre, step.p] <= reach and hops[centre, step.q] <= reach))


@kernel
def take(scene: Scene, lane: Lane, step: Step) -> None:
    """Take a step."""
    window = scene.window
    lane.span[COST] += step.costs
    if step.what < 0:
        exchange(lane.full, step.p, step.q)
        exchange(lane.aim, step.p, step.q)
        return
    window.local[step.what] = window.size[0]
    window.nodes[window.size[0]] = step.what
    window.size[0] += 1
    for qubit in scene.circuit.pairs[step.what]:
        if qubit >= 0:
            lane.rest[qubit] -= 1
            window.close[qubit] += 1


@inner_kernel
def put_off(scene: Scene, lane: Lane, step: Step) -> None:
    """Leave a step for later, and with it all that waits for it."""
    span, circuit = lane.span, scene.circuit
    lane.later[span[LATER], 0] = step.what
    lane.later[span[LATER], 1] = step.where
    span[LATER] += 1
    if step.p >= 0:
        lane.shut[step.p] = lane.shut[step.q] = lane.shut[step.middle] = span[STAMP]
    if step.what < 0:
        exchange(lane.full, step.p, step.q)
        return
    for e in range(circuit.first[step.what], circuit.first[step.what + 1]):
        lane.late[circuit.after[e]] = span[STAMP]


@inner_kernel
def line_up(scene: Scene) -> None:
    """Count what the nodes of the window wait for, and line up the gates of every qubit; O(nodes and their edges)."""
    circuit, window, offset = scene.circuit, scene.window, 0
    window.need[: window.size[0]] = 0
    for i in range(window.size[0]):
        node = window.nodes[i]
        for e in range(circuit.first[node], circuit.first[node + 1]):
            j = window.local[circuit.after[e]]
            if j >= 0:
                window.need[j] += 1
        for side in range(2):
            qubit = circuit.pairs[node, side]
            if qubit < 0:
                continue
            if window.begin[qubit] < 0:
                window.begin[qubit] = offset
                offset += window.close[qubit]
                window.close[qubit] = window.begin[qubit]
            window.line[window.close[qubit]] = i
            window.slot[i, side] = window.close[qubit]
            window.close[qubit] += 1


@inner_kernel
def set_goals(tokens: Tokens, lane: Lane) -> None:
    """Let qubits that have gates behind the excerpt end where the steps taken bring them, others anywhere."""
    clear_roster(tokens)
    for qubit in range(len(lane.start)):
        tokens.goal[qubit] = lane.aim.place[qubit] if lane.rest[qubit] > 0 else -1
        if lane.aim.place[qubit] != tokens.place[qubit]:
            enlist(tokens, qubit)


@kernel
def clear(scene: Scene) -> None:
    """Empty the window."""
    window = scene.window
    for i in range(window.size[0]):
        window.local[window.nodes[i]] = -1
        for qubit in scene.circuit.pairs[window.nodes[i]]:
            if qubit >= 0:
                window.begin[qubit] = -1
                window.close[qubit] = 0
    window.size[0] = 0


@kernel
def put_in(lane: Lane) -> None:
    """Replace the steps taken by the fresh ones, those put off following; O(steps behind) if the number differs."""
    steps, span = lane.steps, lane.span
    shift, behind = span[FRESH] - span[TAKEN], span[CURSOR] + span[SCANNED]
    if shift > 0:
        for k in range(span[END] - 1, behind - 1, -1):
            steps[k + shift, 0], steps[k + shift, 1] = steps[k, 0], steps[k, 1]
    elif shift < 0:
        for k in range(behind, span[END]):
            steps[k + shift, 0], steps[k + shift, 1] = steps[k, 0], steps[k, 1]
    for k in range(span[FRESH]):
        steps[span[CURSOR] + k, 0], steps[span[CURSOR] + k, 1] = lane.fresh[k, 0], lane.fresh[k, 1]
    for k in range(span[LATER]):
        to = span[CURSOR] + span[FRESH] + k
        steps[to, 0], steps[to, 1] = lane.later[k, 0], lane.later[k, 1]
    span[END] += shift
