"""What one request may ask for."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bound a request to `max_tasks` tasks or `max_qubits` qubits, and `max_time_s` seconds; D-Wave needs `dwave`."""

    max_tasks: int
    max_time_s: float
    max_qubits: int = 1200
    dwave: bool = False
