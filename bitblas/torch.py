"""PyTorch: matrices from and to sparse tensors and PyG's edge lists, and products with dense features that have a
gradient.

Tensors are read and written in place: features are not copied. Everything runs on the device of the matrix, on the
stream that is current in PyTorch. `import bitblas` does not load PyTorch; this module does.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from . import operations
from .core import Matrix, TransposedMatrix
from .device import Device
from .exceptions import DeviceError, DimensionMismatch, InvalidValue
from .operations.dense_spmm import BEST, PICK, SUM, DenseProduct, Lines, row_lengths, winner_type

if TYPE_CHECKING:
    from .core.typing import OperatorArg

__all__ = ["from_pyg", "from_torch", "spmm", "to_torch"]

REDUCTIONS = ("sum", "mean", "max", "min")


def _check_tensor(name: str, x: Any, ndim: int) -> None:
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"{name}: expected a torch.Tensor, got {type(x).__module__}.{type(x).__qualname__}")
    if x.ndim != ndim:
        raise DimensionMismatch(f"{name}: expected {ndim} dimensions, got {x.ndim}")


def device_of(x: Any) -> str:
    """The name of the device of a tensor. DeviceError if bitblas does not have it."""
    if x.device.type == "cpu":
        return "cpu"
    if x.device.type != "cuda":
        raise DeviceError(f"expected a tensor on cpu or cuda, got one on {x.device}. Hint: .cpu() copies it")
    return f"cuda:{x.device.index}"


def _array(device: Device, name: str, x: Any) -> Any:
    """A tensor as an array of the device, in the same memory. DeviceError if it is elsewhere."""
    array = device.adopt(x.detach(), name)
    if not isinstance(array, device.xp.ndarray):
        raise DeviceError(f"{name}: expected a tensor on device {device.name!r}, got one on {x.device}; copy it there")
    return array


def _tensor(array: Any) -> Any:
    """A tensor in the memory of an array of bitblas."""
    return torch.from_numpy(array) if isinstance(array, np.ndarray) else torch.from_dlpack(array)


@contextmanager
def _on_stream(device: Device, x: Any) -> Iterator[None]:
    """Run bitblas on the stream of PyTorch, after what it had submitted to its own stream, and before what it will."""
    if not x.is_cuda:
        yield
        return
    cuda = device.xp.cuda
    ours = cuda.get_current_stream()
    number = torch.cuda.current_stream(x.device).cuda_stream
    if number == ours.ptr:
        yield
        return
    theirs = cuda.ExternalStream(number)
    theirs.wait_event(ours.record())
    with theirs:
        yield
    ours.wait_event(theirs.record())


# ---- Sparse tensors and edge lists.


def from_torch(
    tensor: Any,
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


def to_torch(A: Matrix | TransposedMatrix, layout: str = "csr") -> Any:
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
    if layout in compressed:
        make, arrays = compressed[layout]
        ptr, minor, x = arrays()
        return make(signed(ptr), signed(minor), _tensor(x), A.shape, check_invariants=False)
    i, j, x = A.to_coo()
    entries = torch.stack((signed(i), signed(j)))
    return torch.sparse_coo_tensor(entries, _tensor(x), A.shape, is_coalesced=True, check_invariants=False)


def from_pyg(
    edge_index: Any,
    edge_weight: Any = None,
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

    edge_index: INT64 tensor, 2 x edges: sources, then targets. edge_weight: tensor with a number for each edge; None:
    True for all, so that parallel edges become one entry. num_nodes: int, or (sources, targets) of a bipartite graph;
    None: one more than the largest id. dup_op: combines the weights of parallel edges. device: by default that of
    edge_index.

    PyG's messages go from sources to targets: aggregating them is `spmm(A.T, X)`. Raises TypeError, DimensionMismatch,
    InvalidValue (float ids, a weight that requires a gradient), IndexOutOfBound (negative ids, ids from num_nodes on),
    ValueError (parallel edges with weights without dup_op), DeviceError.
    """
    _check_tensor("edge_index", edge_index, 2)
    if edge_index.shape[0] != 2:
        raise DimensionMismatch(
            f"edge_index: expected shape (2, edges), got {tuple(edge_index.shape)}. Hint: edge_index.t()"
        )
    if edge_index.dtype.is_floating_point or edge_index.dtype in (torch.bool, torch.complex64, torch.complex128):
        raise InvalidValue(f"edge_index: expected integers, got {edge_index.dtype}")
    values = True
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


