"""Plain tables of layers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.training.models.table import layers_of_csv, layers_of_table

HEADER = "name,forward_s,backward_s,parameter_bytes,activation_bytes"


def row(name, **more):
    """Return a layer that sends 8 bytes on."""
    return {"name": name, "forward_s": 1, "backward_s": 2.0, "parameter_bytes": 3, "activation_bytes": 8} | more


def test_a_list_of_layers_is_a_chain_with_defaults():
    """Half of the backward pass is for weights, the state is the weights, what is sent is held."""
    layers = layers_of_table([row("a"), row("b", activation_bytes=5)])
    assert layers.names == layers.modules == ("a", "b")
    assert layers.weight_s.tolist() == [1, 1]
    assert layers.state_bytes.tolist() == [3, 3]
    assert layers.held_bytes.tolist() == [8, 5]
    assert layers.crossing_bytes.tolist() == [0, 8, 0]
    assert layers.reduced_bytes.tolist() == layers.reductions.tolist() == [0, 0]
    assert (layers.kinds, layers.tied, layers.slices) == (("layer", "layer"), (), 1)


def test_every_column_can_be_stated():
    """None of the defaults is taken."""
    stated = {"weight_s": 0.5, "state_bytes": 16, "held_bytes": 9, "reduced_bytes": 4, "reductions": 2}
    layers = layers_of_table({"layers": [row("a", **stated, kind="head", module="lm_head")]})
    assert [getattr(layers, name)[0] for name in stated] == list(stated.values())
    assert (layers.kinds, layers.modules, layers.slices) == (("head",), ("lm_head",), 0)


def test_edges_order_layers_as_the_table_does_where_they_can():
    """The table runs b, a, d, c; a feeds b and d."""
    layers = layers_of_table({"layers": [row(name) for name in "badc"], "edges": [["a", "b"], ["a", "d"]]})
    assert layers.names == ("a", "b", "d", "c")
    assert layers.crossing_bytes.tolist() == [0, 8, 8, 0, 0]


def test_no_edges_send_nothing():
    """An empty list is not a chain."""
    assert layers_of_table({"layers": [row("a"), row("b")], "edges": []}).crossing_bytes.sum() == 0


def test_tied_layers_are_found_where_the_order_puts_them():
    """The first of them in the pipeline holds the parameters."""
    layers = layers_of_table({"layers": [row("x"), row("y")], "edges": [["y", "x"]], "tied": [["x", "y"]]})
    assert (layers.names, layers.tied) == (("y", "x"), ((0, 1),))


@pytest.mark.parametrize("separator", [",", ";", "\t", ", "])
def test_csv_is_the_same_table(separator):
    """Under any of the separators, with blank lines and quotes."""
    lines = [HEADER, "", '"a",1,2.0,3,8', "b,1e0,2.,3,8", ""]
    layers = layers_of_csv("\r\n".join(lines).replace(",", separator))
    same = layers_of_table([row("a"), row("b")])
    assert layers.names == same.names
    assert all((getattr(layers, name) == getattr(same, name)).all() for name in ("backward_s", "crossing_bytes"))


def test_csv_columns_may_stand_in_any_order_and_cells_be_empty():
    """An empty cell has the default of its column."""
    head = "kind,activation_bytes,parameter_bytes,weight_s,backward_s,forward_s,name,reduced_bytes"
    layers = layers_of_csv(f"{head}\nhead,8,3,,2,1,a,4\n,8,3,0.25,2,1,b,\n")
    assert layers.kinds == ("head", "layer")
    assert layers.weight_s.tolist() == [1, 0.25]
    assert layers.reduced_bytes.tolist() == [4, 0]
    assert layers.slices == 0


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("", "model/layers"),
        (HEADER, "model/layers"),
        ("name,forward_s\na,1", "model/columns"),
        (HEADER + ",name\n", "model/columns"),
        (HEADER + ",colour\n", "model/columns"),
        ("1,2,3,4,5\n", "model/columns"),
        (HEADER + "\na,1,2,3", "model/layers/0"),
        (HEADER + "\na,1,2,3,4\nb,1,-2,3,4", "model/layers/1/backward_s"),
        (HEADER + "\na,,2,3,4", "model/layers/0/forward_s"),
        (HEADER + "\na,nan,2,3,4", "model/layers/0/forward_s"),
        (HEADER + "\na,0x1,2,3,4", "model/layers/0/forward_s"),
        (HEADER + "\n,1,2,3,4", "model/layers/0/name"),
        (HEADER + '\n"a,1,2,3,4', "model/layers"),
        (HEADER + '\n"a"b,1,2,3,4', "model/layers"),
    ],
)
def test_bad_csv_is_named(text, field):
    """Headers, lengths, numbers, names and quotes."""
    with pytest.raises(InputError) as caught:
        layers_of_csv(text)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ([], "model/layers"),
        ({"layers": {}}, "model/layers"),
        ({"edges": []}, "model/layers"),
        ({"layers": [row("a")], "nodes": []}, "model"),
        ([1], "model/layers/0"),
        ([row("a", colour=1)], "model/layers/0"),
        ([row("a"), row("a")], "model/layers/1/name"),
        ([row("")], "model/layers/0/name"),
        ([row(None)], "model/layers/0/name"),
        ([{"forward_s": 1}], "model/layers/0/name"),
        ([{"name": "a"}], "model/layers/0/forward_s"),
        ([row("a", forward_s=True)], "model/layers/0/forward_s"),
        ([row("a", forward_s="1")], "model/layers/0/forward_s"),
        ([row("a", forward_s=10**400)], "model/layers/0/forward_s"),
        ([row("a", parameter_bytes=-1)], "model/layers/0/parameter_bytes"),
        ([row("a", held_bytes=float("inf"))], "model/layers/0/held_bytes"),
        ([row("a", held_bytes=1e31)], "model/layers/0/held_bytes"),
        ([row("a"), row("b", weight_s=2.5)], "model/layers/1/weight_s"),
        ([row("a", kind="decoder")], "model/layers/0/kind"),
        ([row("a", kind=["layer"])], "model/layers/0/kind"),
        ([row("a", module={})], "model/layers/0/module"),
        ({"layers": [row("a")], "edges": None}, "model/edges"),
        ({"layers": [row("a")], "edges": ["aa"]}, "model/edges/0"),
        ({"layers": [row("a")], "edges": [["a"]]}, "model/edges/0"),
        ({"layers": [row("a")], "edges": [["a", "b"]]}, "model/edges/0"),
        ({"layers": [row("a")], "edges": [["a", "a"]]}, "model/edges"),
        ({"layers": [row("a")], "tied": [["a"]]}, "model/tied/0"),
        ({"layers": [row("a"), row("b")], "tied": [["a", "b"], ["b", "a"]]}, "model/tied/1"),
        ({"layers": [row("a"), row("b")], "tied": [["a", "a"]]}, "model/tied/0"),
    ],
)
def test_bad_tables_are_named(document, field):
    """Wrong types, missing and repeated layers, numbers out of range, edges and groups of what is not there."""
    with pytest.raises(InputError) as caught:
        layers_of_table(document)
    assert caught.value.field == field


def test_a_cycle_names_a_layer_on_it():
    """Layer a feeds the cycle of b and c."""
    edges = [["a", "b"], ["b", "c"], ["c", "b"]]
    with pytest.raises(InputError, match=r"through '[bc]'$"):
        layers_of_table({"layers": [row(name) for name in "abc"], "edges": edges})


@pytest.mark.parametrize(
    "read", [lambda: layers_of_csv(HEADER + "\na,1,2,3,4" * 3, 2), lambda: layers_of_table([1] * 3, 2)]
)
def test_more_layers_than_allowed_are_refused(read):
    """Before they are looked at."""
    with pytest.raises(InputError, match="at most 2 layers"):
        read()


@given(times=st.lists(st.floats(0, 1e9), min_size=1, max_size=6))
def test_numbers_come_back_from_csv(times):
    """Every float that is written out is read again."""
    lines = [f"layer {k},{time!r},0,0,0" for k, time in enumerate(times)]
    assert layers_of_csv("\n".join([HEADER, *lines])).forward_s.tolist() == times


@given(text=st.text(alphabet='name,;\t"\n1e-.\0é', max_size=60))
def test_no_text_ends_in_a_traceback(text):
    """Below a good header."""
    with pytest.raises(InputError):
        raise InputError("model", str(layers_of_csv(f"{HEADER}\n{text}").size))
