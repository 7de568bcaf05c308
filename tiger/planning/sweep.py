"""Plans of one model on one cluster for several batches, each of which starts from those of a larger one."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from multiprocessing.queues import SimpleQueue
from threading import Thread

from tiger.errors import InputError
from tiger.model.text import is_number
from tiger.model.wording import describe
from tiger.planning.answer import PlanInputs, report_attempts
from tiger.planning.attempt import Attempt, KnownCuts
from tiger.planning.given import choose_given
from tiger.planning.params import MOST_BATCHES, PlanOptions
from tiger.planning.report import PlanReport, SweptPlan
from tiger.planning.request import check_model, check_plan_options
from tiger.run.island_call import IslandCall
from tiger.run.progress import Progress, ignore
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.sizes import Model

FIELD, NAME = "sweep", "batch"
# Batches that are planned one after another, so that each starts from the plans of the one before; and the plans, of
# different choices, that it starts from beside those that were searched as placements.
IN_TURN, STARTS = 4, 3
# Digits of a number that is read as one; longer words are no batch.
DIGITS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchSweep:
    """Hold the batches to plan for, and how many processes plan them."""

    batches: tuple[int, ...]
    workers: int


def check_sweep(text: str, options: PlanOptions, workers: int) -> BatchSweep:
    """Return the batches that a text lists; raise InputError of `sweep` for one that no plan can have."""
    batches = _read_batches(text)
    if options.batch is not None:
        raise InputError(FIELD, f"expected no batch beside it, got {options.batch}")
    if len(batches) > MOST_BATCHES:
        raise InputError(FIELD, f"expected at most {MOST_BATCHES} batches, got {len(batches)}")
    with _name_sweep():
        for batch in batches:
            check_plan_options(replace(options, batch=batch))
    return BatchSweep(batches=batches, workers=workers)


def report_sweep(request: PlanInputs, sweep: BatchSweep) -> PlanReport:
    """Report the plans of the batch with most throughput, and the best plan of every batch beside them.

    Batches are planned in chains, the largest of a chain first, so that answers do not depend on who plans them: one
    process after another, as many as there are workers, or an executor. Raises InputError as `report_plan`.
    """
    with _name_sweep():
        for batch in sweep.batches:
            options = replace(request.options, batch=batch)
            check_model(request.model, request.cluster, options)
            choose_given(request.model, request.cluster, options)
    falling, chains = sorted(sweep.batches, reverse=True), _count_chains(len(sweep.batches))
    size = -(-len(falling) // chains)
    parts = [falling[begin : begin + size] for begin in range(0, len(falling), size)]
    plan_part = IslandCall(_plan_chain, None, request.model, request.cluster, request.options)
    if request.executor is not None or (sweep.workers > 1 and chains > 1):
        with _open_pool(request, min(sweep.workers, chains)) as pool:
            found = list(pool.map(plan_part, parts))
    else:
        model, cluster, options = request.model, request.cluster, request.options
        found = [_plan_chain(request.watch, model, cluster, options, part) for part in parts]
    reports = sorted((each for part in found for each in part), key=lambda each: each.batch)
    best = max(reports, key=lambda each: (each.feasible, _per_s(each) or 0.0, -each.batch))
    return replace(best, sweep=tuple(map(_summarize, reports)))


def _read_batches(text: str) -> tuple[int, ...]:
    """Return the batches of `batch=LOW..HIGH`, powers of two, or of `batch=N,N,..`, rising."""
    if not isinstance(text, str):
        raise TypeError(f"{FIELD}: expected text, got {type(text).__name__}")
    name, equals, rest = (part.strip() for part in text.partition("="))
    if name != NAME or not equals:
        raise InputError(FIELD, f"expected {NAME}=LOW..HIGH or {NAME}=N,N,.., got {describe(text)}")
    if ".." not in rest:
        return tuple(sorted({_read_number(word) for word in rest.split(",")}))
    low, high = (_read_number(word) for word in rest.split("..", 1))
    if low < 1:
        raise InputError(FIELD, f"expected batches of at least 1, got {low}")
    found = tuple(1 << k for k in range((low - 1).bit_length(), high.bit_length()))
    if not found:
        raise InputError(FIELD, f"expected a power of two from {low} to {high}, got none")
    return found


def _read_number(word: str) -> int:
    """Return a whole number."""
    word = word.strip()
    if len(word) > DIGITS or not is_number(word) or not word.isdecimal():
        raise InputError(FIELD, f"expected whole numbers as batches, got {describe(word)}")
    return int(word)


@contextmanager
def _name_sweep() -> Iterator[None]:
    """Turn an InputError of the batch into one of the sweep."""
    try:
        yield
    except InputError as error:
        if error.field == NAME:
            raise InputError(FIELD, error.reason) from None
        raise


def _count_chains(batches: int) -> int:
    """Return how many chains there are, two or more where there are as many batches."""
    return max(-(-batches // IN_TURN), min(batches, 2))


def _plan_chain(
    watch: Callable[[Progress], None] | None,
    model: Model,
    cluster: Cluster,
    options: PlanOptions,
    batches: Sequence[int],
) -> list[PlanReport]:
    """Return the reports of falling batches, each of which starts from the best plans of the one before.

    A worker sends its messages the way that it was told.
    """
    starts, reports, cuts = tuple[Attempt, ...](), list[PlanReport](), KnownCuts()
    for batch in batches:
        see = partial(_name_batch, watch or _Messages.send, batch)
        request = PlanInputs(model, cluster, replace(options, batch=batch), see)
        report, attempts = report_attempts(request, starts, cuts)
        found = [each for each in attempts if each.plan is not None]
        starts = tuple(each for number, each in enumerate(found) if number < STARTS or each.placed is not None)
        reports.append(report)
    return reports


def _name_batch(watch: Callable[[Progress], None], batch: int, progress: Progress) -> None:
    """Send a message on with the batch that it is about."""
    watch(replace(progress, message=": ".join(filter(None, (f"batch {batch}", progress.message)))))


class _Messages:
    """Hold how a worker sends its messages, which no executor of a caller does."""

    send: Callable[[Progress], None] = staticmethod(ignore)

    @classmethod
    def connect(cls, queue: "SimpleQueue[Progress | None]") -> None:
        """Send messages to a queue from now on."""
        cls.send = staticmethod(queue.put)


@contextmanager
def _open_pool(request: PlanInputs, workers: int) -> Iterator[Executor]:
    """Yield the executor of a caller, else a pool of processes whose messages are passed on."""
    if request.executor is not None:
        yield request.executor
        return
    context = get_context("spawn")
    queue: SimpleQueue[Progress | None] = context.SimpleQueue()
    faults: list[Exception] = []
    passing = Thread(target=_pass_on, args=(queue, request.watch, faults), daemon=True)
    passing.start()
    try:
        with ProcessPoolExecutor(workers, context, _Messages.connect, (queue,)) as pool:
            yield pool
    finally:
        queue.put(None)
        passing.join()
    if faults:
        raise faults[0]


def _pass_on(queue: "SimpleQueue[Progress | None]", watch: Callable[[Progress], None], faults: list[Exception]) -> None:
    """Pass the messages of a queue on, up to None; after a fault they are but read, so that no worker waits."""
    while (message := queue.get()) is not None:
        if not faults:
            try:
                watch(message)
            except Exception as error:  # noqa: BLE001 (raised again where the workers have ended)
                faults.append(error)


def _per_s(report: PlanReport) -> float | None:
    """Return what the best plan of a batch runs in a second, None without one."""
    return report.batch / report.iteration_s if report.iteration_s else None


def _summarize(report: PlanReport) -> SweptPlan:
    """Return the row of a batch."""
    best = report.best
    return SweptPlan(
        batch=report.batch,
        feasible=report.feasible,
        degrees=report.degrees,
        iteration_s=report.iteration_s,
        batch_per_s=_per_s(report),
        tokens_per_s=report.tokens_per_s,
        bubble=None if best is None else best.bubble,
        memory_share=None if best is None else best.memory_share,
        lower_bound_s=report.lower_bound_s,
        seconds=report.seconds,
    )
