"""The structure of the code: imports only go down, CUDA and CPU kernels have the same names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bitblas.device import Cpu, Cuda, jit
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
    (
        "bitblas.atomic",
        "bitblas.exceptions",
        "bitblas.extras",
        "bitblas.foreign_names",
        "bitblas.display",
        "bitblas.tuning",
        "bitblas.typing",
    ),
    ("bitblas.kernels",),
    ("bitblas.device",),
    ("bitblas.config",),
    ("bitblas.formats",),
    ("bitblas.store", "bitblas.order"),
    ("bitblas.plan",),
    ("bitblas.operations",),
    *((f"bitblas.core.{name}",) for name in ("hooks", "options")),
    tuple(f"bitblas.core.{name}" for name in ("convert", "memory", "operators", "show")),
    ("bitblas.core.statement",),
    tuple(f"bitblas.core.{name}" for name in ("aggregators", "building", "scalar")),
    *((f"bitblas.core.{name}",) for name in ("assign", "vector", "matrix", "ss")),
    ("bitblas.core",),
    ("bitblas.loop",),
    (
        "bitblas.agg",
        "bitblas.compat",
        "bitblas",
        "bitblas.graph",
        "bitblas.io",
        "bitblas.algorithms",
        "bitblas.reorder",
        "bitblas.plots",
        "bitblas.ss",
        "bitblas.viz",
    ),
    ("bitblas.registry", "bitblas.calibrate", "bitblas.compare", "bitblas.distributed", "bitblas.nx"),
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
        if module.startswith("bitblas.formats"):
            assert not any(i.startswith("bitblas.core") for i in ours), module
        if module.startswith("bitblas.core"):
            assert not any(i.startswith(("bitblas.algorithms", "bitblas.cli", "bitblas.io")) for i in ours), module
        if module != "bitblas.device.cuda":
            assert not any(i.partition(".")[0] in ("cupy", "cupyx") for i in found), f"{module} imports CuPy"
    assert "bitblas.device.jit" in all_imports["bitblas.device.cuda"]


def test_kernels_of_one_device_are_listed_once():
    assert set(KERNELS) >= GPU_ONLY and not CPU_ONLY & set(KERNELS)


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


# Modules that import one another, each circle with its reason.
CIRCLES: dict[frozenset[str], str] = {}


def circles() -> set[frozenset[str]]:
    """Sets of modules of which each imports, by way of others, all; at the top or inside functions."""
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
    return {frozenset(m for m in seen if module in reached[m]) for module, seen in reached.items() if module in seen}


def test_imports_in_no_circles():
    assert circles() == set(CIRCLES)


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


# ---- twins ----------------------------------------------------------------------------------------------------------

GPU_ONLY = {"kernels/hubs", "formats/b2sr/cut"}  # the CPU never splits a row
GPU_ONLY |= {f"formats/csr/{name}" for name in ("keys", "rows", "distribute")}  # the CPU counts, or NumPy does it
GPU_ONLY |= {f"formats/{f}/pull_binned" for f in ("csr", "nib", "cgr")}  # degree binning; a pull's answers
GPU_ONLY |= {f"formats/{x}" for x in ("nib/chunks", "cgr/pieces", "cgr/counts")}
GPU_ONLY |= {f"formats/csr/{name}_rows" for name in ("sort", "short", "long")}  # the CPU's gustavson: a thread a row
GPU_ONLY |= {"formats/csr/match", "formats/csr/join"}  # a thread per entry; the CPU: a thread per row
GPU_ONLY |= {
    f"formats/{f}/{name}" for f in ("csr", "b2sr", "nib", "cgr") for name in ("advance", "rounds", "worklist_rounds")
}
GPU_ONLY |= {f"formats/{f}/hub_columns" for f in ("csr", "nib", "cgr")} | {
    "formats/csr/pull_worklist",
    "formats/csr/patches",
}
GPU_ONLY |= {"formats/nib/marks", "formats/cgr/marks", "formats/nib/dot"}  # the CPU splits none, and decodes rows
GPU_ONLY |= {"kernels/initialize"}  # the CPU does not merge into missing entries
# NumPy has a primitive for each on the CPU.
GPU_ONLY |= {f"kernels/{name}" for name in ("compact", "dense", "pack", "put", "range")}
CPU_ONLY = {f"formats/b2sr/{name}" for name in ("lanes", "tables", "dot_lanes")}  # what threads are on a GPU
CPU_ONLY |= {
    f"formats/csr/{name}" for name in ("merge_rows", "select_rows", "extract", "transpose")
}  # rows in one pass
CPU_ONLY |= {"formats/csr/push_frontier", "formats/b2sr/push_frontier"}
CPU_ONLY |= {"formats/csr/in_order", "formats/csr/by_columns"}  # a GPU sorts keys
CPU_ONLY |= {f"loop/cpu/{name}" for name in ("clear", "nested", "count_frontier", "summary", "unrotate")}
# (rounds of a loop, which a GPU runs by other kernels)
CPU_ONLY |= {f"formats/csr/{name}" for name in ("gustavson", "push_list")}  # a row of sums, a sort, for each thread
CPU_ONLY |= {"kernels/words", "kernels/numbered", "kernels/webgraph"}  # files, which are on the host
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


def is_twin(field: str, argument: str) -> bool:
    """Whether an argument of a CPU kernel has the name of a field: "u.bits" is u_bits, "rows.begin" may be begin."""
    parts = field.split(".")
    return argument in {"_".join(parts[k:]) for k in range(len(parts))}


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
    assert not [pair for pair in zip(found, plain, strict=True) if not is_twin(*pair)]


@pytest.mark.parametrize("view", CPU_VIEWS)
def test_views_have_the_same_fields(view):
    assert [field.removeprefix("x.") for field in fields(f"{view} x")] == list(CPU_VIEWS[view])


def test_every_twin_has_a_kernel():
    assert set(kernels(".cpu.py")) == set(KERNELS) - GPU_ONLY | CPU_ONLY
