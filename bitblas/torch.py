"""PyTorch: matrices from and to sparse tensors and PyG's edge lists, products with dense features that have a gradient,
and batches of sampled neighbours.

Tensors are read and written in place: features are not copied. Everything runs on the device of the matrix, on the
stream that is current in PyTorch. `import bitblas` does not load PyTorch; this module does.
"""

from __future__ import annotations

import functools
import operator
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar

import numpy as np
import torch

from semirings.dtypes import lookup_dtype

from . import device as devices
from . import operations
from .core import Matrix, TransposedMatrix
from .core.convert import check_range, index_array
from .device import Device
from .exceptions import DeviceError, DimensionMismatch, InvalidValue
from .operations import neighbor_sampling
from .operations.dense_spmm import BEST, BF16, FP16, PICK, SUM, DenseProduct, Lines, row_lengths, winner_type
from .store import MatrixStore
from .typing import Array

if TYPE_CHECKING:
    from .core.typing import OperatorArg

__all__ = ["NeighborLoader", "from_pyg", "sddmm", "spmm"]

REDUCTIONS = ("sum", "mean", "max", "min")
HALF = {torch.float16: FP16, torch.bfloat16: BF16}
FLOATS = (torch.float32, torch.float64, *HALF)


def _check_tensor(name: str, x: Any, ndim: int) -> None:
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"{name}: expected a torch.Tensor, got {type(x).__module__}.{type(x).__qualname__}")
    if x.ndim != ndim:
        raise DimensionMismatch(f"{name}: expected {ndim} dimensions, got {x.ndim}")


def device_of(x: torch.Tensor) -> str:
    """The name of the device of a tensor. DeviceError if bitblas does not have it."""
    if x.device.type == "cpu":
        return "cpu"
    if x.device.type != "cuda":
        raise DeviceError(f"expected a tensor on cpu or cuda, got one on {x.device}. Hint: .cpu() copies it")
    return f"cuda:{x.device.index}"


def _array(device: Device, name: str, x: torch.Tensor) -> Array:
    """A tensor as an array of the device, in the same memory. DeviceError if it is elsewhere."""
    array = device.adopt(x.detach(), name)
    if not isinstance(array, device.xp.ndarray):
        raise DeviceError(f"{name}: expected a tensor on device {device.name!r}, got one on {x.device}; copy it there")
    return array


def _tensor(array: Array) -> torch.Tensor:
    """A tensor in the memory of an array of bitblas."""
    return torch.from_numpy(array) if isinstance(array, np.ndarray) else torch.from_dlpack(array)


class _Stream(NamedTuple):
    """A stream of PyTorch by CUDA's protocol for streams."""

    number: int

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.number


@contextmanager
def _on_stream(device: Device, x: torch.Tensor) -> Iterator[None]:
    """Run bitblas on the stream of PyTorch, after what it had submitted to its own stream, and before what it will."""
    if not x.is_cuda:
        yield
        return
    devices.activate(device)  # PyTorch computes gradients in a thread of its own
    cuda = device.xp.cuda
    ours = cuda.get_current_stream()
    number = torch.cuda.current_stream(x.device).cuda_stream
    if number == ours.ptr:
        yield
        return
    theirs = cuda.Stream.from_external(_Stream(number))
    theirs.wait_event(ours.record())
    with theirs:
        yield
    ours.wait_event(theirs.record())


# ---- Sparse tensors and edge lists.


