"""Backend interface for NetworkX's dispatch: conversions, can_run, should_run, functions by name."""

from __future__ import annotations

import functools
import importlib
import inspect
import itertools
import logging
from collections.abc import Callable, Iterator
from typing import Any

import networkx as nx
from networkx.utils.backends import _registered_algorithms

from _nx_bitblas.table import HEAVY, LITTLE, MADE, NEAR, OWN, ROUTE, SCAN, SEARCH, SOME, TABLE
from bitblas import config
from bitblas import device as devices

from .convert import from_networkx
from .export import to_networkx
from .graph import Graph
from .refused import Refused

logger = logging.getLogger("bitblas.nx")

FEW = 16  # nodes for each one that is asked about, from which on NetworkX has answered before a graph is converted; for
# the square of it, sooner than by a converted one
WORTH = 3  # searches of one graph that take NetworkX longer than they and the conversion take here


class Backend:
    """The object behind the entry point; its attributes are the functions of the table."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name in TABLE and name in _registered_algorithms:
            return _running(name)
        if name in _registered_algorithms:
            logger.info("%s is left to NetworkX: bitblas does not have it", name)
        raise AttributeError(f"bitblas has no function {name!r} of NetworkX; docs/networkx.md lists those it has")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *TABLE})

    @staticmethod
    def convert_from_nx(
        G: Any, *, edge_attrs: dict[str, Any] | None = None, node_attrs: dict[str, Any] | None = None,
        preserve_edge_attrs: bool = False, preserve_node_attrs: bool = False, preserve_graph_attrs: bool = False,
        name: str = "", graph_name: str | None = None,
    ) -> Graph:  # fmt: skip
        """A Graph with these attributes. Refused where it cannot hold them."""
        try:
            made = from_networkx(
                G, edge_attrs, node_attrs, preserve_edge_attrs=preserve_edge_attrs,
                preserve_node_attrs=preserve_node_attrs, preserve_graph_attrs=preserve_graph_attrs, like=_converted(G),
            )  # fmt: skip
        except Refused as error:
            _tell(name, str(error))
            raise
        made.kept_in = getattr(G, "__networkx_cache__", None)
        if made.kept_in is not None:
            made.kept_in.setdefault("bitblas", 0)
        return made

    @staticmethod
    def convert_to_nx(result: Any, *, name: str | None = None) -> Any:
        """NetworkX's graph for a Graph; anything else as it is."""
        return to_networkx(result) if isinstance(result, Graph) else result

    @staticmethod
    def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        """Whether the function answers these arguments, or why it does not."""
        refusal = _refusal(name, args, kwargs)
        if refusal is not None:
            _tell(name, refusal)
        return refusal or True

    @staticmethod
    def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        """Whether that pays, the conversion included, or why it does not: asked for graphs of NetworkX."""
        G = _graph(name, args, kwargs)
        if G is None:  # there is no graph to convert, and the backend is asked for by name
            return True
        least = nx.config.backends.bitblas.min_edges
        if isinstance(G, Graph) or least <= 0:
            return True
        size = sum(map(len, G._adj.values())) // (1 if G.is_directed() else 2)
        if size < least:
            return f"{size} edges; bitblas is worth it from {least} (nx.config.backends.bitblas.min_edges)"
        cost, kept = _cost(name, args, kwargs, len(G)), getattr(G, "__networkx_cache__", None)
        if cost == LITTLE:
            return "NetworkX is done sooner, whether the graph is converted or not"
        if cost == HEAVY or _converted(G) is not None:
            return True
        if cost == SCAN:
            return "NetworkX is done before the graph is converted"
        if kept is None:
            return "a graph that keeps no conversion"
        kept["bitblas"] = asked = kept.get("bitblas", 0) + 1
        return asked >= WORTH or f"search {asked} of this graph: a conversion is worth it from search {WORTH} on"


