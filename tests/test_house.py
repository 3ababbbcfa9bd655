"""The structure of the code: imports only go down and load little, layouts are not told apart outside of their folder,
CUDA and CPU kernels have the same names."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bitblas import formats
from bitblas.device import Cpu, Cuda, arrays, jit
from bitblas.device.jit import VIEWS as CPU_VIEWS
from bitblas.device.jit import arguments

ROOT = Path(__file__).parents[1]
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in ("bitblas", "semirings", "_nx_bitblas")
    for path in sorted((ROOT / package).rglob("*.py"))
    if not path.name.endswith(".cpu.py")
}

# From the ground up; the longest name that fits a module says its floor. A module may import its own floor and below.
FLOORS = (
    ("semirings", "_nx_bitblas"),
    tuple(
        f"bitblas.{name}" for name in "atomic docstrings exceptions extras foreign_names display tuning typing".split()
    ),
    *((f"bitblas.{name}",) for name in "kernels device config formats".split()),
    ("bitblas.store", "bitblas.order"),
    *((f"bitblas.{name}",) for name in "plan operations core.hooks core.options".split()),
    tuple(f"bitblas.core.{name}" for name in ("convert", "memory", "operators", "show")),
    ("bitblas.core.statement",),
    tuple(f"bitblas.core.{name}" for name in ("aggregators", "building", "dlpack", "scalar")),
    *((f"bitblas.core.{name}",) for name in ("assign", "vector", "matrix", "ss")),
    ("bitblas.core",),
    ("bitblas.loop",),
    (
        "bitblas",
        *(f"bitblas.{name}" for name in "agg compat graph io algorithms reorder plots ss viz".split()),
        *(f"bitblas.{name}" for name in ("datasets", "scanpy", "torch")),
    ),
    tuple(f"bitblas.{name}" for name in "registry calibrate compare distributed nx".split()),
    ("bitblas.cli", "bitblas.__main__"),
)
FLOOR = {name: number for number, names in enumerate(FLOORS) for name in names}


def floor(module: str) -> int:
    """The floor of the module or of its folder; every module has one."""
    name = module
    while name not in FLOOR:
        name = name.rpartition(".")[0]
    assert name != "bitblas" or module == name, f"{module} has no floor"
    return FLOOR[name]


def imports(name: str) -> Iterator[tuple[str, bool]]:
    """Absolute names of what a module imports, and whether at its top. Imports for type checkers only are omitted."""
    tree = ast.parse(MODULES[name].read_text())
    hidden = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    top = {id(node) for node in tree.body}
    package = name if MODULES[name].name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(tree):
        if id(node) in hidden:
            continue
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, id(node) in top
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package.split(".")[: len(package.split(".")) - node.level + 1]) if node.level else ""
            base = ".".join(part for part in (base, node.module) if part)
            for alias in node.names:
                full = f"{base}.{alias.name}"
                yield (full if full in MODULES else base), id(node) in top


OURS = ("bitblas", "semirings", "_nx_bitblas")


@pytest.mark.parametrize("module", MODULES)
def test_imports_only_go_down(module):
    for found, _ in imports(module):
        if found.partition(".")[0] not in OURS:
            continue
        assert floor(found) <= floor(module), f"{module} imports {found}, which stands above it"


def test_who_may_import_what():
    all_imports = {m: {i for i, _ in imports(m)} for m in MODULES}
    for module, found in all_imports.items():
        ours = {i for i in found if i.partition(".")[0] in OURS}
        if module.startswith("semirings"):
            assert all(i.startswith("semirings") for i in ours), module
            heavy = ("cupy", "scipy") if module.startswith("semirings.udf") else ("numba", "cupy", "scipy")
            assert not any(i.partition(".")[0] in heavy for i in found), module
        if module.startswith("_nx_bitblas"):
            assert all(i.startswith("_nx_bitblas") for i in ours) and "networkx" not in found, module
        if module == "bitblas.kernels.variant":
            assert all(i.startswith("semirings") for i in ours)
        if module != "bitblas.device.cuda":
            assert not any(i.partition(".")[0] in ("cupy", "cupyx") for i in found), f"{module} imports CuPy"
    assert "bitblas.device.jit" in all_imports["bitblas.device.cuda"]


def folders_of_forms() -> dict[str, set[str]]:
    """Which parts of bitblas.formats (a module, or the folder of a form) import which others, anywhere in them."""
    part = lambda name: ".".join(name.split(".")[:3])
    found: dict[str, set[str]] = {}
    for module in MODULES:
        if module.startswith("bitblas.formats"):
            some = {part(i) for i, _ in imports(module) if i.startswith("bitblas.formats")}
            found.setdefault(part(module), set()).update(some - {part(module)})
    return found


def test_forms_import_in_no_circles():
    """The contract is below the formats, their containers and conversions above; a format imports those that it
    contains."""
    left = folders_of_forms()
    while ends := {name for name, found in left.items() if not found & set(left)}:
        left = {name: found for name, found in left.items() if name not in ends}
    assert left == {}
    contract, above = ("contract", "schedule"), ("catalog", "structure")
    for name, found in folders_of_forms().items():
        if name.rpartition(".")[2] in contract:
            assert not found - {f"bitblas.formats.{other}" for other in contract}, name
        if name.rpartition(".")[2] not in above and name != "bitblas.formats":
            assert not found & {f"bitblas.formats.{other}" for other in above}, name


def test_imports_in_no_circles():
    """No sets of modules of which each imports, by way of others, all; at the top or inside functions."""
    graph = {m: {i for i, _ in imports(m) if i in MODULES and i != m} for m in MODULES}
    reached = {}
    for module in graph:
        seen: set[str] = set()
        ahead = list(graph[module])
        while ahead:
            if (found := ahead.pop()) not in seen:
                seen.add(found)
                ahead += graph[found]
        reached[module] = seen
    assert not {frozenset(m for m in seen if x in reached[m]) for x, seen in reached.items() if x in seen}


def test_a_device_is_asked_for_what_it_can_do():
    """Code tests capabilities of a device, not its kind, except in messages. A capability has a comment, and a device
    with it."""
    texts = {m: path.read_text() for m, path in MODULES.items() if not m.startswith("bitblas.device")}
    assert {m for m, text in texts.items() if "is_gpu" in text} == {"bitblas.cli.file_commands"}
    assert not {m for m, text in texts.items() if re.search(r"""\bkind [!=]= ["'](cpu|gpu)|isinstance\(.*Cuda""", text)}
    named = re.findall(r"^    (\w+) = False  # .+$", MODULES["bitblas.device.base"].read_text(), re.M)
    assert {"host_memory", "is_simt"} <= set(named)
    for name in named:
        assert getattr(Cpu, name) != getattr(Cuda, name), name
        assert any(f".{name}" in text for text in texts.values()) or name == "captures", name


