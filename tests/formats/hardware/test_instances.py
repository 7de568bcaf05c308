"""Instances of a cloud and the network above them."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tests.fuzz.test_files import damaged
from tiger.errors import InputError
from tiger.formats.files import read_hardware
from tiger.model.text import FileText

EXAMPLE = (Path(__file__).resolve().parents[3] / "examples" / "topologies" / "instances4.json").read_text("utf-8")


def read(text):
    """Return the hardware of a text."""
    return read_hardware(FileText("instances.json", text))


def test_layers_are_levels():
    """Instances below one node of the third layer are 2 apart, of the second 4, of the first 6."""
    hardware = read(EXAMPLE)
    topology = hardware.topology({})
    assert hardware.distances == {"node": 2, "layer3": 4, "layer2": 6, "layer1": 8, "zone": 10}
    assert topology.names == ("i-0a1", "i-0a2", "i-0a3", "i-0a4")
    hosts = topology.hosts
    table = topology.metric.between(hosts[:, None], hosts[None, :]).tolist()
    assert table == [[0, 6, 2, 6], [6, 0, 6, 4], [2, 6, 0, 6], [6, 4, 6, 0]]


def test_bug_answers_of_three_and_four_layers_were_refused():
    """Instances of three layers are together below the third, 4 from those below the fourth there."""
    layers = {"a": ["t", "m", "n"], "b": ["t", "m", "n", "x"], "c": ["t", "m", "n"], "d": ["t", "m", "n", "x"]}
    answer = {"Instances": [{"InstanceId": name, "NetworkNodes": nodes} for name, nodes in layers.items()]}
    hardware = read(json.dumps(answer))
    assert [*hardware.distances] == ["node", "layer4", "layer3", "layer2", "layer1", "zone"]
    topology = hardware.topology({})
    table = topology.metric.between(topology.hosts[:, None], topology.hosts[None, :]).tolist()
    assert table == [[0, 4, 2, 4], [4, 0, 4, 2], [2, 4, 0, 4], [4, 2, 4, 0]]
    assert topology.switches == ("n", "x", "top")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("i-0a2", "i-0a1"), r"topology/Instances/1/InstanceId: expected different ids, got 'i-0a1' of 0 too"),
        (('"i-0a2"', "null"), r"topology/Instances/1/InstanceId: expected text, got null"),
        (
            ('["nn-1", "nn-11", "nn-110"]', "[]"),
            r"topology/Instances/1/NetworkNodes: expected a list of .*, got 0",
        ),
        (
            ('["nn-1", "nn-11", "nn-110"]', "5"),
            r"topology/Instances/1/NetworkNodes: expected a list of .*, got 5",
        ),
        (('"nn-110"', "5"), r"topology/Instances/1/NetworkNodes/2: expected text, got 5"),
        (('"Instances"', '"NextToken": "more", "Instances"'), r"topology/NextToken: expected the whole answer"),
    ],
)
def test_bad_instances_are_named(change, reason):
    """Each by its place in the list."""
    text = EXAMPLE.replace(*change)
    assert text != EXAMPLE
    with pytest.raises(InputError, match=reason):
        read(text)


def test_no_instances_are_refused():
    """There is nothing to map onto."""
    with pytest.raises(InputError, match=r"topology/Instances: expected 1 to 1048576 instances, got 0"):
        read(json.dumps({"Instances": []}))


@pytest.mark.slow
@cases(30, 2000)
@given(data=st.data())
def test_damaged_answers_are_read_or_refused(data):
    """Either there are instances, or an error names the field."""
    with suppress(InputError):
        assert read(data.draw(damaged(EXAMPLE))).topology({}).size
