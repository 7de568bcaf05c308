"""The names of what a mapping makes small, and of how loads of links are counted."""

from typing import Literal

ObjectiveName = Literal["cost", "max-link-load", "makespan", "ring", "multicast"]
RoutingName = Literal["single", "equal", "weighted"]