# ---- what is loaded when it is named ---------------------------------------------------------------------------------

HEAVY = {"numba", "llvmlite", "scipy", "cupy", "cuda", "graphblas", "networkx", "pandas", "matplotlib", "hypothesis"}
HEAVY |= {"mpi4py", "logging"}  # logging takes 3 of 70 ms
LATER = "algorithms formats.catalog plan.product operations.build operations.spgemm operations.spmv io cli compare nx"
LATER = {f"bitblas.{name}" for name in f"{LATER} distributed plots registry reorder ss viz".split()}


def test_import_is_light():
    """Modules that first statements need are loaded when they are first named."""
    code = "import bitblas, json, sys; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    heavy = {m for m in json.loads(run.stdout) if m.partition(".")[0] in HEAVY or m in LATER}
    assert heavy == set()


@pytest.mark.parametrize("package", ["operations", "plan"])
def test_type_checkers_see_what_is_loaded_when_it_is_named(package):
    folder = ROOT / "bitblas" / package
    tree = ast.parse((folder / "__init__.py").read_text())
    seen = [a.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module is None for a in n.names]
    assert seen == sorted(p.stem for p in folder.glob("*.py") if not p.stem.startswith("_"))


# ---- kinds of layouts ------------------------------------------------------------------------------------------------
# No module outside bitblas/formats/ tests the class of a layout: it reads capabilities of the layout or its format.
# Requesting a layout by its key is allowed, and so is comparing a key with CSR, the format of new matrices.

