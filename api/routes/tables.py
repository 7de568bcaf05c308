"""The table of a comparison: what differs among its requests, and the figures of its reports side by side."""

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import cast

from tiger.api.routes.expansion import problem_in
from tiger.api.schemas.comparisons import ComparedJobBody, ComparisonBody, FigureBody, summarize
from tiger.api.seams.comparison import StoredComparison
from tiger.api.seams.job import Job
from tiger.model.answer import Answer
from tiger.model.figure import Figure
from tiger.uses import list_uses

Request = Mapping[str, object]
# What rounding leaves between equal figures, as a part of them.
ROUNDING = 1e-9
# What a cell begins with that spreadsheets compute.
FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def tabulate(comparison: StoredComparison, jobs: Sequence[Job | None]) -> ComparisonBody:
    """Return a comparison as a table of its jobs as they are, None for one that is gone."""
    requests = [each.request for each in comparison.entries]
    differs = _list_differences([request for request in requests if request is not None])
    reports = [_read_report(job) for job in jobs]
    figures = [{each.name: each for each in _list_figures(report)} for report in reports]
    columns = {name: figure for each in figures for name, figure in each.items()}
    best = {name: _find_best([each.get(name) for each in figures]) for name in columns}
    rows = [
        ComparedJobBody(
            label=entry.label,
            job=entry.job,
            status="gone" if job is None else job.status,
            problem=None if job is None else job.problem,  # type: ignore[arg-type]  # checked by the model
            feasible=None if report is None else report.feasible,
            optimal=None if report is None else bool(getattr(report, "optimal", False)),
            request={name: (entry.request or {}).get(name) for name in differs},
            figures={name: _value(each.get(name)) for name in columns},
            ratios={name: _divide(each.get(name), figures[0].get(name)) for name in columns},
            best=[name for name in columns if k in best[name]],
        )
        for k, (entry, job, report, each) in enumerate(zip(comparison.entries, jobs, reports, figures, strict=True))
    ]
    return ComparisonBody(
        **summarize(comparison),  # type: ignore[arg-type]  # checked by the model
        ended=all(job is None or job.ended for job in jobs),
        same_problem=_have_one_problem(requests),
        differs=differs,
        columns=[FigureBody(name=each.name, better=each.better, unit=each.unit) for each in columns.values()],
        rows=rows,
    )


def write_table(table: ComparisonBody) -> str:
    """Return a table as CSV (RFC 4180): a row for each job, empty where nothing is known.

    Text that a spreadsheet would take for a formula begins with an apostrophe.
    """
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\r\n")
    names = [column.name for column in table.columns]
    head = ("label", "job", "status", "feasible", "optimal")
    lines.writerow((*head, *(f"request.{name}" for name in table.differs), *names))
    for row in table.rows:
        known = (*(getattr(row, name) for name in head), *row.request.values())
        lines.writerow((*map(_cell, known), *(row.figures[name] for name in names)))
    return text.getvalue()


def _cell(value: object) -> object:
    """Return a value as what stands in a cell: text as it is, unless it begins as a formula does, and else JSON."""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(FORMULAS) else value
    return value if value is None or isinstance(value, bool) else json.dumps(value, ensure_ascii=False)


def _read_report(job: Job | None) -> Answer | None:
    """Return the report of a job, None without one or in a form that is not known here."""
    if job is None or job.report is None:
        return None
    document = json.loads(job.report)
    use = next((use for use in list_uses() if use.schema == document.get("schema")), None)
    kind = None if use is None else cast(type[Answer], use.report.load())
    # Another version of TIGER may have written it.
    with suppress(KeyError, TypeError, ValueError, AttributeError):
        return None if kind is None else kind.from_dict(document)
    return None


def _list_figures(report: Answer | None) -> Iterator[Figure]:
    """Yield the figures of a feasible report that have a value."""
    if report is not None and report.feasible:
        yield from (each for each in report.figures if each.value is not None and math.isfinite(each.value))


def _find_best(figures: Sequence[Figure | None]) -> set[int]:
    """Return the places of the best of figures of one name, its equals too; none unless two have values."""
    known = {k: each.value for k, each in enumerate(figures) if each is not None and each.value is not None}
    better = next((each.better for each in figures if each is not None), None)
    if better is None or len(known) <= 1:
        return set()
    best = min(known.values()) if better == "less" else max(known.values())
    return {k for k, value in known.items() if math.isclose(value, best, rel_tol=ROUNDING)}


def _divide(figure: Figure | None, first: Figure | None) -> float | None:
    """Return a figure divided by the first, None where there is nothing to divide by."""
    value, divisor = _value(figure), _value(first)
    return None if value is None or not divisor else value / divisor


def _value(figure: Figure | None) -> float | None:
    """Return the value of a figure."""
    return None if figure is None else figure.value


def _list_differences(requests: Sequence[Request]) -> list[str]:
    """Return the fields that are not the same in all requests, in their order."""
    names = dict.fromkeys(name for request in requests for name in request)
    return [name for name in names if len({_text(request.get(name)) for request in requests}) > 1]


def _have_one_problem(requests: Sequence[Request | None]) -> bool | None:
    """Return whether all requests state the same problem, None where one that may is not known."""
    fields = [(problem_in(request), request) for request in requests if request is not None]
    stated = {(name, _text(request.get(name or ""))) for name, request in fields}
    if len(stated) > 1:
        return False
    return None if None in requests else True


def _text(value: object) -> str:
    """Return a value as text that is the same for the same values alone."""
    return json.dumps(value, sort_keys=True)
