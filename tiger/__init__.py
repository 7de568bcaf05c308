"""TIGER maps work onto hardware: task graphs onto machines, circuits onto qubits, by Ising models and native search."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiger.api.saved_reports import load_report
    from tiger.circuits.entry.entry import layout
    from tiger.circuits.entry.report import CircuitReport
    from tiger.errors import InputError
    from tiger.expert_maps.entry import experts
    from tiger.expert_maps.replicas.tensors import rebalance_experts
    from tiger.expert_maps.report import ExpertReport
    from tiger.mapping.entry import assign
    from tiger.mapping.mapper import solve
    from tiger.model.metrics import DenseMetric, GridMetric, TreeMetric
    from tiger.model.problem import Problem
    from tiger.model.seams import Assignment
    from tiger.model.tasks import TaskGraph
    from tiger.model.topology import Links, Topology
    from tiger.placement.entry.place import place
    from tiger.placement.entry.report import PlacementReport
    from tiger.planning.calibration.entry import calibrate
    from tiger.planning.calibration.report import CalibrationReport
    from tiger.planning.entry import plan
    from tiger.planning.report import PlanReport
    from tiger.plotting.card import card
    from tiger.plotting.pictures import draw
    from tiger.qubo.params import IsingParams
    from tiger.rebalancing.online.planner import OnlinePlanner
    from tiger.rebalancing.params import RebalanceOptions
    from tiger.rebalancing.rebalancer import Rebalancer
    from tiger.rebalancing.report import RebalanceReport
    from tiger.rebalancing.state import RebalancerState
    from tiger.run.report import Report
    from tiger.run.stage import Stage

__version__ = "0.3.0"

_HOMES = {
    "Assignment": "tiger.model.seams",
    "CalibrationReport": "tiger.planning.calibration.report",
    "CircuitReport": "tiger.circuits.entry.report",
    "DenseMetric": "tiger.model.metrics",
    "GridMetric": "tiger.model.metrics",
    "ExpertReport": "tiger.expert_maps.report",
    "InputError": "tiger.errors",
    "IsingParams": "tiger.qubo.params",
    "Links": "tiger.model.topology",
    "OnlinePlanner": "tiger.rebalancing.online.planner",
    "PlacementReport": "tiger.placement.entry.report",
    "PlanReport": "tiger.planning.report",
    "Problem": "tiger.model.problem",
    "RebalanceOptions": "tiger.rebalancing.params",
    "RebalanceReport": "tiger.rebalancing.report",
    "Rebalancer": "tiger.rebalancing.rebalancer",
    "RebalancerState": "tiger.rebalancing.state",
    "Report": "tiger.run.report",
    "Stage": "tiger.run.stage",
    "TaskGraph": "tiger.model.tasks",
    "Topology": "tiger.model.topology",
    "TreeMetric": "tiger.model.metrics",
    "assign": "tiger.mapping.entry",
    "calibrate": "tiger.planning.calibration.entry",
    "card": "tiger.plotting.card",
    "draw": "tiger.plotting.pictures",
    "experts": "tiger.expert_maps.entry",
    "layout": "tiger.circuits.entry.entry",
    "load_report": "tiger.api.saved_reports",
    "place": "tiger.placement.entry.place",
    "plan": "tiger.planning.entry",
    "rebalance_experts": "tiger.expert_maps.replicas.tensors",
    "solve": "tiger.mapping.mapper",
}

__all__ = [
    "Assignment",
    "CalibrationReport",
    "CircuitReport",
    "DenseMetric",
    "ExpertReport",
    "GridMetric",
    "InputError",
    "IsingParams",
    "Links",
    "OnlinePlanner",
    "PlacementReport",
    "PlanReport",
    "Problem",
    "RebalanceOptions",
    "RebalanceReport",
    "Rebalancer",
    "RebalancerState",
    "Report",
    "Stage",
    "TaskGraph",
    "Topology",
    "TreeMetric",
    "assign",
    "calibrate",
    "card",
    "draw",
    "experts",
    "layout",
    "load_report",
    "place",
    "plan",
    "rebalance_experts",
    "solve",
]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that `import tiger` stays cheap."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tiger' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted([*_HOMES, "__version__"])
