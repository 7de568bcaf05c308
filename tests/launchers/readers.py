"""Readers of what the writers write, made from the documentation of each launcher and sharing nothing with the writers.

Each returns what its launcher makes of the text, by rank.
"""

import csv
import io
import json
import re

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


def read_permutation(text: str) -> list[int]:
    """Return the new rank of every process."""
    ranks = [int(line) for line in text.splitlines()]
    assert sorted(ranks) == list(range(len(ranks)))
    return ranks


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
