"""PyTorch: sparse tensors and PyG's edge lists as matrices, products with a gradient, shared memory."""

from __future__ import annotations

import numpy as np
import pytest

import bitblas as gb
from bitblas.exceptions import DeviceError, DimensionMismatch, IndexOutOfBound, InvalidValue

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore:Sparse CS:UserWarning")


def place(device):
    """Where PyTorch has the tensors of a device."""
    return device if device.startswith("cuda") else "cpu"


def tensors(device, m=60, n=50, *, density=0.1, dtype=torch.float64, seed=0):
    """A dense tensor with some zeros, with an empty row and a full one, and the Matrix of the others."""
    g = torch.Generator().manual_seed(seed)
    D = torch.randint(-4, 5, (m, n), generator=g).to(dtype) * (torch.rand(m, n, generator=g) < density)
    D[3], D[5] = 0, 1
    sparse = D.to_sparse_csr().to(place(device))  # PyTorch makes sparse tensors of all types on the CPU only
    return D.to(place(device)), gb.Matrix.from_torch(sparse, device=device)


# ---- sparse tensors


@pytest.mark.uses_cpu
@pytest.mark.parametrize("layout", ["coo", "csr", "csc"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint8", "float32", "float64", "complex64"])
def test_sparse_tensors_and_back(device, layout, dtype):
    D, _ = tensors("cpu")
    D = (D > 0 if dtype == "bool" else D.abs()).to(getattr(torch, dtype))
    sparse = {"coo": D.to_sparse, "csr": D.to_sparse_csr, "csc": D.to_sparse_csc}[layout]()
    A = gb.Matrix.from_torch(sparse.to(place(device)), device=device)
    assert A.device.name == device and A.dtype == gb.dtypes.lookup_dtype(np.dtype(dtype))
    assert np.array_equal(A.device.to_host(A.to_dense(0)), D.numpy())
    for back in ("coo", "csr", "csc"):
        found = A.to_torch(back)
        assert found.layout == getattr(torch, f"sparse_{back}") and found.dtype == D.dtype
        assert found.device.type == torch.device(place(device)).type and torch.equal(found.cpu().to_dense(), D)
    assert torch.equal(A.T.to_torch().cpu().to_dense(), D.T)


def test_shapes_duplicates_and_explicit_zeros(on_the_cpu):
    i = torch.tensor([[0, 0, 2], [1, 1, 0]])
    A = gb.Matrix.from_torch(torch.sparse_coo_tensor(i, torch.tensor([1.0, 2.0, 0.0]), (3, 4), check_invariants=True))
    assert A.shape == (3, 4) and A.to_dicts() == {0: {1: 3.0}, 2: {0: 0.0}}
    for shape in ((0, 0), (3, 0), (0, 3)):
        empty = gb.Matrix.from_torch(torch.zeros(shape).to_sparse())
        assert empty.shape == shape and tuple(empty.to_torch().shape) == shape and empty.nvals == 0


@pytest.mark.parametrize(
    ("tensor", "error", "match"),
    [
        (np.ones((2, 2)), TypeError, r"tensor: expected a torch.Tensor, got numpy.ndarray"),
        (torch.ones(2).to_sparse(), DimensionMismatch, r"tensor: expected 2 dimensions, got 1"),
        (
            torch.ones(2, 2),
            InvalidValue,
            r"sparse layout \(coo, csr, csc\), got torch.strided. Hint: Matrix.from_dense",
        ),
        (torch.eye(2).to_sparse().requires_grad_(), InvalidValue, r"without gradient, .* Hint: tensor.detach\(\)"),
        (torch.eye(2).half().to_sparse(), InvalidValue, r"dtype of GraphBLAS, got torch.float16. Hint: tensor.float"),
        (torch.ones(2, 2, 2).to_sparse(2), DimensionMismatch, r"expected 2 dimensions, got 3"),
    ],
)
def test_other_tensors_are_refused(on_the_cpu, tensor, error, match):
    with pytest.raises(error, match=match):
        gb.Matrix.from_torch(tensor)


def test_layouts_that_do_not_exist(on_the_cpu):
    A = gb.Matrix.from_coo([0], [1], nrows=2, ncols=2)
    with pytest.raises(ValueError, match="layout: expected one of coo, csr, csc, got 'bsr'"):
        A.to_torch("bsr")


# ---- PyG's edge lists


def test_edge_lists_of_pyg(device):
    at = place(device)
    edge_index = torch.tensor([[0, 1, 1, 3], [1, 2, 0, 0]], device=at)
    A = gb.torch.from_pyg(edge_index, device=device)
    assert A.dtype == gb.dtypes.BOOL and A.shape == (4, 4)
    assert [x.tolist() for x in A.to_coo()[:2]] == [[0, 1, 1, 3], [1, 0, 2, 0]]
    x = torch.tensor([[1.0], [2.0], [4.0], [8.0]], device=at)
    # what PyG's propagate sums: messages from sources to targets
    expected = torch.zeros_like(x).index_add_(0, edge_index[1], x[edge_index[0]])
    assert torch.equal(gb.torch.spmm(A.T, x), expected)
    weight = torch.tensor([1.0, 2.0, 3.0, 4.0], device=at)
    B = gb.torch.from_pyg(edge_index, weight, num_nodes=(5, 3), device=device)
    assert B.shape == (5, 3) and B[1, 2].new().value == 2.0
    assert gb.torch.from_pyg(torch.zeros((2, 0), dtype=torch.int64, device=at), device=device).shape == (0, 0)


@pytest.mark.parametrize(
    ("edges", "more", "error", "match"),
    [
        ([[0, 1, 2]], {}, DimensionMismatch, r"shape \(2, edges\), got \(1, 3\). Hint: edge_index.t\(\)"),
        ([[0.0], [1.0]], {}, InvalidValue, r"edge_index: expected integers, got torch.float32"),
        ([[0], [-1]], {}, IndexOutOfBound, r"expected indices from 0 to 0, got -1"),
        ([[0], [7]], {"num_nodes": 7}, IndexOutOfBound, r"expected indices from 0 to 6, got 7"),
        ([[0, 0], [1, 1]], {"edge_weight": torch.ones(2)}, ValueError, r"[Dd]uplicate"),
        ([[0], [1]], {"edge_weight": torch.ones(1, requires_grad=True)}, InvalidValue, r"without gradient"),
        ([[0], [1]], {"edge_weight": torch.ones(2)}, ValueError, r"length|values"),
    ],
)
def test_bad_edge_lists(on_the_cpu, edges, more, error, match):
    with pytest.raises(error, match=match):
        gb.torch.from_pyg(torch.tensor(edges), **more)


# ---- products with a gradient


def reference(D, X, op):
    """The product by dense tensors. D has an entry where it is not zero."""
    entry = (D != 0)[:, :, None]
    products = D.to(X.dtype)[:, :, None] * X[None]
    if op in ("sum", "mean"):
        total = products.sum(1)
        return total if op == "sum" else total / entry.sum(1).clamp(min=1)
    worst = float("-inf") if op == "max" else float("inf")
    best = torch.where(entry, products, torch.tensor(worst, dtype=X.dtype, device=X.device))
    best = (best.max(1) if op == "max" else best.min(1)).values
    return torch.where(entry.any(1), best, torch.zeros_like(best))


@pytest.mark.parametrize("op", ["sum", "mean", "max", "min"])
@pytest.mark.parametrize(("width", "transposed"), [(1, False), (5, True), (33, False), (64, True)])
def test_spmm_and_its_gradient(device, op, width, transposed, tune):
    tune({"multivector.long_row": 20, "multivector.segment": 8})  # so that a GPU splits the full row
    D, A = tensors(device)
    D, A = (D.T, A.T) if transposed else (D, A)
    g = torch.Generator().manual_seed(1)
    X = torch.randn((A.ncols, width), dtype=torch.float64, generator=g).to(D.device).requires_grad_()
    G = torch.randn((A.nrows, width), dtype=torch.float64, generator=g).to(D.device)
    Y = gb.torch.spmm(A, X, op)
    expected = reference(D, X, op)
    torch.testing.assert_close(Y, expected)
    (found,) = torch.autograd.grad(Y, X, G)
    (gradient,) = torch.autograd.grad(expected, X, G)
    torch.testing.assert_close(found, gradient)


@pytest.mark.parametrize("op", ["sum", "mean", "max", "min"])
def test_gradcheck(device, op):
    _, A = tensors(device, 12, 10, density=0.3)
    X = torch.randn((10, 3), dtype=torch.float64, device=place(device), requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: gb.torch.spmm(A, x, op), X, check_batched_grad=False)


# ---- gradients for the values


@pytest.mark.parametrize("op", ["sum", "mean", "max", "min"])
@pytest.mark.parametrize(("width", "transposed"), [(1, False), (5, True), (33, False), (64, True)])
@pytest.mark.parametrize("form", [{}, {"format": "b2sr", "tile": 8}, {"format": "mplg"}])
def test_edge_weights_and_their_gradient(device, op, width, transposed, form):
    D, A = tensors(device, 40, 30)
    i, j = (torch.as_tensor(A.device.to_host(part).astype(np.int64), device=D.device) for part in A.to_coo()[:2])
    A = gb.Matrix.from_coo(i, j, True, nrows=40, ncols=30, device=device, **form)
    g = torch.Generator().manual_seed(1)
    draw = lambda *shape: torch.randn(shape, dtype=torch.float64, generator=g).to(D.device)
    B = A.T if transposed else A
    w, X, G = draw(len(i)).requires_grad_(), draw(B.ncols, width).requires_grad_(), draw(B.nrows, width)
    W = torch.zeros_like(D).index_put((i, j), w)
    entry = torch.zeros_like(D).index_put((i, j), torch.ones_like(w))
    expected = weighted_reference(W.T if transposed else W, entry.T if transposed else entry, X, op)
    Y = gb.torch.spmm(B, X, op, values=w)
    torch.testing.assert_close(Y, expected)
    found = torch.autograd.grad(Y, (w, X), G)
    for ours, theirs in zip(found, torch.autograd.grad(expected, (w, X), G), strict=True):
        torch.testing.assert_close(ours, theirs)
    (alone,) = torch.autograd.grad(gb.torch.spmm(B, X.detach(), op, values=w), w, G)
    assert torch.equal(alone, found[0])


def weighted_reference(W, entry, X, op):
    """`reference`, where an entry may have the value 0."""
    products, there = W[:, :, None] * X[None], entry[:, :, None] != 0
    if op in ("sum", "mean"):
        total = (products * there).sum(1)
        return total if op == "sum" else total / there.sum(1).clamp(min=1)
    worst = torch.full((), float("-inf") if op == "max" else float("inf"), dtype=X.dtype, device=X.device)
    best = torch.where(there, products, worst)
    best = (best.max(1) if op == "max" else best.min(1)).values
    return torch.where(there.any(1), best, torch.zeros_like(best))


@pytest.mark.parametrize("op", ["sum", "mean", "max", "min"])
def test_gradcheck_of_edge_weights(device, op):
    _, A = tensors(device, 12, 10, density=0.3)
    X = torch.randn((10, 3), dtype=torch.float64, device=place(device), requires_grad=True)
    w = torch.randn(A.nvals, dtype=torch.float64, device=place(device), requires_grad=True)
    call = lambda x, values: gb.torch.spmm(A, x, op, values=values)
    assert torch.autograd.gradcheck(call, (X, w), check_batched_grad=False)


# ---- numbers of 16 bits, with sums in FP32


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize(("op", "width", "transposed"), [("sum", 66, True), ("mean", 64, False), ("max", 16, True)])
def test_numbers_of_16_bits(device, dtype, op, width, transposed, tune):
    """Sums of integers are exact in FP32, so that results differ by no rounding but the last."""
    tune({"multivector.long_row": 20, "multivector.segment": 8})
    D, A = tensors(device, dtype=torch.float32)
    D, A = (D.T, A.T) if transposed else (D, A)
    draw = lambda *shape: torch.randint(-9, 10, shape, generator=torch.Generator().manual_seed(1)).to(dtype)
    X, G = (draw(rows, width).to(D.device) for rows in (A.ncols, A.nrows))
    i, j = (torch.as_tensor(A.device.to_host(part).astype(np.int64)) for part in A._matrix.to_coo()[:2])
    w = draw(len(i)).to(D.device).requires_grad_()
    X.requires_grad_()
    W = torch.zeros_like(D.T if transposed else D).index_put((i, j), w.float())
    entry = torch.zeros_like(W).index_put((i, j), torch.ones_like(w.float()))
    expected = weighted_reference(*(x.T if transposed else x for x in (W, entry)), X.float(), op)
    Y = gb.torch.spmm(A, X, op, values=w)
    assert Y.dtype is dtype and torch.equal(Y, expected.to(dtype))
    found = torch.autograd.grad(Y, (w, X), G)
    for ours, theirs in zip(found, torch.autograd.grad(expected, (w, X), G.float()), strict=True):
        assert ours.dtype is dtype
        atol = 1e-3 if op == "mean" else 0.0  # FP32 sums of fractions, in another order
        torch.testing.assert_close(ours, theirs.to(dtype), rtol=torch.finfo(dtype).eps if atol else 0, atol=atol)
    floats = gb.torch.spmm(A, X, op, values=w.detach().float().requires_grad_())
    assert torch.equal(floats, Y)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_every_number_of_16_bits(device, dtype):
    """The product with a multiple of the identity: each number is converted and rounded as PyTorch does it."""
    n, k = 1024, 64
    X = torch.arange(n * k, dtype=torch.int32).to(torch.int16).view(dtype).reshape(n, k)
    for factor in (1.0, 1 / 3):
        A = gb.Matrix.from_coo(np.arange(n), np.arange(n), np.float32(factor), nrows=n, ncols=n, device=device)
        found, expected = gb.torch.spmm(A, X.to(place(device))).cpu(), (X.float() * np.float32(factor)).to(dtype)
        assert torch.equal(found.isnan(), expected.isnan())
        assert torch.equal(found.nan_to_num(0, 1, -1), expected.nan_to_num(0, 1, -1))


# ---- dense products at the entries of a matrix


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize(("width", "transposed"), [(5, False), (64, True)])
def test_sddmm_and_its_gradient(device, dtype, width, transposed):
    D, A = tensors(device)
    D, A = (D.T, A.T) if transposed else (D, A)
    draw = lambda *shape: torch.randint(-3, 4, shape, generator=torch.Generator().manual_seed(1)).to(dtype)
    X, Y = (draw(rows, width).to(D.device).requires_grad_() for rows in A.shape)
    i, j = (torch.as_tensor(A.device.to_host(part).astype(np.int64)) for part in A._matrix.to_coo()[:2])
    i, j = (j, i) if transposed else (i, j)
    found, expected = gb.torch.sddmm(A, X, Y), (X.double() @ Y.double().T)[i, j]
    assert found.dtype is dtype and torch.equal(found, expected.to(dtype))
    G = draw(len(i)).to(D.device)
    ours = torch.autograd.grad(found, (X, Y), G)
    for one, other in zip(ours, torch.autograd.grad(expected, (X, Y), G.double()), strict=True):
        assert one.dtype is dtype and torch.equal(one, other.to(dtype))


def test_sddmm_is_sampled_addmm(on_the_cpu):
    D, A = tensors("cpu", dtype=torch.float32)
    X, Y = (torch.randn((rows, 12), generator=torch.Generator().manual_seed(2)) for rows in A.shape)
    expected = torch.sparse.sampled_addmm(D.to_sparse_csr(), X, Y.t().contiguous(), beta=0)
    torch.testing.assert_close(gb.torch.sddmm(A, X, Y), expected.values())


@pytest.mark.parametrize(
    ("X", "Y", "error", "match"),
    [
        (
            torch.ones(50, 2),
            torch.ones(50, 2),
            DimensionMismatch,
            r"X: expected 60 rows, one for each row of A, got 50",
        ),
        (torch.ones(60, 2), torch.ones(50, 3), DimensionMismatch, r"Y: expected 2 columns, those of X, got 3"),
        (torch.ones(60, 2), torch.ones(50, 2).half(), InvalidValue, r"Y: expected torch.float32, the type of X"),
        (torch.ones(60, 2).int(), torch.ones(50, 2), InvalidValue, r"X: expected float32, .* got torch.int32"),
        (torch.ones(60), torch.ones(50, 2), DimensionMismatch, r"X: expected 2 dimensions, got 1"),
    ],
)
def test_rows_that_do_not_fit(on_the_cpu, X, Y, error, match):
    with pytest.raises(error, match=match):
        gb.torch.sddmm(tensors("cpu")[1], X, Y)


def test_edge_weights_of_vectors_and_of_empty_matrices(device):
    A = gb.Matrix.from_coo([0, 0, 2], [1, 2, 0], True, nrows=3, ncols=3, device=device)
    w = torch.tensor([2.0, 3.0, 5.0], device=place(device), requires_grad=True)
    y = gb.torch.spmm(A, torch.tensor([1.0, 10.0, 100.0], device=place(device)), values=w)
    assert y.tolist() == [320.0, 0.0, 5.0]
    y.sum().backward()
    assert w.grad.tolist() == [10.0, 100.0, 1.0]
    empty, none = gb.Matrix(float, 3, 4, device=device), torch.zeros(0, device=place(device), requires_grad=True)
    gb.torch.spmm(empty, torch.ones((4, 2), device=place(device)), values=none).sum().backward()
    assert none.grad.shape == (0,)


def test_edge_weights_that_changed_since_are_noticed(on_the_cpu):
    A = gb.Matrix.from_coo([0], [1], True, nrows=2, ncols=2)
    w, X = torch.ones(1), torch.ones((2, 2), requires_grad=True)
    Y = gb.torch.spmm(A, X, values=w)
    w.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        Y.sum().backward()


@pytest.mark.parametrize(
    ("values", "error", "match"),
    [
        ([1.0, 2.0], TypeError, r"values: expected a torch.Tensor, got builtins.list"),
        (torch.ones(3), DimensionMismatch, r"values: expected one for each of 2 entries of A, got 3"),
        (torch.ones(2, 1), DimensionMismatch, r"values: expected 1 dimensions, got 2"),
        (torch.ones(2).double(), InvalidValue, r"values: expected torch.float32, the type of X, got torch.float64"),
        (torch.ones(4)[::2], InvalidValue, r"values: expected a contiguous tensor, got strides \(2,\)"),
    ],
)
def test_bad_edge_weights(on_the_cpu, values, error, match):
    A = gb.Matrix.from_coo([0, 1], [1, 0], True, nrows=2, ncols=2)
    with pytest.raises(error, match=match):
        gb.torch.spmm(A, torch.ones((2, 3)), values=values)


@pytest.mark.parametrize("op", ["sum", "mean", "amax", "amin"])
def test_spmm_is_that_of_torch_sparse(on_the_cpu, op):
    D, A = tensors("cpu", dtype=torch.float32)
    X = torch.randn((50, 7), generator=torch.Generator().manual_seed(2))
    expected = torch.sparse.mm(D.to_sparse_csr(), X, op)
    torch.testing.assert_close(gb.torch.spmm(A, X, op.removeprefix("a")), expected)


@pytest.mark.parametrize("form", [{"format": "mplg"}, {"format": "b2sr", "tile": 8}, {"format": "bitmap"}, {}])
@pytest.mark.parametrize("dtype", ["BOOL", "INT8", "FP32"])
def test_stored_formats_orders_and_types_of_values(device, form, dtype):
    i, j = np.random.default_rng(0).integers(0, 40, (2, 150))
    A = gb.Matrix.from_coo(i, j, True if dtype == "BOOL" else 3, dtype, nrows=40, ncols=40, device=device, **form)
    D = torch.as_tensor(A.device.to_host(A.to_dense(0)).astype(np.float32), device=place(device))
    X = torch.rand((40, 9), device=place(device))
    for B in (A, A.reorder("degree")):
        torch.testing.assert_close(gb.torch.spmm(B, X), D @ X)
        torch.testing.assert_close(gb.torch.spmm(B.T, X, "max"), reference(D.T, X, "max"))


def test_equal_products_give_the_gradient_to_the_first(device):
    A = gb.Matrix.from_coo([0, 0, 0], [0, 1, 2], nrows=1, ncols=3, device=device)
    X = torch.tensor([[1.0], [2.0], [2.0]], device=place(device), requires_grad=True)
    gb.torch.spmm(A, X, "max").sum().backward()
    assert X.grad.tolist() == [[0.0], [1.0], [0.0]]
    nan = torch.tensor([[1.0], [float("nan")], [2.0]], device=place(device))
    assert gb.torch.spmm(A, nan, "max").isnan().all() and gb.torch.spmm(A, nan, "min").isnan().all()


def test_vectors_empty_shapes_and_the_same_bits(device):
    D, A = tensors(device, dtype=torch.float32)
    x = torch.rand(50, device=place(device))
    assert gb.torch.spmm(A, x).shape == (60,)
    torch.testing.assert_close(gb.torch.spmm(A, x), D @ x)
    assert torch.equal(gb.torch.spmm(A, x), gb.torch.spmm(A, x))
    assert gb.torch.spmm(A, torch.zeros((50, 0), device=place(device))).shape == (60, 0)
    empty = gb.Matrix(float, 3, 0, device=device)
    assert gb.torch.spmm(empty, torch.zeros((0, 2), device=place(device)), "max").tolist() == [[0.0, 0.0]] * 3


@pytest.mark.parametrize(
    ("X", "op", "error", "match"),
    [
        (np.ones((50, 2)), "sum", TypeError, r"X: expected a torch.Tensor, got numpy.ndarray"),
        (torch.ones(49, 2), "sum", DimensionMismatch, r"X: expected 50 rows, one for each column of A, got 49"),
        (torch.ones(2, 50).T, "sum", InvalidValue, r"X: expected a contiguous tensor, .* Hint: X.contiguous\(\)"),
        (
            torch.ones(50, 2, dtype=torch.int64),
            "sum",
            InvalidValue,
            r"X: expected float32, float64, float16 or bfloat16",
        ),
        (torch.ones(50, 2, 2), "sum", DimensionMismatch, r"X: expected 2 dimensions, got 3"),
        (torch.ones(50, 2), "add", ValueError, r"op: expected one of sum, mean, max, min, got 'add'"),
    ],
)
def test_features_that_do_not_fit(on_the_cpu, X, op, error, match):
    _, A = tensors("cpu")
    with pytest.raises(error, match=match):
        gb.torch.spmm(A, X, op)


def test_other_matrices(on_the_cpu):
    A = gb.Matrix.from_coo([0], [1], [1j], nrows=2, ncols=2)
    with pytest.raises(InvalidValue, match="A: expected real numbers, got FC64"):
        gb.torch.spmm(A, torch.ones(2, 1))
    with pytest.raises(TypeError, match=r"A: expected a Matrix, got .*Graph. Hint: graph.matrix"):
        gb.torch.spmm(gb.Graph.from_edges([("a", "b")]), torch.ones(2, 1))


@pytest.mark.gpu
def test_tensors_on_another_device_are_refused(device):
    _, A = tensors(device)
    with pytest.raises(DeviceError, match=r"X: expected a tensor on device 'cuda.*', got one on cpu"):
        gb.torch.spmm(A, torch.ones(50, 2))
    with pytest.raises(DeviceError, match="got an array on a GPU"):
        gb.torch.spmm(A.to("cpu"), torch.ones(50, 2, device="cuda"))


@pytest.mark.gpu
def test_a_stream_of_torch(device):
    D, A = tensors(device)
    X = torch.rand((50, 16), dtype=torch.float64, device="cuda", requires_grad=True)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        Y = gb.torch.spmm(A, X * 2, "mean")
        Y.sum().backward()
    stream.synchronize()
    torch.testing.assert_close(Y, reference(D, X * 2, "mean"))


# ---- memory


def test_tensors_share_the_memory_of_vectors(device):
    v = gb.Vector.from_dense([1.0, 2.0, 3.0], device=device)
    t = torch.from_dlpack(v)
    assert t.device.type == torch.device(place(device)).type
    t[1] = 7
    assert v[1].new().value == 7.0
    w = gb.Vector.from_dlpack(t, device=device)
    assert torch.from_dlpack(w).data_ptr() == t.data_ptr()
    X = torch.rand((70, 16), device=place(device))
    M = gb.Matrix.from_dlpack(X, device=device)
    assert torch.from_dlpack(M).data_ptr() == X.data_ptr() and torch.equal(torch.from_dlpack(M), X)


# ---- PyTorch Geometric


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("op", ["sum", "mean", "max", "min"])
def test_what_pyg_aggregates(on_the_cpu, op):
    utils = pytest.importorskip("torch_geometric.utils")
    g = torch.Generator().manual_seed(3)
    edge_index = torch.randint(0, 30, (2, 80), generator=g).unique(dim=1)
    X = torch.randn((30, 4), dtype=torch.float64, generator=g).requires_grad_()
    expected = utils.scatter(X[edge_index[0]], edge_index[1], 0, 30, op)
    found = gb.torch.spmm(gb.torch.from_pyg(edge_index, num_nodes=30).T, X, op)
    torch.testing.assert_close(found, expected)
    gradients = [torch.autograd.grad((Y * Y).sum(), X)[0] for Y in (found, expected)]
    torch.testing.assert_close(*gradients)


def test_habits_of_pytorch_name_the_call_that_works(on_the_cpu):
    edges = torch.tensor([[0, 1, 2, 0], [1, 2, 0, 2]])
    A, X = gb.torch.from_pyg(edges, num_nodes=3), torch.ones(3, 2)
    loader = gb.torch.NeighborLoader
    graph = gb.Graph.from_edges(edges.T)
    assert len(graph) == 3 and graph.isequal(gb.Graph(gb.torch.from_pyg(edges), directed=True))
    for call, said in (
        (lambda: gb.torch.spmm(edges, X), "bitblas.torch.from_pyg(edge_index, num_nodes=n)"),
        (lambda: gb.torch.spmm(A.to_torch(), X), "Matrix.from_torch(tensor)"),
        (lambda: gb.torch.spmm(torch.eye(3), X), "Matrix.from_dense(tensor, missing_value=0)"),
        (lambda: gb.torch.from_pyg(edges, 3), "num_nodes=3"),
        (lambda: gb.torch.from_pyg(edges.float()), "edge_index.long()"),
        (lambda: A @ X, "bitblas.torch.spmm(A, X)"),
        (lambda: A.mxm(X), "bitblas.torch.spmm(A, X)"),
        (lambda: loader(A, 5), "[5]"),
        (lambda: loader(A, [2], torch.tensor([True, False, True])), "seeds.nonzero().ravel()"),
        (lambda: loader(graph, [2]), "graph.matrix"),
        (lambda: gb.Graph.from_edges(edges), "edges.T"),
        (lambda: A.cuda, "to('cuda')"),
    ):
        with pytest.raises((TypeError, ValueError, AttributeError)) as seen:
            call()
        assert said in str(seen.value)


@pytest.mark.filterwarnings("ignore:The .grad attribute:UserWarning")
def test_a_compiled_model_calls_the_product_as_it_is(on_the_cpu):
    A, X = gb.torch.from_pyg(torch.tensor([[0, 1, 2], [1, 2, 0]])), torch.randn(3, 2, requires_grad=True)
    model = lambda x: torch.relu(gb.torch.spmm(A, x * 2, "mean", values=gb.torch.sddmm(A, x, x).relu())) + 1
    torch.compile(model, backend="eager")(X).sum().backward()
    found, X.grad = X.grad, None
    model(X).sum().backward()
    assert torch.equal(found, X.grad)
