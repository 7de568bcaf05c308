"""What a report warns of: an end by the clock, a search that gained nothing, and options without effect."""

from dataclasses import replace

from tiger.mapping.request import Request
from tiger.qubo.params import IsingParams
from tiger.run.deadline import ENDING
from tiger.run.mapping import MappingIncumbent
from tiger.run.report import Report
from tiger.run.search_stage import ISLANDS
from tiger.run.verdict import order_text

SAMPLED = ("qubo", "windows")


def warn_of_time(incumbent: MappingIncumbent, request: Request) -> None:
    """Warn where seconds, or an interruption that was asked for, ended a solve."""
    if incumbent.stop() and not incumbent.optimal:
        why = "as asked" if ENDING.is_set() else f"by the time limit of {request.time_limit_s:g} s"
        incumbent.warnings[f"ended {why}: the same seed may end elsewhere"] = None


def remark(report: Report, request: Request) -> list[str]:
    """Say where a sampler failed, where the search gained nothing, and where options had no effect."""
    failed, made = request.answers.warnings, report.comparison
    remarks = [*failed]
    if request.ising.dry_run:
        remarks.append("nothing was submitted: simulated annealing answered in the machine's place")
    given = request.solver == "identity" or request.homes is not None
    if made and made.value >= made.baseline and not report.optimal and not given:
        more = "give it more effort or time, or another solver"
        if request.max_moves is not None:
            more = "let more tasks move, or give it more effort or time"
        remarks.append(f"nothing beat {order_text(made.order)}: {more}")
    if (
        not failed
        and replace(request.ising, control=True) != IsingParams()
        and not any(stage.name in SAMPLED for stage in report.stages)
    ):
        remarks.append("no QUBO was sampled, so that penalties, temperatures and encoding were of no consequence")
    if request.islands > 1 and not any(ISLANDS in stage.detail for stage in report.stages):
        remarks.append("no search ran that has a seed, so that islands were of no consequence")
    return remarks
