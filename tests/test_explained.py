"""The plan that `gb.explain` returns is the plan by which the statement runs, for each way that a product takes."""

from __future__ import annotations

import numpy as np
import pytest

import bitblas as gb
from bitblas import device as devices
from bitblas.config import config
from bitblas.operations import multivector, plain_spmv, spgemm, spmv, virtual_nodes
from bitblas.plan import product as kinds

N = 3000


@pytest.fixture(autouse=True)
def _thresholds(tune):
    """Build auxiliary formats for the first product that reads one; short vectors may be lists."""
    tune(
        {
            "transpose.reads.cpu": 0.0,
            "transpose.reads.gpu": 0.0,
            "list.positions.cpu": 1 << 16,
            "list.positions.gpu": 1 << 16,
        }
    )


@pytest.fixture
def ran(monkeypatch):
    """The plans of the products that run, in order, each with the kernel that it was prepared with."""
    found: list[tuple[kinds.Plan, str]] = []
    chosen: list[kinds.Plan] = []
    choose, run = plain_spmv.choose, plain_spmv.PreparedProduct.run

    def watched_choose(*args):
        choice = choose(*args)
        chosen.append(choice.plan)
        return choice

    def watched_run(self, *args):
        found.append((chosen[-1], self.plan.kernel))
        return run(self, *args)

    def watch(module, name):
        plain = getattr(module, name)

        def watched(product, *args):
            result = plain(product, *args)
            if result is not None:
                found.append((product.plan, product.plan.kernel))
            return result

        monkeypatch.setattr(module, name, watched)

    binned = virtual_nodes._binned

    def watched_binned(*args):
        result = binned(*args)
        if result is not None:
            found.append((chosen[-1], kinds.BINNED))
        return result

    monkeypatch.setattr(virtual_nodes, "_binned", watched_binned)
    monkeypatch.setattr(plain_spmv, "choose", watched_choose)
    monkeypatch.setattr(plain_spmv.PreparedProduct, "run", watched_run)
    watch(spmv, "multiply_listed")
    watch(spgemm, "multiply_rows")
    watch(spgemm, "multiply_dots")
    watch(multivector, "multiply")
    return found


def one_hub(dtype=int, **options):
    """Row 1000 has half of the entries; values differ."""
    rng = np.random.default_rng(3)
    i = np.concatenate([np.full(N, 1000), rng.permutation(N)])
    j = np.concatenate([np.arange(N), rng.permutation(N)])
    values = (np.arange(2 * N) % 7 + 1).astype(dtype)
    return gb.Matrix.from_coo(i, j, values, nrows=N, ncols=N, dup_op=gb.binary.plus, **options)


