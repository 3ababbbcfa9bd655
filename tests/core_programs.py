"""Texts that run on bitblas and on python-graphblas: one per `;`. The names: operands() in both_libraries.py."""

# Delayed expressions, and what reads an object.
EXPRESSIONS = """
v.ewise_add(w, binary.plus); v.ewise_add(w, "min"); v.ewise_add(w, monoid.max); v.ewise_add(w, binary.eq);
v.ewise_mult(w, binary.times); v.ewise_mult(w, binary.lt); v.ewise_mult(w, binary.pair);
v.ewise_mult(w, binary.first); v.ewise_mult(w, binary.plus[float]); v.ewise_add(i, binary.second);
i.ewise_add(i, binary.plus); v.ewise_add(e); v.ewise_union(w, binary.minus, 0, 0);
v.ewise_union(w, binary.plus, 1, 2.5); binary.minus(v | w, left_default=1, right_default=2); v.apply(unary.ainv);
v.apply(unary.abs); v.apply(unary.one); v.apply(unary.lnot); v.apply("-"); i.apply(unary.ainv); v.apply(unary.minv);
v.apply(unary.sqrt); v.apply(unary.identity); v.apply(binary.plus, right=2); v.apply(binary.minus, left=2);
v.apply(binary.truediv, right=2); v.apply(binary.times, 2.5); v.apply(binary.first, right=1);
v.apply(binary.pair, right=1); binary.plus(v, 1); binary.minus(1, v); i.apply(binary.plus, 1);
v.apply(indexunary.index); v.apply(indexunary.rowindex, 3); v.apply(indexunary.colindex);
v.apply(indexunary.valuegt, 1); v.select("tril", -3); v.select(select.rowle, 40); v.select(w.S); v.select(~w.S);
v.select(b); v.select(b.V); v.select(~b.V); v.reduce(); v.reduce("min"); v.reduce(monoid.max); v.reduce(monoid.lor);
v.reduce(monoid.any).new().nvals; v.reduce(binary.plus); e.reduce(); e.reduce(allow_empty=False);
e.reduce(monoid.min, allow_empty=False); i.reduce("*"); i.reduce(monoid.lxor); v + w; v - w; v * w; v / w; v == w;
v != w; v < w; v <= w; v > w; v >= w; v + 1; 1 - v; 2 / v; v < 2; 2 < v; -v; abs(v); v + e; v - e; v * e; b | b;
b & b; b ^ b; ~b; v ^ w; v | w; v & w; binary.plus(v | w | v); binary.plus(v & w & v); v @ w;
v.inner(w, semiring.min_plus); semiring.plus_pair(v @ w); v.outer(w); v.outer(s, binary.second); v.diag(); v.diag(2);
v.diag(-3); v[3]; v[-1]; v[[1, 5, 5, 69]]; v[::2]; v[::-3]; v[10:20]; v[:]; v[...]; v[np.array([3, 2])]; v.dup();
v.dup(dtype=float); v.dup(dtype="INT8"); v.dup(mask=b.V); v.dup(clear=True); v.to_coo(); v.to_coo("INT32");
v.to_dense(0); v.to_dense(0.5); v.to_dense(); v.to_dict(); v.nvals, v.size, v.shape; list(v) == sorted(v.to_dict());
3 in v; v.get(3); v.get(4, -1); v.isequal(v); v.isequal(w); v.isequal(v.dup(dtype=float));
v.isequal(v.dup(dtype=float), check_dtype=True); v.isclose(v * 1.0); (v.S & w.S).new(); (v.S | b.V).new();
(~v.S & w.S).new(); (~v.S & ~b.V).new(); (~v.S | w.S).new(); (~b.V).new(); v.S.new(int); b.V.new(mask=w.S);
b.V.new(complement=True); v.S.new(mask=~w.S, complement=True); v.vxm(A); v.vxm(A.T); v.vxm(R); A.mxv(v); A.T.mxv(v);
R.mxv(s); R.T.mxv(v); v @ A; A @ v; A.T @ v; semiring.min_plus(A @ w); A.mxv(w, semiring.plus_first);
A.mxv(w, semiring.plus_second); v.vxm(B, semiring.min_first); v.vxm(B, semiring.max_second);
A.mxv(w, semiring.any_pair); A.mxv(w, semiring.plus_pair); A.mxv(w, semiring.lor_land); A.mxv(w, "min.plus");
I.mxv(w, "plus_times"); A.mxv(w, semiring.ss.min_firstj); A.mxv(w, semiring.ss.min_secondi);
v.vxm(B, semiring.ss.max_firstj); v.vxm(B, semiring.ss.min_secondj); A.mxv(w, semiring.plus_times["FP64"]);
A.mxv(w, semiring.plus_times["INT8"]); A.mxv(e); A.mxv(w, semiring.lor_land[bool]); A @ B;
A.mxm(B, semiring.min_plus); A.mxm(B.T, semiring.plus_pair); A.T.mxm(B); A.T.mxm(B.T); A.mxm(R);
R.T.mxm(R, "max_times"); L.mxm(L, semiring.lor_land); L.mxm(L, semiring.plus_pair); A.mxm(B, semiring.any_pair);
A.mxm(I, semiring.plus_first); A.ewise_add(B, binary.plus); A.ewise_add(B, "min"); A.ewise_mult(B, "*");
A.ewise_mult(B.T, binary.lt); A.T.ewise_add(B); A.ewise_add(E); A.ewise_mult(E); I.ewise_add(I, binary.plus);
I.ewise_mult(I, binary.plus); A.ewise_add(I, binary.first); A.ewise_union(B, binary.minus, 0, 0);
A.ewise_union(B, binary.plus, 1, 2.5); binary.first(A & B); binary.pair(A | B); A.apply(unary.ainv);
A.apply(binary.plus, right=2); A.apply(binary.minus, left=2); A.apply(indexunary.rowindex);
A.T.apply(indexunary.rowindex); A.apply(indexunary.colindex, 2); I.apply(unary.one); I.apply(binary.plus, 3);
I.apply(indexunary.rowindex); A.select("tril"); A.select(select.triu, 1); A.select("offdiag");
A.select(select.rowle, 20); A.select(select.colgt, 20); A.T.select("tril", -1); A.select(L); A.select(L.S);
A.select(~L.V); A.select(B.S); I.select("triu"); select.tril(A, -1); indexunary.rowindex(A); A.reduce_rowwise();
A.reduce_columnwise(); A.reduce_rowwise("max"); A.T.reduce_rowwise("min"); A.T.reduce_columnwise(monoid.lor);
R.reduce_columnwise(); I.reduce_rowwise(); A.reduce_scalar(); A.reduce_scalar("min"); I.reduce_scalar();
E.reduce_scalar(); E.reduce_scalar(allow_empty=False); A.T.reduce_scalar("max"); A + B; A - B; A * B; A / B; A == B;
A < B; A + 1; 2 - A; A < 2; -A; L & L; L | L; L ^ L; ~L; A.T + B; A + A.T; A[3, 4]; A[3, :]; A[:, 4];
A[[1, 5, 5], :]; A[:, [3, 3, 0]]; A[[4, 2, 9, 4], [1, 0, 69, 1]]; A[2:30:3, ::-2]; A[:, :]; A[...];
A[3, [1, 2, 5, 5]]; A.T[3, 4]; A.T[3, :]; A.T[:, 4]; A.T[[1, 5], 3:60]; A[-1, -1]; R[[69, 0], :]; (A @ B)[0, :];
A.diag(); A.diag(3); A.diag(-2); R.diag(); R.diag(-4); A.T.diag(3); A.dup(); A.dup(dtype=float); A.dup(mask=L.V);
A.dup(mask=~L.S); A.dup(clear=True); A.T.new(); A.T.dup(dtype=float); A.T.T.new(); A.to_dense(0); R.to_dense(0.5);
A.to_dense(); A.nvals, A.nrows, A.ncols, A.shape, R.T.shape; A.get(3, 4); A.get(0, 0, -1); (3, 4) in A; len(list(A));
A.isequal(A); A.isequal(B); A.isequal(A.T.T); A.isclose(A * 1.0); A.isequal(A.dup(dtype=float), check_dtype=True);
(L.S & A.S).new(); (L.V | A.S).new(); (~L.S & A.S).new(); (~L.V).new(); A.vxm(v); Matrix.from_scalar(2, 3, 4);
Matrix.from_dense([[1, 2], [0, 3]], 0); Matrix.from_csr([0, 1, 3], [1, 0, 2], [5, 6, 7], ncols=4);
Vector.from_dense([1.5, 2, 0], 0); Vector.from_scalar(2, 5); Vector.from_dict({3: 2.5, 1: 1.5});
Vector.from_coo([1, 1, 0], [1, 2, 3], dup_op="+"); Vector.from_coo([1, 1, 0], 7);
Matrix.from_coo([1, 1, 0], [2, 2, 1], [5, 6, 7], dup_op=binary.max); Matrix.from_coo([1, 1, 0], [2, 2, 1], 4);
Matrix.from_coo([], [], [], nrows=3, ncols=2); Matrix.from_coo([0, 1], [1, 0]); Vector(int, 3); Matrix(bool, 2, 3);
v.select(v.S); v.S.parent.nvals; (v + w).nvals; (v * 2).reduce().new(); (A @ B).nvals
"""

