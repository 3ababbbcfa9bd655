"""`Values`: per-vertex results of an algorithm, as a mapping from vertex names."""

from __future__ import annotations

import operator
from collections.abc import Hashable, ItemsView, Iterator, Mapping, ValuesView
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import extras, foreign_names
from ..core.convert import exact_sum
from ..core.hooks import late
from ..display import html
from ..exceptions import InvalidValue

if TYPE_CHECKING:
    from ..core import Vector
    from .clustering import Clustering
    from .graph import Graph

SHOWN = 10  # rows of a table in a notebook


class Values(Mapping[Hashable, Any]):
    """A value for each vertex that has one, as a mapping from names: `levels["Anna"]`, `dict(levels)`.

    Parameters
    ----------
    graph
        The graph of the vertices.
    vector
        The Vector of the values.
    vertices : optional
        Whether the values are vertices (parents, representatives of components), which are returned by
        name too.
    absent : optional
        The text of the KeyError for a vertex without a value.
    classes : optional
        Whether values are only class labels (communities, colors), for plots.
    """

    __slots__ = ("_entries", "absent", "classes", "graph", "vector", "vertices")

    def __init__(
        self,
        graph: Graph,
        vector: Vector,
        *,
        vertices: bool = False,
        absent: str = "has no value here",
        classes: bool = False,
    ) -> None:
        self.graph, self.vector, self.vertices, self.absent = graph, vector, vertices, absent
        self.classes = classes
        self._entries: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def entries(self) -> tuple[np.ndarray, np.ndarray]:
        """Vertex numbers in ascending order, and their values, in host memory."""
        if self._entries is None:
            from ..io.build import host_coo

            index, values = host_coo(self.vector)
            self._entries = index, values
        return self._entries

    def __getitem__(self, label: Hashable) -> Any:
        """The value of a vertex. KeyError if it has none or is not a vertex; `get` returns a default instead."""
        try:
            at = self._place(self.graph.vertex(label))
        except InvalidValue as error:
            raise KeyError(str(error)) from None
        if at is None:
            raise KeyError(f"{label!r} {self.absent}")
        return self._value(self.entries[1][at].item())

    def __contains__(self, label: object) -> bool:
        return label in self.graph and self._place(self.graph.vertex(label)) is not None

    def _place(self, number: int) -> int | None:
        """The position of the value of a vertex."""
        index = self.entries[0]
        at = int(index.searchsorted(index.dtype.type(number)))  # a different type would convert the whole index
        return at if at < len(index) and index[at] == number else None

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            known = [one for one in dir(type(self)) if not one.startswith("_")]
            hint = lambda: foreign_names.hint(name, foreign_names.VALUES, known)
            text = f"'Values' object has no attribute {name!r}"
            raise foreign_names.MissingAttribute(text, name, str if name.startswith("_") else hint)

    def __iter__(self) -> Iterator[Hashable]:
        return map(self.graph._name, self.entries[0].tolist())

    def __len__(self) -> int:
        return int(self.vector.nvals)

    def values(self) -> ValuesView[Any]:
        """The values, in vertex order."""
        return dict(self.items()).values()

    def items(self) -> ItemsView[Hashable, Any]:
        """Pairs of a name and its value."""
        return dict(zip(self, map(self._value, self.entries[1].tolist()))).items()

    def largest(self, count: int = 10) -> list[tuple[Hashable, Any]]:
        """Pairs of name and value of the `count` largest values, in descending order; ties in vertex order.

        Examples
        --------
        >>> g = Graph.from_edges([("Anna", "Ben"), ("Ben", "Cleo")])
        >>> g.degree().largest(1)
        [('Ben', 2)]
        """
        return self._first(-1, count)

    def max(self) -> int | float:
        """The largest value.

        Raises
        ------
        InvalidValue
            Without values.
        TypeError
            If values are vertices; also below.
        """
        return self._numbers().max().item()

    def min(self) -> int | float:
        """The smallest value."""
        return self._numbers().min().item()

    def sum(self) -> int | float:
        """The sum of the values, exact for integers; for Booleans the number of True values."""
        return exact_sum(self._numbers(empty=True))

    def mean(self) -> float:
        """The mean of the values."""
        values = self._numbers()
        return exact_sum(values) / len(values) if values.dtype.kind in "iu" else float(values.mean())

    def median(self) -> float:
        """The median of the values."""
        return float(np.median(self._numbers()))

    def _numbers(self, *, empty: bool = False) -> np.ndarray:
        if self.vertices:
            raise TypeError(
                "expected values that are numbers, got vertices. Hint: groups() lists the vertices that share a value"
            )
        if not len(self.entries[1]) and not empty:
            raise InvalidValue("expected a vertex with a value, got none")
        return self.entries[1]

    def smallest(self, count: int = 10) -> list[tuple[Hashable, Any]]:
        """Pairs of name and value of the `count` smallest values, in ascending order."""
        return self._first(1, count)

    def way(self, label: Hashable) -> list[Hashable]:
        """The names on the path from the source to a vertex; for values that are parents (bfs_parents, sssp_tree).

        Raises
        ------
        InvalidValue
            If there is no path.
        """
        parents = dict(zip(*(part.tolist() for part in self.entries)))
        way = [self.graph.vertex(label)]
        if way[0] not in parents:
            raise InvalidValue(f"{label!r} {self.absent}")
        while parents[way[-1]] != way[-1]:
            way.append(parents[way[-1]])
            if len(way) > len(parents):  # for example the mates of a matching
                raise InvalidValue("expected parents, which lead to a source, got values that form a cycle")
        return [self.graph._name(vertex) for vertex in reversed(way)]

    def groups(self) -> dict[Any, list[Hashable]]:
        """The names that share a value, by value; the largest group first.

        Examples
        --------
        >>> g = Graph.from_edges([("Anna", "Ben"), ("Cleo", "Cleo")], directed=False)
        >>> g.connected_components().groups()
        {'Anna': ['Anna', 'Ben'], 'Cleo': ['Cleo']}
        """
        index, values = self.entries
        kinds, which = np.unique(values, return_inverse=True)
        order = np.argsort(which, kind="stable")
        parts = np.split(index[order], np.cumsum(np.bincount(which, minlength=len(kinds)))[:-1]) if len(index) else []
        found = [
            (self._value(k), [self.graph._name(v) for v in part.tolist()]) for k, part in zip(kinds.tolist(), parts)
        ]
        return dict(sorted(found, key=lambda pair: -len(pair[1])))

    def clustering(self) -> Clustering:
        """The vertices that share a value as a Clustering, with the methods of igraph's VertexClustering:
        membership, sizes, modularity, subgraphs, compare_to.

        Raises
        ------
        InvalidValue
            If a vertex has no value.
        """
        from .clustering import Clustering

        return Clustering.of(self)

    def to_dataframe(self, name: str = "value") -> Any:
        """A pandas DataFrame with the columns vertex and value (or `name`).

        Raises
        ------
        ImportError
            Without pandas.
        """
        pandas = extras.load("pandas", "to_dataframe")
        _, values = self.entries
        value = [self._value(x) for x in values.tolist()] if self.vertices else values
        return pandas.DataFrame({"vertex": list(self), name: value})

    def to_series(self, name: str = "value") -> Any:
        """A pandas Series of the values, indexed by the names.

        Raises
        ------
        ImportError
            Without pandas.
        """
        return self.to_dataframe().set_index("vertex")["value"].rename(name)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """The table of `to_dataframe` for libraries that read Arrow (polars, DuckDB, ..). ImportError without
        pyarrow."""
        value = [self._value(x) for x in self.entries[1].tolist()] if self.vertices else self.entries[1]
        return late["io"]().tables.arrow_stream({"vertex": list(self), "value": value}, requested_schema)

    def _value(self, value: Any) -> Any:
        return self.graph._name(value) if self.vertices else value

    def _first(self, sign: int, count: int) -> list[tuple[Hashable, Any]]:
        try:
            count = operator.index(count)
        except TypeError:
            raise TypeError(f"count: expected a number of vertices, got {count!r}") from None
        if count < 0:
            raise InvalidValue(f"count: expected 0 or more, got {count}")
        index, values = self.entries
        by = values.astype(np.int8) if values.dtype == np.bool_ else values
        order = np.argsort(by[::sign], kind="stable")[::sign][:count]  # ties in vertex order, also of the largest
        order = order if sign > 0 else len(by) - 1 - order
        return [(self.graph._name(v), self._value(x)) for v, x in zip(index[order].tolist(), values[order].tolist())]

    def _repr_html_(self) -> str:
        rows = [(str(name), str(self[name])) for name, _ in zip(self, range(SHOWN))]
        more = [[f".. {len(self) - SHOWN} more .."]] if len(self) > SHOWN else []
        return html([("vertex", "value"), *rows, *more], f"{len(self)} of {len(self.graph)} vertices")

    def __repr__(self) -> str:
        some = ", ".join(f"{name!r}: {self[name]!r}" for name, _ in zip(self, range(5)))
        return f"Values({{{some}{', ..' if len(self) > 5 else ''}}}, {len(self)} of {len(self.graph)} vertices)"
