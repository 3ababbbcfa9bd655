"""Names that users of NetworkX, igraph, cuGraph, SciPy, NumPy and pandas try, and their equivalents in bitblas.

The texts become hints of AttributeErrors. `call` of an algorithm is written without the graph: a hint on a Graph says
`g.sssp(source)`, one on a Matrix or a module `bitblas.algorithms.sssp(A, source)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

CLOSE = 0.75  # similarity from which an unknown name counts as a misspelling


def _table(text: str) -> dict[str, str]:
    """{name: hint} from lines `hint | names`, of which indented ones continue the line above."""
    found: dict[str, str] = {}
    for line in text.strip().replace("\n    ", " ").splitlines():
        hint, _, names = line.partition("|")
        found |= dict.fromkeys(names.split(), hint.strip())
    return found


# Other libraries' names of algorithms that bitblas has: the call, and what it does.
ALGORITHMS = {
    name: (f"{call})", does)
    for name, text in _table(
        """
sssp(source) has the distances from a vertex along weighted edges | dijkstra bellman_ford delta_stepping
    single_source_dijkstra single_source_dijkstra_path_length single_source_bellman_ford
    single_source_bellman_ford_path_length single_source_shortest_path_length shortest_path_length shortest_paths
    shortest_distances
sssp_tree(source) has the distances and the vertex before each | dijkstra_predecessor_and_distance
    single_source_dijkstra_path single_source_bellman_ford_path
distances_from_each(sources) has the distances from each of several vertices | distances multi_source_dijkstra
    multi_source_dijkstra_path_length
all_pairs_distances() has the distances between all vertices | floyd_warshall floyd_warshall_numpy johnson
    all_pairs_shortest_path_length all_pairs_dijkstra_path_length all_pairs_dijkstra
    all_pairs_bellman_ford_path_length all_pairs_shortest_path apsp distance_matrix
bfs_levels(source) has how many edges each vertex is away | bfs_layers breadth_first_search breadth_first
    bfs_distances
bfs_parents(source) has the vertex before each in a breadth-first search | bfs_tree bfs_edges bfs_predecessors
    breadth_first_order
negative_cycle() finds a cycle of negative length | negative_edge_cycle find_negative_cycle
local_clustering() has the clustering coefficient of each vertex | clustering clustering_coefficient
    transitivity_local_undirected lcc
triangles_per_vertex() counts the triangles at each vertex | triangles count_triangles
transitivity() is the share of closed triples | transitivity_undirected
average_clustering() is the mean clustering coefficient | transitivity_avglocal_undirected
core_numbers() has the core number of each vertex | core_number coreness kcore k_shell
k_truss(k) is the part in which every edge is in k - 2 triangles | ktruss ktruss_subgraph truss
betweenness_centrality() has the betweenness of each vertex | betweenness
edge_betweenness_centrality() has the betweenness of each edge | edge_betweenness
closeness_centrality() has the closeness of each vertex | closeness
harmonic_centrality() has the harmonic centrality of each vertex | harmonic
eigenvector_centrality() has the eigenvector centrality of each vertex | evcent eigenvector
    eigenvector_centrality_numpy
katz_centrality() has Katz' centrality of each vertex | katz katz_centrality_numpy
hits() has hubs and authorities | hub_score authority_score hubs authorities
pagerank() has the rank of each vertex; personalization= takes weights of vertices | personalized_pagerank
    google_matrix page_rank
connected_components() has the component of each vertex; of a Graph, .groups() lists their vertices | components
    clusters node_connected_component number_connected_components largest_component largest_connected_component
    is_connected
weakly_connected_components() has the component of each vertex, whatever the direction of edges |
    number_weakly_connected_components is_weakly_connected wcc
strongly_connected_components() has the strong component of each vertex | number_strongly_connected_components
    is_strongly_connected scc kosaraju tarjan
minimum_spanning_forest() has the edges of least weight that connect what is connected | minimum_spanning_tree
    minimum_spanning_edges spanning_tree mst kruskal prim
