"""The class `Graph`: a square Matrix, edge direction, vertex names, and edge attributes."""

from __future__ import annotations

import functools
import inspect
import operator
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any, Concatenate, NoReturn, ParamSpec

import numpy as np

from .. import extras
from ..core.hooks import late
from ..display import html
from ..exceptions import DimensionMismatch, IndexOutOfBound, InvalidValue
from . import edges, methods, validation

if TYPE_CHECKING:
    from ..core import Matrix
    from ..io.build import DupOp
    from .answers import Values
    from .typed import Methods
else:
    Methods = object


Options = ParamSpec("Options")
CHECKED_ENTRIES = 1 << 16  # most entries for which `repr` checks whether the graph is directed


def _io() -> Any:
    """The module bitblas.io, whose readers create Graphs."""
    return late["io"]()


def _options() -> list[str]:
    """The options of `bitblas.io.from_table` other than its columns."""
    parameters = inspect.signature(_io().from_table).parameters.values()
    return [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]


def _of_all_vertices(
    method: Callable[Concatenate[Graph, Options], Values],
) -> Callable[Concatenate[Graph, Options], Values]:
    """A method that takes no vertex: a TypeError says how its answer is read."""
    name = method.__name__

    @functools.wraps(method)
    def answer(graph: Graph, *args: Options.args, **options: Options.kwargs) -> Values:
        if args:
            one: Any = args[0]
            several = type(one) in (list, set, tuple) and one not in graph
            at = "" if one is None else "[name] for name in .." if several else f"[{one!r}]"
            raise TypeError(
                f"{name}: expected no vertex, because the answer has every vertex, got {one!r}. Hint: g.{name}(){at}"
            )
        by_name = {"weight": f"{name}(weighted=True)", "nbunch": f"{name}()[name]"}
        validation.check_options(name, options, ["weighted"], by_name)
        return method(graph, *args, **options)

    return answer


