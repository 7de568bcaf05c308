"""A job of a service in place of the report that it has."""

from typing import Protocol, runtime_checkable

from tiger.errors import InputError


@runtime_checkable
class SolvedJob(Protocol):
    """Stand for a job of a service, which has a report once it has ended."""

    @property
    def report(self) -> object | None:
        """Return the report, None without one."""
        ...


def open_job(source: object, field: str, member: str) -> object:
    """Return the report of a job, and anything else as it is.

    Raises InputError of a field for a job without a feasible report that has a member.
    """
    if not isinstance(source, SolvedJob):
        return source
    report = source.report
    if not (getattr(report, "feasible", False) and hasattr(report, member)):
        raise InputError(field, f"expected a job with a report that is feasible and has {member}, got one without")
    return report
