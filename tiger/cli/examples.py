"""Examples in the help of commands, which run as they are in a clone of the project, one after another."""

EXAMPLES = {
    "assign": (
        "tiger assign halo:8x8 --topology torus:4x4x4",
        "tiger assign examples/ranks4.csv --topology tree:2x2@1,10 --json report.json",
        "tiger assign examples/butko11.ram --solver neal --seed 1 \\\n  --topology examples/mesh_2x2_het.arc",
    ),
    "layout": (
        "tiger layout examples/circuits/qft5.qasm --coupling heavy-hex:3",
        "tiger layout examples/circuits/qft5.qasm --level 1 \\\n  --coupling examples/circuits/tee9.txt"
        " --json layout.json",
    ),
    "place": (
        "tiger place examples/models/skipnet.txt --cluster dgx:1",
        "tiger place examples/models/gpt2-medium.json --cluster dgx:1 \\\n  --schedule 1f1b --microbatches 32"
        " --emit megatron",
    ),
    "ranks": (
        "tiger ranks halo:8x8 --cluster tree:4x4x4@1,10,100 --emit permutation",
        "tiger ranks halo:8x8 --cluster examples/topology.conf --slots 4 --emit slurm",
    ),
    "plan": ("tiger plan examples/models/gpt2-medium.json --cluster dgx:1 --batch 64",),
    "rebalance": (
        "tiger rebalance examples/models/gpt2-medium.json --cluster dgx:1 \\\n"
        "  --pipeline-parallel 4 --workload pruning:intervals=10",
    ),
    "experts": (
        "tiger experts examples/traces/router8.csv --experts 8 --cluster dgx:1",
        "tiger experts examples/traces/router8.csv --experts 8 --cluster dgx:1 \\\n"
        "  --replicas 8 --token-s 2e-7 --token-bytes 14336 --emit vllm -o map.json",
        "tiger experts examples/traces/router8.csv --experts 8 --cluster dgx:1 \\\n"
        "  --replicas 8 --token-s 2e-7 --token-bytes 14336 \\\n  --in-use map.json --expert-bytes 44e6",
    ),
    "encode": ("tiger encode ring:4 --topology grid:2x2 -o ring.bqm --variables ring.json",),
    "decode": (
        "echo 1 0 0 0  0 1 0 0  0 0 0 1  0 0 1 0 > reads.txt\n"
        "tiger decode ring:4 --topology grid:2x2 --samples reads.txt",
    ),
    "explain": ("tiger assign halo:8x8 --topology torus:4x4x4 --json - | tiger explain -",),
    "topologies": ("tiger topologies",),
    "solvers": ("tiger solvers",),
    "openapi": ("tiger openapi > openapi.json",),
    "serve": ("tiger serve --show-config", "tiger serve --port 8080"),
    "warm": ("tiger warm assign",),
    "doctor": ("tiger doctor", "tiger doctor --json -"),
}