CLASSES = {form.__name__ for form in formats.forms()}
# Formats of other libraries, some with the same names.
OTHERS = ("bitblas.io", "bitblas.core.ss", "bitblas.core.matrix.build", "bitblas.torch")


def is_key(x: object) -> bool:
    """Whether it is the key of a form, or the beginning of one."""
    return isinstance(x, str) and x.rstrip("0123456789") in formats.NAMES


def constants(node: ast.expr) -> list[object]:
    """The constants that a comparison or a call is given, also in a tuple."""
    return [leaf.value for leaf in ast.walk(node) if isinstance(leaf, ast.Constant)]


def names(node: ast.expr) -> set[str]:
    found = (getattr(leaf, "id", getattr(leaf, "attr", "")) for leaf in ast.walk(node))
    return {name for name in found if name}


def kind_tests(text: str) -> Iterator[str]:
    """The tests of the kind of a form in a module: by class, by a set of keys, by a key or by a part of one."""
    for node in ast.walk(ast.parse(text)):
        wrong = False
        if isinstance(node, ast.Call):
            called = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if called == "isinstance":
                wrong = bool(names(node.args[1]) & CLASSES)
            elif called in ("startswith", "endswith", "removeprefix"):
                wrong = any(is_key(x) for arg in node.args for x in constants(arg))
            elif called in ("rstrip", "strip"):
                wrong = any(x == "0123456789" for arg in node.args for x in constants(arg))
        elif isinstance(node, ast.Compare):
            parts = (node.left, *node.comparators)
            wrong = any(ast.unparse(part) in ("ROWS", "formats.ROWS") for part in parts)
            wrong = wrong or any(is_key(x) for part in parts if not isinstance(part, ast.Call) for x in constants(part))
        elif isinstance(node, ast.JoinedStr):  # keys are made by their format
            wrong = isinstance(node.values[0], ast.Constant) and is_key(node.values[0].value) and len(node.values) == 2
        elif isinstance(node, ast.Dict):  # a decision by key
            wrong = any(is_key(x) for key in node.keys if key is not None for x in constants(key))
        if wrong:
            yield f"line {node.lineno}: {ast.unparse(node)}"


@pytest.mark.parametrize("module", [m for m in MODULES if m.startswith("bitblas") and not m.startswith(OTHERS)])
def test_the_kind_of_a_form_is_not_tested(module):
    if not module.startswith("bitblas.formats"):
        assert list(kind_tests(MODULES[module].read_text())) == []


@pytest.mark.parametrize("text", [
    "isinstance(form, Split)", "isinstance(form, (Csr, mplg.Mplg))", "key in ROWS", "form.key not in formats.ROWS",
    "key.startswith('split')", "key.startswith(('b2sr', 'x'))", "key == 'b2sr8'", "x = 1 if key != 'mplg' else 2",
    "key in ('csr', 'mplg')", "f'b2sr{tile}'", "int(key[len(key.rstrip('0123456789')):])", "{'csr': 1}[key]",
])  # fmt: skip
def test_a_test_is_found(text):
    assert len(list(kind_tests(text))) == 1


@pytest.mark.parametrize("text", [
    "structure.layout(CSR)", "key == CSR", "structure.order('csr')", "isinstance(form, Form)", "format_of(key).by_rows",
    "Matrix.from_coo(i, j, True, format='csr')", "f'{name}{tile}'", "found is Ask.ROWS",
])  # fmt: skip
def test_asking_for_a_form_is_none(text):
    assert list(kind_tests(text)) == []


# ---- twins ----------------------------------------------------------------------------------------------------------