def _cost(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], nodes: int) -> str:
    """What the function takes in NetworkX of a graph of so many nodes, with these arguments."""
    cost = TABLE[name].cost
    if cost in (LITTLE, SCAN):
        return cost
    given = _bound(name, args, kwargs)
    if cost == ROUTE and given["target"] is not None:
        return SCAN if given.get("source") is not None and given["weight"] is None else SEARCH
    some = [given[each] for each in SOME if given.get(each) is not None]
    asked = min([len(each) if hasattr(each, "__len__") else 1 for each in some], default=nodes)
    if FEW * asked < nodes:
        return LITTLE if FEW**2 * asked < nodes else SCAN
    cost = HEAVY if cost == ROUTE else cost
    one = any(each in given for each in ("source", "sources", "target"))
    return SEARCH if one and any(given.get(each) is not None for each in NEAR) else cost


def _converted(G: Any) -> Graph | None:
    """A conversion of the graph that NetworkX has kept, with whatever attributes: it drops them when nodes or edges
    change."""
    kept = (getattr(G, "__networkx_cache__", None) or {}).get("backends", {}).get("bitblas", {})
    return next((found for found in kept.values() if isinstance(found, Graph)), None)


def _graph(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The first graph among the arguments, or list of graphs; None if the function takes none."""
    graphs = _registered_algorithms[name].graphs
    if not graphs:
        return None
    graph, at = next(iter(graphs.items()))
    return args[at] if at < len(args) else kwargs[graph]


def _refusal(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Why these arguments are not answered; None if they are. TypeError for arguments that NetworkX has not."""
    G = _graph(name, args, kwargs)
    if TABLE[name].module != MADE and not isinstance(G, (nx.Graph, Graph)):
        return f"a graph of type {type(G).__module__}.{type(G).__qualname__}"
    if isinstance(G, nx.Graph) and type(G).adjacency is not nx.Graph.adjacency:  # what is converted is another graph
        return f"a graph of type {type(G).__module__}.{type(G).__qualname__}, which has neighbours of its own"
    if not TABLE[name].refuses:
        return None
    given = _bound(name, args, kwargs)
    return next((text for text, refused in TABLE[name].refuses if refused(given)), None)


def _bound(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """All arguments by name. TypeError for arguments that NetworkX has not."""
    bound = _signature(name).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


@functools.cache
def _signature(name: str) -> inspect.Signature:
    return inspect.signature(_registered_algorithms[name].orig_func)


@functools.cache
def _running(name: str) -> Callable[..., Any]:
    """The function that runs: it tells of what it leaves to NetworkX."""
    module = TABLE[name].module
    own = _registered_algorithms[name].orig_func
    if module == OWN:
        run = own
    elif module == MADE:
        run = lambda *args, **kwargs: from_networkx(own(*map(_theirs, args), **kwargs))
    else:
        run = getattr(importlib.import_module(f"{__package__}.{module}"), name)

    @functools.wraps(own)
    def told(*args: Any, **kwargs: Any) -> Any:
        try:
            with devices.get(config.device).guard:  # errors of memory are those of bitblas
                found = run(*args, **kwargs)
        except Refused as error:
            _tell(name, str(error))
            raise
        return _continued(name, found, args, kwargs) if module == OWN and isinstance(found, Iterator) else found

    return told


def _continued(name: str, found: Iterator[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Any]:
    """What an iterator of NetworkX's own text gives. If a function that it calls is refused, NetworkX answers the rest:
    the dispatch, which would have done that, has returned by then."""
    count = 0
    try:
        for each in found:
            yield each
            count += 1
    except NotImplementedError as error:
        _tell(name, str(error))
        given = {key: _theirs(value) for key, value in kwargs.items()}
        again = _registered_algorithms[name].orig_func(*map(_theirs, args), **given)
        yield from itertools.islice(again, count, None)


def _theirs(given: Any) -> Any:
    """NetworkX's graph for a Graph, in a list too; anything else as it is."""
    if isinstance(given, list):
        return [_theirs(each) for each in given]
    return given.networkx if isinstance(given, Graph) else given


@functools.cache
def _tell(name: str, reason: str) -> None:
    """Logs, once, that a function is left to NetworkX."""
    logger.warning("%s is left to NetworkX, which answers what bitblas does not: %s", name, reason)


backend = Backend()
