"""Texts for test_objects.py that run on bitblas and on python-graphblas: one per `;`. Names: as in core_programs.py."""

# Delayed expressions, and what reads an object.
EXPRESSIONS = """
A.kronecker(R[:3, :4].new(), binary.plus); A.T.kronecker(Matrix.from_dense([[1, 2]]), "min");
I.kronecker(I[:2, :2].new()); E.kronecker(R); A.power(0); A.power(1); A.power(2); A.power(5); A.power(2.0);
A.power(3, "min_plus"); A.T.power(2); A.power(2, semiring.plus_pair); A.reposition(1, 2);
A.reposition(-3, 5, nrows=20, ncols=90); A.T.reposition(2, -1); A.reposition(100, 0); v.reposition(3);
v.reposition(-5, size=90); i.reposition(60); A.to_csr(); A.to_csc(); A.to_dcsr(); A.to_dcsc(); A.T.to_csr();
A.T.to_dcsr(); I.to_csr(); R.T.to_csc("FP32"); A.to_edgelist(); A.to_edgelist(values=False);
sorted(A.to_dicts()) == sorted({i for i, j in A}); A.to_dicts("columnwise")[3]; A.T.to_dicts()[3];
Matrix.from_csc([0, 1, 3], [1, 0, 2], [5, 6, 7], nrows=4); Matrix.from_csc([0, 1, 1], [1], 2.5);
Matrix.from_dcsr([1, 4], [0, 1, 3], [2, 0, 1], [5, 6, 7], nrows=6, ncols=3);
Matrix.from_dcsc([1, 4], [0, 1, 3], [2, 0, 1], [5, 6, 7], nrows=3, ncols=6); Matrix.from_edgelist([(0, 1), (2, 0)]);
Matrix.from_edgelist([(0, 1, 5), (2, 0, 6)], nrows=4); Matrix.from_edgelist(np.array([[0, 1], [2, 0]]), [5, 6]);
Matrix.from_edgelist([(0, 1), (0, 1)], [1, 2], dup_op="+");
Matrix.from_dicts({1: {2: 3.5, 0: 1.5}, 4: {1: 2}}, nrows=6, ncols=3);
Matrix.from_dicts([{2: 3}, {}, {0: 1}], ncols=4);
Matrix.from_dicts({1: {2: 3}}, "INT8", order="columnwise", nrows=5, ncols=4); Vector.from_pairs([(1, 2.5), (0, 1)]);
Vector.from_pairs([(1, 2), (1, 3)], dup_op="+", size=4); A + v; v + A; A * v; v * A; A - v; v - A; A.T * v; A < v;
R * s; R + s; v * R; A.ewise_add(v, "min"); A.ewise_mult(v, binary.second); v.ewise_mult(A, binary.second);
A.ewise_union(v, binary.minus, 1, 2); binary.plus(A & v); binary.minus(A | v, left_default=1, right_default=2);
binary.first(v | A); monoid.max(A | v); L & b; A * i; A[:5, :6].new(input_mask=L.S); A[3, :].new(input_mask=b.V);
A[:, 3].new(input_mask=~b.V); A[3, :].new(input_mask=L.S); v[:10].new(input_mask=~b.S); v[::-1].new(input_mask=b.V);
A.T[3:9, :].new(input_mask=L.S); binary.minus(1, A); (A * 2).T; (A + A).S.new();
A.apply(binary.plus, right=1, left=None); (v.S & ~w.S).new(); A.ss.is_iso, I.ss.is_iso, I.ss.iso_value;
list(v.ss.iterkeys()) == list(v.to_dict()); list(v.ss.iteritems())[:3]; sorted(A.ss.iterkeys())[:2];
len(list(A.ss.itervalues(-3))); sorted(R.ss.iteritems())[:9];
{k: plain(x) for k, x in A.ss.export("hypercsr").items()}; {k: plain(x) for k, x in A.ss.export("csc").items()};
{k: plain(x) for k, x in I.ss.export("hypercsc").items()}; {k: plain(x) for k, x in v.ss.export("sparse").items()};
{k: plain(x) for k, x in R.ss.export("coor").items()};
A.T.to_coo(); R.T.to_coo("FP32"); E.T.to_coo(); I.T.to_coo(); A.T.to_coo(values=False)[0]; A.T.to_edgelist(); list(A.T);
[list(x) for x in A.T.to_dicts().values()]; (A @ A).T.to_coo();
A.T.nrows, A.T.shape, A.T.nvals, A.T.dtype.name, A.T.T.isequal(A), (3, 4) in A.T, A.T.get(4, 3); A.T @ A; A.T @ v;
v @ A.T; A.T.reduce_scalar(); A.T.to_dense(0); A.T.select("tril"); A.T.isequal(A); A.T.isclose(A.T.new());
A.T.diag(-1); sorted(A.T)[:4]; A.dup(nthreads=2); A.isequal(A, nthreads=2); v.to_dense(0, nthreads=2);
(v + w).new(nthreads=2); A.diag(nthreads=2)
"""