def operands() -> dict[str, object]:
    at = np.arange(N)
    pattern = gb.Matrix.from_coo(at, (7 * at) % N, True, nrows=N, ncols=N, format="csr")
    far, alike = 10**8, (np.repeat(at[:400], 16), np.tile(at[:16], 400))
    return {
        "gb": gb,
        "A": one_hub(format="csr"),
        "F": one_hub(float, format="csr"),
        "P": pattern,
        "tiles": gb.Matrix.from_coo(at, (7 * at) % N, 1, nrows=N, ncols=N, format="b2sr", tile=8),
        "virtual": gb.Matrix.from_coo(*alike, 1, nrows=N, ncols=N, format="virtual"),
        "hyper": gb.Matrix.from_coo([5, 9, far - 1], [9, 5, 5], [1, 2, 3], nrows=far, ncols=far),
        "wide": gb.Matrix.from_coo([5, 6, 9], [7, 7, 8], [1, 2, 3], nrows=1 << 16, ncols=1 << 16, format="csr"),
        "listed": gb.Vector.from_coo([5, far - 1], [1, 2], size=far),
        "short": gb.Vector.from_coo([5, 6], [1, 2], size=1 << 16),
        "ones": gb.Vector.from_coo([5, 9], [1, 2], size=far),
        "many": gb.Vector.from_coo(at[: N // 2], at[: N // 2] + 1, size=N),
        "few": gb.Vector.from_coo([3, 70], [1, 2], size=N),
        "full": gb.Vector.from_coo(at, at + 1, size=N),
        "reals": gb.Vector.from_coo(at, at + 0.5, size=N),
        "X": gb.Matrix.from_dense(np.arange(8.0 * 2 * N).reshape(2 * N, 8)),
        "S": gb.Matrix.from_coo(np.arange(2 * N), np.arange(2 * N)[::-1].copy(), 1.0, nrows=2 * N, ncols=2 * N),
        "sparse": gb.Matrix.from_coo([3], [1], True, nrows=2 * N, ncols=8, format="bitmap"),
    }  # fmt: skip


# The product, its mask, and the kernel of the plan: of all devices, or of the CPU and of a GPU.
PRODUCTS = {
    "pull": ("A.mxv(many, gb.semiring.min_plus)", "", kinds.PULL),
    "pull under a mask": ("F.mxv(reals, gb.semiring.plus_times)", "few.S", kinds.PULL),
    "binned pull": ("F.mxv(reals, gb.semiring.plus_times)", "", (kinds.PULL, kinds.BINNED)),
    "push": ("few.vxm(P, gb.semiring.any_pair)", "", kinds.PUSH),
    "push of values": ("few.vxm(A, gb.semiring.min_plus)", "~many.S", kinds.PUSH),
    "presence": ("P.mxv(full, gb.semiring.any_pair)", "", kinds.PRESENCE),
    "whole tiles": ("tiles.mxv(full, gb.semiring.plus_second)", "", (kinds.WIDE, kinds.PULL)),
    "counts of tiles": ("tiles.mxv(full, gb.semiring.plus_pair)", "", kinds.PULL),
    "list": ("listed.vxm(hyper, gb.semiring.min_plus)", "", (kinds.LIST, kinds.PULL)),
    "rows of a list": ("short.vxm(wide, gb.semiring.min_plus)", "", (kinds.LIST, kinds.PULL)),
    "hypersparse": ("hyper.mxv(ones, gb.semiring.plus_times)", "", (kinds.LIST, kinds.PULL)),
    "by position": ("hyper.mxv(ones, gb.semiring.ss.min_firsti)", "", (kinds.LIST, kinds.PULL)),
    "virtual nodes": ("virtual.mxv(many, gb.semiring.plus_times)", "", kinds.PULL),
    "virtual nodes, full": ("virtual.mxv(reals, gb.semiring.plus_times)", "", (kinds.PULL, kinds.BINNED)),
    "virtual nodes, pushed": ("few.vxm(virtual, gb.semiring.any_pair)", "", kinds.PUSH),
    "virtual, by rows": ("virtual.mxv(full, gb.semiring.ss.min_firsti)", "", kinds.PULL),
    "dots": ("A.mxm(A, gb.semiring.plus_times)", "P.S", kinds.DOT),
    "rows": ("P.mxm(P, gb.semiring.plus_pair)", "", kinds.ROWS),
    "rows, not at a mask": ("P.mxm(P, gb.semiring.plus_pair)", "~P.S", kinds.ROWS),
    "hypersparse rows": ("hyper.mxm(hyper, gb.semiring.ss.min_firsti)", "", kinds.ROWS),
    "hypersparse dots": ("hyper.mxm(hyper, gb.semiring.plus_times)", "hyper.S", kinds.DOT),
    "multivector": ("S.mxm(X, gb.semiring.plus_times)", "", kinds.LINES),
    "multivector, pushed": ("S.T.mxm(sparse, gb.semiring.any_pair)", "", kinds.LINES),
}


def assert_runs_as_explained(ran, call, mask, kernel):
    simt = devices.get(config.device).is_simt
    scope = operands()
    for _ in range(3):  # prepared, looked up, and with all formats
        expr, where = eval(call, scope), eval(mask, scope) if mask else None
        explained = gb.explain(expr, mask=where)
        assert not ran, "nothing is computed"
        with gb.trace() as trace:
            expr.new(mask=where)
        plan, prepared = ran[0]
        ran.clear()
        assert not trace.runs or str(explained) in {run.plan for run in trace}  # a cached result needs no kernel
        assert explained.kernel == (kernel[simt] if isinstance(kernel, tuple) else kernel)
        assert explained.kernel == prepared or (prepared == kinds.BINNED and where is not None)
        assert explained.reason.startswith(plan.reason)
        names = {"verb", "semiring", "key"} if "virtual nodes" in explained.reason else {"semiring"}
        same = {name: getattr(plan, name) for name in {*names, "reason", "kernel"}}
        assert explained._replace(**same) == plan


@pytest.mark.parametrize("call, mask, kernel", PRODUCTS.values(), ids=PRODUCTS)
def test_a_product_runs_by_the_plan_that_explain_returns(device, ran, tune, call, mask, kernel):
    tune({"csr.binned_from": 1, "coded.binned_from": 1})
    assert_runs_as_explained(ran, call, mask, kernel)


@pytest.mark.parametrize("name", ["list", "rows of a list", "hypersparse", "by position"])
def test_a_list_of_too_many_products_is_no_list(device, ran, tune, name):
    tune({"push.list.products": 0, "push_cost.list": 1e9})
    call, mask, _ = PRODUCTS[name]
    assert_runs_as_explained(ran, call, mask, kinds.PULL)