class Graph(Methods, metaclass=methods.Named):
    """A graph whose vertices have names.

    Parameters
    ----------
    matrix
        The adjacency Matrix; an entry (i, j) is an edge from vertex i to vertex j, its value the
        weight. A Matrix from a file may be rectangular; then there are no names.
    labels : optional
        labels[k] is the name of vertex k: distinct hashable objects (1, 1.0 and True are equal), none
        of them None or NaN; None: vertices are numbers.
    directed : optional
        Whether edges have a direction; False: each edge is an entry in both directions, which is not
        checked; None: detected from the matrix at first use.
    attributes : optional
        Further values of the edges, by name, each a Matrix of the same shape.

    Notes
    -----
    Every algorithm of `bitblas.algorithms` is a method: `g.pagerank(alpha=0.9)`; `g.bfs` is `bfs_levels`. Vertices are
    passed and returned by name: see `Values`. Algorithms for undirected graphs ignore edge directions, as in
    `g.to_undirected()`, and warn.

    `g == h` is True only if both are the same object, as graphs are also keys of dictionaries; `g.isequal(h)` compares
    vertices, edges and weights.

        g = Graph.from_edges([("Anna", "Ben"), ("Ben", "Cleo")])
        g.bfs("Anna")["Cleo"]  # 2
    """

    __slots__ = ("_directed", "_numbers", "attributes", "labels", "matrix")
    matrix: Matrix

    def __init__(
        self,
        matrix: Matrix,
        labels: Sequence[Hashable] | None = None,
        *,
        directed: bool | None = None,
        attributes: Mapping[str, Matrix] | None = None,
    ) -> None:
        if isinstance(matrix, str | os.PathLike):
            raise TypeError(f"matrix: expected a Matrix, got {matrix!r}. Hint: Graph.read(path) reads a file")
        if not hasattr(matrix, "nvals"):
            raise TypeError(f"matrix: expected a Matrix, got {validation.described(matrix)}")
        self.matrix, self._directed = matrix, validation.flag("directed", directed)
        self.labels = None if labels is None else validation.different_names("labels", validation.names_of(labels))
        self.attributes = dict(attributes or {})
        self._numbers: dict[Hashable, int] | None = None
        if self.labels is not None and len(self.labels) < matrix.nrows:
            raise InvalidValue(f"labels: expected one for each of {matrix.nrows} vertices, got {len(self.labels)}")
        for name, values in self.attributes.items():
            if values.shape != matrix.shape:
                raise DimensionMismatch(f"attribute {name!r}: expected a Matrix of shape {matrix.shape}, got {values}")

    @classmethod
    def _of_names(
        cls,
        matrix: Matrix,
        labels: Sequence[Hashable] | None,
        *,
        directed: bool | None = None,
        attributes: Mapping[str, Matrix] | None = None,
    ) -> Graph:
        """A Graph whose labels are known to be distinct: from another Graph, or numbered by a reader."""
        made = cls(matrix, directed=directed, attributes=attributes)
        made.labels = None if labels is None else tuple(labels)
        return made

    # ---- from other things ----

    @classmethod
    def from_edges(cls, edges: Iterable[Sequence[Any]], *, directed: bool | None = None, **options: Any) -> Graph:
        """From pairs of vertices, or triples with a weight.

        Parameters
        ----------
        edges
            Vertices are integers from 0, or names (strings, or any hashable objects of one type: coordinates, dates).
        directed : optional
            False: each edge is undirected; None: True, with a warning if every edge is present in both directions.
        options
            Those of `from_table`, such as dup_op="plus", which adds the weights of duplicate edges.

        Raises
        ------
        InvalidValue
            For rows of different length or vertices of different types.

        Examples
        --------
        >>> g = Graph.from_edges([("Anna", "Ben", 2.0), ("Anna", "Ben", 3.5)], dup_op="plus")
        >>> g.to_dataframe().values.tolist()
        [['Anna', 'Ben', 5.5]]
        """
        if isinstance(edges, str | os.PathLike):
            raise TypeError(
                f"edges: expected pairs, or triples with a weight, got {edges!r}. Hint: Graph.read reads a file"
            )
        table = validation.columns_of(edges)
        validation.check_options(
            "from_edges", options, _options(), {"weight": "pass the weight as the third value of a triple"}
        )
        names = validation.number_names(table)
        if names is not None:
            options |= {"size": len(names), "labels": None}
        elif not len(table["source"]):
            options.setdefault("size", 0)
        weight = "weight" if "weight" in table else None
        made = _io().tables.graph_of_columns("edges", table, ("source", "target", weight), directed, **options)
        return made if names is None else cls._of_names(made.matrix, names, directed=made.directed)

    @classmethod
    def from_table(
        cls,
        table: Any,
        source: str = "source",
        target: str = "target",
        weight: str | None = None,
        *,
        attributes: Iterable[str] = (),
        directed: bool | None = None,
        **options: Any,
    ) -> Graph:
        """From a DataFrame of pandas or polars, an Arrow table or a dictionary of arrays, with one row per edge.

        Parameters
        ----------
        table
            Also any object with `__arrow_c_stream__`, such as a DuckDB relation.
        source : str, optional
            The name of the column of first vertices.
        target : str, optional
            The name of the column of second vertices.
        weight : str, optional
            The name of the column of weights; None: the graph has no weights.
        attributes : optional
            Columns of numbers that become attributes of the edges.
        directed : optional
            False: each row is an undirected edge; None: True, with a warning if every edge is present in
            both directions. Other options and exceptions are those of `bitblas.io.from_table`.

        Examples
        --------
        >>> table = {"payer": ["Anna", "Ben"], "payee": ["Ben", "Cleo"], "sum": [20.0, 15.5]}
        >>> Graph.from_table(table, "payer", "payee", "sum")
        Graph(directed, 3 vertices, 2 edges, FP64, 'Anna', 'Ben', 'Cleo')
        """
        attributes = list(attributes)
        validation.check_options("from_table", options, _options())
        table = _io().tables.collect_columns(table, (source, target, weight, *attributes))
        made = _io().from_table(table, source, target, weight, directed=directed, **options)
        if made.labels is None:
            options["size"] = len(made)  # so that a warning about the numbers is issued once
        more = {
            name: _io().from_table(table, source, target, name, directed=made.directed, **options).matrix
            for name in attributes
        }
        return cls._of_names(made.matrix, made.labels, directed=made.directed, attributes=more)

    @classmethod
    def from_networkx(
        cls, G: Any, weight: str | None = "weight", *, attributes: Iterable[str] = (), **options: Any
    ) -> Graph:
        """From a NetworkX graph, whose nodes become the names.

        Parameters
        ----------
        attributes : optional
            Numeric edge attributes.
        options
            Those of `bitblas.io.from_networkx`, but parallel edges raise unless dup_op="min" .. combines
            them.
        """
        options.setdefault("dup_op", None)
        labels: list[Hashable] | None = None if list(G) == list(range(len(G))) else list(G)
        more = {name: _io().from_networkx(G, weight=name, **options) for name in attributes}
        return cls(_io().from_networkx(G, weight=weight, **options), labels, directed=G.is_directed(), attributes=more)

    @classmethod
    def from_igraph(
        cls, G: Any, weight: str | None = "weight", *, attributes: Iterable[str] = (), **options: Any
    ) -> Graph:
        """From an igraph.Graph, with the vertex attribute `name` as names.

        Parameters
        ----------
        G : igraph.Graph
            Directed or not.
        weight : str, optional
            The edge attribute of the weights; None: all edges are True.
        attributes : optional
            Numeric edge attributes.
        options
            Those of `bitblas.io.from_igraph`, but parallel edges raise unless dup_op="min" .. combines them.

        Returns
        -------
        Graph
            With the vertices and edges of G.
        """
        options.setdefault("dup_op", None)
        made = _io().from_igraph(G, weight, **options)
        more = {name: _io().from_igraph(G, name, **options).matrix for name in attributes}
        return cls._of_names(made.matrix, made.labels, directed=G.is_directed(), attributes=more)

    @classmethod
    def read(cls, source: Any, /, file_format: str | None = None, **options: Any) -> Graph:
        """From a file, by its suffix: an edge list (.csv, .tsv, .txt), Matrix Market, .npz, .parquet, .bitblas.

        Parameters
        ----------
        source
            A path, or an open file.
        file_format : str, optional
            In place of the suffix: "csv", "mtx", ..
        options
            directed=False: every edge is undirected; None: as the file states, otherwise True, with a warning if every
            edge is present in both directions. For an edge list also columns=["payer", "payee", "sum"], dup_op="plus"
            (adds the weights of duplicate edges), header=True or False (whether the first line names the columns),
            delimiter=";", weights=False, labels=True, base=1: see `bitblas.io.read_edgelist`, and `bitblas.io.read` for
            other formats.

        Examples
        --------
        >>> import io
        >>> Graph.read(io.StringIO("Anna,Ben\\nBen,Cleo\\n"), "csv").path("Anna", "Cleo")
        ['Anna', 'Ben', 'Cleo']
        """
        return _io().read(source, file_format, **options)

    # ---- vertices and edges ----

    @property
    def directed(self) -> bool:
        """Whether edges have a direction."""
        if self._directed is None:
            self._directed = not self.matrix.isequal(self.matrix.T.new())
        return self._directed

    @property
    def vertices(self) -> Sequence[Hashable]:
        """The names, ordered by vertex number."""
        return range(self.matrix.nrows) if self.labels is None else self.labels[: self.matrix.nrows]

    def vertex(self, label: Any) -> int:
        """The number of a vertex, given its label, or its number if there are no labels.

        Raises
        ------
        InvalidValue
            For others.
        """
        if self.labels is not None:
            number = self._numbered(label)
            if number is None:
                hint = validation.suggestion(label, self.labels)
                raise InvalidValue(f"expected one of the {len(self.labels)} labels of the graph, got {label!r}{hint}")
            return number
        try:
            number = int(label)
            if not isinstance(label, str) and number != label:  # int() cuts 1.5 to 1
                raise ValueError
        except (TypeError, ValueError, OverflowError):
            raise InvalidValue(f"expected the number of a vertex, got {label!r}") from None
        if not 0 <= number < self.matrix.nrows:
            raise InvalidValue(f"expected a vertex in 0..{self.matrix.nrows - 1}, got {number}")
        return number

    def _numbered(self, label: Hashable) -> int | None:
        """The number of a name, None if it is unknown."""
        if self._numbers is None:
            self._numbers = {name: number for number, name in enumerate(self.labels or ())}
        known = (
            self._numbers[name] for name in (label, str(label)) if validation.hashable(name) and name in self._numbers
        )
        return next(known, None)

    def label(self, vertex: int) -> Any:
        """The name of a vertex, given its number: its label, or the number if there are no labels.

        Raises
        ------
        IndexOutOfBound
            For a number out of range.
        TypeError
            Unless it is an integer.
        """
        if isinstance(vertex, bool | np.bool_) or not hasattr(vertex, "__index__"):
            known = f". Hint: vertex({vertex!r}) is the number of that name" if vertex in self else ""
            raise TypeError(f"vertex: expected the number of a vertex, got {vertex!r}{known}")
        number, n = operator.index(vertex), self.matrix.nrows
        if not 0 <= number < n:
            expected = f"the number of a vertex, 0 to {n - 1}" if n else "a graph with vertices"
            raise IndexOutOfBound(f"vertex: expected {expected}, got {number}")
        return self._name(number)

    def _name(self, vertex: int) -> Any:
        """`label` without checks."""
        return vertex if self.labels is None else self.labels[vertex]

    def neighbors(self, label: Hashable) -> list[Hashable]:
        """The names of the vertices to which a vertex has an edge; those that have one to it: `g.reverse()`.

        Raises
        ------
        InvalidValue
            For an unknown vertex.

        Examples
        --------
        >>> Graph.from_edges([("Anna", "Ben"), ("Anna", "Cleo")]).neighbors("Anna")
        ['Ben', 'Cleo']
        """
        from ..io.build import host_coo

        return [self._name(k) for k in host_coo(self.matrix[self.vertex(label), :].new())[0].tolist()]

    def has_edge(self, source: Hashable, target: Hashable) -> bool:
        """Whether there is an edge from one vertex to another.

        Raises
        ------
        InvalidValue
            For an unknown vertex.
        """
        return self.matrix.get(self.vertex(source), self.vertex(target)) is not None

    def number_of_edges(self) -> int:
        """The number of edges; undirected edges count once."""
        if self.directed:
            return int(self.matrix.nvals)
        return int(self.matrix.nvals + edges.loops(self.matrix).nvals) // 2

    def number_of_nodes(self) -> int:
        """The number of vertices, as `len(g)`."""
        return len(self)

    def density(self) -> float:
        """The number of edges divided by that of a complete graph without self loops; 0 for fewer than two vertices.
        Self loops count as edges, so that it may exceed 1."""
        n = len(self)
        return (1 if self.directed else 2) * self.number_of_edges() / (n * (n - 1)) if n > 1 else 0.0

    @_of_all_vertices
    def degree(self, *, weighted: bool = False) -> Values:
        """The degree of each vertex, in and out; a self loop counts twice.

        Parameters
        ----------
        weighted : optional
            The sum of the weights.

        Examples
        --------
        >>> g = Graph.from_edges([("Anna", "Ben"), ("Ben", "Cleo")])
        >>> g.degree()["Ben"], g.in_degree()["Ben"]
        (2, 1)
        """
        return edges.degrees(self, out=True, into=True, weighted=weighted)

    @_of_all_vertices
    def in_degree(self, *, weighted: bool = False) -> Values:
        """The number of edges that end at each vertex; undirected: as `degree`.

        Parameters
        ----------
        weighted : optional
            The sum of the weights.
        """
        return edges.degrees(self, out=not self.directed, into=True, weighted=weighted)

    @_of_all_vertices
    def out_degree(self, *, weighted: bool = False) -> Values:
        """The number of edges that begin at each vertex; undirected: as `degree`.

        Parameters
        ----------
        weighted : optional
            The sum of the weights.
        """
        return edges.degrees(self, out=True, into=not self.directed, weighted=weighted)

    def path(self, source: Hashable, target: Hashable, *, weighted: bool | None = None) -> list[Hashable]:
        """The names on a shortest path from one vertex to another, both included.

        Parameters
        ----------
        weighted : optional
            True: the least sum of weights; False: the fewest edges; None: by weights if edges have weights.

        Raises
        ------
        InvalidValue
            If target cannot be reached, and for an unknown vertex.

        Examples
        --------
        >>> g = Graph.from_edges([("Ulm", "Rom", 11.0), ("Ulm", "Bern", 7.0), ("Bern", "Rom", 2.5)])
        >>> g.path("Ulm", "Rom"), g.path("Ulm", "Rom", weighted=False)
        (['Ulm', 'Bern', 'Rom'], ['Ulm', 'Rom'])
        """
        if weighted is None:
            weighted = str(self.matrix.dtype) != "BOOL"
        along = validation.check_weighted(weighted, self.attributes)
        return (self.sssp_tree(source, targets=target)[1] if along else self.bfs_parents(source)).way(target)

    def by(self, attribute: str) -> Graph:
        """The same graph with another edge attribute as the weight.

        Raises
        ------
        InvalidValue
            For an unknown attribute.

        Notes
        -----
        Edges without the attribute are left out.

        Examples
        --------
        >>> table = {"source": ["Ulm"], "target": ["Rom"], "hours": [11.0], "lanes": [4]}
        >>> g = Graph.from_table(table, weight="hours", attributes=["lanes"])
        >>> g.by("lanes").sssp("Ulm")["Rom"]
        4
        """
        if attribute not in self.attributes:
            known = f"expected one of {', '.join(self.attributes)}" if self.attributes else "the graph has none"
            raise InvalidValue(f"attribute: {known}, got {attribute!r}. Hint: from_table(.., attributes=[..])")
        return Graph._of_names(self.attributes[attribute], self.labels, directed=self.directed)

    def isequal(self, other: Graph, *, check_dtype: bool = False) -> bool:
        """Whether both graphs have the same vertices by name, in any order, the same edges with equal weights
        and attributes, and both or neither have directions.

        Parameters
        ----------
        check_dtype : optional
            Whether types of weights count. TypeError unless other is a Graph.
        """
        if not isinstance(other, Graph):
            raise TypeError(f"other: expected a Graph, got {validation.described(other)}")
        if self.matrix.shape != other.matrix.shape or self.attributes.keys() != other.attributes.keys():
            return False
        if self.matrix.nvals != other.matrix.nvals or self.directed != other.directed:
            return False
        here, there = list(self.vertices), list(other.vertices)
        number = {name: k for k, name in enumerate(there)}
        if here != there and number.keys() != set(here):
            return False
        of = None if here == there else [number[name] for name in here]
        pairs = [(self.matrix, other.matrix), *((A, other.attributes[name]) for name, A in self.attributes.items())]
        return all(A.isequal(B if of is None else B[of, of].new(), check_dtype=check_dtype) for A, B in pairs)

    def reverse(self) -> Graph:
        """The graph with the direction of every edge reversed; a copy of an undirected graph."""
        more = {name: A.T.new() for name, A in self.attributes.items()}
        return Graph._of_names(self.matrix.T.new(), self.labels, directed=self.directed, attributes=more)

    def subgraph(self, labels: Iterable[Hashable]) -> Graph:
        """The subgraph induced by some vertices, in the given order. Names that the graph does not have are ignored, as
        in NetworkX.

        Examples
        --------
        >>> g = Graph.from_edges([("Anna", "Ben"), ("Ben", "Cleo")])
        >>> g.subgraph(["Ben", "Anna"])
        Graph(directed, 2 vertices, 1 edges, BOOL, 'Ben', 'Anna')
        """
        of = list(dict.fromkeys(self.vertex(label) for label in labels if label in self))  # each once
        part = lambda A: A[of, of].new()
        names = None if self.labels is None else [self.labels[k] for k in of]
        more = {name: part(A) for name, A in self.attributes.items()}
        return Graph._of_names(part(self.matrix), names, directed=self.directed, attributes=more)

    def with_vertices(self, names: Iterable[Hashable]) -> Graph:
        """The same edges over these vertices, some of which may have no edges.

        Raises
        ------
        InvalidValue
            If a vertex of the graph is missing or a name occurs twice.
        """
        labels = validation.different_names("names", names)
        number = {name: k for k, name in enumerate(labels)}
        absent = [name for name in self.vertices if name not in number]
        if absent:
            raise InvalidValue(f"names: expected every vertex of the graph once, got names without {absent[0]!r}")
        at, n = [number[name] for name in self.vertices], len(labels)

        def placed(A: Matrix) -> Matrix:
            whole = type(A)(A.dtype, n, n, device=A.device)
            whole[at, at] << A
            return whole

        more = {name: placed(A) for name, A in self.attributes.items()}
        return Graph._of_names(placed(self.matrix), labels, directed=self.directed, attributes=more)

    def to_undirected(self, dup_op: DupOp | None = None) -> Graph:
        """The same graph with each edge in both directions.

        Parameters
        ----------
        dup_op : optional
            Combines two different values ("plus", "max", "first", ..); its first operand is the edge from the vertex
            that comes first. Sums and products of small integers are INT64. None: the smaller value is kept.

        Raises
        ------
        InvalidValue
            For a dup_op that is unknown or undefined for the values, and for a sum beyond 64 bits.

        Examples
        --------
        >>> g = Graph.from_edges([("Anna", "Ben", 20.0), ("Ben", "Anna", 5.0)], directed=True)
        >>> g.to_undirected("plus").to_dataframe().values.tolist()
        [['Anna', 'Ben', 25.0]]
        """
        A, more = self.matrix, self.attributes
        # directed=False alone does not guarantee that each edge is present in both directions
        if self._directed is False and A.nrows == A.ncols and all(map(edges.is_symmetric, (A, *more.values()))):
            _io().build.check_dup_op(dup_op, A.dtype)
            return self
        more = {name: edges.both_ways(values, dup_op) for name, values in more.items()}
        return Graph._of_names(edges.both_ways(A, dup_op), self.labels, directed=False, attributes=more)

    # ---- to other things ----

    def to_dataframe(self, source: str = "source", target: str = "target", weight: str | None = "weight") -> Any:
        """A pandas DataFrame with one row per edge (undirected edges once), these column names (weight None:
        omitted), and the attributes. See also `bitblas.io.to_polars` and `to_arrow`.

        Raises
        ------
        InvalidValue
            For a duplicate column name.
        ImportError
            Without pandas.
        """
        pandas = extras.load("pandas", "to_dataframe")
        names = [source, target, *([] if weight is None else [weight]), *self.attributes]
        if len(set(names)) < len(names):
            raise InvalidValue(f"columns: expected different names, got {', '.join(map(repr, names))}")
        found = list(edges.edge_table(self).values())
        if weight is None:
            del found[2]
        return pandas.DataFrame(dict(zip(names, found)))

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """The table of `to_dataframe` for libraries that read Arrow (polars, DuckDB, ..). InvalidValue for names of
        several types, ImportError without pyarrow."""
        return _io().tables.arrow_stream(edges.edge_table(self), requested_schema)

    def to_networkx(self) -> Any:
        """A networkx.Graph, or DiGraph if the graph is directed, with the names as nodes, weights and attributes, as
        Python objects. Edges without weights (all True in the matrix) have no attribute `weight`."""
        library = extras.load("networkx", "to_networkx")
        made = library.DiGraph() if self.directed else library.Graph()
        made.add_nodes_from(self.vertices)
        table = edges.edge_table(self)
        sources, targets = table.pop("source"), table.pop("target")
        if edges.unweighted(table["weight"]):
            del table["weight"]
        rows = zip(*(column.tolist() for column in table.values())) if table else repeat(())
        made.add_edges_from((s, t, dict(zip(table, row))) for s, t, row in zip(sources, targets, rows))
        return made

    def to_igraph(self) -> Any:
        """An igraph.Graph with the names, and the weights if edges have weights.

        Raises
        ------
        ImportError
            Without igraph.
        """
        return _io().to_igraph(self, directed=self.directed)

    def write(self, target: Any, file_format: str | None = None, **options: Any) -> None:
        """Write a file of any format. Warns of names and attributes that it cannot store.

        Parameters
        ----------
        target
            A path, or an open file.
        file_format : str, optional
            In place of the suffix: "csv", "mtx", ..
        options
            Those of `bitblas.io.write`.

        Notes
        -----
        .npz, .parquet, .bitblas and (by symmetry) .mtx store whether the graph is directed. An edge list of an
        undirected graph has one line per direction, or one per edge with directed=False; read it with directed=False,
        too.
        """
        more = edges.writer_options(self, _io().file_formats.output_format_of(target, file_format))
        _io().write(target, self.matrix, file_format, **(more | options))

    # ---- algorithms ----

    if not TYPE_CHECKING:  # type checkers read typed.pyi instead

        def __getattr__(self, name):
            return methods.method(self, name)

    def __dir__(self) -> Iterator[str]:
        return iter(sorted({*object.__dir__(self), *methods.names()}))

    def __len__(self) -> int:
        """The number of vertices."""
        return self.matrix.nrows

    def __iter__(self) -> Iterator[Hashable]:
        """The names of the vertices, or their numbers."""
        return iter(self.vertices)

    def __getitem__(self, key: object) -> NoReturn:
        """Refuse NetworkX's g[u] and g[u][v], with the methods that answer."""
        u, v = map(repr, key) if isinstance(key, tuple) and len(key) == 2 and key not in self else (repr(key), "v")
        raise TypeError(
            f"Graph: expected a method in place of an index, got g[{key!r}]. Hint: g.neighbors({u}), "
            f"g.has_edge({u}, {v}), or for the weight g.matrix.get(g.vertex({u}), g.vertex({v}))"
        )

    def __contains__(self, label: Hashable) -> bool:
        if self.labels is not None:
            return self._numbered(label) is not None
        try:
            self.vertex(label)
        except InvalidValue:
            return False
        return True

    def _repr_html_(self) -> str:
        """The text of `repr`, and the first edges (an undirected one once), with weights other than True."""
        import bitblas as gb

        from .answers import SHOWN

        title, host = repr(self), self.matrix.device.to_host
        entries = zip(*(host(part).tolist() for part in self.matrix.ss.head(2 * SHOWN)))
        known = [row for row in entries if self._directed is not False or row[0] <= row[1]][:SHOWN]
        rows = [(str(self._name(i)), str(self._name(j)), str(value)) for i, j, value in known]
        columns = 2 if self.matrix.dtype == gb.dtypes.BOOL and all(value for *_, value in known) else 3
        shown = [row[:columns] for row in (("source", "target", "weight"), *rows)]
        return html(title, shown) if rows else html(title)

    def __repr__(self) -> str:
        kind = {None: "", True: "directed, ", False: "undirected, "}[self._directed]
        A = self.matrix
        if self._directed is None and A.nrows == A.ncols and A.nvals <= CHECKED_ENTRIES:
            kind = "directed, " if self.directed else "undirected, "
        count = f"{A.nvals} entries" if self._directed is None else f"{self.number_of_edges()} edges"
        some = "" if self.labels is None else f", {', '.join(map(repr, self.labels[:3]))}{', ..' * (len(self) > 3)}"
        return f"Graph({kind}{A.nrows} vertices, {count}, {A.dtype}{some})"