# Scalars.
SCALARS = """
Scalar.from_value(3).apply(unary.ainv); Scalar.from_value(3).apply(binary.plus, 2); Scalar(int).apply(unary.ainv);
Scalar.from_value(3).apply(binary.minus, left=2); Scalar.from_value(3).ewise_add(Scalar(int));
Scalar.from_value(3).ewise_add(4, "max"); Scalar.from_value(3).ewise_mult(Scalar(int));
Scalar.from_value(3).ewise_mult(2.5); Scalar.from_value(3).ewise_union(Scalar(int), binary.minus, 1, 2);
Scalar(int).ewise_union(3, binary.minus, 1, 2); Scalar(int).ewise_union(Scalar(int), binary.minus, 1, 2);
Scalar.from_value(3).select(">", 2); Scalar.from_value(3).select("<", 2); Scalar.from_value(3).is_cscalar;
Scalar.from_value(3, is_cscalar=True).is_cscalar; Scalar.from_value(3).is_grbscalar; Scalar.from_value(3).wait();
Scalar(int, is_cscalar=False).dup(is_cscalar=True).is_cscalar; Scalar(int) - Scalar.from_value(4);
3 - Scalar.from_value(4); Scalar.from_value(3) + Scalar(int)
"""

# Missing sizes, without entries.
SIZES = """
Matrix.from_csr([0], [], []); Matrix.from_csr([0, 0, 0], []); Matrix.from_csr([0, 0, 0], [], 5, nrows=2);
Matrix.from_csr([0, 0], [], [], "BOOL"); Matrix.from_csr([0, 0, 0], [], [], ncols=4); Matrix.from_csc([0, 0, 0], []);
Matrix.from_csc([0, 0, 0], [], [], nrows=2); Matrix.from_dcsr([], [0], []); Matrix.from_dcsr([], [0], [], nrows=3);
Matrix.from_dcsr([], [0], [], ncols=3); Matrix.from_dcsr([], [], [], []); Matrix.from_dcsr([1], [0, 0], []);
Matrix.from_dcsr([1, 2], [0, 0, 0], [], [], nrows=4); Matrix.from_dcsc([], [0], []); Matrix.from_dcsc([1], [0, 0], []);
Matrix.from_dcsc([], [0], [], [], nrows=3); Matrix.from_dicts({}); Matrix.from_dicts([]); Matrix.from_dicts([{}, {}]);
Matrix.from_dicts({1: {}}); Matrix.from_dicts({0: {}, 3: {}}, int); Matrix.from_dicts({0: {1: 2}, 4: {}});
Matrix.from_dicts([{}, {}], nrows=3); Matrix.from_dicts([{}, {}], order="columnwise"); Matrix.from_dicts({}, nrows=2);
Matrix.from_dicts({1: {}}, order="columnwise"); Matrix.from_dicts({}, order="columnwise", nrows=3);
Matrix.from_csr(*E.to_csr()); Matrix.from_csc(*E.to_csc()); Matrix.from_dcsr(*E.to_dcsr());
Matrix.from_dcsc(*E.to_dcsc()); Matrix.from_coo(*E.to_coo()); Matrix.from_edgelist([]);
Matrix.from_coo([], [], nrows=2); Matrix.from_edgelist([], nrows=3, ncols=3); Vector.from_coo([], []);
Vector.from_dict({}, int); Vector.from_pairs([]); Vector.from_dense([], dtype=int); Matrix.from_dense([[], []])
"""