topological_levels() orders the vertices of a graph without cycles | topological_sort topological_sorting
    topological_order topological_generations is_directed_acyclic_graph is_dag
dag_longest_path() has a longest path of a graph without cycles, and its length | dag_longest_path_length
    longest_path
k_shortest_paths(source, target, k) has the shortest paths without repeated vertices | shortest_simple_paths yen
    get_k_shortest_paths
all_shortest_paths(source, target) has all shortest paths between two vertices | get_all_shortest_paths
biconnected_components() has the biconnected component of each edge | is_biconnected blocks bicomponents
articulation_points() has the vertices whose removal disconnects a component | cut_vertices articulations
bridges() has the edges whose removal disconnects a component | has_bridges cut_edges
maximum_flow(source, sink) has the value of the flow and the flow along each edge | max_flow maxflow
    maximum_flow_value max_flow_value
minimum_cost_flow(costs, source, sink) has the cheapest maximum flow | max_flow_min_cost min_cost_flow mincost_flow
    network_simplex min_cost_flow_cost
minimum_cut(source, sink) has the value of the cut and its sides | min_cut mincut minimum_cut_value st_mincut
    minimum_edge_cut
louvain() has the community of each vertex | louvain_communities community_multilevel best_partition community_louvain
    communities
leiden() has the community of each vertex | leiden_communities community_leiden greedy_modularity_communities
    community_fastgreedy
label_propagation() has the community of each vertex | label_propagation_communities asyn_lpa_communities
    fast_label_propagation_communities community_label_propagation lpa
markov_clustering() has the community of each vertex | mcl
coloring() has a color of each vertex | greedy_color vertex_coloring_greedy graph_coloring
maximal_matching() has the partner of each vertex | max_weight_matching min_weight_matching matching
maximum_matching() has the partner of each vertex of a bipartite graph | maximum_bipartite_matching
    hopcroft_karp_matching hopcroft_karp
maximal_independent_set() has vertices of which no two are adjacent | mis independent_set
dominating_set() has vertices from which all others have an edge | minimum_dominating_set min_weighted_dominating_set
    min_dominating_set
bipartite_sides() has the side of each vertex, or refuses a graph that is not bipartite | is_bipartite bipartite_color
bipartite_projection(vertices) connects vertices of one side that share a neighbor | projected_graph
    weighted_projected_graph
jaccard() has a similarity of two vertices | jaccard_coefficient similarity_jaccard jaccard_w
adamic_adar() has a similarity of two vertices | adamic_adar_index similarity_inverse_log_weighted
resource_allocation() has a similarity of two vertices | resource_allocation_index
overlap() has a similarity of two vertices | overlap_coefficient
cosine() has a similarity of two vertices | cosine_similarity
random_walks(starts, length) has paths of random steps | random_walk uniform_random_walks
node2vec_walks(starts, length) has biased random walks | node2vec node2vec_random_walks biased_random_walks
sample_neighbors(starts, counts) has some neighbors of each vertex | uniform_neighbor_sample neighbor_sample
spring_layout() has positions of the vertices | fruchterman_reingold_layout layout kamada_kawai_layout
forceatlas2_layout() has positions that show communities | force_atlas2 forceatlas2
diameter() is the greatest distance | get_diameter
eccentricity() has the greatest distance from each vertex; its smallest value is the radius | radius center periphery
square_clustering() has the share of closed squares at each vertex | squares
ego_graph(center) is the part around a vertex | ego induced_neighborhood
condensation() is the graph of strong components | cluster_graph contract_vertices
"""
    ).items()
    for call, _, does in [text.partition(") ")]
}

_OWN = {call.partition("(")[0]: (call, does) for call, does in ALGORITHMS.values()}  # also tried on a Matrix

# Algorithms of other libraries that bitblas lacks, with the nearest equivalent ("": none).
ABSENT = _table(
    """
