"""How a beam ranks its states, and which steps of each are the most promising."""

from tiger.model.arrays import FloatArray
from tiger.routing.swaps.beam_arrays import LANES, OPTIONS, Beam, ChangeArray
from tiger.routing.swaps.frontier import NEVER, RouterParams, RoutingArrays, RoutingState
from tiger.routing.swaps.fronts import Fronts
from tiger.routing.swaps.prices import quote_swap
from tiger.routing.swaps.router import find_nearer_neighbour
from tiger.solvers.kernel import inner_kernel


@inner_kernel
def weigh_link(fronts: Fronts, i: int, power: float, hops: int, gates: int) -> float:
    """Return the weight of link i, one of the front if it is below `gates`: such a gate counts less if it is far."""
    return float(fronts.weight[i] / (hops - 1) if i < gates and power > 0 else fronts.weight[i])


@inner_kernel
def estimate_cost(arrays: RoutingArrays, beam: Beam, params: RouterParams, row: int) -> float:
    """Return an estimate of what is still to pay: weighted hops of the gates looked at, a price for each other gate.

    Where `near` is 1 the gates of the front alone are looked at.
    """
    fronts, place, price = beam.fronts, beam.place[row], params.gate_price
    record = fronts.record[beam.header[row].front]
    total, border = price * record.left, record.link + record.gates
    for i in range(record.link, border if fronts.counters[0].near == 1 else record.link + record.links):
        hops = arrays.hops[place[fronts.link[i, 0]], place[fronts.link[i, 1]]]
        total += weigh_link(fronts, i, params.distance_power, hops, border) * (hops - 1 - price)
    return float(total)


@inner_kernel
def list_options(arrays: RoutingArrays, state: RoutingState, beam: Beam, params: RouterParams, r: int) -> None:
    """Note the best options of the state in its row: SWAPs next to the front, and BRIDGEs."""
    place, last, record = beam.place[r], beam.last[r], beam.fronts.record[beam.header[r].front]
    slots, gates = beam.fronts.counters[0].slots, record.entry + record.gates
    alone = params.fusion * arrays.price[len(arrays.price) - 1]
    for o in range(OPTIONS):
        beam.gain[r, o] = NEVER
    for s in range(slots):
        beam.holder[place[s]] = s
    score_moves(arrays, beam, params, r)
    for i in range(gates, gates + record.qubits):
        a = beam.fronts.entry[i]
        p = place[a]
        for k in range(arrays.neighbours.shape[1]):
            q = arrays.neighbours[p, k]
            if q < 0:
                break
            b, gain = beam.holder[q], beam.ahead[a, k]
            if b < 0:
                insert_option(beam, r, gain + alone, (-1 - p, q, a, b))
            # An edge between two qubits of the front is scored from its lower end alone.
            elif q > p or beam.fronts.first_gate[b] < 0:
                gain += beam.ahead[b, beam.moves.back[p, k]]
                insert_option(beam, r, gain + params.fusion * quote_swap(arrays.price, last, a, b), (-1 - p, q, a, b))
    list_bridges(arrays, beam, params, r)
    for i in range(gates, gates + record.qubits):
        beam.fronts.first_gate[beam.fronts.entry[i]] = -1
    for s in range(slots):
        beam.holder[place[s]] = -1
    state.counters[0].work += 24 + record.links // 2


@inner_kernel
def score_moves(arrays: RoutingArrays, beam: Beam, params: RouterParams, r: int) -> None:
    """Set `ahead[s, k]` to what a move of slot s to its neighbour k changes in the weighted distances."""
    # LightSABRE (arXiv:2409.08368), relative score: only the gates on a qubit change when it moves.
    fronts, ahead, change, place = beam.fronts, beam.ahead, beam.moves.change, beam.place[r]
    record = fronts.record[beam.header[r].front]
    border = record.link + record.gates
    for s in range(fronts.counters[0].slots):
        for k in range(ahead.shape[1]):
            ahead[s, k] = 0.0
    for i in range(record.link, border if fronts.counters[0].near == 1 else record.link + record.links):
        a, b = fronts.link[i, 0], fronts.link[i, 1]
        p, q = place[a], place[b]
        weight = weigh_link(fronts, i, params.distance_power, arrays.hops[p, q], border)
        if i < border:
            fronts.first_gate[a] = fronts.first_gate[b] = 0
        for k in range(0, ahead.shape[1], LANES):
            add_four(ahead[a], k, weight, change[p, q])
            add_four(ahead[b], k, weight, change[q, p])


@inner_kernel
def add_four(total: FloatArray, k: int, weight: float, change: ChangeArray) -> None:
    """Add a multiple of the entries k to k + 3 of one array to those of another, all at once."""
    # All is read before anything is written, so that compiled code uses registers of four numbers.
    first, second = total[k] + weight * change[k], total[k + 1] + weight * change[k + 1]
    third, fourth = total[k + 2] + weight * change[k + 2], total[k + 3] + weight * change[k + 3]
    total[k], total[k + 1], total[k + 2], total[k + 3] = first, second, third, fourth


@inner_kernel
def list_bridges(arrays: RoutingArrays, beam: Beam, params: RouterParams, r: int) -> None:
    """Note the BRIDGEs of a state among its options: they save the hop that a gate is too long, and move nothing."""
    fronts, place, record = beam.fronts, beam.place[r], beam.fronts.record[beam.header[r].front]
    for i in range(record.gates):
        v, link = fronts.entry[record.entry + i], record.link + i
        p, q = place[fronts.link[link, 0]], place[fronts.link[link, 1]]
        if arrays.bridge[v] != 0 and arrays.hops[p, q] == 2:
            middle = find_nearer_neighbour(arrays, p, q)
            gain = params.fusion * arrays.price[len(arrays.price) - 1] - fronts.weight[link]
            insert_option(beam, r, gain, (v, middle, beam.holder[middle], -1))


@inner_kernel
def insert_option(beam: Beam, r: int, gain: float, option: tuple[int, int, int, int]) -> None:
    """Insert an option if it is among the best of its state."""
    o = OPTIONS - 1
    if gain >= beam.gain[r, o]:
        return
    # Insertion into a short sorted list.
    while o > 0 and beam.gain[r, o - 1] > gain:
        beam.gain[r, o] = beam.gain[r, o - 1]
        for i in range(4):
            beam.option[r, o, i] = beam.option[r, o - 1, i]
        o -= 1
    beam.gain[r, o] = gain
    beam.option[r, o, 0], beam.option[r, o, 1], beam.option[r, o, 2], beam.option[r, o, 3] = option
