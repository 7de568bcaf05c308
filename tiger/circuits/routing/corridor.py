"""Re-routing of a window: some nodes of a circuit between a mapping before and a mapping after them.

A lookahead router with random weights (in the manner of SABRE, doi:10.1145/3297858.3304023) that stays inside a budget:
the SWAPs so far and half the hops that qubits still are away from where they have to end never exceed it.
"""

from typing import NamedTuple

from tiger.circuits.coupling import IndexArray
from tiger.circuits.routing.tokens import NOWHERE, Device, Tokens, chance, drift, enlist, exchange, homeward
from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.kernel import inner_kernel, kernel

DEPTH = 12
GOALS, CHANCE, BRIDGES = DEPTH, DEPTH + 1, DEPTH + 2
LENGTH, FRONT, LEFT, USED, AWAY = range(5)
FAILED = 1 << 20
WORST = 1e18


class Circuit(NamedTuple):
    """Hold a gate DAG of g nodes for kernels; `bridge[g]` is 1 for BRIDGEs, `fence[g]` 1 for nodes no window holds."""

    pairs: IndexArray
    first: IndexArray
    after: IndexArray
    bridge: IndexArray
    fence: IndexArray


class Window(NamedTuple):
    """Hold w nodes, at `nodes[:w]` in an order that respects dependencies, `size[0]` being w.

    `local[g]` is the index of a node here or -1, `need[w]` how many others here it waits for.
    `line[begin[q]:close[q]]` are the indices of the gates on circuit qubit q, `slot[w, 2]` where a gate is in the lines
    of its two qubits.
    """

    nodes: IndexArray
    size: IndexArray
    local: IndexArray
    need: IndexArray
    line: IndexArray
    begin: IndexArray
    close: IndexArray
    slot: IndexArray


class Trial(NamedTuple):
    """Hold one attempt: what is `done[w]`, what waits in `front`, where lines begin (`head[N]`), the `log` of steps.

    `tally`: LENGTH of the log and of the FRONT, nodes LEFT, SWAPs and BRIDGEs USED, hops AWAY from the goals. `choice`
    is the next step: two device qubits, and which entry of the front a BRIDGE carries out, -1 for a SWAP.
    `work[0]` counts candidates. `weight` has the weight of a gate by rank, then of GOALS, CHANCE and BRIDGES.
    """

    need: IndexArray
    done: IndexArray
    front: IndexArray
    head: IndexArray
    log: IndexArray
    tally: IndexArray
    choice: IndexArray
    work: IntArray
    weight: FloatArray


class Scene(NamedTuple):
    """Hold what the kernels work on."""

    circuit: Circuit
    device: Device
    tokens: Tokens
    window: Window
    trial: Trial