| line_graph linegraph complement transitive_closure
    transitive_reduction simple_cycles cycle_basis find_cliques cliques max_clique is_isomorphic isomorphic
    isomorphism girvan_newman rich_club rich_club_coefficient preferential_attachment edge_connectivity
    node_connectivity vertex_connectivity is_planar planarity all_simple_paths steiner_tree eulerian_circuit
    traveling_salesman_problem random_spanning_tree graph_edit_distance motifs constraint
    degree_assortativity_coefficient assortativity_degree assortativity onion_layers
bfs_parents(source) is a breadth-first search | dfs dfs_tree dfs_edges dfs_preorder_nodes dfs_postorder_nodes
    dfs_predecessors depth_first_order depth_first_search
spectral_layout() and spring_layout() have positions | circular_layout random_layout shell_layout
sssp_tree(source) has one shortest path to each vertex | astar_path
strongly_connected_components() has vertices on a common cycle | find_cycle cycles has_cycle is_acyclic
all_pairs_distances() has what it is computed from | average_shortest_path_length wiener_index average_path_length
    global_efficiency local_efficiency
"""
)

# On a Graph, in addition to the algorithms above.
GRAPH = _table(
    """
a Graph is not changed edge by edge; Graph.from_edges makes one of all edges | add_edge add_edges add_edges_from
    add_weighted_edges_from add_node add_nodes add_nodes_from add_vertex add_vertices add_path add_cycle update
subgraph(names) is the graph of those that stay | remove remove_node remove_nodes_from delete_vertices without drop
    clear
Graph(g.matrix.select('>=', 0.7).new(), g.labels, directed=g.directed) keeps some edges, subgraph(names) some vertices
    | remove_edge remove_edges_from delete_edges select filter edge_subgraph simplify
neighbors(name) lists the vertices at the other end of the out-edges of a vertex | successors succ out_neighbors
    has_successor adj adjacency neighbours neighborhood get_adjlist
reverse().neighbors(name) lists the vertices at the other end of the in-edges of a vertex | predecessors pred
    in_neighbors has_predecessor
reverse() is the graph with all edges reversed | reversed transpose T
to_dataframe() lists the edges | edges out_edges in_edges es edge_list edgelist view_edge_list get_edgelist incident
    get_edge_dataframe edge
vertices has the names of the vertices | nodes node vs nodes_iter vertex_names names get_vertex_dataframe
NetworkX's functions take g.to_networkx(); backend="bitblas" runs them here | nbunch_iter
Graph(bitblas.torch.from_pyg(edge_index)) takes PyG's edge list | from_pyg from_torch from_edge_index
name in g says whether there is such a vertex | has_node has_vertex contains
len(g) is the number of vertices | number_of_vertices order num_nodes num_vertices vcount n n_nodes
    nnodes nrows ncols
number_of_edges() is the number of edges | size num_edges ecount m n_edges nedges nnz nvals edge_count
len(g) is the number of vertices, number_of_edges() that of edges; g.matrix.shape is that of the matrix | shape info
    summary describe
degree(), in_degree() and out_degree() count the edges of each vertex | degrees degree_centrality in_degrees
    out_degrees indegree outdegree in_degree_centrality out_degree_centrality degree_histogram average_degree isolates
degree(weighted=True) sums the weights of the edges of each vertex | strength weighted_degree in_strength out_strength
directed says whether edges have a direction | is_directed is_undirected
a Graph has at most one edge from a vertex to another | is_multigraph is_multi is_simple
every Graph has weights; those of a BOOL matrix are all True | is_weighted weighted
Graph(g.matrix, g.labels, directed=True) counts each direction as an edge | to_directed as_directed
to_undirected() has each edge both ways | as_undirected symmetrize symmetrise
a Graph is never changed and needs no copy; Graph(g.matrix.dup(), g.labels, directed=g.directed) copies the matrix |
    copy dup