GPU_ONLY = {"kernels/hubs", "formats/b2sr/cut"}  # the CPU never splits a row
GPU_ONLY |= {"formats/bitmap/pull_full"}  # vector loads; the CPU's pull reads lines in order
# Rounds of loops; the CPU's have summaries.
GPU_ONLY |= {f"formats/bitmap/{name}" for name in ("begin_columns", "enter_columns", "column_rounds", "leave_columns")}
GPU_ONLY |= {
    f"formats/bitmap/{name}" for name in ("clear_saved", "pop_saved", "enter_saved", "to_columns", "saved_rounds")
}
# The CPU counts, or NumPy does it.
GPU_ONLY |= {f"formats/csr/{name}" for name in ("keys", "rows", "distribute", "check")}
GPU_ONLY |= {f"formats/{f}/pull_binned" for f in ("csr", "nib", "cgr")}  # degree binning; a pull's answers
GPU_ONLY |= {
    "formats/csr/order_sums",
    "formats/csr/sums",
    "formats/csr/fill_sums",
}  # shared memory; the CPU has no such copy
GPU_ONLY |= {f"formats/{x}" for x in ("nib/chunks", "cgr/pieces", "cgr/counts")}
GPU_ONLY |= {f"formats/csr/{name}_rows" for name in ("sort", "short", "long")}  # the CPU's gustavson: a thread a row
GPU_ONLY |= {"kernels/louvain_levels"}  # all levels in one launch; the CPU: step by step
GPU_ONLY |= {
    "kernels/strong_rounds",
    "kernels/strong_contract",
    "kernels/strong_expand",
}  # the CPU: a depth-first search
GPU_ONLY |= {"formats/csr/match", "formats/csr/join"}  # a thread per entry; the CPU: a thread per row
GPU_ONLY |= {
    f"formats/{f}/{name}"
    for f in ("csr", "b2sr", "nib", "cgr", "cr2")
    for name in ("advance", "rounds", "worklist_rounds")
}
GPU_ONLY |= {f"formats/{f}/hub_columns" for f in ("csr", "nib", "cgr")} | {
    "formats/csr/pull_worklist",
    "formats/csr/grid_rounds",
    "formats/csr/relaxation",
}
GPU_ONLY |= {"formats/nib/marks", "formats/cgr/marks", "formats/nib/dot"}  # the CPU splits none, and decodes rows
GPU_ONLY |= {
    f"formats/csr/map_{name}" for name in ("short", "tables", "parts", "slots", "hubs")
}  # the CPU: map_rows for all
# The CPU sums in tables: contract_rows.
GPU_ONLY |= {f"formats/csr/{name}" for name in ("pair_keys", "count_pairs", "sum_pairs", "join_chunks")}
GPU_ONLY |= {"kernels/initialize"}  # the CPU does not merge into missing entries
# NumPy has a primitive for each on the CPU.
GPU_ONLY |= {f"kernels/{name}" for name in ("compact", "dense", "pack", "put", "range")}
GPU_ONLY |= {variant.kernel for variant in arrays.KERNELS.values()}
CPU_ONLY = {f"formats/b2sr/{name}" for name in ("lanes", "tables", "dot_lanes")}  # what threads are on a GPU
CPU_ONLY |= {
    f"formats/csr/{name}" for name in ("merge_rows", "select_rows", "extract", "transpose")
}  # rows in one pass
CPU_ONLY |= {"formats/csr/push_frontier", "formats/b2sr/push_frontier"}
CPU_ONLY |= {f"formats/csr/{name}_rows" for name in ("group", "contract")}  # louvain_levels on a GPU
CPU_ONLY |= {"formats/csr/in_order", "formats/csr/by_columns"}  # a GPU sorts keys
CPU_ONLY |= {f"loop/cpu/{name}" for name in ("clear", "nested", "count_frontier", "summary", "unrotate")}
CPU_ONLY |= {f"loop/cpu/{name}" for name in ("push_words", "pop_words", "clear_stack")}  # vectors with summaries
# (rounds of a loop, which a GPU runs by other kernels)
CPU_ONLY |= {f"formats/csr/{name}" for name in ("gustavson", "push_list")}  # a row of sums, a sort, for each thread
CPU_ONLY |= {"kernels/words", "kernels/numbered", "kernels/webgraph"}  # files, which are on the host
CPU_ONLY |= {"kernels/number_nodes"}  # a hash table; a GPU sorts
GPU_ONLY |= {f"kernels/{name}_triangles" for name in ("edge", "merge", "reserve", "list")}
# (tables of a row in shared memory, or a thread per edge; the CPU counts by ranges of rows)
CPU_ONLY |= {"kernels/triangles_by_range"}  # a count for each thread
CPU_ONLY |= {"kernels/strong_components"}  # a depth-first search
CPU_ONLY |= {"kernels/link_rows"}  # union-find by one thread; a GPU hooks trees in rounds
CPU_ONLY |= {f"kernels/{name}" for name in "draw_turns move_vertices sum_by_label".split()}
CPU_ONLY |= {f"kernels/{name}" for name in ("inner_rows", "draw_joins", "join_parts")}  # louvain_levels on a GPU
CPU_ONLY |= {"kernels/gorder"}  # one vertex after the other
CPU_ONLY |= {f"formats/virtual/{name}" for name in ("minhash", "bicliques")}  # mining
CPU_ONLY |= {"formats/virtual/unfold", "formats/active"}  # rows, list by list; few rows, one after the other
PACKAGE = ROOT / "bitblas"


