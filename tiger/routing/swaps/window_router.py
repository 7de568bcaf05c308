"""The router of a window: some nodes of a circuit between a mapping before and a mapping after them.

A lookahead router with random weights (in the manner of SABRE, doi:10.1145/3297858.3304023) that stays inside a budget:
the SWAPs so far and half the hops that qubits still are away from where they have to end never exceed it.
"""

from collections.abc import Sequence
from typing import NamedTuple

from tiger.model.arrays import FloatArray, IntArray
from tiger.routing.coupling import IndexArray
from tiger.routing.swaps.prices import price_gate, price_swap, quote_swap
from tiger.routing.swaps.tokens import (
    AT_GOALS,
    CouplingArrays,
    SwapStep,
    Tokens,
    choose_goal_swap,
    count_added_hops,
    draw_unit,
    exchange,
    list_qubit,
)
from tiger.solvers.kernel import inner_kernel

# Gates of a qubit that are looked at: with the slowest decay that is drawn, 0.95, the last of them still weighs 0.57.
DEPTH = 12
# Markers: more SWAPs than any window has, and a score above all.
FAILED = 1 << 20
WORST = 1e18


class CircuitArrays(NamedTuple):
    """Hold a gate DAG of g nodes for kernels; `bridge[g]` is 1 for BRIDGEs, `barrier[g]` 1 where windows end.

    `price[g + 1]` and `layers[g]` are as in `GateDag`.
    """

    pairs: IndexArray
    first: IndexArray
    after: IndexArray
    bridge: IndexArray
    barrier: IndexArray
    price: IndexArray
    layers: IndexArray


class NodeWindow(NamedTuple):
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


class AttemptCounters:
    """Count the steps in the log, the gates in the front, nodes left, SWAPs and BRIDGEs used, and hops to the goals."""

    length: int
    front: int
    left: int
    used: int
    token_hops: int


class Scores:
    """Say what a hop away from a goal, a random number in (0, 1), a BRIDGE, and each price above 1 add to a score."""

    goals: float
    noise: float
    bridge: float
    fusion: float


class WindowAttempt(NamedTuple):
    """Hold one attempt: what is `done[w]`, what waits in `front`, where lines begin (`head[N]`), the `log` of steps.

    `counters`, `choice`, the next step, and `scores` are one record each. `work[0]` counts candidates. `weight[DEPTH]`
    has the weight of a gate by its rank on its qubits. What was `last[N]` on circuit qubits, and `before[N]` ahead of
    the window, is as prices take it; `level[N]` and `reached[N]` are the layers of these, then and ahead of it.
    """

    need: IndexArray
    done: IndexArray
    front: IndexArray
    head: IndexArray
    log: IndexArray
    counters: Sequence[AttemptCounters]
    choice: Sequence[SwapStep]
    work: IntArray
    weight: FloatArray
    last: IndexArray
    before: IndexArray
    level: IndexArray
    reached: IndexArray
    scores: Sequence[Scores]


class WindowState(NamedTuple):
    """Hold what the kernels of a searcher work on."""

    circuit: CircuitArrays
    device: CouplingArrays
    tokens: Tokens
    window: NodeWindow
    attempt: WindowAttempt


