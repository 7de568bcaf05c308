"""The table and the graph of a rank order, read back."""

from hypothesis import given

from tests.launchers.orders import BY_CORE, hosts_of, launch_nodes, orders
from tests.launchers.readers import read_graph, read_table
from tiger.launchers.order import order_ranks
from tiger.launchers.tables import write_csv, write_dot


def test_a_table_by_hand() -> None:
    """One row a rank, under a header."""
    assert write_csv(BY_CORE).splitlines()[:2] == [
        "rank,task,host,slot,unit,cores,processors,gpu,nic,threads",
        "0,0,n1,1,core1,1,,,,",
    ]


@given(order=orders())
def test_tables_and_graphs_are_read_back(order) -> None:
    """Every rank has its host in both, and all of its binding in the table."""
    rows = read_table(write_csv(order))
    assert [(r["task"], r["host"], int(r["slot"]), r["unit"] or None) for r in rows] == [s[:4] for s in order.bindings]
    assert read_graph(write_dot(order)) == hosts_of(order)


def test_names_may_hold_signs_of_the_formats() -> None:
    """Quotes, commas and backslashes come back as they were."""
    name = 'a "b", \\c'
    order = order_ranks({"t,1": name}, launch_nodes({name: 1}))
    assert read_table(write_csv(order))[0]["host"] == name
    assert read_graph(write_dot(order)) == [name]