def from_torch(
    tensor: torch.Tensor,
    *,
    name: str | None = None,
    device: str | None = None,
    format: str | None = None,
    tile: int | None = None,
    packed: bool | None = None,
) -> Matrix:
    """A Matrix from a sparse tensor of layout COO, CSR or CSC, of the same dtype; explicit zeros are entries.

    Values of duplicate entries of an uncoalesced tensor are added, as PyTorch reads them. device: by default that of
    the tensor. Raises TypeError (no tensor), InvalidValue (a dense or block layout, dense dimensions, a tensor that
    requires a gradient, a dtype that GraphBLAS does not have, such as float16), IndexOutOfBound, DeviceError.
    """
    _check_tensor("tensor", tensor, 2)
    is_coo = tensor.layout is torch.sparse_coo
    if not is_coo and tensor.layout not in (torch.sparse_csr, torch.sparse_csc):
        hint = "Matrix.from_dense(tensor)" if tensor.layout is torch.strided else "tensor.to_sparse_csr()"
        raise InvalidValue(f"tensor: expected a sparse layout (coo, csr, csc), got {tensor.layout}. Hint: {hint}")
    if tensor.requires_grad:
        raise InvalidValue("tensor: expected one without gradient, got requires_grad=True. Hint: tensor.detach()")
    if is_coo and not tensor.is_coalesced():
        tensor = tensor.coalesce()
    values = tensor._values() if is_coo else tensor.values()
    if values.ndim != 1:
        raise InvalidValue(
            f"tensor: expected one number for each entry, got dense dimensions {tuple(values.shape[1:])}"
        )
    if values.dtype in (torch.float16, torch.bfloat16):
        raise InvalidValue(f"tensor: expected a dtype of GraphBLAS, got {values.dtype}. Hint: tensor.float()")
    nrows, ncols = tensor.shape
    where = device_of(tensor) if device is None else device
    how: dict[str, Any] = {"name": name, "device": where, "format": format, "tile": tile, "packed": packed}
    how |= {"nrows": nrows, "ncols": ncols}
    if is_coo:
        i, j = tensor._indices()
        return Matrix.from_coo(i, j, values, **how)
    if tensor.layout is torch.sparse_csr:
        return Matrix.from_csr(tensor.crow_indices(), tensor.col_indices(), values, **how)
    return Matrix.from_csc(tensor.ccol_indices(), tensor.row_indices(), values, **how)


def to_torch(A: Matrix | TransposedMatrix, layout: str = "csr") -> torch.Tensor:
    """A sparse tensor of the same shape and dtype, on the same device; explicit zeros are kept.

    layout: "csr", "csc" or "coo" (coalesced). Raises ValueError for another, InvalidValue for values of a user-defined
    type, ImportError without PyTorch.
    """
    if layout not in (known := ("coo", "csr", "csc")):
        raise ValueError(f"layout: expected one of {', '.join(known)}, got {layout!r}")
    if A.dtype._is_udt:
        raise InvalidValue(f"to_torch: expected numbers, got values of {A.dtype}")
    signed = lambda indices: _tensor(indices.view(np.int64))
    compressed = {
        "csr": (torch.sparse_csr_tensor, A.to_csr),
        "csc": (torch.sparse_csc_tensor, A.to_csc),
    }
    with warnings.catch_warnings():  # some versions warn that they do not check, which is what is asked for here
        warnings.filterwarnings("ignore", "Sparse invariant checks")
        if layout in compressed:
            make, arrays = compressed[layout]
            ptr, minor, x = arrays()
            return make(signed(ptr), signed(minor), _tensor(x), A.shape, check_invariants=False)
        i, j, x = A.to_coo()
        entries = torch.stack((signed(i), signed(j)))
        return torch.sparse_coo_tensor(entries, _tensor(x), A.shape, is_coalesced=True, check_invariants=False)


def _check_edge_index(x: Any, name: str) -> None:
    _check_tensor(name, x, 2)
    if x.shape[0] != 2:
        raise DimensionMismatch(f"{name}: expected shape (2, edges), got {tuple(x.shape)}. Hint: {name}.t()")
    if x.dtype.is_floating_point or x.dtype.is_complex or x.dtype is torch.bool:
        raise InvalidValue(f"{name}: expected integers, got {x.dtype}. Hint: {name}.long()")


