"""Profiles of PipeDream."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.training.models.pipedream import layers_of_graph


def node(name, forward="1.000", backward="2.000", sent="8.0", weights="3.0", what="Linear"):
    """Return the line of a node."""
    costs = f"forward_compute_time={forward}, backward_compute_time={backward}"
    return f"{name} -- {what} -- {costs}, activation_size={sent}, parameter_size={weights}"


CHAIN = "\n".join([node("node1"), node("node2", sent="5.0"), "\tnode1 -- node2", ""])


def test_times_are_milliseconds_and_sizes_bytes():
    """Two operators in a row."""
    layers = layers_of_graph(CHAIN)
    assert layers.names == ("node1", "node2")
    assert layers.forward_s.tolist() == [0.001, 0.001]
    assert layers.backward_s.tolist() == [0.002, 0.002]
    assert layers.crossing_bytes.tolist() == [0, 8, 0]
    assert layers.held_bytes.tolist() == [8, 5]
    assert (layers.parameter_bytes == layers.state_bytes).all()
    assert layers.state_bytes.tolist() == [3, 3]
    assert layers.slices == 1


def test_activations_of_a_list_are_summed():
    """An LSTM sends its output and its state."""
    layers = layers_of_graph("\n".join([node("node1", sent="[1.0; 2.5;4]"), node("node2"), "\tnode1 -- node2"]))
    assert layers.crossing_bytes.tolist() == [0, 7.5, 0]


def test_inputs_cost_and_send_nothing():
    """Reading data is timed in a profile, but no work of a stage."""
    layers = layers_of_graph("\n".join([node("node1", what="Input0"), node("node2"), "\tnode1 -- node2"]))
    assert layers.forward_s.tolist() == [0, 0.001]
    assert layers.backward_s[0] == layers.crossing_bytes.sum() == layers.held_bytes[0] == 0


def test_a_tensor_crosses_up_to_its_last_consumer_once():
    """Node 1 feeds nodes 2 and 4."""
    lines = [node(f"node{k}", sent=f"{10**k}") for k in (1, 2, 3, 4)]
    edges = ["\tnode1 -- node2", "\tnode2 -- node3", "\tnode3 -- node4", "\tnode1 -- node4"]
    assert layers_of_graph("\n".join(lines + edges)).crossing_bytes.tolist() == [0, 10, 110, 1010, 0]


def test_the_smallest_number_that_can_be_next_comes_first():
    """Numbers, not texts, are compared; node3 waits for node10."""
    lines = [node(name) for name in ("node10", "node9", "node3", "node20")]
    layers = layers_of_graph("\n".join([*lines, "\tnode10 -- node3"]))
    assert layers.names == ("node9", "node10", "node3", "node20")


def test_equal_numbers_stay_in_the_order_of_the_file():
    """Names may differ before the number."""
    assert layers_of_graph("\n".join([node("b1"), node("a1"), node("a0")])).names == ("a0", "b1", "a1")


def test_descriptions_may_hold_the_marks_of_the_format():
    """Dashes, commas, brackets and equals signs, and the stage that PipeDream appends."""
    line = node("node1", what="Conv2d(3, 64, kernel_size=(3, 3)) -- x=[1, 2]") + " -- stage_id=3"
    assert layers_of_graph(line).forward_s.tolist() == [0.001]


def test_line_ends_and_blank_lines_do_not_matter():
    """As saved on Windows."""
    assert layers_of_graph(CHAIN.replace("\n", "\r\n\r\n")).names == ("node1", "node2")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"forward": "-1.0"}, "model/nodes/node12/forward_compute_time"),
        ({"backward": "nan"}, "model/nodes/node12/backward_compute_time"),
        ({"backward": "1e999"}, "model/nodes/node12/backward_compute_time"),
        ({"forward": "1e300"}, "model/nodes/node12/forward_compute_time"),
        ({"forward": ""}, "model/nodes/node12/forward_compute_time"),
        ({"sent": "[1.0; -2.0]"}, "model/nodes/node12/activation_size"),
        ({"sent": "[]"}, "model/nodes/node12/activation_size"),
        ({"sent": "[1.0, 2.0]"}, "model/nodes/node12/activation_size"),
        ({"weights": "[1.0]"}, "model/nodes/node12/parameter_size"),
        ({"weights": "1_0"}, "model/nodes/node12/parameter_size"),
    ],
)
def test_bad_numbers_are_named(change, field):
    """Negative, not finite, huge, missing, or written otherwise."""
    with pytest.raises(InputError) as caught:
        layers_of_graph(node("node12", **change))
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("\tnode1 -- node1", "model/nodes"),
        ("garbage", "model/nodes"),
        ("node -- x -- y", "model/nodes"),
        ("node1 -- ", "model/nodes"),
        ("node1 -- x -- y", "model/nodes/node1"),
        (node("node1").replace(", parameter_size=3.0", ""), "model/nodes/node1/parameter_size"),
        (node("node1") + ", parameter_size=3.0", "model/nodes/node1"),
        (node("node1") + ", colour=3.0", "model/nodes/node1"),
        (CHAIN + node("node2"), "model/nodes/node2"),
        (CHAIN + "\tnode2", "model/edges"),
        (CHAIN + "\tnode2 -- node1 -- node2", "model/edges"),
        (CHAIN + "\tnode2 -- node3", "model/edges/1"),
        (CHAIN + "\tnode2 -- node2", "model/nodes/node2"),
    ],
)
def test_bad_lines_are_named(text, field):
    """Lines of neither kind, missing and repeated costs, repeated and unknown nodes, cycles, and no node at all."""
    with pytest.raises(InputError) as caught:
        layers_of_graph(text)
    assert caught.value.field == field


def test_a_cycle_names_a_node_on_it():
    """Not the node before it."""
    with pytest.raises(InputError, match=r"through node[23]$"):
        layers_of_graph("\n".join([CHAIN, node("node3"), "\tnode2 -- node3", "\tnode3 -- node2"]))


def test_more_nodes_than_allowed_are_refused():
    """Before the rest is read."""
    with pytest.raises(InputError, match="at most 1 layers"):
        layers_of_graph(CHAIN + "\ngarbage", max_layers=1)


@given(text=st.text(alphabet="node12-=,;[]. \t\nforward_compute", max_size=80))
def test_no_text_ends_in_a_traceback(text):
    """Layers or InputError."""
    with pytest.raises(InputError):
        raise InputError("model", str(layers_of_graph(text).size))
