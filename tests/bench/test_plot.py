"""The plot of the learning curve."""

import xml.etree.ElementTree as ElementTree
from importlib.util import find_spec

import pytest
from bench.plot import Line, Panel, bounds, svg, writer

from mcp_memory.errors import ConfigurationError

SPACE = "{http://www.w3.org/2000/svg}"
PANELS = [
    Panel(
        "recall <at> 10",
        [Line("taught & told", [50.0, 60.0, 70.0], [5.0, 4.0, 3.0]), Line("unseen", [40.0] * 3, [4.0] * 3)],
    ),
    Panel("rounds", [Line("all", [2.0, 1.5, 1.0], [0.1, 0.1, 0.1])]),
]


def test_the_svg_is_well_formed_and_has_a_point_for_every_pass_of_every_line():
    root = ElementTree.fromstring(svg("Learning & more", PANELS))
    points = [circle for circle in root.iter(f"{SPACE}circle") if circle.get("class") == "point"]
    assert len(points) == 9
    assert [len(line.get("points").split()) for line in root.iter(f"{SPACE}polyline")] == [3, 3, 3]
    texts = {text.text for text in root.iter(f"{SPACE}text")}
    assert {"Learning & more", "recall <at> 10", "taught & told", "unseen", "rounds", "pass"} <= texts


def test_a_higher_value_is_drawn_higher_and_all_points_are_inside():
    root = ElementTree.fromstring(svg("t", PANELS))
    points = [circle for circle in root.iter(f"{SPACE}circle") if circle.get("class") == "point"]
    taught = [float(point.get("cy")) for point in points[:3]]
    assert taught == sorted(taught, reverse=True)
    assert all(0 < float(point.get("cy")) < float(root.get("height")) for point in points)


@pytest.mark.parametrize("values", [[0.0, 0.0], [1.0, 1.01], [-3.0, 250.0], [55.0, 71.2]])
def test_the_axis_includes_every_interval(values):
    low, high = bounds(Panel("p", [Line("l", values, [0.5] * len(values))]))
    assert low < high
    assert low <= min(values) - 0.5
    assert high >= max(values) + 0.5


def test_the_file_is_written_to_the_given_path(tmp_path):
    writer(tmp_path / "curve.svg")("t", PANELS)
    assert (tmp_path / "curve.svg").read_text(encoding="utf-8") == svg("t", PANELS)


def test_another_kind_of_file_is_refused_before_anything_is_measured(tmp_path):
    with pytest.raises(ConfigurationError, match=r"\.svg or a \.png"):
        writer(tmp_path / "curve.pdf")


@pytest.mark.skipif(find_spec("matplotlib") is not None, reason="matplotlib is there")
def test_without_matplotlib_the_error_for_a_png_names_the_extra(tmp_path):
    with pytest.raises(ConfigurationError, match=r"mcp-memory\[plot\]"):
        writer(tmp_path / "curve.png")


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs the extra plot")
def test_with_matplotlib_a_png_is_drawn(tmp_path):
    writer(tmp_path / "curve.png")("t", PANELS)
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