# Operators and infix of scalars, Python's numbers among them. x: 3, y: 2.5, t: True, f: False, z, o: empty.
NUMBERS = """
binary.plus(1, 1); binary.plus(1, 1.5); binary.plus(True, True); binary.minus(1, 5); binary.plus[float](1, 1);
monoid.plus(1, 1); monoid.min(3, 4.5); binary.pair(1, 2); binary.eq(1, 1); binary.plus(np.int8(1), np.int8(1));
binary.plus(np.array(1), 1); binary.minus(x, y); binary.minus(1, x); binary.minus(z, x); binary.plus("a", 1);
binary.plus([1], 1); binary.plus(1); binary.plus(1, None); semiring.plus_times(1, 1); unary.abs(-1.5); unary.abs("a");
unary.abs[float](1); unary.sqrt(4); unary.lnot(True); unary.abs(x - 5); unary.abs(z); unary.abs(1, 2);
indexunary.rowindex(1, 2); indexunary.valuegt(1, thunk=0); select.valuegt(1, 0); select.valuegt(1, 2); select.tril(1);
monoid.plus(x | 1); monoid.plus(1 | x); binary.minus(x | 1); binary.minus(x & 1); monoid.plus(x | y | 1);
monoid.plus(z | x | 1); monoid.times(x & 2 & 4); monoid.plus(x | x & x); monoid.plus((x & 1) | 1);
binary.minus(x | 1, left_default=10, right_default=20); binary.minus(z | 1, left_default=10, right_default=20);
binary.minus(z | 1, left_default=10.5, right_default=20); monoid.plus((x + 1) | 1); monoid.plus(v.reduce() | 1);
v | 1; 1 | v; A & 1; x | v; x @ 1; x @ v; t | f; t & f; (t | f) | t; o | t; ~(t | f); bool(t | f); (t | f) == True;
(v @ v) == (v @ v); int(v @ v); float(v @ v); complex(v @ v); v.reduce() == 4; x << None; x << (t | f);
x.ewise_union(z, binary.minus, z, z); x.ewise_union(z, binary.minus, 0, z); z.ewise_union(x, binary.minus, z, 0);
x.ewise_union(y, binary.minus, "a", 1); x.ewise_union(z, binary.minus, x, y); z - x; x - z; 1 - z; x - y;
Scalar.from_value(None, dtype=int); Scalar.from_value(None); Scalar.from_value(None, dtype="FP32", is_cscalar=True);
np.array(v.reduce()); np.array(x + 1); np.array(t | t); np.array(v.reduce(), dtype=float); np.array(v[list(v)[0]]);
np.array(v[[0, 1]]); np.array(z); range(x); range(x + 1); range(t); range(v @ v); range(v[[0, 1]]); range(A[0, :]);
range(abs(v.reduce("max"))); [1, 2, 3, 4][t]; [1, 2, 3, 4][x - 1]; int(v[[0, 1]]); float(v @ A); complex(v);
[hasattr(k, "__index__") for k in (x, y, t, z, v, A, v[0], v[[0, 1]], A[0, :], A @ A, v @ v, y + 1, t | t)]
"""