def from_pyg(
    edge_index: torch.Tensor,
    edge_weight: torch.Tensor | None = None,
    *,
    num_nodes: int | tuple[int, int] | None = None,
    dup_op: OperatorArg = None,
    name: str | None = None,
    device: str | None = None,
    format: str | None = None,
    tile: int | None = None,
    packed: bool | None = None,
) -> Matrix:
    """The adjacency Matrix of PyTorch Geometric's edge list: an entry (i, j) for each edge from node i to node j.

    Parameters
    ----------
    edge_index
        INT64 tensor, 2 x edges: sources, then targets.
    edge_weight : optional
        Tensor with a number for each edge; None: True for all, so that parallel edges become one entry.
    num_nodes : int, optional
        Or (sources, targets) of a bipartite graph; None: one more than the largest id.
    dup_op : optional
        Combines the weights of parallel edges.
    device : optional
        By default that of edge_index.

    Raises
    ------
    TypeError
    DimensionMismatch
    InvalidValue
        Float ids, a weight that requires a gradient.
    IndexOutOfBound
        Negative ids, ids from num_nodes on.
    ValueError
        Parallel edges with weights without dup_op.
    DeviceError

    Notes
    -----
    PyG's messages go from sources to targets: aggregating them is `spmm(A.T, X)`.
    """
    _check_edge_index(edge_index, "edge_index")
    values = True
    if isinstance(edge_weight, int | tuple):
        raise TypeError(f"edge_weight: expected a torch.Tensor, got {edge_weight}. Hint: num_nodes={edge_weight}")
    if edge_weight is not None:
        _check_tensor("edge_weight", edge_weight, 1)
        if edge_weight.requires_grad:
            raise InvalidValue("edge_weight: expected one without gradient, got requires_grad=True. Hint: .detach()")
        values = edge_weight
    sizes = num_nodes if isinstance(num_nodes, tuple) else (num_nodes, num_nodes)
    if num_nodes is None:
        n = int(edge_index.max()) + 1 if edge_index.numel() else 0
        sizes = n, n
    how: dict[str, Any] = {"name": name, "format": format, "tile": tile, "packed": packed, "dup_op": dup_op}
    where = device_of(edge_index) if device is None else device
    i, j = edge_index
    return Matrix.from_coo(i, j, values, nrows=sizes[0], ncols=sizes[1], device=where, **how)


# ---- Products with dense features.


P = ParamSpec("P")
T = TypeVar("T")


def _uncompiled(function: Callable[P, T]) -> Callable[P, T]:
    """The function, which torch.compile calls as it is, between compiled parts: a Matrix is no tensor."""
    disabled = torch._disable_dynamo(function)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        # outside of compiled code, nothing of the compiler is imported: that takes seconds
        called = disabled if torch.compiler.is_dynamo_compiling() else function
        return called(*args, **kwargs)

    return call


@_uncompiled
def spmm(
    A: Matrix | TransposedMatrix, X: torch.Tensor, op: str = "sum", *, values: torch.Tensor | None = None
) -> torch.Tensor:
    """The product of a matrix and dense features, with a gradient for the features: row i of the result combines
    A[i, j] * X[j, :] over the entries of row i.

    Parameters
    ----------
    A
        Matrix or A.T, m x n; a pattern (BOOL) counts as ones.
    X
        Tensor, n or n x k, float32, float64, float16 or bfloat16, contiguous, on the device of A.
    op : optional
        "sum"; "mean", the sum divided by the number of entries; "max" or "min", whose gradient goes to
        the first of equal products. A row without entries gives 0.
    values : optional
        Tensor with a number for each entry, which replaces the values of A and may have a gradient too
        (learned edge weights); of the dtype of X, or float32 if that has 16 bits; in the order of
        `A.to_coo()`, also for A.T.

    Returns
    -------
    a tensor, m or m x k, of the dtype of X

    Raises
    ------
    TypeError
    ValueError
        op.
    DimensionMismatch
    InvalidValue
        Dtype, not contiguous.
    DeviceError

    Notes
    -----
    Sums are taken in a fixed order: the same input gives the same bits on a device. Sums of 16-bit
    numbers are float32, and rounded once; a CPU computes with a copy of X in float32. The first
    gradient builds and caches the transpose of A.
    """
    _check_matrix(A)
    if op not in REDUCTIONS:
        raise ValueError(f"op: expected one of {', '.join(REDUCTIONS)}, got {op!r}")
    _check_dense("X", X, A.device, X.ndim if getattr(X, "ndim", 0) == 1 else 2)
    if X.shape[0] != A.ncols:
        raise DimensionMismatch(f"X: expected {A.ncols} rows, one for each column of A, got {X.shape[0]}")
    if A.dtype._is_udt or A.dtype.kind == "c":
        raise InvalidValue(f"A: expected real numbers, got {A.dtype}")
    if values is not None:
        _check_tensor("values", values, 1)
        if len(values) != A.nvals:
            raise DimensionMismatch(f"values: expected one for each of {A.nvals} entries of A, got {len(values)}")
        if values.dtype != X.dtype and not (X.dtype in HALF and values.dtype is torch.float32):
            raise InvalidValue(f"values: expected {X.dtype}, the type of X, got {values.dtype}")
        _check_contiguous("values", values)
        _check_device("values", values, A.device)
    if X.ndim == 1:
        return _Product.apply(X[:, None], values, A, op)[:, 0]
    return _Product.apply(X, values, A, op)


