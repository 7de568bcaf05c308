"""Tests of the card and the page of a report."""

import re
import sys
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from tests.pictured import ODD, lay_out_circuit, map_stencil, place_stages
from tiger.errors import InputError
from tiger.model.violation import Violation
from tiger.plotting.card import card, write_page

MAPPING = map_stencil()


@pytest.fixture(scope="module", name="made")
def _made() -> str:
    """Return the card of a mapping."""
    return card(MAPPING)


@pytest.mark.long
def test_a_card_has_headline_picture_and_stages(made):
    """Tests a mapping: one picture, whose words are text, and a row for each stage."""
    assert made.count("<svg ") == 1
    assert MAPPING.headline in made
    assert "block order" in made
    assert made.count("<tr>") == 1 + len(MAPPING.stages)


@pytest.mark.parametrize("report", [MAPPING, lay_out_circuit(), place_stages()])
def test_a_card_is_well_formed(report):
    """Tests that names and messages are escaped, those that are markup too."""
    noted = replace(report, warnings=(ODD,), violations=(Violation(kind="slots", message=ODD),))
    made = card(noted)
    ET.fromstring(made)
    assert "<b>" not in made
    assert made.count("&lt;b&gt;$x^$") >= 2


def test_a_card_without_matplotlib_has_words_and_stages(monkeypatch):
    """Tests that only the picture is missing."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    made = card(MAPPING)
    assert "<svg" not in made
    assert MAPPING.headline in made
    assert "<table" in made


def test_a_card_of_a_service_alone_has_no_picture():
    """Tests a report whose problem is not at hand."""
    assert "<svg" not in card(replace(MAPPING, problem=None))


def test_a_long_table_is_cut():
    """Tests thirty stages and a wide cell."""
    stage = replace(MAPPING.stages[0], name="x" * 99)
    made = card(replace(MAPPING, stages=(stage,) * 30, problem=None))
    assert "<p>and 18 more</p>" in made
    assert f'<td style="padding:2px 10px 2px 0;text-align:left;vertical-align:top">{"x" * 60} ..</td>' in made


def test_cells_are_short_words():
    """Tests units in the head, figures, lists, and what is missing."""
    made = card(place_stages())
    assert "compute in s</th>" in made
    assert "memory in bytes</th>" in made
    assert ">1e+09</td>" in made
    assert ">-</td>" in made


def test_a_page_has_all_pictures_and_loads_nothing():
    """Tests that no address is asked for, and that every picture has its name."""
    page = write_page(MAPPING)
    assert re.findall(r"<h2>(\w+)</h2>", page) == ["mapping", "matrix", "hops", "links", "convergence"]
    assert page.count("<svg ") == 5
    assert not re.search(r"<(?:script|link|img|iframe)\b|(?:src|url)\s*[=(]\s*['\"]?http", page)


def test_a_crowd_of_shapes_is_an_image(made, monkeypatch):
    """Tests that a graph of many edges does not fill a notebook, and that words stay text."""
    monkeypatch.setattr("tiger.plotting.card.SHAPES", 5)
    crowd = card(MAPPING)
    assert crowd.count("<path") < made.count("<path")
    assert crowd.count("data:image/png;base64") == made.count("data:image/png;base64") + 2
    assert "TIGER: cost 12" in crowd


def test_nothing_possible_is_no_page():
    """Tests a report without a mapping."""
    with pytest.raises(InputError, match="plot: expected a report of something that is possible"):
        write_page(replace(MAPPING, feasible=False))
