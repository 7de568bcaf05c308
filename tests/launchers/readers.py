"""Readers of what the writers write, made from the documentation of each launcher and sharing nothing with the writers.

Each returns what its launcher makes of the text, by rank.
"""

import csv
import io
import json
import re

import yaml

RANK_LINE = re.compile(r"rank (\d+)=(\S+) slot=(\d+)")


def read_rankfile(text: str) -> list[tuple[str, int]]:
    """Return host and core of every rank; each rank stands once, in any order."""
    found = [RANK_LINE.fullmatch(line) for line in text.splitlines()]
    bindings = {int(match[1]): (match[2], int(match[3])) for match in found if match}
    assert None not in found
    assert sorted(bindings) == list(range(len(found)))
    return [bindings[rank] for rank in range(len(found))]


def read_hosts(text: str) -> list[str]:
    """Return the host of every line, as srun does: names end at a blank, a comma or a semicolon, comments at a #."""
    names = [re.split(r"[,;\s]", line.partition("#")[0])[0] for line in text.splitlines()]
    assert all(names)
    return names


def read_machines(text: str) -> list[str]:
    """Return the host of every rank: as many ranks, line by line, as the number behind the colon says."""
    hosts = []
    for line in text.splitlines():
        host, _, count = line.partition(":")
        hosts += [host] * (int(count) if count else 1)
    return hosts


def read_environment(text: str) -> list[tuple[str, dict[str, str]]]:
    """Return host and variables of every rank, by its variable RANK."""
    rows = []
    for line in text.splitlines():
        host, *words = line.split(" ")
        rows.append((host, dict(word.split("=", 1) for word in words)))
    return sorted(rows, key=lambda row: int(row[1]["RANK"]))


def apply_patches(text: str) -> list[dict[str, dict[str, object]]]:
    """Return labels, annotations and selector of the pod of every rank, none of which it had before (RFC 6902)."""
    pods = []
    for number, entry in enumerate(json.loads(text)):
        assert entry["rank"] == number
        pod: dict[str, dict[str, object]] = {"labels": {}, "annotations": {}, "nodeSelector": {}}
        for operation in entry["patch"]:
            assert operation["op"] == "add"
            _, top, part, *name = operation["path"].split("/")
            assert (top, part) in (("metadata", "labels"), ("metadata", "annotations"), ("spec", "nodeSelector"))
            key = "".join(name).replace("~1", "/").replace("~0", "~")
            pod[part] |= {key: operation["value"]} if name else operation["value"]
        pods.append(pod)
    return pods


def read_permutation(text: str) -> list[tuple[int, str]]:
    """Return the new rank of every process, and the host that it is to be on, nothing where that has no name."""
    lines = [line.partition(" ") for line in text.splitlines()]
    assert sorted(int(rank) for rank, _, _ in lines) == list(range(len(lines)))
    return [(int(rank), host) for rank, _, host in lines]


def read_rank_order(text: str) -> list[int]:
    """Return the ranks in the order in which they take the places of hosts, as Cray MPICH reads them."""
    lines = [line.partition("#")[0] for line in text.splitlines()]
    ranks = [int(rank) for line in lines for rank in line.split(",") if rank.strip()]
    assert sorted(ranks) == list(range(len(ranks)))
    return ranks


def read_node_file(text: str) -> list[str]:
    """Return the lines of the node file that PBS makes of its directives: a host for every process of a chunk."""
    resources = dict(line.removeprefix("#PBS -l ").split("=", 1) for line in text.splitlines())
    assert resources["place"] == "free"
    hosts = list[str]()
    for chunk in resources["select"].split("+"):
        count, *pairs = chunk.split(":")
        asked = dict(pair.split("=") for pair in pairs)
        assert int(asked["ncpus"]) > 0
        hosts += [asked["host"]] * int(asked["mpiprocs"]) * int(count)
    return hosts


def select_nodes(text: str, parallelism: int) -> list[str]:
    """Return the node of every rank: that whose label, set by a patch, is the name of the child job of its pod."""
    labels = dict[str, str]()
    for entry in json.loads(text):
        (operation,) = entry["patch"]
        assert operation["path"] == "/metadata/labels/alpha.jobset.sigs.k8s.io~1namespaced-job"
        assert entry["host"] not in labels.values()
        labels[operation["value"]] = entry["host"]
    jobs = [labels[f"NAMESPACE_JOBSET-WORKERS-{index}"] for index in range(len(labels))]
    return [host for host in jobs for _ in range(parallelism)]


def read_hypernode(text: str) -> list[str]:
    """Return the members of a HyperNode of the lowest tier."""
    node = yaml.safe_load(text)
    assert (node["apiVersion"], node["kind"]) == ("topology.volcano.sh/v1alpha1", "HyperNode")
    assert node["spec"]["tier"] == 1
    assert {member["type"] for member in node["spec"]["members"]} == {"Node"}
    return [member["selector"]["exactMatch"]["name"] for member in node["spec"]["members"]]


def read_table(text: str) -> list[dict[str, str]]:
    """Return the rows of a table with a header, which are in the order of ranks."""
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [int(row["rank"]) for row in rows] == list(range(len(rows)))
    return rows


def read_graph(text: str) -> list[str]:
    """Return the host of every rank, the label of the cluster that its node is in."""
    host, hosts = "", dict[int, str]()
    for line in text.splitlines():
        if label := re.fullmatch(r'    label="((?:[^"\\]|\\.)*)";', line):
            host = re.sub(r"\\(.)", r"\1", label[1])
        elif node := re.fullmatch(r'    (\d+) \[label="((?:[^"\\]|\\.)*)"\];', line):
            hosts[int(node[1])] = host
    return [hosts[rank] for rank in range(len(hosts))]
