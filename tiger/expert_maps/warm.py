"""Compile the kernels of placing experts into numba's cache, or load them from there."""

from functools import cache

import numpy as np

from tiger.expert_maps.annealing import anneal_experts, start_annealing
from tiger.expert_maps.costs import ExpertProblem
from tiger.expert_maps.replicas.loads import ExpertLoads
from tiger.expert_maps.shares.annealing import BALANCED, anneal_shares
from tiger.expert_maps.shares.annealing import start_annealing as start_shares
from tiger.expert_maps.shares.balancing import set_board
from tiger.expert_maps.slots.annealing import anneal_slots
from tiger.expert_maps.slots.annealing import start_annealing as start_slots
from tiger.expert_maps.slots.objective import SlotProblem

KERNELS = ("experts",)


@cache
def load() -> None:
    """Anneal, once in a process, experts on two devices, too few to be annealed otherwise, and slots and shares."""
    problem = ExpertProblem(counts=np.ones((1, 2, 2)), hops=1.0 - np.eye(2))
    place = np.array([[0, 1], [1, 0]])
    anneal_experts(start_annealing(problem, place), 1.0, 1, 0)
    loads = ExpertLoads(np.ones((2, 2)), 2, 1, 1, 2)
    slots = SlotProblem(loads, problem.counts, 1.0, problem.hops, problem.hops)
    anneal_slots(start_slots(slots, place), 1.0, 1, 0)
    board = set_board(place[0], loads.speeds, np.ones((1, 2)))
    limits = (1, 2, 1, loads.blank, BALANCED)
    anneal_shares(start_shares(board, np.zeros((2, 2)), np.zeros((2, 2), np.int64), np.ones(1), limits), 1.0, 1, 0)


STAGES = ((KERNELS[0], load),)