matrix[g.vertex(a), g.vertex(b)].value is the weight of an edge | weight weights get_edge_data get_eid edge_weight
Graph(g.matrix, names, directed=g.directed) has other names | relabel rename relabel_nodes set_labels
    convert_node_labels_to_integers
concatenated tables make one graph: Graph.from_table(pandas.concat([g.to_dataframe(), h.to_dataframe()]), ..) | union
    compose merge add concat disjoint_union join
subgraph(names) is the graph of some vertices and the edges between them | induced_subgraph subgraph_view get_subgraph
    node_subgraph neighborhood_graph
path(source, target) has the vertices of a shortest path, sssp(source) the lengths | shortest_path dijkstra_path
    dijkstra_path_length bidirectional_dijkstra bellman_ford_path has_path get_shortest_path get_shortest_paths
    single_source_shortest_path
Graph.from_table(df, 'source', 'target', 'weight') takes a DataFrame | from_pandas from_pandas_edgelist
    from_cudf_edgelist from_polars from_arrow from_dataframe from_csv_table DataFrame from_cudf_adjlist
Graph.from_edges takes pairs or triples | from_edgelist from_edge_list from_list TupleList from_dict
    from_dict_of_lists
Graph(bitblas.io.from_scipy_sparse(S), labels) takes a SciPy matrix | from_scipy from_scipy_sparse
    from_scipy_sparse_array Adjacency Weighted_Adjacency from_csr from_adjacency
Graph(bitblas.Matrix.from_dense(array, missing_value=0), labels) takes an array | from_numpy from_numpy_array
    from_numpy_adjlist
Graph(matrix, labels) takes a Matrix | from_matrix from_graphblas
Graph.read(path) reads a file, whatever its format | load open from_file from_csv read_csv read_edgelist read_graphml
    from_parquet read_parquet Read_Ncol Load
g.write(path) writes a file; Graph.read(path) reads it | save dump to_file export to_csv to_parquet write_edgelist
    write_csv write_graphml write_gml write_gexf write_parquet write_edges pickle
to_dataframe() is a table of the edges; bitblas.io.to_polars and to_arrow make those of other libraries | to_pandas
    to_pandas_edgelist to_edgelist to_edges to_polars to_arrow to_table to_cudf to_dict to_list to_tuple_list to_df df
    head
bitblas.io.to_scipy_sparse(g.matrix) is a SciPy matrix | to_scipy to_scipy_sparse to_scipy_sparse_array
    get_adjacency_sparse to_csr tocsr to_coo csr sparse
matrix.to_dense(0) is the array | to_numpy to_numpy_array toarray todense to_dense numpy to_pandas_adjacency
g.matrix is the adjacency Matrix | adjacency_matrix get_adjacency A adj_matrix to_matrix to_graphblas values
    incidence_matrix laplacian_matrix laplacian modularity_matrix
g.matrix.dtype is the type of the weights | dtype
bitblas.plots.graph(g) draws it | draw plot show draw_networkx visualize view display
to_networkx() is a networkx graph | to_nx nx
weights of edges are g.matrix; more values are attributes=, read by g.by(name) | get_edge_attributes
    set_edge_attributes edata edge_attributes
a Graph has no attributes of vertices; keep them in a dict by name | get_node_attributes set_node_attributes ndata
    node_attributes vertex_attributes
g.matrix.select(bitblas.select.diag) has the loops | selfloop_edges number_of_selfloops nodes_with_selfloops
jaccard() and adamic_adar() compare vertices by their neighbors; set(g.neighbors(a)) & set(g.neighbors(b)) are the
    common ones | common_neighbors
"""
)

_BOTH = _table(
    """
nvals is the number of entries | nnz getnnz count_nonzero count nz
to_dense(0) is a NumPy array, 0 where there is no entry | toarray todense to_numpy numpy to_array A to_list tolist
    get_array