@_uncompiled
def sddmm(A: Matrix | TransposedMatrix, X: torch.Tensor, Y: torch.Tensor) -> torch.Tensor:
    """The product of dense X and Y' only at the entries of a matrix, with a gradient for both: for entry (i, j) the
    dot product of X[i, :] and Y[j, :].

    Parameters
    ----------
    A
        Matrix or A.T, m x n, whose values are not read.
    X, Y
        Tensors, m x k and n x k, of one dtype: float32, float64, float16 or bfloat16; contiguous, on the
        device of A.

    Returns
    -------
    a tensor of A.nvals numbers of that dtype, in the order of `A.to_coo()`, also for A.T

    Raises
    ------
    TypeError
    DimensionMismatch
    InvalidValue
        Dtype, not contiguous.
    DeviceError

    Notes
    -----
    These are the `values` that `spmm` takes, so attention along edges is
    `spmm(A, V, values=weights(sddmm(A, Q, K)))`. Sums of 16-bit numbers are float32, and rounded once. The
    same input gives the same bits on a device. `torch.sparse.sampled_addmm(A, X, Y.t())` is the same in a
    sparse tensor.
    """
    _check_matrix(A)
    for name, x, rows, of in (("X", X, A.nrows, "row"), ("Y", Y, A.ncols, "column")):
        _check_dense(name, x, A.device, 2)
        if x.shape[0] != rows:
            raise DimensionMismatch(f"{name}: expected {rows} rows, one for each {of} of A, got {x.shape[0]}")
    if Y.dtype != X.dtype:
        raise InvalidValue(f"Y: expected {X.dtype}, the type of X, got {Y.dtype}")
    if Y.shape[1] != X.shape[1]:
        raise DimensionMismatch(f"Y: expected {X.shape[1]} columns, those of X, got {Y.shape[1]}")
    return _Sampled.apply(X, Y, A)


def _check_dense(name: str, x: torch.Tensor, device: Device, ndim: int) -> None:
    _check_tensor(name, x, ndim)
    if x.dtype not in FLOATS:
        raise InvalidValue(
            f"{name}: expected float32, float64, float16 or bfloat16, got {x.dtype}. Hint: {name}.float()"
        )
    _check_contiguous(name, x)
    _check_device(name, x, device)


def _check_device(name: str, x: torch.Tensor, device: Device) -> None:
    """DeviceError if a tensor is elsewhere."""
    _array(device, name, x.view(torch.int16) if x.dtype in HALF else x)


def _check_contiguous(name: str, x: torch.Tensor) -> None:
    if x.layout is not torch.strided or not x.is_contiguous():
        got = f"strides {x.stride()}" if x.layout is torch.strided else x.layout
        raise InvalidValue(f"{name}: expected a contiguous tensor, got {got}. Hint: {name}.contiguous()")


def _check_matrix(A: object) -> None:
    if not isinstance(A, (Matrix, TransposedMatrix)):
        raise TypeError(f"A: expected a Matrix, got {type(A).__module__}.{type(A).__qualname__}. Hint: {_made(A)}")


def _made(A: object) -> str:
    """How to make a Matrix of an object."""
    if not isinstance(A, torch.Tensor):
        return "graph.matrix" if hasattr(A, "matrix") else "Matrix.from_coo, from_dense, from_torch"
    if A.layout is not torch.strided:
        return "Matrix.from_torch(tensor)"
    edges = A.ndim == 2 and A.shape[0] == 2 and not A.dtype.is_floating_point
    return "bitblas.torch.from_pyg(edge_index, num_nodes=n)" if edges else "Matrix.from_dense(tensor, missing_value=0)"


def _store(A: Matrix | TransposedMatrix, values: torch.Tensor | None) -> MatrixStore:
    """The stored matrix, with other values if there are any."""
    store = A._matrix._at(None)
    if values is None:
        return store
    structure, given = store.structure, _array(store.device, "values", _computed(values))
    order = structure.order(structure.rows().key)
    if order is not None:
        given, ordered = store.device.xp.empty_like(given), given
        given[order] = ordered
    return MatrixStore(structure, lookup_dtype(given.dtype), given)


def _computed(x: torch.Tensor) -> torch.Tensor:
    """A tensor in the type of its sums."""
    return x.float() if x.dtype in HALF else x


