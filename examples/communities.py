"""Communities of a social graph, with a picture. Run with: python examples/communities.py [GRAPH.mtx] [PICTURE.png]

Without a file it is Zachary's karate club: who met whom outside of it, before it split (1977). The picture needs
matplotlib (`pip install bit-graphblas[plots]`) and is left out where that is missing.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import bitblas as gb
from bitblas.algorithms import core_numbers, leiden, modularity, spring_layout

KARATE = """
0 1 2 3 4 5 6 7 8 10 11 12 13 17 19 21 31;1 2 3 7 13 17 19 21 30;2 3 7 8 9 13 27 28 32;3 7 12 13;4 6 10;5 6 10 16;6 16;
8 30 32 33;9 33;13 33;14 32 33;15 32 33;18 32 33;19 33;20 32 33;22 32 33;23 25 27 29 32 33;24 25 27 31;25 31;26 29 33;
27 33;28 31 33;29 32 33;30 32 33;31 32 33;32 33
"""

if len(sys.argv) > 1:
    A = gb.io.mmread(sys.argv[1])
    A = gb.binary.pair[gb.dtypes.BOOL](A | A.T).new().select(gb.select.offdiag).new()
else:
    lines = [[int(v) for v in line.split()] for line in KARATE.split(";")]
    edges = [(one, other) for one, *others in lines for other in others]
    rows, cols = zip(*edges, *[(j, i) for i, j in edges])
    A = gb.Matrix.from_coo(rows, cols, True, nrows=34, ncols=34)

label = leiden(A)
found = np.asarray(label.to_dense().tolist())
quality = modularity(A, label)
print(f"{A.nrows} people, {A.nvals // 2} ties: {found.max() + 1} communities, modularity {quality:.3f}")
cores = core_numbers(A).to_dense().tolist()
for number in range(min(10, found.max() + 1)):
    members = np.flatnonzero(found == number).tolist()
    inner = sorted(members, key=lambda v: (-cores[v], v))[:5]
    print(f"  {len(members)} people, at its core {', '.join(map(str, inner))}")
if len(sys.argv) < 2:
    assert 0.41 < quality < 0.42, "the best division of this graph has 0.4198"
    assert found[0] != found[33]  # the two who the club split over

try:
    from matplotlib.figure import Figure
except ImportError as error:
    print(f"no picture: {error}")
    raise SystemExit(0) from None
if A.nrows > 5000:
    print("no picture: a layout takes the square of the number of people")
    raise SystemExit(0)
place = np.array(spring_layout(A).to_dense().tolist())
i, j, _ = (np.asarray(x.tolist()) for x in A.to_coo())
axes = (figure := Figure(figsize=(7, 7))).add_subplot()
axes.plot(*(np.stack([place[i, k], place[j, k]]) for k in (0, 1)), color="0.8", linewidth=0.6, zorder=1)
axes.scatter(*place.T, c=found, cmap="tab20", s=60, zorder=2)
axes.set_axis_off()
picture = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(tempfile.mkdtemp()) / "communities.png"
figure.savefig(picture, dpi=120)
print(f"picture: {picture}")