dup() is a copy | copy clone
dup(dtype) is a copy of another type | astype cast as_type
ewise_mult(other, 'times') multiplies entry by entry | multiply hadamard mul
ewise_add(other, 'plus') adds entry by entry | add plus
to_coo() has the indices and the values | nonzero indices find data entries tocoo coo
apply(op) maps the values: apply('abs'), apply('minus', right=1) | map abs sqrt exp log negate power_elements
    transform
select(op, thunk) keeps entries: select('>', 0.5) | filter where eliminate_zeros prune mask
the entries are the index: x[i] << value writes, x[i].new().value reads | set put item at loc iloc
"""
)

# On a Matrix; `algorithms` and the names of a Graph are tried after these.
MATRIX = _BOTH | _table(
    """
reduce_rowwise(), reduce_columnwise() and reduce_scalar() sum; another monoid is an argument: reduce_rowwise('max') |
    sum max min mean prod any all std var reduce argmax
reduce_scalar(agg.L2norm) is the norm of all values | norm
T is the transpose, T.new() a Matrix of it | transpose H conj conjugate
mxm(B, semiring) multiplies matrices, mxv(v, semiring) a matrix and a vector; A @ B is plus_times | dot matmul
    multiply_matrix spmv spmm vxm
to_csr() has pointers, columns and values | indptr tocsr csr row_pointers
to_csc() has pointers, rows and values | tocsc
bitblas.io.to_scipy_sparse(A) is a SciPy matrix | to_scipy to_scipy_sparse to_scipy_sparse_array scipy
bitblas.io.from_scipy_sparse(S) makes a Matrix of a SciPy matrix | from_scipy from_scipy_sparse
Matrix.from_dense(array, missing_value=0) takes an array | from_numpy from_array
bitblas.io.from_networkx(G) makes a Matrix of a NetworkX graph | from_networkx
bitblas.io.to_networkx(A) is a NetworkX graph | to_networkx
nrows, ncols and shape are the sizes, nvals is the number of entries | size num_rows num_cols rows columns n m
    num_nodes number_of_nodes number_of_vertices num_vertices
nvals is the number of entries; an undirected edge is two | num_edges number_of_edges edges
A[i, :].new() is a row as a Vector, A[:, j].new() a column | getrow getcol row col get_row get_col neighbors
    successors predecessors adj
A.T.new() has all edges reversed | reverse
A[rows, columns].new() is a part of it | submatrix subgraph extract
A.reduce_rowwise(agg.count) counts the entries of each row, A.reduce_columnwise(agg.count) of each column | degree
    degrees out_degree in_degree outdegree indegree
diag() is the diagonal as a Vector, setdiag(values) writes it | diagonal trace get_diag
spy() draws where the entries are; bitblas.plots has more | plot show draw imshow
power(n) is the product with itself | matrix_power pow
kronecker(B) is the Kronecker product | kron
save(path) and Matrix.load(path) keep bitblas' own files; bitblas.io.write(path, A) writes other formats | write dump
    savez to_file to_csv mmwrite to_parquet
bitblas.io.read(path).matrix reads a file, Matrix.load(path) one of bitblas' own | read mmread from_file read_csv open
A.isequal(A.T) compares a matrix with its transpose | issymmetric is_symmetric
bitblas.Graph(A, labels) has names of vertices | labels vertices nodes directed to_graph graph
bitblas.io.to_pandas(Graph(A)) is a DataFrame of the entries | to_pandas to_dataframe head df
A.T is the transpose | t
to('cuda') and to('cpu') are copies on another device | cuda cpu to_device
bitblas.torch.from_pyg(edge_index) makes a Matrix of PyG's edge list | from_pyg from_edge_index
"""
)

VECTOR = _BOTH | _table(
    """
reduce() sums; another monoid is an argument: reduce('max') | sum max min mean prod any all std var argmax
    reduce_scalar argmin