def _lines(device: Device, x: torch.Tensor, winners: torch.Tensor | None = None) -> Lines:
    """The rows of a tensor, in its memory; of 16-bit numbers the bits."""
    won = None if winners is None else _array(device, "X", winners)
    if x.dtype not in HALF:
        return Lines(_array(device, "X", x), won)
    return Lines(_array(device, "X", x.detach().view(torch.int16)).view(np.uint16), won, HALF[x.dtype])


def _multiply(
    of: DenseProduct, X: torch.Tensor, won: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """The product as a tensor, and the winners of a BEST."""
    device, (n, _), width = of.A.device, of.shape, X.shape[1]
    if X.dtype in HALF and not device.is_simt:
        Y, winners = _multiply(of, _computed(X), won)
        return Y.to(X.dtype), winners
    device.foresee(f"a dense array of {n} x {width}", n * width * X.element_size())
    Y = torch.empty((n, width), dtype=X.dtype, device=X.device)
    winners = None
    if of.mode == BEST:
        winners = torch.empty_like(Y, dtype=_dtype(winner_type(of)))
    with _on_stream(device, X), device.guard:
        operations.dense_spmm.multiply(of, _lines(device, X, won), _lines(device, Y, winners))
    return Y, winners


def _entry_products(
    of: DenseProduct, G: torch.Tensor, X: torch.Tensor, won: torch.Tensor | None = None
) -> torch.Tensor:
    """The product of a row of G and a row of X for each entry (sddmm.py), in the order of `A.to_coo()`, of the type of
    G, which is that of X or of its sums."""
    device = of.A.device
    if X.dtype in HALF and not device.is_simt:
        return _entry_products(of, _computed(G), _computed(X), won).to(G.dtype)
    with _on_stream(device, G), device.guard:
        found = operations.sddmm.entry_products(of, _lines(device, G, won), _lines(device, X))
        return _tensor(found.view(np.int16)).view(G.dtype) if G.dtype in HALF else _tensor(found)


def _dtype(kind: np.dtype) -> torch.dtype:
    return getattr(torch, kind.name)


class _Product(torch.autograd.Function):
    """X, values -> A X. The gradient of a sum for X is A' G; of a maximum, A' G at the positions that won. For the
    values it is the product of a row of G and a row of X, at the positions that won."""

    @staticmethod
    def forward(
        ctx: Any, X: torch.Tensor, values: torch.Tensor | None, A: Matrix | TransposedMatrix, op: str
    ) -> torch.Tensor:
        largest, best = op == "max", op in ("max", "min")
        with _on_stream(A.device, X):
            store = _store(A, values)
        of = DenseProduct(store, A._transposed, BEST if best else SUM, largest, op == "mean")
        Y, winners = _multiply(of, X)
        lengths = None
        if op == "mean":
            with _on_stream(of.A.device, X):
                lengths = _tensor(row_lengths(of)).clamp_(min=1).to(_computed(X[:0]).dtype)[:, None]
        ctx.of = of._replace(transposed=not of.transposed, mode=PICK if best else SUM, mean=False)
        # a view of the values is part of the store: what PyTorch saves tells if they were changed since
        ctx.save_for_backward(winners, lengths, values, X if ctx.needs_input_grad[1] else None)
        return Y

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, G: torch.Tensor) -> tuple[torch.Tensor | None, torch.Tensor | None, None, None]:
        winners, lengths, values, X = ctx.saved_tensors
        dtype, G = G.dtype, G.contiguous() if lengths is None else (G / lengths).contiguous()
        of, for_x, for_values = ctx.of, None, None
        if ctx.needs_input_grad[0]:
            for_x = _multiply(of, G, winners)[0].to(dtype)
        if X is not None:
            product = of._replace(transposed=not of.transposed)
            for_values = _entry_products(product, G, X, winners).to(values.dtype)
        return for_x, for_values, None, None


class _Sampled(torch.autograd.Function):
    """X, Y -> X Y' at the entries of A. With G as the values of A, the gradients are A Y and A' X."""

    @staticmethod
    def forward(ctx: Any, X: torch.Tensor, Y: torch.Tensor, A: Matrix | TransposedMatrix) -> torch.Tensor:
        with _on_stream(A.device, X):
            of = DenseProduct(_store(A, None), A._transposed)
        ctx.A = A
        ctx.save_for_backward(X, Y)
        return _entry_products(of, X, Y)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, G: torch.Tensor) -> tuple[torch.Tensor | None, torch.Tensor | None, None]:
        A, (X, Y) = ctx.A, ctx.saved_tensors
        with _on_stream(A.device, G):
            of = DenseProduct(_store(A, G.contiguous()), A._transposed)
        needs = ctx.needs_input_grad
        for_x = _multiply(of, Y)[0] if needs[0] else None
        for_y = _multiply(of._replace(transposed=not of.transposed), X)[0] if needs[1] else None
        return for_x, for_y, None