@kernel
def reroute(scene: Scene, limit: int) -> int:
    """Carry out all nodes and bring all qubits to their goals with at most `limit` SWAPs and BRIDGEs.

    `tally[AWAY]` must hold the displacement of the tokens. Returns how many it took, FAILED if it found no way; the
    steps are in the log, and the tokens where the last step left them. O(limit front d DEPTH).
    """
    tally = scene.trial.tally
    restart(scene)
    while True:
        advance(scene)
        if tally[LEFT] == 0 and tally[AWAY] == 0:
            return int(tally[USED])
        if tally[USED] + max(tally[LEFT] > 0, (tally[AWAY] + 1) // 2) > limit:
            return FAILED
        if (tally[LEFT] == 0 or not choose_step(scene, limit)) and not choose_homeward(scene, limit):
            return FAILED
        step(scene)


@kernel
def restart(scene: Scene) -> None:
    """Begin an attempt: nothing is done."""
    window, trial = scene.window, scene.trial
    trial.tally[:AWAY] = 0
    trial.tally[LEFT] = window.size[0]
    for i in range(window.size[0]):
        trial.need[i] = window.need[i]
        trial.done[i] = 0
        for qubit in scene.circuit.pairs[window.nodes[i]]:
            if qubit >= 0:
                trial.head[qubit] = window.begin[qubit]
        if trial.need[i] == 0:
            trial.front[trial.tally[FRONT]] = i
            trial.tally[FRONT] += 1


@kernel
def advance(scene: Scene) -> None:
    """Carry out every node whose turn it is and whose qubits are adjacent, until there is none."""
    tokens, trial, k = scene.tokens, scene.trial, 0
    while k < trial.tally[FRONT]:
        a, b = scene.circuit.pairs[scene.window.nodes[trial.front[k]]]
        if a < 0 or scene.device.hops[tokens.place[a], tokens.place[b]] == 1:
            carry_out(scene, k, -1)
        else:
            k += 1


@kernel
def carry_out(scene: Scene, k: int, middle: int) -> None:
    """Log entry k of the front, plainly or as a BRIDGE, and put those that waited only for it on the front."""
    circuit, window, trial = scene.circuit, scene.window, scene.trial
    i = trial.front[k]
    node = window.nodes[i]
    record(trial, node, middle)
    trial.done[i] = 1
    trial.tally[LEFT] -= 1
    trial.tally[FRONT] -= 1
    trial.front[k] = trial.front[trial.tally[FRONT]]
    for e in range(circuit.first[node], circuit.first[node + 1]):
        j = window.local[circuit.after[e]]
        if j >= 0:
            trial.need[j] -= 1
            if trial.need[j] == 0:
                trial.front[trial.tally[FRONT]] = j
                trial.tally[FRONT] += 1
    for qubit in circuit.pairs[node]:
        if qubit >= 0:
            behead(window, trial, qubit)


@inner_kernel
def behead(window: Window, trial: Trial, qubit: int) -> None:
    """Let the line of a qubit begin at the first gate that is not done."""
    head = trial.head[qubit]
    while head < window.close[qubit] and trial.done[window.line[head]] == 1:
        head += 1
    trial.head[qubit] = head


@kernel
def record(trial: Trial, what: int, where: int) -> None:
    """Append a step to the log."""
    trial.log[trial.tally[LENGTH], 0] = what
    trial.log[trial.tally[LENGTH], 1] = where
    trial.tally[LENGTH] += 1


@kernel
def choose_step(scene: Scene, limit: int) -> bool:
    """Choose the step that brings the gates of the front, and less so those behind, nearest; False if none is left.

    SWAPs that move a qubit of the front, and BRIDGEs of gates of the front, as far as the budget allows them.
    """
    circuit, tokens, trial = scene.circuit, scene.tokens, scene.trial
    slack = limit - trial.tally[USED] - 1
    best = WORST
    for k in range(trial.tally[FRONT]):
        node = scene.window.nodes[trial.front[k]]
        a, b = tokens.place[circuit.pairs[node, 0]], tokens.place[circuit.pairs[node, 1]]
        best = best_swap(scene, b, slack, best_swap(scene, a, slack, best))
        if circuit.bridge[node] == 1 and scene.device.hops[a, b] == 2 and (trial.tally[AWAY] + 1) // 2 <= slack:
            score = trial.weight[BRIDGES] + trial.weight[CHANCE] * chance(scene.tokens.dice)
            if score < best:
                best = score
                trial.choice[0], trial.choice[1], trial.choice[2] = a, b, k
    return best < WORST


@inner_kernel
def best_swap(scene: Scene, p: int, slack: int, best: float) -> float:
    """Choose a SWAP with device qubit p where one scores below the best so far; return the best score."""
    device, trial = scene.device, scene.trial
    for q in device.neighbours[p]:
        if q < 0:
            break
        change = drift(device, scene.tokens, p, q)
        if (trial.tally[AWAY] + change + 1) // 2 > slack:
            continue
        trial.work[0] += 1
        score = pull(scene, p, q) + pull(scene, q, p)
        score += trial.weight[GOALS] * change + trial.weight[CHANCE] * chance(scene.tokens.dice)
        if score < best:
            best = score
            trial.choice[0], trial.choice[1], trial.choice[2] = p, q, -1
    return best


@inner_kernel
def pull(scene: Scene, p: int, q: int) -> float:
    """Return how much farther the qubit on p would be from its partners on q, whoever is there left out; O(DEPTH)."""
    pairs, window, trial, place = scene.circuit.pairs, scene.window, scene.trial, scene.tokens.place
    qubit, other = scene.tokens.holds[p], scene.tokens.holds[q]
    total, rank = 0.0, 0
    for e in range(trial.head[qubit], window.close[qubit]):
        i = window.line[e]
        if trial.done[i] == 1:
            continue
        side = 1 if pairs[window.nodes[i], 0] == qubit else 0
        partner = pairs[window.nodes[i], side]
        late = max(rank, window.slot[i, side] - trial.head[partner])
        if partner != other and late < DEPTH:
            total += trial.weight[late] * (scene.device.hops[q, place[partner]] - scene.device.hops[p, place[partner]])
        rank += 1
        if rank == DEPTH:
            break
    return total


@kernel
def choose_homeward(scene: Scene, limit: int) -> bool:
    """Choose a SWAP that brings a qubit nearer to its goal; False if the budget allows none."""
    trial = scene.trial
    change = homeward(scene.device, scene.tokens, trial.choice)
    trial.work[0] += 1
    trial.choice[2] = -1
    return bool(change < NOWHERE and trial.tally[USED] + 1 + (trial.tally[AWAY] + change + 1) // 2 <= limit)


@kernel
def step(scene: Scene) -> None:
    """Take the chosen step."""
    device, tokens, trial = scene.device, scene.tokens, scene.trial
    p, q, k = trial.choice[0], trial.choice[1], trial.choice[2]
    trial.tally[USED] += 1
    if k >= 0:
        for middle in device.neighbours[p]:
            if device.hops[middle, q] == 1:
                carry_out(scene, k, middle)
                return
    trial.tally[AWAY] += drift(device, tokens, p, q)
    exchange(tokens, p, q)
    enlist(tokens, tokens.holds[p])
    enlist(tokens, tokens.holds[q])
    record(trial, -1 - p, q)


@kernel
def undo(scene: Scene, listed: int) -> None:
    """Take the SWAPs of the log back, last first, and keep the first `listed` qubits of the roster."""
    tokens, log = scene.tokens, scene.trial.log
    for k in range(scene.trial.tally[LENGTH] - 1, -1, -1):
        if log[k, 0] < 0:
            exchange(tokens, -1 - log[k, 0], log[k, 1])
    for k in range(listed, tokens.marks[0]):
        tokens.listed[tokens.roster[k]] = 0
    tokens.marks[0] = listed
