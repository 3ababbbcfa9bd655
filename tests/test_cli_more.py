"""The command line beyond single algorithms: generated graphs, several algorithms per read, shells, terminals."""

import json
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli_runs import EDGES, refused, result, run, said, written

from bitblas import algorithms, cli
from bitblas.cli import commands, file_commands, output
from bitblas.cli.parser import parser
from bitblas.io import read

PAGE = (Path(__file__).parents[1] / "docs" / "cli.md").read_text()
LISTED = [command for group in commands.COMMANDS.values() for command in group]


def test_made_graphs(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = result(capsys, "make", "rmat", "5", "--edge-factor", "4", "--seed", "3")
    assert made["out"] == "rmat-5.npz"
    expected = algorithms.rmat_graph(5, 4, seed=3)
    assert read("rmat-5.npz").matrix.isequal(expected) and made["nvals"] == expected.nvals
    assert run(capsys, "make", "erdos-renyi", "30", "0.2", "--directed", "--out", "er.mtx", "--device", "cpu")[0] == 0
    assert read("er.mtx").matrix.isequal(algorithms.erdos_renyi_graph(30, 0.2, directed=True))
    assert said(capsys, "make", "grid", "2", "3", "--out", "g.tsv").startswith("g.tsv: 6 vertices, 14")
    assert "SCALE" in refused(capsys, "make", "rmat", "--out", "a.npz")
    assert refused(capsys, "make", "rmat", "-3", "--out", "a.npz") and not (tmp_path / "a.npz").exists()
    assert {"rmat", "grid", "small-world"} <= set(file_commands.generators())


def test_several_algorithms(capsys, graph, tmp_path):
    out = tmp_path / "ranks.tsv"
    words = ("bfs --source 1", f"pagerank --top 2 --out {out}", "triangles")
    made = [json.loads(line) for line in said(capsys, "several", graph, *words, "--json").splitlines()]
    assert [one["command"] for one in made] == ["bfs", "pagerank", "triangles"]
    assert made[0]["result"] == result(capsys, "bfs", graph, "--source", 1)["result"]
    assert len(made[1]["result"]["first"]) == len(out.read_text().splitlines()) == 2
    assert made[2]["result"] == {"triangles": 2}
    assert len({one["read_seconds"] for one in made}) == 1
    assert said(capsys, "several", graph, "triangles").startswith("\ntriangles\ntriangles 2\n")


def test_files_of_walks_sides_and_divisions(capsys, tmp_path):
    path = written(tmp_path / "bought.csv", "ann,ham\nbob,ham\nbob,jam\ncleo,jam\ncleo,rye\n")
    out = tmp_path / "out.tsv"
    result(capsys, "bipartite", path, "--out", out)
    assert dict(line.split("\t") for line in out.read_text().splitlines())["rye"] == "1"
    assert result(capsys, "projection", path, "--out", out)["result"] == {"edges": 2}
    assert out.read_text() == "ann\tbob\t1\nbob\tcleo\t1\n"
    assert result(capsys, "projection", path, "--vertices", "ham,rye")["result"] == {"edges": 0}
    assert "bipartite_sides" in refused(capsys, "projection", path, "--undirected")
    odd = written(tmp_path / "odd.csv", EDGES.replace(" ", ","))
    assert "--out" not in run(capsys, "bipartite", odd)[2]
    assert "got one with an odd cycle" in refused(capsys, "bipartite", odd, "--out", out)
    bridge = written(tmp_path / "bridge.csv", "a,b\nb,c\nc,a\nc,x\nx,y\ny,z\nz,x\n")
    made = result(capsys, "local-community", bridge, "--undirected", "--source", "y")["result"]
    assert sorted(made["community"]) == ["x", "y", "z"] and made["conductance"] == pytest.approx(1 / 7)
    ranks = result(capsys, "approximate-pagerank", bridge, "--undirected", "--source", "y", "--top", "1")["result"]
    assert ranks["first"] == ["y"]
    made = result(capsys, "negative-cycle", written(tmp_path / "w.csv", "a,b,1\nb,a,-2\n"))["result"]
    assert sorted(made["cycle"]) == ["a", "b"]
    result(capsys, "walks", path, "--starts", "ann,ham", "--length", "2", "--out", out)
    assert out.read_text() == "ann\tham\nham\n"
    result(capsys, "walks", path, "--length", "2", "--starts", "ann", "--out", tmp_path / "walks.json")
    assert json.loads((tmp_path / "walks.json").read_text()) == {"walks": [["ann", "ham"]]}
    result(capsys, "distances", odd, "--sources", "carl", "--out", out)
    assert sorted(out.read_text().splitlines()) == ["carl\tann\t7", "carl\tbob\t11", "carl\tcarl\t0"]
    result(capsys, "louvain", odd, "--out", out)
    assert result(capsys, "modularity", odd, "--communities", out)["result"]["modularity"] == pytest.approx(0.375)
    for text, words in (
        ("ann\tx\nbob\tx\n", "a community for each vertex, got none for 3 vertices"),
        ("ann\n", "in each line of"),
    ):
        out.write_text(text)
        assert words in refused(capsys, "modularity", odd, "--communities", out)
    assert "expected lines of" in refused(capsys, "modularity", odd, "--communities", "a.npz")
    assert "got 'nobody'" in refused(capsys, "walks", path, "--starts", "nobody")


def test_pairs_and_costs_are_read_from_files(capsys, tmp_path):
    pipes = written(tmp_path / "pipes.csv", "s,x,2\ns,y,2\nx,t,1\ny,t,2\n")
    price = written(tmp_path / "price.csv", "s,x,1\ns,y,3\nx,t,1\ny,t,1\n")
    flow = ["cheapest-flow", pipes, "--source", "s", "--sink", "t", "--costs"]
    assert result(capsys, *flow, price)["result"] == {"value": 3, "cost": 10, "edges": 4}
    wrong = written(tmp_path / "wrong.csv", "s,x,a\n")
    assert "--costs: expected two vertices and an integer in each line" in refused(capsys, *flow, wrong)
    pairs = written(tmp_path / "pairs.tsv", "s\tt\nt\ts\n")
    assert result(capsys, "distances", pipes, "--pairs", pairs)["result"] == {"pairs": 1, "farthest": 3}
    assert "--pairs: expected neither" in refused(capsys, "distances", pipes, "--pairs", pairs, "--sources", "s")
    assert "got 'q'" in refused(capsys, "distances", pipes, "--pairs", written(tmp_path / "q.csv", "s,q\n"))
    assert result(capsys, "bfs", pipes, "--source", "x,y")["result"] == {"source": ["x", "y"], "reached": 3, "depth": 1}
    found = result(capsys, "sssp", pipes, "--source", "s", "--targets", "t", "--limit", "3.5")["result"]
    assert found == {"source": "s", "reached": 1, "farthest": 3}


def test_every_algorithm_has_a_command():
    """By itself, by an option, or under `make`; docs/cli.md says which one."""
    listed = {command.name for command in LISTED}
    run = {name for command in LISTED for name in command.programs.split()}
    graphs = {program.__name__ for program in file_commands.generators().values()}
    for name in set(algorithms.__all__) - graphs:
        assert name in run and (name in listed or name.replace("_", "-") in listed or f"`{name}`" in PAGE), name


GENERATED = {
    "triangle-count": {"triangle_count": 2},
    "average-clustering": {"average_clustering": 4 / 9},
    "bfs-levels --source 1": {"vertices": 5},
    "connected-components": {"classes": 2, "largest": 5},
    "k-core --k 2": {"edges": 5},
    "minimum-cut --source 0 --sink 3": {"minimum_cut": 4},
    "ego-graph --center 0": {"entries": 6},
    "random-walks --length 1": {"walks": 6, "steps": 4},
    "negative-cycle": {"vertices": []},
    "condensation": {"entries": 1},
}


@pytest.mark.parametrize("words, expected", GENERATED.items(), ids=GENERATED)
def test_an_algorithm_that_no_command_lists(capsys, monkeypatch, graph, tmp_path, words, expected):
    """Its command comes from its signature and its facts."""
    monkeypatch.setattr(commands, "LISTED", ())
    monkeypatch.setattr(commands, "COMMANDS", commands.commands_by_folder())
    name, *options = words.split()
    found = result(capsys, name, graph, *options)["result"]
    assert found == {key: pytest.approx(value) for key, value in expected.items()}


def test_options_of_generated_commands():
    one = commands.generate_command("pagerank")
    assert one.options["--alpha"]["default"] == 0.85 and one.options["--weighted"]["action"] == "store_true"
    assert one.options["--top"]["dest"] == "best" and "--dtype" not in one.options and one.writes
    assert one.text.startswith("the PageRank") and not one.text.endswith(".")
    assert commands.generate_command("k_core").options["--k"]["required"]
    assert not commands.generate_command("diameter").writes


def test_names_without_a_source(capsys, tmp_path):
    """Missing names are reported with similar names; paths and largest values are printed with names."""
    path = written(tmp_path / "trips.csv", "ann;bob;1\nbob;cleo;2\nann;cleo;9\ncleo;ann;1\n")
    assert "--delimiter" in refused(capsys, "bfs", path)
    given = [path, "--delimiter", ";"]
    assert "--source: expected a vertex, got none. Hint: vertices have names: 'ann', " in refused(capsys, "bfs", *given)
    assert "got 'anna'; did you mean 'ann'?" in refused(capsys, "bfs", *given, "--source", "anna")
    made = result(capsys, "sssp", *given, "--source", "ann", "--to", "cleo", "--top", "1")["result"]
    assert made["way"] == ["ann", "bob", "cleo"] and made["distance"] == 3
    assert made["first"] == ["cleo"] and made["values"] == [3]
    lone = written(tmp_path / "lone.csv", "ann,bob\ncleo,ann\n")
    never = [lone, "--source", "ann", "--to", "cleo"]
    made = result(capsys, "sssp", *never)["result"]
    assert made["distance"] is made["way"] is None
    assert "to cleo, distance none, way none" in said(capsys, "sssp", *never)
    assert "did you mean '--center'" in refused(capsys, "ego", lone, "--source", "ann")
    assert "did you mean '--delimiter'" in refused(capsys, "pagerank", lone, "--sep", ";")
    back = result(capsys, "sssp", *given, "--columns", "1,0,2", "--source", "cleo")["result"]
    assert (back["reached"], back["farthest"]) == (3, 3)
    assert "Hint: omit --parents" in refused(capsys, "bfs", *given, "--source", "ann", "--parents", "--top", "1")
    comma = written(tmp_path / "km.csv", "von;nach;km\nann;bob;1,5\nbob;cleo;2\n")
    far = result(capsys, "sssp", comma, "--delimiter", ";", "--decimal", ",", "--source", "ann", "--to", "cleo")
    assert far["result"]["distance"] == 3.5
    assert "--decimal ," in refused(capsys, "sssp", comma, "--delimiter", ";", "--source", "ann")
    out = tmp_path / "far.csv"
    result(capsys, "bfs", *given, "--source", "ann", "--top", "2", "--out", out, "--output-header")
    assert out.read_text() == "vertex,value\nbob,1\ncleo,1\n"
    seen = result(capsys, "info", *given)["graph"]
    assert seen["weights"] == [1, 9] and seen["components"] == 1 and seen["most_edges"]["ann"] == 2
    assert said(capsys, "info", *given).startswith("3 vertices, 4 directed edges, with weights from 1 to 9\nall conn")


@pytest.mark.filterwarnings("ignore:.* both directions with different values")
def test_edges_that_count_both_ways_are_said(capsys, graph, tmp_path):
    """As the methods of a Graph take them: loops stay, and of two weights the lesser one."""
    commands = {"components": True, "bfs": False, "louvain": True, "strong": False, "similarity": False}
    for command, both in (commands | {"similarity --by adamic_adar": True}).items():
        name, *options = command.split()
        assert result(capsys, name, graph, *options)["both_ways"] == both
    assert "entries, edge directions ignored, on cpu" in said(capsys, "louvain", graph)
    path = written(tmp_path / "ways.csv", "a,b,5\nb,a,2\nb,b,9\nc,d,1\nd,c,1\n")
    found = read(path, device="cpu")
    with pytest.warns(UserWarning, match="minimum_spanning_forest: the graph is directed"):
        tree = found.minimum_spanning_forest()
    made = result(capsys, "msf", path)
    assert made["both_ways"] and made["result"]["weight"] == tree.to_dataframe()["weight"].sum() == 3
    assert not result(capsys, "msf", path, "--undirected")["both_ways"]


def test_help_says_what_is_its_own_first(capsys):
    command = parser().parse_args(["pagerank", "FILE"]).parser
    text = " ".join(command.format_help_all().partition("FILE\n")[2].split())
    assert text.index("--weighted") < text.index("--top") < text.index("--format")


def test_short_and_long_help(capsys):
    """The short one has no options of storage, and no line for each command; both name everything else."""
    for words, only in ((["bfs"], "--tile"), ([], "HITS: hub scores")):
        texts = []
        for flag in ("--help", "--help-all"):
            with pytest.raises(SystemExit) as ended:
                cli.main([*words, flag])
            assert ended.value.code == 0
            texts.append(capsys.readouterr().out)
        short, long = texts
        assert only not in short and only in long and "--help-all" in short and len(short) < 0.8 * len(long)
        assert short.startswith(f"usage: {' '.join(['bitblas', *words])} [")
    command = parser().parse_args(["bfs", "FILE"]).parser
    assert "usage: bitblas bfs [OPTIONS] FILE\n" in command.format_help() and "--columns" in command.format_help()
    assert "--format" in command.format_help_all(), "the short help has changed nothing"


def test_the_largest_components(capsys, tmp_path):
    path = written(tmp_path / "parts.csv", "a,b\nb,c\nc,a\ne,f\ng,h\nh,i\ni,j\n")
    found = result(capsys, "components", path, "--top", 2)["result"]
    assert found == {"components": 3, "largest": 4, "first": ["g", "a"], "vertices": [4, 3]}
    out = tmp_path / "all.tsv"
    assert "first" in said(capsys, "strong", path, "--top", 1, "--out", out) and len(out.read_text().splitlines()) == 9


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(capsys, shell):
    status, text, _ = run(capsys, "completion", shell)
    assert status == 0 and "pagerank" in text and "max-iter" in text
    if shell == "bash" and shutil.which("bash"):
        for words, answers in (
            ("bfs --for", ["--force", "--format"]),
            ("bfs --format b", ["b2sr", "bitmap"]),
            ("page", ["pagerank"]),
            ("make gr", ["grid"]),
            ("completion z", ["zsh"]),
        ):
            ask = f"COMP_WORDS=(bitblas {words}); COMP_CWORD={len(words.split())}; _bitblas"
            ask = f'{text}\n{ask}; echo "${{COMPREPLY[@]}}"'
            found = subprocess.run(["bash", "-c", ask], capture_output=True, text=True).stdout
            assert sorted(found.split()) == answers


def test_tables_are_for_terminals(capsys, tmp_path, monkeypatch):
    path = written(tmp_path / "edges.csv", EDGES.replace(" ", ","))
    plain = said(capsys, "pagerank", path, "--top", 2)
    assert "\x1b" not in plain and plain.startswith("first ")
    monkeypatch.setattr(output, "is_terminal", lambda stream=None: True)
    shown = said(capsys, "pagerank", path, "--top", 2)
    rows = [line.split() for line in shown.splitlines()]
    assert output.BOLD in shown and output.DIM in shown and len(rows) == 4 and len(rows[1]) == 2
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in said(capsys, "pagerank", path)
    shown = said(capsys, "sssp", path, "--source", "ann").splitlines()
    assert [line.split() for line in shown[3:-1]] == [["vertex", "value"], ["ann", "0"], ["bob", "4"], ["carl", "5"]]
    monkeypatch.setattr(cli.algorithms, "SHOWN", 1)  # vertices: more are requested
    assert "--out" in said(capsys, "sssp", path, "--source", "ann").splitlines()[-2]


def test_codes_are_said(capsys):
    text = parser().format_help()
    for code in ("0;", "1 compare", "2 a bad call", "130 interrupted", "141 broken pipe"):
        assert code in " ".join(text.split())
    assert "141" in cli.__doc__


@pytest.mark.slow
def test_on_a_real_terminal(graph):
    master, slave = pty.openpty()
    done = subprocess.run([sys.executable, "-m", "bitblas", "bfs", graph, "--device", "cpu"], stdout=slave)
    os.close(slave)
    assert done.returncode == 0 and output.CYAN in os.read(master, 10000).decode()
    os.close(master)


def test_the_page_has_the_names_of_python():
    page = PAGE.partition("## Commands and methods")[2]
    rows = {name: row for row in page.splitlines() for name in row[1:].partition("|")[0].strip(" `").split("`, `")}
    for one in LISTED:
        named = rows.get(one.name, f"`{one.name.replace('-', '_')}`")
        assert any(f"`{name}`" in named.replace("`, `", "` `") for name in algorithms.__all__), one.name
