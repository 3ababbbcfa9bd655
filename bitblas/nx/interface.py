"""Backend interface for NetworkX's dispatch: conversions, can_run, should_run, functions by name."""

from __future__ import annotations

import functools
import importlib
import inspect
import itertools
import logging
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import networkx as nx
from networkx.utils.backends import _registered_algorithms

from _nx_bitblas.table import HEAVY, LITTLE, MADE, NEAR, OWN, ROUTE, SCAN, SEARCH, SOME, TABLE
from bitblas import config, tuning
from bitblas import device as devices

from .arrays import Attributes, Node, Refused
from .convert import from_networkx
from .graph import Graph, to_networkx

logger = logging.getLogger("bitblas.nx")


Args = tuple[Any, ...]


class Backend:
    """The object of the entry point `networkx.backends`; its attributes are the functions of the table."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name in TABLE and name in _registered_algorithms:
            return _function(name)
        if name in _registered_algorithms:
            logger.info("%s is left to NetworkX: bitblas does not implement it", name)
        raise AttributeError(f"bitblas does not implement NetworkX's {name!r}; see the list in docs/networkx.md")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *TABLE})

    @staticmethod
    def convert_from_nx(
        G: Any,
        *,
        edge_attrs: Attributes | None = None,
        node_attrs: Attributes | None = None,
        preserve_edge_attrs: bool = False,
        preserve_node_attrs: bool = False,
        preserve_graph_attrs: bool = False,
        name: str = "",
        graph_name: str | None = None,
    ) -> Graph:
        """A Graph with these attributes. Raises Refused for attributes that it cannot hold."""
        try:
            made = from_networkx(
                G,
                edge_attrs,
                node_attrs,
                preserve_edge_attrs=preserve_edge_attrs,
                preserve_node_attrs=preserve_node_attrs,
                preserve_graph_attrs=preserve_graph_attrs,
                like=_converted(G),
            )
        except Refused as error:
            _log_once(name, str(error))
            raise
        made.networkx_cache = getattr(G, "__networkx_cache__", None)
        if made.networkx_cache is not None:
            _warn_of_cache()
            made.networkx_cache.setdefault("bitblas", 0)
        return made

    @staticmethod
    def convert_to_nx(result: Any, *, name: str | None = None) -> Any:
        """The NetworkX graph of a Graph; other results unchanged."""
        return to_networkx(result) if isinstance(result, Graph) else result

    @staticmethod
    def can_run(name: str, args: Args, kwargs: Attributes) -> bool | str:
        """True if these arguments are supported, else the reason."""
        refusal = _refusal(name, args, kwargs)
        if refusal is not None:
            _log_once(name, refusal)
        return refusal or True

    @staticmethod
    def should_run(name: str, args: Args, kwargs: Attributes) -> bool | str:
        """True if running here pays off, conversion included, else the reason. Called for graphs of NetworkX."""
        G = _graph(name, args, kwargs)
        if G is None:  # no graph to convert; the backend was requested by name
            return True
        least = nx.config.backends.bitblas.min_edges
        if isinstance(G, Graph) or least <= 0:
            return True
        size = sum(map(len, G._adj.values())) // (1 if G.is_directed() else 2)
        if size < least:
            return f"{size} edges; bitblas pays off from {least} on (nx.config.backends.bitblas.min_edges)"
        cost, kept = _cost(name, args, kwargs, len(G)), getattr(G, "__networkx_cache__", None)
        if cost == LITTLE:
            return "NetworkX is faster, even if the graph is already converted"
        if cost == HEAVY or _converted(G) is not None:
            return True
        if cost == SCAN:
            return "NetworkX is faster than the conversion of the graph"
        if kept is None:
            return "the graph cannot cache a conversion"
        kept["bitblas"] = requested = kept.get("bitblas", 0) + 1
        least = tuning.count("nx.searches")
        return requested >= least or f"search {requested} of this graph: converting pays off from search {least} on"


def _warn_of_cache() -> None:
    """State once what NetworkX would state in twelve lines for each function: that conversions are cached."""
    if "cache" not in nx.config.warnings_to_ignore:
        nx.config.warnings_to_ignore.add("cache")
        warnings.warn(
            "bitblas: NetworkX caches the conversion of a graph until a method of the graph changes it. After "
            'G[u][v]["weight"] = x call G.__networkx_cache__.clear(). Hint: '
            'nx.config.warnings_to_ignore.add("cache"), or NETWORKX_WARNINGS_TO_IGNORE=cache, hides this warning',
            stacklevel=2,
        )


def _cost(name: str, args: Args, kwargs: Attributes, nodes: int) -> str:
    """The cost class of a call on a graph of `nodes` nodes with these arguments."""
    cost = TABLE[name].cost
    if cost in (LITTLE, SCAN):
        return cost
    given = _bound(name, args, kwargs)
    if cost == ROUTE and given["target"] is not None:
        return SCAN if given.get("source") is not None and given["weight"] is None else SEARCH
    some = [given[each] for each in SOME if given.get(each) is not None]
    requested = min([len(each) if hasattr(each, "__len__") else 1 for each in some], default=nodes)
    few = tuning.count("nx.nodes_per_request")
    if few * requested < nodes:
        return LITTLE if few**2 * requested < nodes else SCAN
    cost = HEAVY if cost == ROUTE else cost
    one = any(each in given for each in ("source", "sources", "target"))
    return SEARCH if one and any(given.get(each) is not None for each in NEAR) else cost


def _converted(G: Any) -> Graph | None:
    """A conversion of the graph cached by NetworkX, with any attributes. NetworkX drops it when nodes or edges
    change.
    """
    kept = (getattr(G, "__networkx_cache__", None) or {}).get("backends", {}).get("bitblas", {})
    return next((found for found in kept.values() if isinstance(found, Graph)), None)


def _graph(name: str, args: Args, kwargs: Attributes) -> Any:
    """The first graph, or list of graphs, among the arguments; None if the function takes none."""
    graphs = _registered_algorithms[name].graphs
    if not graphs:
        return None
    graph, at = next(iter(graphs.items()))
    return args[at] if at < len(args) else kwargs[graph]


def _refusal(name: str, args: Args, kwargs: Attributes) -> str | None:
    """Why these arguments are not supported; None if they are. TypeError for arguments that NetworkX does not have."""
    G = _graph(name, args, kwargs)
    if TABLE[name].module != MADE and not isinstance(G, (nx.Graph, Graph)):
        return f"a graph of type {type(G).__module__}.{type(G).__qualname__}"
    if isinstance(G, nx.Graph) and type(G).adjacency is not nx.Graph.adjacency:  # conversion would read other edges
        return f"a graph of type {type(G).__module__}.{type(G).__qualname__}, which overrides adjacency()"
    if not TABLE[name].refuses:
        return None
    given = _bound(name, args, kwargs)
    return next((text for text, refused in TABLE[name].refuses if refused(given)), None)


def _bound(name: str, args: Args, kwargs: Attributes) -> Attributes:
    """All arguments by name. TypeError for arguments that NetworkX does not have."""
    bound = _signature(name).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


@functools.cache
def _signature(name: str) -> inspect.Signature:
    return inspect.signature(_registered_algorithms[name].orig_func)


@functools.cache
def _function(name: str) -> Callable[..., Any]:
    """The function to run; it logs calls that it leaves to NetworkX."""
    module = TABLE[name].module
    original = _registered_algorithms[name].orig_func
    if module == OWN:
        implementation = original
    elif module == MADE:
        implementation = lambda *args, **kwargs: from_networkx(original(*map(_as_networkx, args), **kwargs))
    else:
        implementation = getattr(importlib.import_module(f"{__package__}.{module}"), name)

    @functools.wraps(original)
    def logged(*args: Any, **kwargs: Any) -> Any:
        try:
            with devices.get(config.device).guard:  # device errors become bitblas exceptions
                found = implementation(*args, **kwargs)
        except Refused as error:
            _log_once(name, str(error))
            raise
        is_lazy = module == OWN and isinstance(found, Iterator)
        return _finish_on_networkx(name, found, args, kwargs) if is_lazy else found

    return logged


def _finish_on_networkx(name: str, found: Iterator[Node], args: Args, kwargs: Attributes) -> Iterator[Node]:
    """Iterate over a result of NetworkX's own code. If a function that it calls is refused, NetworkX computes the rest:
    the dispatch would have done so, but has returned already.
    """
    count = 0
    try:
        for each in found:
            yield each
            count += 1
    except NotImplementedError as error:
        _log_once(name, str(error))
        given = {key: _as_networkx(value) for key, value in kwargs.items()}
        again = _registered_algorithms[name].orig_func(*map(_as_networkx, args), **given)
        yield from itertools.islice(again, count, None)


def _as_networkx(given: Any) -> Any:
    """The NetworkX graph of a Graph, also within a list; other objects unchanged."""
    if isinstance(given, list):
        return [_as_networkx(each) for each in given]
    return given.networkx if isinstance(given, Graph) else given


@functools.cache
def _log_once(name: str, reason: str) -> None:
    """Log, once, that a function is left to NetworkX."""
    logger.warning("%s is left to NetworkX; bitblas does not support: %s", name, reason)


backend = Backend()