# Statements that change an object.
STATEMENTS = """
A.resize(30, 20); A.resize(100, 90); v.resize(33); v.resize(90); A.setdiag(5); A.setdiag(5, 3); A.setdiag(5.9, -69);
A.setdiag(v); A.setdiag(list(range(67)), -3); A.setdiag(v, accum=binary.plus); A.setdiag(5, accum="min");
A.setdiag(5, mask=b.V); A.setdiag(5, mask=~b.S); A.setdiag(w, mask=L.V); A.setdiag(5, mask=~L.S);
A.setdiag(v, mask=b.S, accum=binary.times); R.setdiag(7); R.setdiag(7, -61); A.setdiag(Scalar.from_value(4));
A.build([1, 2], [3, 4], [5, 6], clear=True); E.build([1, 2], [3, 3], [5, 6]); E.build([80], [2], [5], nrows=100);
v.build([1, 2], [3, 4], clear=True, size=90); e.build([1, 1], [2, 3], dup_op="+"); w(input_mask=b.S) << v[::-1];
E(input_mask=L.V) << A[::-1, :]; e(binary.plus, input_mask=~b.V) << v[:]; v(w.S & b.V) << 3;
v(w.S | b.V, replace) << w; A(L.S & B.S) << 3; A(~(L.S & B.S)) << B; A(nthreads=2) << B; v(w.S, nthreads=2) << w;
A += v; A *= v; v.ss.build_diag(A); A.ss.build_diag(v); v(binary.plus)[[1, 2, 3]] = [4, 5, 6]; A(L.S)[1, :] << w;
A(L.S, binary.plus)[:, 2] << 3; A(L.V, replace)[3, :] << w; A[[1, 2], :](L[[1, 2], :].new().S, replace) << 5;
A[:, [3, 3]] = 4; v.wait(); A.wait("complete"); v[[5, 5, 6]] = 8; A[:, :](L.S) << B; v[:](b.S, binary.plus) << w;
v[...](b.S) << 3; A(L.S)[...] << 4
"""

# A Vector's mask along a row or a column of a Matrix, outside which nothing changes.
LINES = """
A(b.S)[0, :] << v; A(b.V)[:, 3] << v; A(~b.S)[3, :] << 5; A(b)[3, :] = v; A(b.S)[3, :] << v.reduce();
A(b.S, replace)[3, :] << w; A(~b.V, replace)[:, 3] << w; A(b.S, binary.plus)[3, :] << w; A(v < 3)[3, :] << v + w;
A(b.S, binary.plus, replace)[:, 3] << list(range(n)); A(b.S)[3, [5, 3, 9]] << [1, 2, 3]; A(b.S)[3, [1, 1]] << 7;
A(~b.V, replace)[[5, 3, 9], 3] << v[:3].new(); A(b.S, binary.plus)[-1, 5:8] << 5; A(~b.S)[60:63, 1] << [1, 2, 3];
A(~b.V, binary.plus, replace)[2, ::30] << v[:3].new(); del A(b.S)[3, :]; del A(~b.V)[:, 3]; A(b.S)[3, :] << Scalar(int);
A(v.S)[3, :] << v; A(v.S, replace)[3, :] << A[1, :]; A(A[3, :].new().S)[3, :] << A[1, ::-1]; E(b.S)[:, 69] << 3;
I(b.S)[0, :] << 1; R(b.S, replace)[:, 0] << v; R(R[3, :].new().S, binary.plus)[-1, :] << 4
"""

