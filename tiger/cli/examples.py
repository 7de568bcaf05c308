"""Examples in the help of commands, which run as they are in a clone of the project, one after another."""

from collections.abc import Mapping

from tiger.cli.exchange import EXCHANGES
from tiger.cli.running import list_commands

EXAMPLES: Mapping[str, tuple[str, ...]] = {
    **{command.name: command.examples for _, command in list_commands()},
    **{exchange.name: exchange.examples for exchange in EXCHANGES},
    "explain": ("tiger assign halo:8x8 --topology torus:4x4x4 --json - | tiger explain -",),
    "emit": (
        "tiger experts examples/traces/router8.csv --experts 8 --cluster dgx:1 \\\n"
        "  --json - | tiger emit - --as sglang",
    ),
    "topologies": ("tiger topologies",),
    "solvers": ("tiger solvers",),
    "openapi": ("tiger openapi > openapi.json",),
    "serve": ("tiger serve --show-config", "tiger serve --port 8080"),
    "warm": ("tiger warm assign",),
    "doctor": ("tiger doctor", "tiger doctor --json -"),
}