def kernels(suffix: str) -> list[str]:
    folders = sorted({path.parent.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob(f"*{suffix}")})
    return [f"{folder}/{name}" for folder in folders for name in jit.kernels_of(folder, suffix)]


KERNELS = kernels(".cu")
GPU_ONLY |= {kernel for kernel in KERNELS if kernel.startswith("loop/gpu/")}


def parameters(text: str, pattern: str) -> list[str]:
    found = re.search(pattern, text, re.S | re.M)
    assert found, pattern
    return [" ".join(part.split()) for part in found[1].split(",") if part.strip()]


def views() -> dict[str, list[str]]:
    """The fields of the structs in which CUDA kernels take arguments, as declarations."""
    found, types = {}, {}
    for path in PACKAGE.rglob("*.cu*"):
        for name, body in re.findall(
            r"^(?:template <[^>]+> )?struct (\w+) \{\n(.*?)^\};", text := path.read_text(), re.S | re.M
        ):
            fields = []
            for line in body.splitlines():
                if not (declared := re.fullmatch(r"  ([^()]*(?:\([^()]*\))?[^()]*);.*", line)):
                    break
                first, *more = declared[1].split(",")
                fields += [first, *(f"{first.rpartition(' ')[0]} {name.strip()}" for name in more)]
            found[name] = fields
        types |= {name: view for view, name in re.findall(r"^typedef (\w+)<.*> (\w+);", text, re.M)}
    return found | {name: found[view] for name, view in types.items() if view in found}


VIEWS = views()


def fields(declaration: str) -> list[str]:
    """The arguments of a parameter: itself, or the fields of a view, joined by dots."""
    kind, _, name = declaration.rpartition(" ")
    if (view := re.sub(r"<.*>|const |&", "", kind)) not in VIEWS:
        return [name.lstrip("*&")]
    return [f"{name}.{field}" for part in VIEWS[view] for field in fields(part)]


@pytest.mark.parametrize("kernel", KERNELS)
def test_twins_have_the_same_arguments(kernel):
    folder, _, entry = kernel.rpartition("/")
    assert (entry in jit.kernels_of(folder, ".cpu.py")) == (kernel not in GPU_ONLY)
    text = jit.kernel_text(kernel)
    if 'extern "C"' not in text:  # one text for many formats, which their headers make their own
        headers = [(PACKAGE / name).read_text() for name in re.findall(r'#include "(.+\.cuh)"', text)]
        text = next(header for header in headers if re.search(rf'extern "C"[^;{{}}]*\b{entry}\(', header))
    cuda = parameters(text, rf'extern "C".*?\b{entry}\((.*?)\) \{{')
    assert cuda[0] == "i64 n"
    if kernel in GPU_ONLY:
        return
    cpu = parameters(jit.kernel_file(kernel, ".cpu.py").read_text(), rf"^def {entry}\((.*?)\):")
    assert cpu[:2] == ["lo", "hi"]
    found = [field for declaration in cuda[1:] for field in fields(declaration)]
    plain = [name for part in cpu[2:] for name in (arguments(*part.split(": ")) if ": " in part else [part])]
    assert len(found) == len(plain)
    # An argument of a CPU kernel has the name of a field: "u.bits" is u_bits, "rows.begin" may be begin.
    assert not [pair for pair in zip(found, plain) if not f"_{pair[0].replace('.', '_')}".endswith(f"_{pair[1]}")]