reduce(agg.L2norm) is the norm | norm
inner(other) is the product of two vectors, vxm(A) that with a matrix | dot matmul mxv mxm
a Vector has no orientation: A.mxv(v) takes it as a column, v.vxm(A) as a row | T transpose
size is the number of positions, nvals that of entries | nrows ncols n length
to_dict() has the entries by their index | keys values items to_dicts index
to_coo() has the indices and the values; numpy.argsort sorts them | sort argsort topk nlargest largest sort_values
    head
Vector.from_dense(array) takes an array | from_numpy from_array from_list
bitblas.io.read(path) reads matrices; numpy.savez(path, *v.to_coo()) keeps a Vector | save load write dump to_csv read
matplotlib.pyplot.plot(*v.to_coo()) draws it | plot show spy
diag() is the Matrix with it as its diagonal | to_diag diagonal to_matrix
pandas.Series(v.to_dict()) is a Series of the entries | to_pandas to_series to_dataframe
to('cuda') and to('cpu') are copies on another device | cuda cpu to_device
torch.from_dlpack(v) is a tensor in the memory of a full Vector, Vector.from_dlpack(t) the other way | to_torch
    from_torch tensor
"""
)

# On the answers of algorithms.
VALUES = _table(
    """
largest(3) and smallest(3) are pairs of name and value | most_common nlargest nsmallest top topk head sort sort_values
    sorted argsort
largest(1) and smallest(1) are pairs of name and value | argmax argmin idxmax idxmin
dict(values) is a dictionary, to_series() a pandas Series, to_dataframe() a table | to_dict to_pandas todict series df
vector.to_dense(0) is an array in the order of the vertices | to_numpy numpy to_array toarray to_dense tolist to_list
torch.as_tensor(values.vector.to_dense(0)) is a tensor in the order of the vertices | to_torch tensor torch
to_series() has arithmetic and comparisons | apply map filter add mul div abs round describe plot hist value_counts
"""
)

# Of the modules `bitblas` and `bitblas.algorithms`.
LIBRARY = _table(
    """
bitblas.Graph with directed=True or False | DiGraph MultiGraph MultiDiGraph
bitblas.Graph.from_edges takes pairs or triples | from_edgelist from_edges
bitblas.Graph.from_networkx takes a NetworkX graph, bitblas.io.from_networkx makes a Matrix of it | from_networkx
bitblas.io.to_networkx(A) and g.to_networkx() make a NetworkX graph | to_networkx
bitblas.Graph.from_table takes a DataFrame or a dictionary of columns | from_pandas from_table from_pandas_edgelist
    from_polars from_arrow from_cudf_edgelist
bitblas.Graph.read(path) reads a graph, bitblas.load(path) a saved Matrix | read read_csv open read_edgelist
    read_parquet loadtxt load_npz read_graph
bitblas.algorithms.bfs_levels(A, source) has the levels of a breadth-first search, g.bfs(source) of a Graph | bfs
bitblas.io has mmread and mmwrite | mmread mmwrite
g.write(path) of a Graph, A.save(path) of a Matrix | save write dump save_npz
bitblas.io.from_scipy_sparse(S) makes a Matrix of a SciPy matrix | from_scipy from_scipy_sparse csr_matrix coo_matrix
    csr_array csc_matrix coo_array
bitblas.io.to_scipy_sparse(A) is a SciPy matrix | to_scipy to_scipy_sparse
bitblas.Matrix.from_dense and Vector.from_dense take arrays | array asarray from_numpy tensor
bitblas.Matrix(dtype, nrows, ncols) has no entries | zeros empty ones full
bitblas.Vector.from_scalar(1, n).diag() is the identity | eye identity
bitblas.plots has graph and others | draw plot draw_networkx show
bitblas.dtypes has the types | INT64 FP64 BOOL int64 float64 DataType
bitblas.config.set(device='cuda') chooses a device | set_device use_gpu to_device
bitblas.algorithms.rmat_graph and others there generate graphs | random rmat erdos_renyi gnp_random_graph
    barabasi_albert watts_strogatz_graph karate_club_graph path_graph complete_graph