@inner_kernel
def route_window(state: WindowState, limit: int) -> int:
    """Carry out all nodes and bring all qubits to their goals with at most `limit` SWAPs and BRIDGEs.

    `counters.away` must hold the hops between the tokens and their goals. Returns how many it took, FAILED if it found
    no way; the steps are in the log, and the tokens where the last step left them. O(limit front d DEPTH).
    """
    counters = state.attempt.counters[0]
    restart(state)
    while True:
        carry_out_ready(state)
        if counters.left == 0 and counters.token_hops == 0:
            return int(counters.used)
        # A lower bound: gates left need one more SWAP, and a SWAP takes two hops off the distances to the goals.
        if counters.used + max(counters.left > 0, (counters.token_hops + 1) // 2) > limit:
            return FAILED
        if (counters.left == 0 or not choose_next_step(state, limit)) and not choose_goal_step(state, limit):
            return FAILED
        take_step(state)


@inner_kernel
def restart(state: WindowState) -> None:
    """Begin an attempt: nothing is done."""
    window, attempt = state.window, state.attempt
    counters = attempt.counters[0]
    counters.length = counters.front = counters.used = 0
    if state.circuit.price[-1] > 1:
        for v in range(len(attempt.last)):
            attempt.last[v] = attempt.before[v]
    counters.left = window.size[0]
    for i in range(window.size[0]):
        attempt.need[i] = window.need[i]
        attempt.done[i] = 0
        for qubit in state.circuit.pairs[window.nodes[i]]:
            if qubit >= 0:
                attempt.head[qubit] = window.begin[qubit]
        if attempt.need[i] == 0:
            attempt.front[counters.front] = i
            counters.front += 1


@inner_kernel
def carry_out_ready(state: WindowState) -> None:
    """Carry out every node whose turn it is and whose qubits are adjacent, until there is none."""
    tokens, attempt, k = state.tokens, state.attempt, 0
    # What is carried out may put others on the front, behind entry k.
    while k < attempt.counters[0].front:
        a, b = state.circuit.pairs[state.window.nodes[attempt.front[k]]]
        if a < 0 or state.device.hops[tokens.place[a], tokens.place[b]] == 1:
            carry_out(state, k, -1)
        else:
            k += 1


@inner_kernel
def carry_out(state: WindowState, k: int, middle: int) -> None:
    """Log entry k of the front, plainly or as a BRIDGE, and put those that waited only for it on the front."""
    circuit, window, attempt = state.circuit, state.window, state.attempt
    counters, i = attempt.counters[0], attempt.front[k]
    node = window.nodes[i]
    log_step(attempt, node, middle)
    if circuit.pairs[node, 0] >= 0:
        price_gate(circuit.price, attempt.last, circuit.pairs[node, 0], circuit.pairs[node, 1], node)
    attempt.done[i] = 1
    counters.left -= 1
    counters.front -= 1
    # The last entry of the front fills the gap, so that entry k is looked at again.
    attempt.front[k] = attempt.front[counters.front]
    # Kahn 1962: a node of the window is ready when the last that it waits for is done.
    for e in range(circuit.first[node], circuit.first[node + 1]):
        j = window.local[circuit.after[e]]
        if j >= 0:
            attempt.need[j] -= 1
            if attempt.need[j] == 0:
                attempt.front[counters.front] = j
                counters.front += 1
    # The lines of its qubits begin at their next gate, from which lookahead counts.
    for qubit in circuit.pairs[node]:
        if qubit >= 0:
            advance_line(window, attempt, qubit)


@inner_kernel
def advance_line(window: NodeWindow, attempt: WindowAttempt, qubit: int) -> None:
    """Let the line of a qubit begin at the first gate that is not done."""
    head = attempt.head[qubit]
    while head < window.close[qubit] and attempt.done[window.line[head]] == 1:
        head += 1
    attempt.head[qubit] = head


@inner_kernel
def log_step(attempt: WindowAttempt, what: int, where: int) -> None:
    """Append a step to the log."""
    counters = attempt.counters[0]
    attempt.log[counters.length, 0] = what
    attempt.log[counters.length, 1] = where
    counters.length += 1


@inner_kernel
def choose_next_step(state: WindowState, limit: int) -> bool:
    """Choose the step that brings the gates of the front, and less so those behind, nearest; False if none is left.

    SWAPs that move a qubit of the front, and BRIDGEs of gates of the front, as far as the budget allows them.
    """
    circuit, tokens, attempt = state.circuit, state.tokens, state.attempt
    counters, choice, scores = attempt.counters[0], attempt.choice[0], attempt.scores[0]
    slack = limit - counters.used - 1
    best = WORST
    for k in range(counters.front):
        node = state.window.nodes[attempt.front[k]]
        a, b = tokens.place[circuit.pairs[node, 0]], tokens.place[circuit.pairs[node, 1]]
        best = choose_swap_of(state, b, slack, choose_swap_of(state, a, slack, best))
        # A BRIDGE moves nothing: it competes with SWAPs by a score of its own, drawn for the attempt.
        if circuit.bridge[node] == 1 and state.device.hops[a, b] == 2 and (counters.token_hops + 1) // 2 <= slack:
            score = scores.bridge + scores.noise * draw_unit(state.tokens.rng_state)
            score += scores.fusion * (circuit.price[-1] - 1)
            if score < best:
                best = score
                choice.p, choice.q, choice.entry = a, b, k
    return best < WORST


@inner_kernel
def choose_swap_of(state: WindowState, p: int, slack: int, best: float) -> float:
    """Choose a SWAP with device qubit p where one scores below the best so far; return the best score."""
    device, attempt = state.device, state.attempt
    choice, scores = attempt.choice[0], attempt.scores[0]
    for q in device.neighbours[p]:
        if q < 0:
            break
        change = count_added_hops(device, state.tokens, p, q)
        # After this SWAP there must still be enough of the budget to bring all qubits to their goals.
        if (attempt.counters[0].token_hops + change + 1) // 2 > slack:
            continue
        attempt.work[0] += 1
        # Both qubits' gates, as SABRE sums them, then the goals, and noise that makes trials differ.
        score = score_move(state, p, q) + score_move(state, q, p)
        score += scores.goals * change + scores.noise * draw_unit(state.tokens.rng_state)
        a, b = state.tokens.holds[p], state.tokens.holds[q]
        score += scores.fusion * (quote_swap(state.circuit.price, attempt.last, a, b) - 1)
        if score < best:
            best = score
            choice.p, choice.q, choice.entry = p, q, -1
    return best


@inner_kernel
def score_move(state: WindowState, p: int, q: int) -> float:
    """Return how much farther the qubit on p would be from its partners on q, whoever is there left out; O(DEPTH)."""
    pairs, window, attempt, place = state.circuit.pairs, state.window, state.attempt, state.tokens.place
    qubit, other = state.tokens.holds[p], state.tokens.holds[q]
    total, rank = 0.0, 0
    # The next gates of the qubit; commuting ones may be done before those ahead of them.
    for e in range(attempt.head[qubit], window.close[qubit]):
        i = window.line[e]
        if attempt.done[i] == 1:
            continue
        side = 1 if pairs[window.nodes[i], 0] == qubit else 0
        partner = pairs[window.nodes[i], side]
        # As late as the later of its places among the gates left of its two qubits: SABRE's extended set by qubit.
        delay = max(rank, window.slot[i, side] - attempt.head[partner])
        # A gate between the two qubits of the SWAP keeps its length.
        if partner != other and delay < DEPTH:
            at = place[partner]
            total += attempt.weight[delay] * (state.device.hops[q, at] - state.device.hops[p, at])
        rank += 1
        if rank == DEPTH:
            break
    return total


@inner_kernel
def choose_goal_step(state: WindowState, limit: int) -> bool:
    """Choose a SWAP that brings a qubit nearer to its goal; False if the budget allows none."""
    attempt, counters = state.attempt, state.attempt.counters[0]
    change = choose_goal_swap(state.device, state.tokens, attempt.choice)
    attempt.work[0] += 1
    attempt.choice[0].entry = -1
    return bool(change < AT_GOALS and counters.used + 1 + (counters.token_hops + change + 1) // 2 <= limit)


@inner_kernel
def take_step(state: WindowState) -> None:
    """Take the chosen step."""
    device, tokens, attempt = state.device, state.tokens, state.attempt
    p, q, k = attempt.choice[0].p, attempt.choice[0].q, attempt.choice[0].entry
    attempt.counters[0].used += 1
    if k >= 0:
        for middle in device.neighbours[p]:
            if device.hops[middle, q] == 1:
                carry_out(state, k, middle)
                return
    attempt.counters[0].token_hops += count_added_hops(device, tokens, p, q)
    price_swap(state.circuit.price, attempt.last, tokens.holds[p], tokens.holds[q])
    exchange(tokens, p, q)
    list_qubit(tokens, tokens.holds[p])
    list_qubit(tokens, tokens.holds[q])
    log_step(attempt, -1 - p, q)


@inner_kernel
def undo(state: WindowState, count: int) -> None:
    """Take the SWAPs of the log back, last first, and keep the first `count` qubits listed."""
    tokens, log = state.tokens, state.attempt.log
    # Gates change nothing but the scratch that the next attempt resets.
    for k in range(state.attempt.counters[0].length - 1, -1, -1):
        if log[k, 0] < 0:
            exchange(tokens, -1 - log[k, 0], log[k, 1])
    for k in range(count, tokens.counters[0].count):
        tokens.stamps[tokens.listed[k]] = 0
    tokens.counters[0].count = count
