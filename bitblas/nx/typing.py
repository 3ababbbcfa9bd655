"""Types of arguments and results of NetworkX's functions: nodes, edges, numbers by node."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, TypeAlias

Node: TypeAlias = Hashable
Nodes: TypeAlias = Iterable[Hashable]
Edge: TypeAlias = tuple[Hashable, Hashable]
Start: TypeAlias = Mapping[Hashable, float]  # a number by node, as an argument
Scores: TypeAlias = dict[Hashable, float]  # a number by node, as a result
NodeOrNodes: TypeAlias = Any  # a node, several nodes, or None: all nodes
Attributes: TypeAlias = dict[str, Any]  # of a node, an edge or a graph; values are any objects
Number: TypeAlias = int | float
