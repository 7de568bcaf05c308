"""Worked requests for the page at `/docs`."""

WORK = (10, 20, 13, 21, 17, 11, 34, 25, 10, 7, 60)
TRAFFIC = (
    (0, 1, 2), (0, 2, 2), (0, 3, 2), (1, 4, 8), (2, 5, 6), (3, 6, 6), (3, 7, 6), (4, 5, 2),
    (4, 9, 4), (5, 8, 10), (6, 8, 10), (7, 10, 4), (8, 9, 4), (8, 10, 4), (9, 10, 4),
)  # fmt: skip
MESH_COST = {"0,0": 1, "0,1": 2, "1,0": 3, "1,1": 4}
MESH_LINKS = (("0,0", "0,1"), ("1,0", "1,1"), ("0,0", "1,0"), ("0,1", "1,1"))
SIDE = 4
STENCIL = [(k, k + 1) for k in range(SIDE * SIDE) if (k + 1) % SIDE] + [(k, k + SIDE) for k in range(SIDE * (SIDE - 1))]

ELEVEN_TASKS = {
    "tasks": {
        "directed": True,
        "nodes": [{"id": task, "work": work} for task, work in enumerate(WORK)],
        "edges": [{"source": u, "target": v, "weight": volume} for u, v, volume in TRAFFIC],
    },
    "topology": {
        "directed": False,
        "nodes": [{"id": node, "cost": cost} for node, cost in MESH_COST.items()],
        "edges": [{"source": u, "target": v, "weight": 2} for u, v in MESH_LINKS],
    },
    "rule": "levels",
    "seed": 1,
}

STENCIL_ON_TORUS = {
    "tasks": {
        "directed": False,
        "nodes": [{"id": task} for task in range(SIDE * SIDE)],
        "edges": [{"source": u, "target": v, "weight": 1} for u, v in STENCIL],
    },
    "topology": "torus:4x4",
    "rule": "one-to-one",
    "pinned": {"0": "1,2"},
    "seed": 1,
}

# The quantum Fourier transform of four qubits.
FOURIER = """OPENQASM 2.0;
include "qelib1.inc";
qreg q[4];
h q[0]; cp(pi/2) q[1],q[0]; cp(pi/4) q[2],q[0]; cp(pi/8) q[3],q[0];
h q[1]; cp(pi/2) q[2],q[1]; cp(pi/4) q[3],q[1];
h q[2]; cp(pi/2) q[3],q[2];
h q[3];
"""

FOURIER_ON_RING = {"circuit": FOURIER, "topology": "ring:6", "level": 1, "seed": 1}

ENTANGLED_ON_TARGET = {
    "circuit": 'OPENQASM 2.0; include "qelib1.inc"; qreg q[3]; h q[0]; cx q[0],q[1]; cx q[1],q[2];',
    "topology": {
        "num_qubits": 5,
        "gates": [
            {"name": "cx", "qubits": [0, 1], "error": 0.04, "duration": 3e-7},
            {"name": "cx", "qubits": [1, 2], "error": 0.01, "duration": 3e-7},
            {"name": "cx", "qubits": [2, 3], "error": 0.01, "duration": 3e-7},
            {"name": "cx", "qubits": [3, 4], "error": 1},
        ],
        "measure": [{"qubit": qubit, "error": 0.02} for qubit in range(5)],
    },
    "objective": "success",
    "level": 1,
}

# Eight ranks, each of which sends to the third behind it, as a matrix, and two racks of two nodes in Slurm's notation.
RANKS_ON_RACKS = {
    "tasks": {
        "file": "ranks.csv",
        "text": "".join(f"{','.join('01'[k == (j + 3) % 8] for k in range(8))}\n" for j in range(8)),
    },
    "topology": {
        "file": "topology.conf",
        "text": "SwitchName=rack0 Nodes=n[0-1]\nSwitchName=rack1 Nodes=n[2-3]\nSwitchName=top Switches=rack[0-1]\n",
    },
    "slots": 2,
    "emit": "openmpi",
    "seed": 1,
}

PATTERN_ON_TREE = {"tasks": "halo:8x8", "topology": "tree:4x16@1,10", "seed": 1}

EXAMPLES = {
    "eleven-tasks": {
        "summary": "Eleven tasks in levels on a 2x2 mesh of four speeds",
        "description": "The first example of the original tool: the optimum is 388, of which 348 are compute.",
        "value": ELEVEN_TASKS,
    },
    "stencil": {
        "summary": "A 4x4 stencil on a 4x4 torus, one corner pinned",
        "description": "Every one of the 24 edges fits on a link, so that the optimum is 24.",
        "value": STENCIL_ON_TORUS,
    },
    "ranks": {
        "summary": "Eight ranks on four nodes, as files, and their order for Open MPI",
        "description": "Each sends to the third behind it: these share nodes then. `emitted` is the rankfile.",
        "value": RANKS_ON_RACKS,
    },
    "pattern": {
        "summary": "A halo exchange of 64 ranks, by a short text, on four nodes of 16",
        "description": "Four squares of 4x4 ranks leave the fewest messages between nodes.",
        "value": PATTERN_ON_TREE,
    },
    "fourier": {
        "summary": "A quantum Fourier transform on a ring of six qubits",
        "description": "Its gates commute in part, and six pairs of qubits meet where a path of four has three.",
        "value": FOURIER_ON_RING,
    },
    "entangled": {
        "summary": "Three entangled qubits where the errors are small",
        "description": "The edge of error 1 is faulty, and the best three qubits are 1, 2 and 3.",
        "value": ENTANGLED_ON_TARGET,
    },
}