# ---- Batches of neighbours.


class Sample(NamedTuple):
    """A batch. n_id: tensor of node numbers, seeds first. edge_index: 2 x edges, positions in n_id of source and
    target. e_id: the number of each edge. All INT64."""

    n_id: torch.Tensor
    edge_index: torch.Tensor
    e_id: torch.Tensor


class Batch(Sample):
    """n_id, edge_index, e_id; and seeds: how many of the first nodes are seeds; owner: with times, a tensor with the
    seed (by its position) that each node belongs to, else None."""

    seeds: int
    owner: torch.Tensor | None


class NeighborLoader:
    """Iterate over batches of seeds and the edges sampled around them, for training graph neural networks on large
    graphs: each batch is (n_id, edge_index, e_id), as in PyG.

    Parameters
    ----------
    graph : Matrix
        n x n, with an entry (i, j) for an edge from i to j, whose e_id are positions in `A.to_coo()`;
        or PyG's edge_index, whose e_id are its columns.
    fanouts
        List of int, edges per node in each hop; -1: all.
    seeds : optional
        int64 tensor of different nodes; None: all.
    batch_size : optional
        seeds per batch.
    replace : optional
        Draw with replacement.
    edge_time, seed_time : optional
        Tensors of integers or of floats, one per edge and per seed: only edges with a time up to that
        of their seed are drawn, and each seed has nodes of its own (`batch.owner`).
    shuffle : optional
        In another order in each epoch.
    drop_last : optional
        Without a last, smaller batch.
    seed : int, optional
        The same seed gives the same batches, on every device.
    num_nodes : optional
        Of an edge_index; None: one more than the largest number.

    Raises
    ------
    TypeError
    DimensionMismatch
        Not square, shapes.
    InvalidValue
        An option, duplicate seeds, one kind of time without the other.
    IndexOutOfBound
    DeviceError

    Notes
    -----
    In each hop, every node that the previous hop reached draws some of the edges that end there; messages go from
    edge_index[0] to edge_index[1]. A node is sampled once in a batch. n_id has the nodes in the order in which they are
    reached, the seeds first.

    Hamilton, Ying, Leskovec: Inductive representation learning on large graphs. NIPS 2017.
    """

    def __init__(
        self,
        graph: Matrix | TransposedMatrix | torch.Tensor,
        fanouts: Iterable[int],
        seeds: torch.Tensor | None = None,
        *,
        batch_size: int = 1024,
        replace: bool = False,
        edge_time: torch.Tensor | None = None,
        seed_time: torch.Tensor | None = None,
        shuffle: bool = False,
        drop_last: bool = False,
        seed: int = 0,
        num_nodes: int | None = None,
    ) -> None:
        if not isinstance(fanouts, Iterable):
            raise TypeError(f"fanouts: expected a number for each hop, got {fanouts!r}. Hint: [{fanouts!r}]")
        self.fanouts = tuple(operator.index(k) for k in fanouts)
        if not self.fanouts or any(k < -1 or k == 0 for k in self.fanouts):
            raise InvalidValue(f"fanouts: expected numbers above 0, or -1 for all edges, got {list(self.fanouts)}")
        self.batch_size, self.seed = operator.index(batch_size), operator.index(seed)
        if self.batch_size < 1:
            raise InvalidValue(f"batch_size: expected 1 or more, got {batch_size}")
        self.replace, self.shuffle, self.drop_last = bool(replace), bool(shuffle), bool(drop_last)
        self.epoch = 0
        device, self._like, sources, targets, nodes = _edges_of(graph, num_nodes)
        self._device = device
        if (edge_time is None) != (seed_time is None):
            raise InvalidValue("edge_time, seed_time: expected both or none, got one of them")
        with _on_stream(device, self._like), device.guard:
            time = None if edge_time is None else _times(device, "edge_time", edge_time, len(sources))
            self._edges = neighbor_sampling.by_target(device, sources, targets, nodes, time)
            if seeds is None:
                self._seeds = device.xp.arange(nodes, dtype=np.int64)
            else:
                self._seeds = _indices(device, "seeds", seeds, nodes)
            self._until = None if seed_time is None else _times(device, "seed_time", seed_time, len(self._seeds))
            if time is not None and self._until is not None and time.dtype != self._until.dtype:
                raise InvalidValue(f"seed_time: expected {time.dtype} as edge_time, got {self._until.dtype}")
            if self._until is None and len(device.xp.unique(self._seeds)) < len(self._seeds):
                raise InvalidValue("seeds: expected different nodes, got one twice. Hint: seeds.unique()")

    def __len__(self) -> int:
        """The number of batches."""
        count = len(self._seeds)
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)

    def __iter__(self) -> Iterator[Batch]:
        epoch, device = self.epoch, self._device
        self.epoch += 1
        order = None
        if self.shuffle:
            generator = np.random.default_rng((_unsigned(self.seed), epoch))
            order = device.asarray(generator.permutation(len(self._seeds)))
        for k in range(len(self)):
            part: Any = slice(k * self.batch_size, (k + 1) * self.batch_size)
            part = part if order is None else order[part]
            keys = np.random.SeedSequence((_unsigned(self.seed), epoch, k)).generate_state(len(self.fanouts), np.uint64)
            until = None if self._until is None else self._until[part].copy()
            request = neighbor_sampling.Request(self.fanouts, self.replace, tuple(map(int, keys)), until)
            with _on_stream(device, self._like), device.guard:
                found = neighbor_sampling.sample(self._edges, self._seeds[part].copy(), request)
                ends = device.xp.stack((found.sources, found.targets))
                batch = Batch(_tensor(found.nodes), _tensor(ends), _tensor(found.edges))
                batch.owner = None if found.owners is None else _tensor(found.owners)
            batch.seeds = len(self._seeds[part])
            yield batch