# The output is an operand, a mask, or both.
ALIASES = """
v(v.S) << v.vxm(A); v << A.mxv(v); v(~v.S) << A.mxv(v); v(~v.V, replace) << v.vxm(A);
v(v.S, binary.plus, replace) << A.mxv(v); A(A.S) << A.mxm(A); A << A.mxm(A.T); A(~A.S) << A.mxm(A);
A(A.S, binary.plus) << A.mxm(A); A << A.T; A(A.S) << A.T; A(A.V, replace) << A.T; A(binary.minus) << A.T;
v << v[::-1]; v(v.S) << v[::-1]; v[::-1] << v; v[[3, 1, 2]] << v[[1, 2, 3]]; v[:35] << v[35:]; v(v.S)[:35] << v[35:];
v(v.S, replace)[:35] << v[35:]; v[:35](v[35:].new().S) << v[:35]; A << A[::-1, ::-1]; A[::-1, :] << A;
A(A.S)[:30, :30] << A[30:60, 30:60]; A[:30, :30](A[30:60, 30:60].new().S) << A[30:60, 30:60]; A[3, :] << A[:, 3];
v << v + v; v(v.V) << v * v; v(v.S, replace) << v.apply(unary.ainv); v(~v.S) << v.select(">", 0); v -= v; A << A + A;
A(A.V) << A * A; A(~A.S, replace) << A + A.T; A(A.S, binary.plus) << A.apply(unary.ainv); A << A.select("tril");
A -= A; A @= A; v @= A; A << A.power(3); v(v.S) << 3; v(~v.S) << 3; A(A.S) << 3; A(A.V, binary.plus) << 2;
v << A.reduce_rowwise(); v(v.S) << A.reduce_columnwise(); A(A.S) << v.outer(v); v << v.dup(mask=v.V);
v(v.V, replace) << v; A(A.V, replace) << A; v(binary.plus) << v; v(~v.S, binary.plus) << v; A << A.dup(mask=~A.V);
A.setdiag(A.diag()); A.setdiag(v, mask=A.S); A << v.diag(); A << A * v; A(A.S) << v + A; v[v.nvals] = 3;
A[3, 4] = A[4, 3]; v[3] = v[4]; b << ~b; b(b) << b ^ b; L(L.V) << L & L; L |= L.T
"""

# What both refuse.
ERRORS = """
A.power(-1); A.power(1.5); A.power("a"); R.power(2); A.power(0, "plus_first"); A.kronecker(v); A.setdiag(5, 100);
A.setdiag(5, -100); A.setdiag([1, 2]); A.setdiag(v[:3].new()); A.setdiag(5, mask=s.S); A.setdiag(5, 1.5);
A.setdiag(A); A.build([1], [2], [3]); v.build([1], [2]); A.build([0, 0], [1, 1], [1, 2], clear=True); A + s; s & A;
s + A; R.ewise_mult(v); v.ewise_add(R.T); Matrix.from_edgelist([(1, 2, 3, 4)]);
Matrix.from_edgelist(np.zeros((3, 3), int)); Matrix.from_edgelist([(0, 1, 2)], [3]);
Matrix.from_dicts({0: {1: 2}}, order="x"); Matrix.from_csc([0, 2], [5], [1], nrows=9); A(input_mask=L.S) << B;
A(L.S, input_mask=L.S) << A[:, :]; A[:2, :2].new(input_mask=b.S);
A[:2, :2].new(mask=L[:2, :2].new().S, input_mask=L.S); Scalar(int)(input_mask=b.S) << v[3]; v.reduce("foo");
v.reduce(gb.agg.mean, allow_empty=False); A.reduce_scalar(gb.agg.ss.argmin); b.reduce(gb.agg.sum);
gb.agg.sum(v, rowwise=True); gb.agg.sum(3); Vector.from_pairs([(1, 2, 3)]); v.ss.iso_value;
Scalar.from_value(3).ewise_add(v); Scalar.from_value(3).apply(binary.plus); A(foo=1) << B; v.reposition("a");
v.wait("a"); A.wait("b"); Scalar(int).wait("c"); A(s.S)[0, :] << v; R(b.S)[0, :] << s; A(b.S)[0, 0] << 1;
A(b.S)[:2, :2] << 1; A(b.S) << B; A(b.S)[:, :] << B; A(b.S)[0, :] << s; A(b.S)[0, :] << [1, 2]; A[0, :](L.S) << v;
A(L.T) << B; E(input_mask=b.S)[0, :] << v; E(input_mask=b.S)[0, :] = v; E(input_mask=b.S) << B[0, :]
"""
