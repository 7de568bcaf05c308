"""The one style of all pictures: colours that colour-blind people tell apart and that print well, and sizes.

Colours of things are those of M. Okabe, K. Ito, "Color Universal Design" (2008); amounts are in cividis, which falls
evenly in lightness as they grow (J. Nuñez, C. Anderton, R. Renslow, PLoS ONE 13 (2018)).
"""

from collections.abc import Mapping

BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION = "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"
# Neutral tones: marks and text, amounts at rest, what waits, and what is not used.
INK, SLATE, LINE, PALE = "#333333", "#5b6770", "#8a8a8a", "#ececec"
# A series of things in order, such as stages.
SERIES = (BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY, SLATE)
# The simple order and TIGER's own result, wherever both stand side by side.
BEFORE, AFTER = ORANGE, BLUE
AMOUNTS = "cividis_r"
# Distances, dark where they are long, beside tasks in the colours of their nodes.
DISTANCES, NODES = ("#fdd49e", "#fc8d59", "#d7301f", "#7f0000"), "viridis"

Style = Mapping[str, object]

# A picture fills a laptop's screen, and is sharp enough in print.
DPI = 110
WIDTH_IN = 13.0  # at 110 dots an inch as wide as most screens
TITLE_POINTS, TEXT_POINTS, SMALL_POINTS = 11, 9, 8
