"""The entry of circuits: a circuit, or a list of them, and a device as callers have them in, a report of each out."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from itertools import repeat
from multiprocessing import parent_process
from threading import Lock

from qiskit.circuit import QuantumCircuit

from tiger.circuits.entry.arguments import Layout, LayoutCall, LayoutListCall
from tiger.circuits.entry.hardware import read_device
from tiger.circuits.entry.layout import report_mapping
from tiger.circuits.entry.reading import read_circuit
from tiger.circuits.entry.report import CircuitReport
from tiger.circuits.entry.request import LAYOUT, LayoutRequest, check_params
from tiger.circuits.entry.scan import FIELD
from tiger.circuits.params import LayoutParams
from tiger.errors import InputError
from tiger.model.options import list_from_fields, narrow
from tiger.run.parallel.executors import check, open_executor
from tiger.run.progress import Progress, ignore

# What Qiskit sets in its own worker processes.
PARALLEL = "QISKIT_IN_PARALLEL"


def layout_one(call: LayoutCall) -> CircuitReport:
    """Report the mapping of one circuit."""
    begun = time.perf_counter()
    with open_executor(call.executor) as executor:
        params = check_params(narrow(LayoutParams, call, executor=executor))
        request = LayoutRequest(read_circuit(call.circuit), read_device(call.coupling), params, call.progress or ignore)
        return replace(report_mapping(request, call.initial_layout), seconds=time.perf_counter() - begun)


@list_from_fields(LayoutCall, LayoutListCall, layout_one)
def layout(call: LayoutListCall) -> list[CircuitReport]:
    """Lay a circuit out on a device and route it, and report the routed circuit with what routing added.

    The circuit is a QuantumCircuit, OpenQASM 2 or 3 text, a path, or the bytes of QPY or of text
    (`tiger.circuits.entry.reading`); the device a SPEC such as `heavy-hex:7`, a path, a Target, a coupling map, a
    backend or pairs of qubits (`tiger.circuits.entry.hardware`). Gates on three and more qubits are written out first,
    and figures count from there. Pairs with error 1 are used where the circuit fits on no others, with a warning.
    `level` 0 to 3 is Qiskit's optimisation level, `effort` multiplies its iterations, `objective` is the extra CX
    gates, the depth, or the probability of success, which needs a Target with error rates. For extra CX gates, Qiskit's
    own circuit is returned where it has fewer two-qubit gates after the level's translation and optimization. `solver`
    samples the Ising proposals. `initial_layout` gives the device qubit of every circuit qubit. Same seed, level,
    effort and `islands`, same answer, on any number of `threads` and any `executor` (`dask://HOST:PORT` on a Dask
    cluster); `time_limit_s` only ends a search early. `commute` lets gates change places where that is the same
    circuit; without it, extra CX alone count. `optimize` also maps other ways to write the circuit, with other gates
    that do the same (`tiger.circuits.synthesis`), and keeps one where it ends better by the objective after the
    preset's later stages; figures are then above the circuit as it is written anew (`optimized_qasm`).

    An `executor` gets what does not need each other: the circuits of a list, else the islands of a circuit.

    A list of circuits gets a list of reports in its order, each the one that its circuit gets alone. All are read
    before the first is mapped. They share the `threads`, or go to the workers of an `executor`, such as a
    ProcessPoolExecutor, each with so many threads, which its islands share. `initial_layout` is then a list with a
    layout or None for each, and `time_limit_s` that of each circuit.
    Raises InputError that names the field at fault, with the place of the circuit in a list (`circuit/2`), and
    TypeError for an argument of another type; a circuit that the device cannot hold is a report that is not feasible.
    """
    check(call.executor)
    params = check_params(narrow(LayoutParams, call, executor=None))
    device, layouts = read_device(call.coupling), _read_layouts(call)
    circuits, reports, watch = list[QuantumCircuit](), list[CircuitReport](), call.progress or ignore
    for k, source in enumerate(call.circuit):
        with _name_circuit(k):
            circuits.append(read_circuit(source))
    with open_executor(call.executor) as executor, _share_threads(executor, params, len(circuits)) as (run, own):
        answers = iter(
            run(_report_beside_others, [LayoutRequest(circuit, device, own) for circuit in circuits], layouts)
        )
        for k in range(len(circuits)):
            with _name_circuit(k):
                reports.append(next(answers))
            watch(Progress("circuits", len(reports) / len(circuits), None))
    return reports


def _read_layouts(call: LayoutListCall) -> Sequence[Layout | None]:
    """Return the layout that each circuit was given, None where it is open."""
    layouts, count = call.initial_layout, len(call.circuit)
    if layouts is None:
        return list(repeat(None, count))
    if not isinstance(layouts, list | tuple):
        raise TypeError(f"expected {LAYOUT} as a list of layouts, one for each circuit, got {type(layouts).__name__}")
    if len(layouts) != count:
        raise InputError(LAYOUT, f"expected a layout or None for each of {count} circuits, got {len(layouts)}")
    return layouts


class _OneThread:
    """Have Qiskit use no threads of its own while any thread of this process is inside.

    What Qiskit reads is a variable of the whole process: whoever leaves first must not take it from the others.
    """

    def __init__(self) -> None:
        self._lock, self._inside, self._before = Lock(), 0, os.environ.get(PARALLEL)

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._before = os.environ.get(PARALLEL)
                os.environ[PARALLEL] = "TRUE"
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside:
                return
            os.environ.pop(PARALLEL, None)
            if self._before is not None:
                os.environ[PARALLEL] = self._before


ONE_THREAD = _OneThread()


def _report_beside_others(request: LayoutRequest, initial_layout: Layout | None) -> CircuitReport:
    """Report a mapping, in a process of an executor without Qiskit's own threads, which a forked one would wait for."""
    with nullcontext() if parent_process() is None else ONE_THREAD:
        return report_mapping(request, initial_layout)


@contextmanager
def _share_threads(
    executor: Executor | None, params: LayoutParams, count: int
) -> Iterator[tuple[Callable[..., Iterable[CircuitReport]], LayoutParams]]:
    """Yield a function that maps calls, and the parameters of each: threads serve circuits before searchers.

    At the end nobody waits for calls that have not begun.
    """
    workers = min(params.threads, count)
    if executor is not None or workers < 2:
        yield map if executor is None else executor.map, params
        return
    with ThreadPoolExecutor(workers) as pool:
        try:
            yield pool.map, replace(params, threads=params.threads // workers)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _name_circuit(k: int) -> Iterator[None]:
    """Say of an error which circuit of the list it comes from."""
    try:
        yield
    except InputError as error:
        first, *rest = error.field.split("/")
        if first in (FIELD, LAYOUT):
            raise InputError("/".join([first, str(k), *rest]), error.reason) from None
        raise InputError(error.field, f"{error.reason}, for circuit {k} of the list") from None
    except Exception as error:
        error.add_note(f"circuit {k} of the list")
        raise