HEAD_AWARE = {
    "model": "transformer:layers=24,hidden=1024,heads=16,vocabulary=50257,sequence=2048",
    "cluster": "dgx:1",
    "schedule": "1f1b",
    "microbatches": 32,
}

TWO_SPEEDS = {
    "model": {
        "layers": [
            {"name": f"l{k}", "forward_s": 0.01, "backward_s": 0.02, "parameter_bytes": 1e8, "activation_bytes": 1e6}
            for k in range(6)
        ]
    },
    "cluster": {
        "devices": [
            {"name": "fast", "memory_bytes": 8e10, "speed": 2},
            {"name": "slow", "memory_bytes": 4e10, "speed": 1},
        ],
        "uniform_bandwidth": 1e10,
        "uniform_latency": 1e-5,
    },
}

DIAMOND = {
    "model": {
        "operators": [
            {"name": "stem", "seconds": 0.01, "memory_bytes": 2e8, "output_bytes": 1e6, "colocate": "stem"},
            {"name": "left", "seconds": 0.03, "memory_bytes": 5e8, "output_bytes": 1e6},
            {"name": "right", "seconds": 0.04, "memory_bytes": 5e8, "output_bytes": 1e6},
            {"name": "head", "seconds": 0.02, "memory_bytes": 2e8, "output_bytes": 1e6},
            {"name": "stem_grad", "seconds": 0.02, "colocate": "stem", "backward": True},
        ],
        "edges": [["stem", "left"], ["stem", "right"], ["left", "head"], ["right", "head"], ["head", "stem_grad"]],
    },
    "cluster": {
        "devices": [{"name": "a", "memory_bytes": 1e9}, {"name": "b", "memory_bytes": 1e9}],
        "uniform_bandwidth": 1e9,
        "uniform_latency": 0,
    },
    "mode": "dag",
}

# A profile of PipeDream and what `nvidia-smi topo -m` prints, as files.
PROFILED = {
    "model": {
        "file": "graph.txt",
        "text": "".join(
            f"node{k} -- Linear -- forward_compute_time=10, backward_compute_time=20, activation_size=1000000, "
            f"parameter_size=100000000\n"
            for k in range(1, 5)
        )
        + "".join(f"\tnode{k} -- node{k + 1}\n" for k in range(1, 4)),
    },
    "cluster": {
        "file": "machine.topo",
        "text": "\tGPU0\tGPU1\nGPU0\t X \tNV2\nGPU1\tNV2\t X \n",
    },
    "schedule": "1f1b",
    "microbatches": 8,
}

PLACEMENTS = {
    "head-aware": {
        "summary": "A transformer of 24 layers on eight devices",
        "description": "Its head costs as much as three layers and a half, so the last stage holds fewer of them.",
        "value": HEAD_AWARE,
    },
    "two-speeds": {
        "summary": "Six equal layers on two devices, one twice as fast",
        "description": "The fast device takes four of them: 60 ms and the message on both.",
        "value": TWO_SPEEDS,
    },
    "layout": {
        "summary": "The same transformer, beside the layout that it runs with now",
        "description": "`given` says what three decoder layers on every device take, and that a change pays.",
        "value": HEAD_AWARE | {"layout": "Et*3|(t*3|)*6,t*3L"},
    },
    "profile": {
        "summary": "A profile of PipeDream on the two GPUs of a machine, as files",
        "description": "Four operators of 30 ms, two on each GPU.",
        "value": PROFILED,
    },
    "operators": {
        "summary": "A diamond of operators on two devices",
        "description": "Stem and gradient stay together with one branch, the head goes with the other: 63 ms on both.",
        "value": DIAMOND,
    },
}

PREVIEWS = {
    "tasks": {"summary": "The tasks of a stencil", "value": {"tasks": "halo:8x8"}},
    "topology": {"summary": "A torus", "value": {"topology": "torus:4x4x4"}},
    "circuit": {"summary": "A quantum Fourier transform", "value": {"circuit": FOURIER}},
    "model": {"summary": "A diamond of operators", "value": {"model": DIAMOND["model"]}},
    "cluster": {"summary": "Two machines of eight GPUs", "value": {"cluster": "dgx:2"}},
}

DEGREES = {
    "model": "transformer:layers=8,hidden=1024,heads=16,vocabulary=50257,sequence=2048",
    "cluster": {"machines": [{"devices": 4, "memory_bytes": "40GB", "bandwidth": "300GB/s", "latency": "5us"}]},
    "batch": 16,
    "top": 3,
}

