"""The variables of the environment that TIGER reads, and those that may be misspelt."""

from collections.abc import Mapping
from difflib import get_close_matches

from tiger.cli.running import list_commands

PREFIX = "TIGER_"
# Of commands that a service may run, of the plugin of Qiskit, and of the service. They are written down here, and a
# test compares them with the settings, as loading those takes half a second.
CLIENT = ("TIGER_SERVER", "TIGER_API_KEY")
PLUGIN = (
    *("TIGER_LAYOUT_EFFORT", "TIGER_LAYOUT_OBJECTIVE", "TIGER_LAYOUT_QUBITS", "TIGER_LAYOUT_SOLVER"),
    "TIGER_LAYOUT_TIME_S",
)
SERVICE = (
    *(
        "TIGER_DATA_DIR",
        "TIGER_DATABASE_URL",
        "TIGER_API_KEYS",
        "TIGER_KEYS_FILE",
        "TIGER_MAX_BODY_BYTES",
        "TIGER_MAX_UPLOAD_BYTES",
        "TIGER_MAX_TASKS",
    ),
    *("TIGER_MAX_EDGES", "TIGER_MAX_QUBITS", "TIGER_MAX_GATES", "TIGER_MAX_COUPLERS", "TIGER_MAX_TIME_S"),
    *("TIGER_MAX_WAIT_S", "TIGER_MAX_MEMORY_BYTES", "TIGER_WORKERS", "TIGER_EXECUTOR", "TIGER_MAX_JOBS"),
    *("TIGER_MAX_REBALANCERS", "TIGER_RETENTION_DAYS", "TIGER_RATE", "TIGER_MAX_CONCURRENT", "TIGER_TRUSTED_PROXIES"),
    *("TIGER_CORS_ORIGINS", "TIGER_AUDIT_READS", "TIGER_WEBHOOK_HOSTS", "TIGER_WEBHOOK_NETWORKS"),
    "TIGER_ENABLE_DWAVE",
)
KNOWN = (*CLIENT, *PLUGIN, *SERVICE)
# Commands that read variables, with those that they read.
READ: Mapping[str, tuple[str, ...]] = {
    **{command.name: CLIENT for use, command in list_commands() if use.remote},
    "openapi": SERVICE,
    "serve": SERVICE,
    "doctor": KNOWN,
}
# How alike two names are, in parts of 1, so that one is taken for the other misspelt: a letter or two of any name.
ALIKE = 0.85


def list_set(environment: Mapping[str, str]) -> list[str]:
    """Return the known variables that are set, by name."""
    return [name for name in KNOWN if name in environment]


def list_misspelt(environment: Mapping[str, str], read: tuple[str, ...] = KNOWN) -> list[tuple[str, str]]:
    """Return the variables that are not known and almost named as one of those read, each with that."""
    found = []
    for name in sorted(environment):
        if name.startswith(PREFIX) and name not in KNOWN:
            near = get_close_matches(name, KNOWN, 1, ALIKE)
            found += [(name, near[0])] if near and near[0] in read else []
    return found