def _unsigned(seed: int) -> int:
    """A seed that NumPy accepts: negative ones too."""
    return seed if seed >= 0 else (1 << 64) - seed


def _edges_of(
    graph: Matrix | TransposedMatrix | torch.Tensor, num_nodes: int | None
) -> tuple[Device, torch.Tensor, Array, Array, int]:
    """Device, a tensor there, sources, targets (INT64) and the number of nodes of a Matrix or an edge_index."""
    if isinstance(graph, (Matrix, TransposedMatrix)):
        if graph.nrows != graph.ncols:
            raise DimensionMismatch(f"graph: expected a square matrix, got {graph.nrows} x {graph.ncols}")
        if num_nodes is not None:
            raise InvalidValue(f"num_nodes: expected None for a Matrix, got {num_nodes}")
        i, j, _ = graph.to_coo(values=False)
        return graph.device, _tensor(i.view(np.int64)), i.view(np.int64), j.view(np.int64), graph.nrows
    if not isinstance(graph, torch.Tensor):
        raise TypeError(
            f"graph: expected a Matrix or an edge_index, got {type(graph).__module__}.{type(graph).__qualname__}. "
            f"Hint: {_made(graph)}"
        )
    _check_edge_index(graph, "graph")
    device = devices.get(device_of(graph))
    nodes = num_nodes
    if nodes is None:
        nodes = int(graph.max()) + 1 if graph.numel() else 0
    i, j = (_indices(device, "graph", end, nodes) for end in graph)
    return device, graph, i, j, nodes


def _indices(device: Device, name: str, x: torch.Tensor, size: int) -> Array:
    """A tensor of indices below `size` as an INT64 array."""
    _check_tensor(name, x, 1)
    if x.dtype is torch.bool:
        raise InvalidValue(f"{name}: expected integers, got {x.dtype}. Hint: {name}.nonzero().ravel()")
    found = index_array(device, _array(device, name, x), name)
    check_range(found, size, name)
    return found


def _times(device: Device, name: str, x: torch.Tensor, count: int) -> Array:
    """A tensor of times as an INT64 or FP64 array."""
    _check_tensor(name, x, 1)
    if len(x) != count:
        raise DimensionMismatch(f"{name}: expected {count} times, got {len(x)}")
    found = _array(device, name, x)
    if found.dtype.kind not in "iuf":
        raise InvalidValue(f"{name}: expected numbers, got {x.dtype}")
    return device.asarray(found, np.float64 if found.dtype.kind == "f" else np.int64)