def spmm(A: Matrix | TransposedMatrix, X: Any, op: str = "sum") -> Any:
    """The product of a matrix and dense features, with a gradient for the features: row i of the result combines
    A[i, j] * X[j, :] over the entries of row i.

    A: Matrix or A.T, m x n; a pattern (BOOL) counts as ones. X: tensor, n or n x k, float32 or float64, contiguous, on
    the device of A. op: "sum"; "mean", the sum divided by the number of entries; "max" or "min", whose gradient goes to
    the first of equal products. A row without entries gives 0. Returns a tensor, m or m x k, of the dtype of X.

    A sum is taken in the order of its row's entries: the same input gives the same bits. The first gradient builds and
    caches the transpose of A. Raises TypeError, ValueError (op), DimensionMismatch, InvalidValue (dtype, not
    contiguous), DeviceError.
    """
    _check_matrix(A)
    if op not in REDUCTIONS:
        raise ValueError(f"op: expected one of {', '.join(REDUCTIONS)}, got {op!r}")
    _check_tensor("X", X, X.ndim if getattr(X, "ndim", 0) == 1 else 2)
    if X.shape[0] != A.ncols:
        raise DimensionMismatch(f"X: expected {A.ncols} rows, one for each column of A, got {X.shape[0]}")
    if X.dtype not in (torch.float32, torch.float64):
        raise InvalidValue(f"X: expected float32 or float64, got {X.dtype}. Hint: X.float()")
    if X.layout is not torch.strided or not X.is_contiguous():
        raise InvalidValue(f"X: expected a contiguous tensor, got strides {X.stride()}. Hint: X.contiguous()")
    if A.dtype._is_udt or A.dtype.kind == "c":
        raise InvalidValue(f"A: expected real numbers, got {A.dtype}")
    _array(A.device, "X", X)  # refuses another device
    if X.ndim == 1:
        return _Product.apply(X[:, None], A, op)[:, 0]
    return _Product.apply(X, A, op)


def _check_matrix(A: object) -> None:
    if not isinstance(A, (Matrix, TransposedMatrix)):
        hint = "graph.matrix" if hasattr(A, "matrix") else "from_torch, from_pyg"
        raise TypeError(f"A: expected a Matrix, got {type(A).__module__}.{type(A).__qualname__}. Hint: {hint}")


def _product(A: Matrix | TransposedMatrix, transposed: bool, mode: int, largest: bool = True) -> DenseProduct:
    return DenseProduct(A._matrix._at(None), A._transposed != transposed, mode, largest)


def _multiply(of: DenseProduct, X: Any, won: Any = None) -> tuple[Any, Any]:
    """The product as a tensor, and the winners of a BEST."""
    device, (n, _), width = of.A.device, of.shape, X.shape[1]
    device.foresee(f"a dense array of {n} x {width}", n * width * X.element_size())
    Y = torch.empty((n, width), dtype=X.dtype, device=X.device)
    winners = torch.empty_like(Y, dtype=_dtype(winner_type(of))) if of.mode == BEST else None
    array = lambda x: _array(device, "X", x)
    lines = lambda x, of: Lines(array(x), None if of is None else array(of))
    with _on_stream(device, X), device.guard:
        operations.dense_spmm.multiply(of, lines(X, won), lines(Y, winners))
    return Y, winners


def _dtype(kind: np.dtype) -> Any:
    return getattr(torch, kind.name)


class _Product(torch.autograd.Function):
    """X -> A X. The gradient of a sum is A' G; of a maximum, A' G at the positions that won."""

    @staticmethod
    def forward(ctx: Any, X: Any, A: Matrix | TransposedMatrix, op: str) -> Any:
        largest, best = op == "max", op in ("max", "min")
        of = _product(A, False, BEST if best else SUM, largest)
        Y, winners = _multiply(of, X)
        lengths = None
        if op == "mean":
            with _on_stream(of.A.device, X):
                lengths = _tensor(row_lengths(of)).clamp_(min=1).to(X.dtype)[:, None]
            Y.div_(lengths)
        ctx.of = _product(A, True, PICK if best else SUM, largest)
        ctx.save_for_backward(winners, lengths)
        return Y

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, G: Any) -> tuple[Any, None, None]:
        winners, lengths = ctx.saved_tensors
        G = G.contiguous() if lengths is None else (G / lengths).contiguous()
        return _multiply(ctx.of, G, winners)[0], None, None