# Statements that change a Vector.
STATEMENTS = """
v << w; v << v; v << 3; v << 2.9; v << True; v << e; v << e.reduce(); v << w.reduce("max"); v << w[::-1];
v << v[::-1]; v(w.S) << w; v(b.V) << w; v(~b.V) << w; v(~v.S) << w; v(v.S) << w; v(b) << 4; v(~b.S) << 4;
v(w.S) << 0; v(v.V) << 1; v(w.S, replace) << w; v(b.V, replace) << w; v(~b.V, replace) << w; v(~v.S, replace) << w;
v(v.S, replace) << w; v(b, replace=True) << 4; v(binary.plus) << w; v(monoid.max) << w; v("min") << w;
v(binary.minus) << w; v(binary.first) << w; v(binary.second) << w; v(binary.plus) << 2; v(b.V, binary.plus) << w;
v(~b.S, binary.plus, replace) << w; v(mask=b.S, accum=binary.times, replace=True) << w; v(binary.lt) << w;
v(binary.plus) << v; v(v.S, binary.plus) << v; v << v + v; v(b.S) << v - w; v(b.S, replace) << v.apply(unary.ainv);
e << v; e(b.V) << v; e << i; i(b.V) << i; i << 9; i(b.S) << 5; v << A.mxv(v); v(b.V) << A.mxv(v);
v(~b.S, replace) << A.mxv(w); v(b.V, binary.plus) << v.vxm(A); v(~v.S, replace) << v.vxm(A, semiring.any_pair);
v(binary.min) << A.T.mxv(w, "min_plus"); v(~v.S, binary.plus, replace) << A.mxv(v); v(b.V) << A.reduce_rowwise();
v(binary.plus) << A.reduce_columnwise("max"); v(b.S, replace) << A.reduce_rowwise(); v << A[3, :]; v(b.V) << A[:, 3];
v += w; v -= w; v *= w; v += 1; v *= 2; v /= w; b |= b; b &= v < 2; b ^= b; v @= A; v[3] = 7; v[4] = 7.9; v[-1] = 1;
v[3] << 5; v[:] = 4; v[...] = w; v[[1, 2, 3]] = 6; v[[1, 2, 3]] = [6, 7, 8]; v[5:20:2] = 1; v[10:40] = w[30:60];
v[::-1] = w; i[3] = 4; e[3] = 4; v[[1, 2, 3]] << Vector.from_coo([1], [4], size=3); v(b.V)[[1, 2, 3, 60]] = 5;
v(b.V, replace)[[1, 2, 3, 60]] = 5; v(binary.plus)[[1, 2, 3, 60]] = 5; v(~v.S)[:40] << w[:40];
v(v.S, replace)[:40] << w[:40]; v[[1, 2, 3]](Vector.from_coo([1, 2], [True, False], size=3).V) << 9;
v[:40](b[:40].new().S, replace) << w[:40]; v[:40](~b[:40].new().V, binary.plus) << w[:40]; v[3](binary.plus) << 2;
v(b.S)[3] = 5; v(binary.plus)[3] = 1; del v[3]; del v[:20]; del v[[5, 6, 7]]; v[3] = Scalar(int); v.clear();
v.resize(33); v.resize(200); v[Scalar.from_value(4)] = 2
"""

