"""From a parsed model, a cluster and checked options to the report of the plans."""

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace

from tiger.planning.account import Account
from tiger.planning.attempt import Attempt, KnownCuts
from tiger.planning.choices import batch_of
from tiger.planning.given import choose_given
from tiger.planning.params import PlanOptions
from tiger.planning.report import PlanReport
from tiger.planning.request import check_model
from tiger.planning.search import explore
from tiger.planning.search_inputs import SearchInputs
from tiger.run.clock import measure_time
from tiger.run.progress import Progress, ignore
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.sizes import Model
from tiger.training.plausibility import warn_implausible, warn_missing_state


@dataclass(frozen=True, slots=True, eq=False)
class PlanInputs:
    """Hold a model, a cluster, checked options, the callback of the progress, and who judges choices of islands."""

    model: Model
    cluster: Cluster
    options: PlanOptions
    watch: Callable[[Progress], None] = ignore
    executor: Executor | None = None


def report_plan(request: PlanInputs) -> PlanReport:
    """Report the plans of a parsed model; raise InputError as `plan` does, except for its arguments."""
    return report_attempts(request, ())[0]


def report_attempts(
    request: PlanInputs, starts: tuple[Attempt, ...], cuts: KnownCuts | None = None
) -> tuple[PlanReport, tuple[Attempt, ...]]:
    """Report the plans of a parsed model, and return its attempts, the quickest first.

    Plans of attempts for another batch are known before others are searched for, and so are `cuts`. Raises InputError
    as `report_plan`.
    """
    model, cluster, options = request.model, request.cluster, request.options
    check_model(model, cluster, options)
    options, given = choose_given(model, cluster, options)
    with measure_time(options.time_limit_s) as clock:
        inputs = SearchInputs(model, cluster, options, request.executor, given, starts, cuts)
        result = explore(inputs, clock.stop, request.watch)
        report = Account(model, cluster, options, result).report(options.top)
    searched = dict.fromkeys(warning for attempt in result.attempts for warning in attempt.warnings)
    taken = () if options.sequence else model.remarks
    remarks = (*taken, *warn_implausible(cluster), *warn_missing_state(model.given, cluster), *searched, *clock.remarks)
    report = replace(report, batch=batch_of(model, cluster, options), seconds=clock.seconds, warnings=remarks)
    return report, result.attempts
