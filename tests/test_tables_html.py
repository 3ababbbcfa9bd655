"""Plans, traces, profiles, memory and explanations as HTML tables in notebooks, with the contents of their texts."""

import re
from html import unescape
from xml.etree import ElementTree

import bitblas as gb
from bitblas import display


def cells(x):
    """The rows of cells of a page; ParseError for a tag that is not closed where it must be."""
    page = ElementTree.fromstring(f"<page>{x._repr_html_()}</page>")
    return [["".join(cell.itertext()) for cell in row] for row in page.iter("tr")]


A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0], nrows=3, ncols=3, device="cpu")
v = gb.Vector.from_coo([0], [1.0], size=3, device="cpu")


def test_a_plan():
    plan = gb.explain(v.vxm(A, gb.semiring.min_plus))
    rows = dict(row for row in cells(plan)[1:])
    assert rows["product"] == "vxm min_plus" and rows["why"] in str(plan)
    assert f"{rows['direction']} on {rows['form']}" in str(plan)
    assert "<pre>" in gb.explain(v.vxm(A), source=True)._repr_html_()


def test_memory_and_profile():
    assert cells(A.memory())[1:] == [[name, f"{size:,}"] for name, size in A.memory().rows()]
    assert cells(v.memory())[-1] == ["total", str(v.memory().total)]
    for seen in (A.profile(), A.profile(orders=["degree"])):
        lines = [" ".join(line.split()) for line in str(seen).splitlines()]
        for row in cells(seen):
            assert " ".join(" ".join(row).split()) in lines
        assert len(cells(seen)) > len(seen.facts.forms if hasattr(seen, "facts") else seen.profiles)


def test_a_trace():
    with gb.trace() as t:
        (A.mxv(gb.Vector.from_dense([1.0] * 3, device="cpu"), gb.semiring.min_plus)).new()
    rows = cells(t)
    assert rows[0] == ["us", "share", "runs", "kernel"] and rows[1] == list(t.summary()[0])
    each = rows[rows.index(["us", "units", "bytes", "kernel"]) + 1 :]
    assert [row for row in each if len(row) == 4] == [
        [f"{run.us:.1f}", str(run.units), str(run.nbytes), run.text] for run in t
    ]
    assert [t[1].plan] in rows and str(t).splitlines()[-1].strip() in unescape(t._repr_html_())
    assert [" ".join(line.split()) for line in str(t).splitlines()[:-1] if line] == [
        " ".join(" ".join(row).split()) for row in rows
    ]


def test_repr_is_what_print_shows():
    with gb.trace() as t:
        A.mxv(v).new()
        A.mxv(v).new()
    shown = (t, gb.explain(A.mxv(v)), gb.explain(A.apply("abs")), A.memory(), v.memory(), A.profile(),
             A.profile(orders=["degree"]))  # fmt: skip
    assert all(repr(x) == str(x) and str(x)[0] != "<" for x in shown)
    assert sum(int(runs) for _, _, runs, _ in t.summary()) == len(t)
    times = [float(us) for us, *_ in t.summary()]
    assert times == sorted(times, reverse=True) and abs(sum(times) - sum(run.us for run in t)) < 0.1 * len(t)


def test_names_of_the_package():
    assert set(dir(gb)) > {"Graph", "Matrix", "algorithms", "io", "nx", "__version__"}
    assert [name for name in dir(gb) if name.startswith("_")] == ["__version__"]
    assert not {"core", "operations", "annotations", "gc", "importlib", "sys", "TYPE_CHECKING"} & set(dir(gb))


def test_a_program():
    w = gb.Vector.from_dense([8, 8, 8], device="cpu")

    def body(k):
        w << w.apply(gb.binary.minus, right=1)

    left = gb.Scalar(gb.dtypes.BOOL)
    left.value = True
    program = gb.loop.Program(body, while_=left, limit=3)
    program.run()
    assert "a plain loop" in program.explain()._repr_html_() and "<table>" not in program.explain()._repr_html_()
    line = gb.loop.program.Explanation(4, (("advance", ("w << w",), "a<b>"),), "small")
    assert cells(line)[1] == ["advance", "a<b>", "w << w"] and "4 rounds per run" in line._repr_html_()
    assert str(line).startswith("4 rounds per run") and "small" in line._repr_html_()


def test_tables():
    assert display.aligned([["a", "bb"], ["ccc", "d"]]) == ["a    bb", "ccc   d"]
    assert re.findall("<p>(.*?)</p>", display.html("1 < 2", [["x"]])) == ["1 &lt; 2"]
    many = [[str(k)] for k in range(10)]
    assert display.shortened(many, 10) == many and display.shortened(many, 4)[2] == [".. 6 more .."]
    assert [row[0] for row in display.shortened(many, 5)] == ["0", "1", ".. 6 more ..", "8", "9"]


def test_graphs_and_values():
    G = gb.Graph.from_edges([("<a>", "b", 2.0), ("b", "c", 3.0)], directed=False)
    assert cells(G) == [["source", "target", "weight"], ["<a>", "b", "2.0"], ["b", "c", "3.0"]]
    assert repr(G) in unescape(G._repr_html_())
    assert cells(G.bfs("b"))[1:] == [["<a>", "1"], ["b", "0"], ["c", "1"]]
    many = gb.Graph.from_edges([(k, k + 1) for k in range(30)], directed=True)
    assert cells(many) == [["source", "target"], *([str(k), str(k + 1)] for k in range(10))]
    rows = cells(many.out_degree())
    assert len(rows) == 12 and rows[-1] == [".. 21 more .."] and "31 of 31 vertices" in many.degree()._repr_html_()
    assert cells(gb.Graph(gb.Matrix(bool, 0, 0))) == []