@pytest.mark.parametrize("view", CPU_VIEWS)
def test_views_have_the_same_fields(view):
    assert [field.removeprefix("x.") for field in fields(f"{view} x")] == list(CPU_VIEWS[view])


def test_every_twin_has_a_kernel():
    assert set(KERNELS) >= GPU_ONLY and not CPU_ONLY & set(KERNELS)
    assert set(kernels(".cpu.py")) == set(KERNELS) - GPU_ONLY | CPU_ONLY


# ---- texts of kernels: CPU kernels take the fields of views, each of several CUDA kernels in a file is a text --------


def test_views_become_plain_arguments():
    text = (
        "@njit(**KERNEL)\ndef push(lo, hi, a: Values, mask: MaskView, to: Epilogue, scale):\n"
        "    put(to.t.bits, a.values[lo], mask.invert)  # a, a.iso\n    return f(a, scale) + other.a + at(a_iso)\n\n\n"
        "@njit(**FUNCTION)\ndef f(a, scale):\n    return a.values\n"
    )
    found = jit.without_views(text)
    assert "def push(lo, hi, a_values, a_iso, a_stride, mask_bits, mask_stride, mask_invert, to_w_bits," in found
    assert "put(to_t_bits, a_values[lo], mask_invert)" in found
    assert "return f(a_values, a_iso, a_stride, scale) + other.a + at(a_iso)" in found
    assert found.endswith("def f(a, scale):\n    return a.values\n")  # no view there


def test_a_text_without_views_stays():
    text = "@njit(**FUNCTION)\ndef f(a, b):\n    return a.values\n"
    assert jit.without_views(text) is text


def test_a_kernel_has_its_section_alone(tmp_path, monkeypatch):
    sections = "".join(f"#ifdef KERNEL_{x}\nvoid {x}();\n#endif  // KERNEL_{x}\n" for x in ("one", "two"))
    (tmp_path / "both.cu").write_text(f"// Shared.\n{sections}")
    (tmp_path / "single.cu").write_text("void single();\n")
    monkeypatch.setattr(jit, "PACKAGE", tmp_path.parent)
    folder = tmp_path.name
    assert sorted(jit.kernels_of(folder, ".cu")) == ["one", "single", "two"]
    assert jit.kernel_text(f"{folder}/two") == "// Shared.\nvoid two();\n"
    assert jit.kernel_text(f"{folder}/single") == "void single();\n"


def test_shared_functions_have_other_names_than_those_of_operators():
    """A text has both: of two functions with one name, the kernel would call the later one."""
    makers = "".join((PACKAGE / name).read_text() for name in ("operations/variants.py", "kernels/variant.py"))
    made = set(re.findall(r'(?:Function|cast_function)\(\s*"(\w+)"', makers))
    assert {"joined", "accum", "take", "mul", "add"} <= made
    for path in PACKAGE.rglob("*.cpu.py"):
        assert not made & set(re.findall(r"^def (\w+)\(", path.read_text(), re.M)), path


def test_a_case_that_is_dealt_runs_on_one_device(request):
    """Of tests that are marked in_turn: a case on two devices was taken for two cases, and another one is left out."""
    seen = set()
    for item in request.session.items:
        if item.get_closest_marker("in_turn") and not item.get_closest_marker("slow") and hasattr(item, "callspec"):
            values = {name: id(value) for name, value in item.callspec.params.items()}
            if values.pop("device", None):
                case = item.nodeid.partition("[")[0], *values.items()
                assert case not in seen, item.nodeid
                seen.add(case)