# Statements that change a Matrix.
MATRIX_STATEMENTS = """
A << B; A << A; A << B.T; A << A.T; A << 3; A << E; A << B.reduce_scalar("max"); A << A[::-1, :]; A << A + A;
A(B.S) << B; A(L.V) << B; A(~L.V) << B; A(~A.S) << B; A(L) << 4; A(~L.S) << 4; A(A.V) << 1; A(B.S, replace) << B;
A(L.V, replace) << B; A(~L.V, replace) << B; A(~A.S, replace) << B; A(A.S, replace) << B.T; A(L, replace=True) << 4;
A(binary.plus) << B; A(monoid.max) << B; A("min") << B.T; A(binary.minus) << B; A(binary.plus) << 2;
A(L.V, binary.plus) << B; A(~L.S, binary.plus, replace) << B; A << A.mxm(B); A(L.S) << A.mxm(B);
A(L.V, replace) << A.mxm(B.T); A(~L.S, replace) << A.mxm(B); A(binary.plus) << A.mxm(B);
A(A.S, binary.plus) << A.mxm(A.T); A(L.S) << A.mxm(B, semiring.plus_pair);
A(~L.V, binary.min) << A.T.mxm(B, "min_plus"); A(L.S) << A.ewise_add(B); A(L.V, replace) << A.select("tril");
A(L.S, replace) << A.apply(unary.ainv); I << 9; I(L.V) << 1; E << A; E(L.V) << I; A += B; A -= B; A *= B; A += 1;
L |= L; A @= B; A[3, 4] = 7; A[3, 4] = 7.9; A[-1, -1] = 1; A[3, :] = 5; A[:, 4] = w; A[3, :] << w;
A[[1, 2], [3, 4]] = 6; A[:2, :3] = [[1, 2, 3], [4, 5, 6]]; A[3, :3] = [1, 2, 3]; A[10:20, 30:40] = B[:10, :10];
A[:, :] = B; A[...] = B; A[::-1, ::-1] = B; A(L.V)[:30, :] << B[:30, :]; A(L.V, replace)[:30, :20] << B[:30, :20];
A(binary.plus)[:30, :20] << B[:30, :20]; A(~L.S)[[1, 2], :] = 5; A[:30, :20](L[:30, :20].new().V) << B[:30, :20];
A[:30, :20](~L[:30, :20].new().S, binary.plus, replace) << B[:30, :20]; A[3, :](b.V) << w;
A[3, :](~b.S, replace) << w; A[:, 3](b.V, binary.plus) << w; A(binary.plus)[3, 4] = 2; A(L.S)[3, 4] = 2;
A[3, 4](binary.plus) << 2; del A[3, 4]; del A[3, :]; del A[:, :20]; A[3, 4] = Scalar(int); A.clear(); A[0, 0] = 1;
A[0, 0] = 2; A[0, 1] = 3; del A[0, 0]
"""

