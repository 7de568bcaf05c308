"""Tests of solvers by name."""

import importlib.metadata
import subprocess
import sys

import dimod
import pytest

from tiger.errors import InputError
from tiger.mapping.mapper import solve
from tiger.solvers import registry
from tiger.solvers.exact import Exact


class Entry:
    """Stand for an entry point."""

    def __init__(self, name, loaded):
        """Hold what is loaded."""
        self.name, self._loaded = name, loaded

    def load(self):
        """Return the sampler or its class."""
        return self._loaded


@pytest.fixture
def entries(monkeypatch):
    """Register two samplers of another package, one as a class and one as an object."""
    found = [Entry("brute", dimod.ExactSolver), Entry("ready", dimod.ExactSolver())]

    def points(*, group, name=None):
        assert group == "tiger.samplers"
        return [entry for entry in found if name in (None, entry.name)]

    monkeypatch.setattr(registry, "entry_points", points)
    return found


def test_the_solvers_of_the_package_are_listed():
    """Tests the names and kinds."""
    kinds = {info.name: info.kind for info in registry.BUILT_IN}
    assert kinds["auto"] == kinds["search"] == "portfolio"
    assert kinds["neal"] == kinds["tabu"] == "sampler"
    assert {name for name, kind in kinds.items() if kind == "search"} == {
        "exact",
        "greedy",
        "random",
        "identity",
        "leap-cqm",
        "leap-nl",
    }


def test_samplers_of_other_packages_are_listed_after_them(entries):
    """Tests the entry-point group."""
    assert [info.name for info in registry.list_solvers()[-2:]] == ["brute", "ready"]


@pytest.mark.parametrize("name", ["brute", "ready"])
def test_samplers_of_other_packages_solve(name, entries, path_problem):
    """Tests a class, which is made, and an object, which is used as it is."""
    report = solve(path_problem, solver=name)
    assert (report.solver, report.cost) == (name, 7)


def test_unknown_names_list_the_known_ones():
    """Tests the message."""
    with pytest.raises(InputError, match="expected one of auto, search, exact"):
        registry.kind_of("quantum")


def test_solvers_without_their_software_say_how_to_get_it(monkeypatch):
    """Tests the note in the list, where the extra is there and where it is not."""
    for found, noted in ((object(), set()), (None, set(registry.DWAVE))):
        monkeypatch.setattr(registry, "find_spec", lambda name, found=found: found)
        note = "pip install 'tiger-mapper[dwave]'"
        assert {info.name for info in registry.list_solvers() if info.description.endswith(note)} == noted


@pytest.mark.long
def test_listing_solvers_loads_none():
    """Tests that D-Wave's software is left alone, also by making its samplers."""
    code = (
        "import sys; from tiger.solvers import registry; registry.list_solvers(); registry.search('leap-cqm');"
        "registry.sampler('dwave'), registry.sampler('leap-bqm');"
        "sys.exit(bool({'dwave.system', 'dwave.cloud', 'dwave.optimization', 'minorminer'} & set(sys.modules)))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_exact_search_can_be_limited():
    """Tests the factory."""
    assert registry.build_exact(visits=5) == Exact(5)


def test_the_group_is_read_from_installed_packages():
    """Tests that no entry of another package is needed."""
    assert list(importlib.metadata.entry_points(group=registry.GROUP)) == []
