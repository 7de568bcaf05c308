"""A cluster of Slurm on one machine: its controller, four daemons with host names of their own, and munge."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import urandom
from pathlib import Path

# Ports that neither Slurm's defaults nor other services of a developer take.
PORT = 17817
# Seconds in which the daemons have come up, far more than the three that they take.
LIMIT_S = 60
PATIENCE_S = 5
# Debian keeps the daemons off the path of users.
SYSTEM = "/usr/sbin:/sbin"
SLURMD = 'hostname "$1"; exec "$0" -D -N "$1" -f "$2"'
CONFIGURATION = """ClusterName=tiger
SlurmctldHost={here}
SlurmctldPort={port}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket
SlurmUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
ReturnToService=2
MpiDefault=none
"""


def find_daemon(name: str) -> str | None:
    """Return the path of a daemon."""
    return shutil.which(name) or shutil.which(name, path=SYSTEM)


def is_installed() -> bool:
    """Return whether all of Slurm is there."""
    return all(map(find_daemon, ("munged", "slurmctld", "slurmd", "srun")))


@contextmanager
def start_cluster(hosts: Sequence[str], cores: int, folder: Path) -> Iterator[Path]:
    """Start the daemons of a cluster in a folder, yield its configuration, and end them; takes root."""
    here, key = socket.gethostname(), folder / "munge.key"
    (folder / "state").mkdir()
    key.write_bytes(urandom(1024))
    key.chmod(0o400)
    nodes = [
        f"NodeName={host} NodeHostname={here} Port={PORT + 1 + k} CPUs={cores} CoresPerSocket={cores}\n"
        for k, host in enumerate(hosts)
    ]
    partition = f"PartitionName=all Nodes={','.join(hosts)} Default=YES State=UP\n"
    configuration = folder / "slurm.conf"
    head = CONFIGURATION.format(here=here, port=PORT, folder=folder)
    configuration.write_text("".join([head, *nodes, partition]))
    files = ("socket", "key-file", "pid-file", "log-file", "seed-file")
    munge = [f"--{option}={folder}/munge.{option.partition('-')[0]}" for option in files]
    commands = [
        [find_daemon("munged"), "--foreground", "--force", *munge],
        [find_daemon("slurmctld"), "-D", "-c", "-f", configuration],
        *(["unshare", "--uts", "sh", "-c", SLURMD, find_daemon("slurmd"), host, configuration] for host in hosts),
    ]
    started = list[subprocess.Popen[bytes]]()
    try:
        for command in commands:
            log = (folder / f"daemon{len(started)}.log").open("wb")
            started.append(subprocess.Popen([str(word) for word in command], stdout=log, stderr=log))
            log.close()
            time.sleep(0.5)
        _await_hosts(hosts, configuration)
        yield configuration
    finally:
        for daemon in reversed(started):
            _end(daemon)


def _end(daemon: "subprocess.Popen[bytes]") -> None:
    """End a daemon, at once where it waits for what it has started."""
    daemon.terminate()
    try:
        daemon.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()


def _await_hosts(hosts: Sequence[str], configuration: Path) -> None:
    """Wait until all hosts are idle; raise SubprocessError where they are not in time."""
    until = time.monotonic() + LIMIT_S
    while time.monotonic() < until:
        command = ["sinfo", "--noheader", "--Node", "--format=%T"]
        made = subprocess.run(command, env=_environment(configuration), capture_output=True, text=True, check=False)
        if made.stdout.split() == ["idle"] * len(hosts):
            return
        time.sleep(0.5)
    raise subprocess.SubprocessError(f"expected {len(hosts)} idle hosts of Slurm in {LIMIT_S} s, got others")


def _environment(configuration: Path) -> dict[str, str]:
    """Return the variables by which the programs of Slurm know the cluster."""
    return os.environ | {"SLURM_CONF": str(configuration)}