# What both refuse.
ERRORS = """
v << None; v << "a"; v << A; v << Vector(int, 9); v(Vector(bool, 9).S) << 1; v(w.S, w.S) << 1;
v(binary.plus, binary.min) << 1; v(replace) << w; v(1) << 1; v(unary.abs) << w; v(L.S) << 1; v[70] = 1; v[-71] = 1;
v[3] = None; v[3] = w; v[[1, 70]] = 1; v[[1, 2]] = [1, 2, 3]; v[[1, 2]] = Vector(int, 3); v[1.5] = 2; v[0, 1] = 3;
v[[True, False]] = 1; v["a"] = 1; v[w] = 1; v[w.S] = 1; v[0](b.S) << 1; v.ewise_add(Vector(int, 3)).new();
v.ewise_add(1); v.vxm(v); v.vxm(Matrix(int, 3, 3)); A.mxv(s); A.mxv(A); A.mxm(v); A.mxm(R.T); A.mxm(B, binary.plus);
v.ewise_add(w, semiring.plus_times); v.ewise_add(w, "foo"); v.apply(binary.plus); v.apply(unary.ainv, 1);
v.apply(binary.plus, 1, left=2); v.reduce(binary.minus); v.reduce(unary.abs); v.apply(binary.plus, right=w);
v.select(w, 1); v.select(w.S, 1); v.select("foo"); Vector.from_coo([0, 0], [1, 2]);
Vector.from_coo([0, 0], 1, dup_op="+"); Vector.from_coo([0, 7], [1, 2], size=3);
Vector.from_coo([0, 1], [1], size=3); Vector.from_coo(np.array([0.5]), [1], size=3); Vector.from_coo([], []);
Vector.from_coo([0], [300], dtype="INT8"); Matrix.from_coo([0, 0], [1, 1], [1, 2]);
Matrix.from_coo([0, 5], [1, 1], [1, 2], nrows=3, ncols=3); Matrix.from_coo([0], [1, 2], [1, 2]);
Matrix.from_coo([], []); A[3]; A[70, 0]; A[0, 70]; A[[0, 70], :].new(); A[0, 1, 2]; A[L]; A[3, 4] = None;
A[3, :] = A; A[3, :] = Vector(int, 9); A[:2, :2] = B; A[:2, :2] = [[1, 2, 3]]; A << v; A << Matrix(int, 3, 3);
A(v.S) << 1; A(Matrix(bool, 3, 3).S) << 1; bool(v); bool(A); bool(v + w); v.S == w.S; bool(v.S); v.get(70); 70 in v;
A.get(70, 0); v.to_dense(); A.to_dense(); v.isequal(1); A.isequal(v); np.asarray(v); np.array(A); v @ R.T; R @ v;
A @ R.T; v & Vector(int, 3); A | R; A & 1; semiring.plus_times(v & w); binary.plus(v @ w); binary.plus(v, w);
binary.plus(v); semiring.plus_times(v); unary.abs(1, 2); v.reduce()(w.S); Scalar(int)(w.S); float(Scalar(float));
Scalar.from_value([1, 2]); v.outer(1); v.inner(s)
"""