PLANS = {
    "degrees": {
        "summary": "The degrees of parallelism for a transformer of eight layers on four devices",
        "description": "Stages, ways to cut a layer, replicas, the size of a microbatch and the schedule are open.",
        "value": DEGREES,
    },
    "given": {
        "summary": "The same transformer, beside the plan that it is trained by now",
        "description": "`given` says what two stages of two tensor-parallel devices take, and whether to keep them.",
        "value": DEGREES | {"given": "tp=2,pp=2,mbs=2,sharding=zero-1"},
    },
}

FROZEN = {
    "model": "transformer:layers=12,hidden=1024,heads=16,vocabulary=50257,sequence=2048",
    "cluster": "dgx:1",
    "pipeline": 4,
    "microbatches": 16,
    "iterations": 1000,
}

IN_USE = TWO_SPEEDS | {"plan": {"cuts": [0, 3, 6], "devices": ["fast", "slow"]}, "microbatches": 8}

# Of the job of the stencil on a torus, every node of which has a task.
REPLANS = {
    "lost-task": {
        "summary": "A task is gone, and its neighbours stay",
        "value": {"lost_tasks": ["15"]},
    },
    "moved-work": {
        "summary": "A task goes, another comes, and one edge has more traffic",
        "description": "The new task takes the node that falls free, and others move that gain more than 1 by it.",
        "value": {
            "lost_tasks": ["15"],
            "added_tasks": {"nodes": [{"id": "new"}], "edges": [{"source": "new", "target": "0", "weight": 4}]},
            "traffic": [{"source": "1", "target": "2", "weight": 3}],
            "move_cost": 1,
        },
    },
    "lost-node": {
        "summary": "Other hardware with a row more, of which a node is lost",
        "value": {"topology": "torus:5x4", "lost_nodes": ["0,0"], "max_moves": 2},
    },
}

REBALANCERS = {
    "frozen": {
        "summary": "A transformer of 12 layers on four of eight devices",
        "description": "The first plan is the best by the times of the model.",
        "value": FROZEN,
    },
    "in-use": {
        "summary": "Six layers on two devices, with the plan in use",
        "description": "Half of the layers on each, although one device is twice as fast.",
        "value": IN_USE,
    },
}

STEPS = {
    "layers": {
        "summary": "What each layer took, forward and backward: the first half is frozen",
        "value": {"loads": [[0.001] * 14, [0.0] * 7 + [0.002] * 7]},
    },
    "stages": {"summary": "What each stage took in all", "value": {"loads": [0.02, 0.01, 0.01, 0.01]}},
    "lost": {"summary": "A device is gone for good", "value": {"lost": "m0.gpu1"}},
    "packed": {"summary": "As few devices as an iteration of half a second needs", "value": {"target_s": 0.5}},
}

COMPARISONS = {
    "seeds": {
        "summary": "One problem by three seeds",
        "description": "Each variant is the request with some fields replaced, and becomes a job.",
        "value": {
            "kind": "assign",
            "request": {"tasks": "halo:6x6", "topology": "torus:3x3x4"},
            "variants": [{"label": f"seed {seed}", "changes": {"seed": seed}} for seed in (1, 2, 3)],
        },
    },
    "hardware": {
        "summary": "One circuit on two devices, each request stated in full",
        "value": {
            "entries": [
                {"label": "ring", "kind": "assign", "request": FOURIER_ON_RING},
                {"label": "line", "kind": "assign", "request": {**FOURIER_ON_RING, "topology": "grid:6"}},
            ]
        },
    },
}

# The loads of EPLB's README, in two layers of twelve experts, and the map in use by numbers.
SKEWED = [
    [90, 132, 40, 61, 104, 165, 39, 4, 73, 56, 183, 86],
    [20, 107, 104, 64, 19, 197, 187, 157, 172, 86, 16, 27],
]

EXPERT_MAPS = {
    "loads": {
        "summary": "Loads of two layers of twelve experts on eight GPUs, with four replicas, and a map in use",
        "description": "The largest loads of the map in use are above those of a balanced one: moving pays.",
        "value": {
            "kind": "loads",
            "trace": SKEWED,
            "cluster": "dgx:1",
            "replicas": 4,
            "in_use": [[*range(12), *range(4)]] * 2,
            "token_s": 1e-6,
            "expert_bytes": 4.4e7,
            "steps": 100_000,
        },
    },
    "trace": {
        "summary": "What a router chose for eight tokens in three layers of four experts, on two GPUs",
        "description": "Experts that follow each other share a GPU.",
        "value": {
            "experts": 4,
            "held_out": 0.25,
            "trace": [[0, 2, 0], [1, 3, 1], [3, 1, 3], [2, 0, 2]] * 2,
            "cluster": {"devices": [{"name": "x"}, {"name": "y"}], "uniform_bandwidth": 1e9},
        },
    },
}