A.mxm(B, semiring) multiplies matrices | mxm matmul dot
A.mxv(v, semiring) multiplies a matrix and a vector | mxv vxm spmv
"""
)


def on_matrix(call: str) -> str:
    """The call of an algorithm written with its matrix: `bitblas.algorithms.sssp(A, source)`."""
    name, _, rest = call.partition("(")
    return f"bitblas.algorithms.{name}(A{', ' if rest != ')' else ''}{rest}"


def hint(name: str, table: dict[str, str], known: Iterable[str], *, method: bool = False) -> str:
    """The hint for a name of another library, "" if there is no equivalent. table: the texts of the kind of object.
    known: its own names, to recognize misspellings. method: whether algorithms are methods."""
    if name in table:
        return table[name]
    if name in ALGORITHMS or name in _OWN:
        call, does = ALGORITHMS.get(name) or _OWN[name]
        return f"{call if method else on_matrix(call)} {does}"
    if name in ABSENT:
        nearest = ABSENT[name]
        return f"bitblas has no such algorithm{'; ' if nearest else ''}{nearest}"
    import difflib  # not with this module: 1 ms

    near = difflib.get_close_matches(name, sorted(known), 2, CLOSE)
    if near:
        return f"did you mean {' or '.join(near)}?"
    words = {one.lower(): one for one in (*table, *ALGORITHMS, *ABSENT)}
    other = difflib.get_close_matches(name.lower(), sorted(words), 1, 0.85)
    return hint(words[other[0]], table, (), method=method) if other and words[other[0]] != name else ""


class MissingAttribute(AttributeError):
    """An AttributeError that computes its hint when its text is read, so that `hasattr` is cheap.

    Tracebacks add no "Did you mean", which compares only letters: they search the names of `obj`, which is None.
    """

    def __init__(self, text: str, name: str, find: Callable[[], str] = str) -> None:
        super().__init__(text, name=name, obj=None)
        self._find = find

    def __str__(self) -> str:
        said = self._find()
        return f"{self.args[0]}; {said}" if said else str(self.args[0])

    def __reduce__(self) -> Any:
        return MissingAttribute, (str(self), self.name)


class ForeignName:
    """An attribute that a class does not have: reading it raises the AttributeError with the hint. (With __getattr__
    instead Python would read every attribute of the objects five times slower.)"""

    __slots__ = ("name", "table")

    def __init__(self, name: str, table: dict[str, str]) -> None:
        self.name, self.table = name, table

    def __get__(self, thing: object, kind: type | None = None) -> Any:
        owner = kind or type(thing)
        text = f"{owner.__name__!r} object has no attribute {self.name!r}"
        raise MissingAttribute(text, self.name, lambda: hint(self.name, self.table, ()))


class Hinted(type):
    """Classes with ForeignNames, which `dir` and `help` omit."""

    def __dir__(cls) -> list[str]:
        foreign = {name for base in cls.__mro__ for name, x in vars(base).items() if isinstance(x, ForeignName)}
        return [name for name in type.__dir__(cls) if name not in foreign]


def add_foreign_names(kind: Hinted, table: dict[str, str]) -> None:
    """Add the names of other libraries that a complete class does not have."""
    for name in {*table, *ALGORITHMS, *_OWN, *ABSENT} - {*dir(kind)}:
        setattr(kind, name, ForeignName(name, table))


def on_library(module: str, name: str, known: Iterable[str], algorithms: Iterable[str]) -> AttributeError:
    """The error of a module of this package that has no attribute of that name."""

    def find() -> str:
        names = set(algorithms)
        if name in names and not module.endswith(".algorithms"):
            return f"bitblas.algorithms.{name} is the algorithm"
        return hint(name, LIBRARY, {*known, *names})

    text = f"module {module!r} has no attribute {name!r}"
    return MissingAttribute(text, name, (lambda: "") if name.startswith("_") else find)