# Scalars.
SCALARS = """
Scalar.from_value(3); Scalar.from_value(2.5); Scalar.from_value(True); Scalar.from_value(2.5, dtype=int);
Scalar.from_value(np.int8(4)); Scalar(float); Scalar.from_value(Scalar.from_value(3), dtype="FP32");
Scalar.from_value(3) == 3; Scalar.from_value(3) == 3.0; Scalar(int) == None; Scalar.from_value(3) != 4;
bool(Scalar.from_value(0)); int(Scalar.from_value(3.5)); float(Scalar.from_value(3));
Scalar.from_value(3).isequal(3.0); Scalar.from_value(3).isequal(Scalar.from_value(3.0), check_dtype=True);
Scalar.from_value(3.0).isclose(3.0 + 1e-9); Scalar(int).is_empty; Scalar(int).nvals; Scalar(int).get(5);
Scalar.from_value(4).get(); Scalar.from_value(3) + 1; Scalar.from_value(3) - 4; Scalar.from_value(3) < 4;
2 * Scalar.from_value(3.5); -Scalar.from_value(3); abs(Scalar.from_value(-3)); Scalar.from_value(3).dup(dtype=float);
Scalar.from_value(3).dup(clear=True); v + Scalar.from_value(2); v.apply(binary.plus, right=Scalar.from_value(2));
range(10)[Scalar.from_value(3)]
"""
