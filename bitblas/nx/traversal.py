"""networkx.algorithms.traversal: breadth-first search in NetworkX's order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx

from .arrays import Edge, Node, NodeOrNodes
from .graph import Graph
from .searches import levels, require_node


def bfs_layers(G: Graph, sources: NodeOrNodes) -> Iterator[list[Node]]:
    chosen = [sources] if sources in G else list(set(sources))
    for source in chosen:
        require_node(G, source, f"The node {source} is not in the graph.", nx.NetworkXError)
    return (G.nodes_at(level) for level, _ in levels(G, G.numbers(chosen)))


def descendants_at_distance(G: Graph, source: Node, distance: int) -> set[Node]:
    require_node(G, source, f"The node {source} is not in the graph.", nx.NetworkXError)
    for depth, (level, _) in enumerate(levels(G, G.numbers([source]))):
        if depth == distance:
            return set(G.nodes_at(level))
    return set()


def bfs_edges(
    G: Graph, source: Node, reverse: bool = False, depth_limit: int | None = None, sort_neighbors: object = None
) -> Iterator[Edge]:
    kind = "digraph" if G.directed else "graph"
    require_node(G, source, f"The node {source} is not in the {kind}.", nx.NetworkXError)
    return _edges(G, source, depth_limit)


def generic_bfs_edges(
    G: Graph, source: Node, neighbors: object = None, depth_limit: int | None = None
) -> Iterator[Edge]:
    return bfs_edges(G, source, depth_limit=depth_limit)


def _edges(G: Graph, source: Node, depth_limit: int | None) -> Iterator[Edge]:
    found = levels(G, G.numbers([source]), depth_limit)
    next(found)
    for level, parents in found:
        yield from zip(G.nodes_at(parents), G.nodes_at(level))


def bfs_predecessors(
    G: Graph, source: Node, depth_limit: int | None = None, sort_neighbors: object = None
) -> Iterator[Edge]:
    return ((child, parent) for parent, child in bfs_edges(G, source, depth_limit=depth_limit))


def bfs_successors(
    G: Graph, source: Node, depth_limit: int | None = None, sort_neighbors: object = None
) -> Iterator[tuple[Node, list[Node]]]:
    return _successors(source, bfs_edges(G, source, depth_limit=depth_limit))


def _successors(source: Node, edges: Iterator[Edge]) -> Iterator[tuple[Node, list[Node]]]:
    children: list[Node] = []
    parent = source
    for above, child in edges:
        if above != parent:
            yield parent, children
            parent, children = above, []
        children.append(child)
    yield parent, children


def bfs_tree(
    G: Graph, source: Node, reverse: bool = False, depth_limit: int | None = None, sort_neighbors: object = None
) -> Any:
    T = nx.DiGraph()
    T.add_node(source)
    T.add_edges_from(bfs_edges(G, source, depth_limit=depth_limit))
    return T
