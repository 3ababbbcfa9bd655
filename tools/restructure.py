"""Move, merge and rename the project's Python modules by their syntax trees, as a table says.

    python3.12 tools/restructure.py tools/moves/NAME.txt [--check]

The table has one change a line, with full dotted names; `#` begins a comment:

    move OLD -> NEW                 a module, or a package with all modules in it that no other line names
    merge OLD OLD .. -> NEW         modules as one, in this order, but after the parts that they import
    drop OLD -> NEW                 a module without contents, whose uses become those of another one
    head NEW = TEXT                 the docstring of a merged module (\\n is a line break)
    rename MODULE.NAME -> NAME      a function, class or constant of a module (named by its old module)
    local MODULE.NAME -> NAME       what a module calls something that it imports
    word NAME -> NAME               an attribute, method or parameter that means one thing wherever it occurs
    name NAME -> NAME               the same, but strings that are this word stay
    text OLD -> NEW                 a string of a program, whole

The script follows imports, uses of modules and names, `monkeypatch.setattr(module, "NAME", ..)`, strings that are
dotted names, and paths in comments and pages. It reports what it cannot decide, and then writes nothing. It needs
Python 3.12 or newer, whose syntax trees have the positions of expressions inside f-strings. Afterwards: `ruff check
--fix`, `ruff format`. It serves the present restructuring, and goes when that is done.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import textwrap
import tokenize
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("bitblas", "semirings", "_nx_bitblas")
TOY = ("tests/toy_form/", "bitblas/formats/toy/")  # where a package's files are, and where a test copies them to
faults: list[str] = []
notes: list[str] = []


# ---- the table -------------------------------------------------------------------------------------------------------


@dataclass
class Table:
    moves: dict[str, str] = field(default_factory=dict)  # old module -> new module
    groups: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))  # new module -> its parts
    heads: dict[str, str] = field(default_factory=dict)
    renames: dict[tuple[str, str], str] = field(default_factory=dict)  # (old module, name) -> name
    locals: dict[tuple[str, str], str] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)  # identifiers wherever they occur
    strings: dict[str, str] = field(default_factory=dict)  # those that strings name, too
    texts: dict[str, str] = field(default_factory=dict)


def read_table(path: Path, modules: dict[str, Module]) -> Table:
    table, packages = Table(), []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        kind, rest = line.split(None, 1)
        if kind == "head":
            name, text = rest.split("=", 1)
            table.heads[name.strip()] = text.strip().strip('"').replace("\\n", "\n")
            continue
        old, arrow, new = (part.strip() for part in rest.partition("->"))
        new = new.split("#")[0].strip() if kind != "text" else new
        if not arrow:
            faults.append(f"{path.name}:{number}: no arrow")
        elif kind in ("move", "merge", "drop"):
            for part in old.split():
                if part not in modules:
                    faults.append(f"{path.name}:{number}: there is no module {part}")
                elif part in table.moves:
                    faults.append(f"{path.name}:{number}: {part} is named twice")
                else:
                    table.moves[part] = new
                    if kind != "drop":
                        table.groups[new].append(part)
                    if kind != "merge" and modules[part].is_package:
                        packages.append((part, new))
        elif kind in ("rename", "local"):
            module, _, name = old.rpartition(".")
            if module not in modules or name not in modules[module].top.bound:
                faults.append(f"{path.name}:{number}: {module} does not define {name}")
            (table.renames if kind == "rename" else table.locals)[module, name] = new
        elif kind in ("word", "name"):
            table.words[old] = new
            if kind == "word":
                table.strings[old] = new
        elif kind == "text":
            table.texts[old] = new
        else:
            faults.append(f"{path.name}:{number}: {kind}?")
    for old, new in sorted(packages, key=lambda pair: -len(pair[0])):
        for name in modules:
            if name.startswith(f"{old}.") and name not in table.moves:
                table.moves[name] = new + name[len(old) :]
                table.groups[table.moves[name]].append(name)
    for name in modules:  # what stays where it is, and others that come to it
        if name not in table.moves:
            table.moves[name] = name
            if name in table.groups:
                faults.append(f"{name} stays, and others become it: name it in the merge")
            table.groups[name].append(name)
    return table


# ---- modules and scopes ----------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Scope:
    kind: str  # module, class, function
    parent: Scope | None
    bound: dict[str, list[ast.AST]] = field(default_factory=lambda: defaultdict(list))
    outer: dict[str, bool] = field(default_factory=dict)  # declared global (True) or nonlocal
    uses: dict[str, list[tuple[ast.AST, Scope]]] = field(default_factory=lambda: defaultdict(list))
    imports: dict[str, Binding] = field(default_factory=dict)


@dataclass(eq=False)
class Binding:
    """What an import gives a name to. name: "" for a module itself."""

    module: str
    name: str
    local: str
    node: ast.AST


class Module:
    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name
        self.is_package = path.name == "__init__.py"
        self.source = path.read_text()
        self.tree = ast.parse(self.source)
        starts = [0]
        for line in self.source.encode().split(b"\n"):
            starts.append(starts[-1] + len(line) + 1)
        self.starts, self.data = starts, self.source.encode()
        self.top = Scope("module", None)
        self.order: list[tuple[ast.AST, Scope]] = []  # attributes, calls and strings, each with its scope
        self.imports: list[tuple[ast.Import | ast.ImportFrom, Scope]] = []
        self.names: list[tuple[ast.Name, Scope]] = []
        Reader(self).body(self.tree.body, self.top)
        self.resolve()

    @property
    def package(self) -> str:
        return self.name if self.is_package else self.name.rpartition(".")[0]

    def at(self, line: int, column: int) -> int:
        return self.starts[line - 1] + column

    def span(self, node: ast.AST) -> tuple[int, int]:
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno, node.end_col_offset)  # type: ignore

    def find(self, name: str, scope: Scope) -> Scope | None:
        """The scope that binds a name which `scope` uses; None for a builtin."""
        here: Scope | None = scope
        while here is not None:
            if name in here.outer:
                here = self.top if here.outer[name] else here.parent
                continue
            if name in here.bound and (here is scope or here.kind != "class"):
                return here
            here = here.parent
        return None

    def resolve(self) -> None:
        for node, scope in self.names:
            found = self.find(node.id, scope)
            if found is not None:
                found.uses[node.id].append((node, scope))
            else:
                self.top.uses.setdefault(f"builtin {node.id}", []).append((node, scope))


class Reader:
    """Fills a module's scopes."""

    def __init__(self, module: Module) -> None:
        self.module = module

    def body(self, nodes: list[ast.stmt] | list[ast.expr], scope: Scope) -> None:
        for node in nodes:
            self.visit(node, scope)

    def arguments(self, a: ast.arguments, inner: Scope, outer: Scope) -> None:
        for each in (*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg))):
            inner.bound[each.arg].append(each)
            if each.annotation:
                self.visit(each.annotation, outer)
        for each in (*a.defaults, *filter(None, a.kw_defaults)):
            self.visit(each, outer)

    def visit(self, node: ast.AST | None, scope: Scope) -> None:
        if node is None:
            return
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            scope.bound[node.name].append(node)
            self.body(node.decorator_list, scope)
            inner = Scope("function", scope)
            for t in getattr(node, "type_params", []):
                inner.bound[t.name].append(t)
            self.arguments(node.args, inner, scope)
            self.visit(node.returns, scope)
            self.body(node.body, inner)
        elif isinstance(node, ast.Lambda):
            inner = Scope("function", scope)
            self.arguments(node.args, inner, scope)
            self.visit(node.body, inner)
        elif isinstance(node, ast.ClassDef):
            scope.bound[node.name].append(node)
            self.body(node.decorator_list, scope)
            self.body(node.bases, scope)
            for k in node.keywords:
                self.visit(k.value, scope)
            self.body(node.body, Scope("class", scope))
        elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            inner = Scope("comprehension", scope)
            for k, g in enumerate(node.generators):
                self.visit(g.iter, scope if k == 0 else inner)
                self.visit(g.target, inner)
                self.body(g.ifs, inner)
            if isinstance(node, ast.DictComp):
                self.visit(node.key, inner)
                self.visit(node.value, inner)
            else:
                self.visit(node.elt, inner)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            self.module.imports.append((node, scope))
            for alias in node.names:
                local = alias.asname or (alias.name.partition(".")[0] if isinstance(node, ast.Import) else alias.name)
                scope.bound[local].append(node)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            scope.outer.update(dict.fromkeys(node.names, isinstance(node, ast.Global)))
            self.module.order.append((node, scope))
        elif isinstance(node, ast.Name):
            self.module.names.append((node, scope))
            if not isinstance(node.ctx, ast.Load) and node.id not in scope.outer:
                scope.bound[node.id].append(node)
        elif isinstance(node, ast.NamedExpr):
            target = scope
            while target.kind == "comprehension":
                target = target.parent  # type: ignore
            target.bound[node.target.id].append(node.target)
            self.module.names.append((node.target, scope))
            self.visit(node.value, scope)
        elif isinstance(node, ast.ExceptHandler):
            if node.name:
                scope.bound[node.name].append(node)
            self.visit(node.type, scope)
            self.body(node.body, scope)
        elif isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
            scope.bound[node.name].append(node)
            self.visit(getattr(node, "pattern", None), scope)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            scope.bound[node.rest].append(node)
            for child in ast.iter_child_nodes(node):
                self.visit(child, scope)
        else:
            if isinstance(node, (ast.Attribute, ast.Call, ast.Constant)):
                self.module.order.append((node, scope))
            for child in ast.iter_child_nodes(node):
                self.visit(child, scope)


def load() -> dict[str, Module]:
    """The library's modules by name, and every other Python file of the project by its path."""
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found = {}
    for text in listed.split():
        path = ROOT / text
        if not path.exists() or text.startswith("tools/"):
            continue
        if text.startswith((*(f"{p}/" for p in PACKAGES), TOY[0])) and not text.endswith(".cpu.py"):
            name = ".".join(Path(text.replace(*TOY)).with_suffix("").parts).removesuffix(".__init__")
        else:
            name = f"/{text}"
        found[name] = Module(path, name)
    return found


# ---- what names mean -------------------------------------------------------------------------------------------------


class Project:
    def __init__(self, modules: dict[str, Module], table: Table) -> None:
        self.modules, self.table = modules, table
        for module in modules.values():
            for node, scope in module.imports:
                for alias in node.names:
                    self.bind(module, node, alias, scope)
        self.spread()

    def absolute(self, module: Module, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = module.package.split(".")
        base = parts[: len(parts) - node.level + 1]
        return ".".join([*base, *filter(None, [node.module])])

    def is_module(self, name: str) -> bool:
        """Whether a dotted name is a module, and its package gives nothing else that name."""
        if name not in self.modules or name.startswith("/"):
            return False
        package, _, last = name.rpartition(".")
        if package not in self.modules:
            return True
        for node in self.modules[package].top.bound.get(last, ()):
            if not isinstance(node, ast.ImportFrom):
                return False
            if f"{self.absolute(self.modules[package], node)}.{last}" != name:
                return False
        return True

    def bind(self, module: Module, node: ast.Import | ast.ImportFrom, alias: ast.alias, scope: Scope) -> None:
        if isinstance(node, ast.Import):
            if alias.asname:
                scope.imports[alias.asname] = Binding(alias.name, "", alias.asname, node)
            else:
                root = alias.name.partition(".")[0]
                scope.imports[root] = Binding(root, "", root, node)
            return
        base, local = self.absolute(module, node), alias.asname or alias.name
        if node.level and module.name.startswith("/"):  # tests and benchmarks among themselves
            scope.imports[local] = Binding("", alias.name, local, node)
            return
        full = f"{base}.{alias.name}"
        binding = Binding(full, "", local, node) if self.is_module(full) else Binding(base, alias.name, local, node)
        scope.imports[local] = binding

    def spread(self) -> None:
        """A module that imports a renamed name without another name for it has it by the new name."""
        changed = True
        while changed:
            changed = False
            for module in self.modules.values():
                for local, binding in module.top.imports.items():
                    new = self.table.renames.get((binding.module, binding.name))
                    if (
                        binding.name
                        and new
                        and local == binding.name
                        and (module.name, local) not in self.table.renames
                    ):
                        self.table.renames[module.name, local] = new
                        changed = True

    def module_of(self, module: Module, node: ast.AST, scope: Scope) -> str | None:
        """The module that an expression is, if it is one."""
        if isinstance(node, ast.Name):
            found = module.find(node.id, scope)
            if found is not None and len(found.bound[node.id]) >= 1 and node.id in found.imports:
                binding = found.imports[node.id]
                if not binding.name and binding.module in self.modules:
                    return binding.module
            return None
        if isinstance(node, ast.Attribute):
            base = self.module_of(module, node.value, scope)
            if base and self.is_module(f"{base}.{node.attr}"):
                return f"{base}.{node.attr}"
        return None


# ---- edits -----------------------------------------------------------------------------------------------------------


def relative(own_package: str, target: str) -> str:
    """`target` as a module of `from ... import`, seen from a package."""
    own, other = own_package.split("."), target.split(".")
    same = 0
    while same < min(len(own), len(other)) and own[same] == other[same]:
        same += 1
    if not same:
        return target
    return "." * (len(own) - same + 1) + ".".join(other[same:])


class Editor:
    """The edits of one file."""

    def __init__(self, project: Project, module: Module, new_packages: set[str]) -> None:
        self.project, self.module, self.table = project, module, project.table
        self.new = self.table.moves.get(module.name, module.name)
        library = not module.name.startswith("/")
        package = self.new if self.new in new_packages else self.new.rpartition(".")[0]
        self.package = package if library else ""
        self.edits: dict[tuple[int, int], str] = {}
        self.pool: list[str] = []  # top-level imports
        self.typing_pool: list[str] = []
        self.tops: dict[str, str] = {}  # what a merged module has by each name -> what that is
        self.done: set[int] = set()

    def fault(self, node: ast.AST, text: str) -> None:
        faults.append(f"{self.module.path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}: {text}")

    def edit(self, start: int, end: int, text: str) -> None:
        if self.edits.get((start, end), text) != text:
            faults.append(f"{self.module.path}: two edits of one place: {text!r}, {self.edits[start, end]!r}")
        self.edits[start, end] = text

    def rename(self, node: ast.AST, text: str) -> None:
        start, end = self.module.span(node)
        self.edit(start, end, text)

    def own(self, target: str) -> bool:
        """Whether a module becomes the one that this file becomes a part of."""
        return not self.module.name.startswith("/") and self.table.moves.get(target) == self.new

    def final(self, module: str, name: str) -> str:
        return self.table.renames.get((module, name), name)

    def run(self) -> None:
        self.bindings()
        for node, scope in self.module.order:
            if isinstance(node, ast.Attribute):
                self.attribute(node, scope)
            elif isinstance(node, ast.Call):
                self.call(node, scope)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                self.string(node)
        for _, scope in self.module.imports:
            for local in scope.imports:
                if not self.local_names[id(scope), local]:
                    for node, _ in scope.uses.get(local, ()):
                        if id(node) not in self.done:
                            self.fault(node, f"{local} is a part of this module now, and used by itself")
        self.definitions()
        self.words()
        self.imports()

    # names that imports bind

    def bindings(self) -> None:
        self.local_names: dict[tuple[int, str], str] = {}
        scopes = {id(s): s for _, s in self.module.imports}
        for scope in scopes.values():
            for local, b in scope.imports.items():
                new = local
                asked = self.table.locals.get((self.module.name, local)) if scope is self.module.top else None
                if b.module not in self.project.modules and not any(
                    name.startswith(f"{b.module}.") for name in self.project.modules
                ):
                    new = asked or local
                elif b.name:
                    if self.own(b.module) or local == b.name:
                        new = self.final(b.module, b.name)
                    if asked:
                        new = asked
                elif self.own(b.module):
                    new = ""  # its attributes become names
                    if b.module == self.module.name:
                        self.fault(b.node, "a module imports itself")
                else:
                    moved = self.table.moves.get(b.module, b.module)
                    if asked:
                        new = asked
                    elif local == b.module.rpartition(".")[2] and isinstance(b.node, ast.ImportFrom):
                        new = moved.rpartition(".")[2]
                        if new != local and self.taken(new, local, scope, moved):
                            notes.append(f"{self.module.path.relative_to(ROOT)}: {new} is taken; {moved} stays {local}")
                            new = local
                self.local_names[id(scope), local] = new
                if new != local and new:
                    for node, used in scope.uses.get(local, ()):
                        if self.hidden(new, used, scope):
                            self.fault(node, f"{local} becomes {new}, which is a local name here")
                        self.rename(node, new)

    def hidden(self, name: str, used: Scope, binding: Scope) -> bool:
        """Whether a scope between binds a name."""
        here: Scope | None = used
        while here is not None and here is not binding:
            if name in here.bound and here.kind != "class":
                return True
            here = here.parent
        return False

    def taken(self, name: str, local: str, scope: Scope, target: str) -> bool:
        for other in scope.bound.get(name, ()):
            b = scope.imports.get(name)
            if b is None or b.name or self.table.moves.get(b.module, b.module) != target:
                return True
            del other
        return any(self.hidden(name, used, scope) for _, used in scope.uses.get(local, ()))

    def attribute(self, node: ast.Attribute, scope: Scope) -> None:
        base = self.project.module_of(self.module, node.value, scope)
        if base is None:
            return
        start = self.module.span(node)[1] - len(node.attr.encode())
        full = f"{base}.{node.attr}"
        if self.project.is_module(full):
            moved = self.table.moves[full]
            parent, _, last = moved.rpartition(".")
            if self.own(full):
                return  # what is read of it is dealt with there
            if parent != self.table.moves[base]:
                self.fault(node, f"{full} moves to {moved}, out of its package")
            elif last != node.attr:
                self.edit(start, start + len(node.attr.encode()), last)
            return
        name = self.final(base, node.attr)
        if self.own(base):
            found = self.module.top
            if self.hidden(name, scope, found):
                self.fault(node, f"{base}.{node.attr} becomes {name}, which is a local name here")
            self.rename(node, name)
            inner: ast.AST = node.value
            while isinstance(inner, ast.Attribute):
                self.done.add(id(inner))
                inner = inner.value
            self.done.add(id(inner))
        elif name != node.attr:
            self.edit(start, start + len(node.attr.encode()), name)

    def call(self, node: ast.Call, scope: Scope) -> None:
        """setattr(module, "name", ..) and its kin."""
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called not in ("setattr", "getattr", "delattr", "hasattr", "object") or len(node.args) < 2:
            return
        first, second = node.args[:2]
        base = self.project.module_of(self.module, first, scope)
        if base and isinstance(second, ast.Constant) and isinstance(second.value, str):
            name = self.final(base, second.value)
            if name != second.value:
                self.rename(second, f'"{name}"')

    def string(self, node: ast.Constant) -> None:
        text = node.value
        if text in self.table.texts:
            self.rename(node, f'"{self.table.texts[text]}"')
        elif re.fullmatch(r"(bitblas|semirings|_nx_bitblas)(\.\w+)+(:\w+)?", text):
            dotted, colon, rest = text.partition(":")
            head, tail = dotted, ""
            while head and head not in self.project.modules:
                head, _, last = head.rpartition(".")
                tail = f".{last}{tail}"
            if not head:
                return
            if tail:
                first, *more = tail[1:].split(".")
                tail = "." + ".".join([self.final(head, first), *more])
            new = self.table.moves[head] + tail + colon + (self.final(head, rest) if rest else "")
            if new != text and self.data_of(node)[:1] in (b'"', b"'"):
                self.rename(node, f'"{new}"')
        elif text in self.table.strings and self.data_of(node)[:1] in (b'"', b"'"):
            self.rename(node, f'"{self.table.strings[text]}"')

    def data_of(self, node: ast.AST) -> bytes:
        start, end = self.module.span(node)
        return self.module.data[start:end]

    def definitions(self) -> None:
        """Renamed functions, classes and constants where they are defined, and used in their own module."""
        top = self.module.top
        for name, nodes in top.bound.items():
            new = self.table.renames.get((self.module.name, name))
            if not new or name in top.imports:
                continue
            for node in nodes:
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                    start = self.module.span(node)[0]
                    place = re.compile(rb"(?:async\s+def|def|class)\s+").match(self.module.data, start)
                    assert place, (self.module.path, name)
                    self.edit(place.end(), place.end() + len(name.encode()), new)
            for node, used in top.uses.get(name, ()):
                if self.hidden(new, used, top):
                    self.fault(node, f"{name} becomes {new}, which is a local name here")
                self.rename(node, new)
            for node, _ in self.module.order:
                if isinstance(node, ast.Global) and name in node.names:
                    start, end = self.module.span(node)
                    text = self.module.data[start:end].decode()
                    self.edit(start, end, re.sub(rf"\b{name}\b", new, self.edits.get((start, end), text)))
        for node in self.module.tree.body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
                for each in ast.walk(node.value):
                    if isinstance(each, ast.Constant) and isinstance(each.value, str):
                        new = self.table.renames.get((self.module.name, each.value))
                        if new:
                            self.rename(each, f'"{new}"')

    def words(self) -> None:
        if not self.table.words:
            return
        for token in tokenize.generate_tokens(io.StringIO(self.module.source).readline):
            if token.type == tokenize.NAME and token.string in self.table.words:
                line = token.line.encode()
                del line
                column = len(self.module.source.split("\n")[token.start[0] - 1][: token.start[1]].encode())
                start = self.module.at(token.start[0], column)
                self.edit(start, start + len(token.string.encode()), self.table.words[token.string])

    # import statements

    def statement(self, module: str, name: str, local: str, was_relative: bool) -> str:
        """The text of one import of one name; "" for what is in this module itself."""
        if name:
            source, got = self.table.moves.get(module, module), self.final(module, name)
            if source == self.new and not self.module.name.startswith("/"):
                return ""
        else:
            moved = self.table.moves.get(module, module)
            if moved == self.new and not self.module.name.startswith("/"):
                return ""
            source, _, got = moved.rpartition(".")
            if not source:
                return f"import {got}" + (f" as {local}" if local != got else "")
        where = relative(self.package, source) if was_relative and self.package else source
        return f"from {where} import {got}" + (f" as {local}" if local != got else "")

    def imports(self) -> None:
        lazily = {id(n) for n in ast.walk(self.module.tree) if isinstance(n, ast.If) and typing_test(n) for n in n.body}
        for node, scope in self.module.imports:
            if isinstance(node, ast.ImportFrom) and node.level and self.module.name.startswith("/"):
                continue
            parts: list[str] = []
            if isinstance(node, ast.Import):
                for alias in node.names:
                    new = self.table.moves.get(alias.name, alias.name)
                    if alias.asname is None and new != alias.name and "." in alias.name:
                        parts.append(f"import {new}")
                    elif new == alias.name:
                        parts.append(f"import {new}" + (f" as {alias.asname}" if alias.asname else ""))
                    elif alias.asname and alias.name in self.project.modules:
                        parts.append(self.statement(alias.name, "", self.local_names[id(scope), alias.asname], False))
                    else:
                        local = alias.asname and self.local_names.get((id(scope), alias.asname), alias.asname)
                        parts.append(f"import {alias.name}" + (f" as {local}" if local else ""))
            else:
                base = self.project.absolute(self.module, node)
                for alias in node.names:
                    if alias.name == "*":
                        parts.append(f"from {relative(self.package, self.table.moves.get(base, base))} import *")
                        continue
                    local = alias.asname or alias.name
                    b = scope.imports[local]
                    if b.node is not node:  # a later import has the same name
                        same = self.project.is_module(f"{base}.{alias.name}")
                        b = Binding(f"{base}.{alias.name}" if same else base, "" if same else alias.name, local, node)
                    new = self.local_names.get((id(scope), local), local)
                    part = self.statement(b.module, b.name, new or local, bool(node.level))
                    again = part and alias.asname == alias.name and " as " not in part  # a name that is passed on
                    parts.append(f"{part} as {new}" if again else part)
            parts = [self.in_words(p) for p in dict.fromkeys(parts) if p]
            at_top = any(node is x for x in self.module.tree.body)
            if at_top:
                self.pool += parts
            elif id(node) in lazily and scope is self.module.top:
                self.typing_pool += parts
            self.replace(node, parts)

    def in_words(self, line: str) -> str:
        for old, new in self.table.words.items():
            line = re.sub(rf"\b{old}\b", new, line)
        return line

    def replace(self, node: ast.Import | ast.ImportFrom, parts: list[str]) -> None:
        """An import statement in its place, where its text changes."""
        was = ast.unparse(node)
        now = gathered(parts)
        if now == [was] or (len(now) == 1 and ast.dump(ast.parse(now[0]).body[0]) == ast.dump(ast.parse(was).body[0])):
            return
        start, end = self.module.span(node)
        data = self.module.data
        line_start = data.rfind(b"\n", 0, start) + 1
        indent = data[line_start:start].decode()
        line_end = data.find(b"\n", end)
        comment = data[end:line_end].decode()
        alone = not indent.strip()
        if not alone and len(now) == 1:
            self.edit(start, end, now[0])
        elif not alone:
            self.fault(node, "several statements in one line")
        elif not now:
            if comment.strip():
                notes.append(f"{self.module.path.relative_to(ROOT)}:{node.lineno}: lost {comment.strip()}")
            if self.empties(node):
                self.edit(start, end, "pass")
            else:
                self.edit(line_start, line_end + 1, "")
        else:
            self.edit(start, end, f"\n{indent}".join(now))

    def empties(self, node: ast.AST) -> bool:
        for parent in ast.walk(self.module.tree):
            for part in ("body", "orelse", "finalbody"):
                if getattr(parent, part, None) and isinstance(getattr(parent, part), list):
                    if len(getattr(parent, part)) == 1 and getattr(parent, part)[0] is node:
                        return True
        return False

    def text(self) -> str:
        data, last, out = self.module.data, 0, []
        kept = sorted(self.edits.items())
        kept = [(span, new) for span, new in kept if not any(covers(o, span) for o, _ in kept)]
        for (start, end), new in kept:
            if start < last:
                faults.append(f"{self.module.path}: edits overlap at {start}: {new!r}")
                continue
            out += [data[last:start], new.encode()]
            last = end
        return b"".join([*out, data[last:]]).decode()


def covers(outer: tuple[int, int], inner: tuple[int, int]) -> bool:
    return outer != inner and outer[0] <= inner[0] and inner[1] <= outer[1]


def gathered(parts: list[str]) -> list[str]:
    """Imports of one module as one statement."""
    found: dict[str, list[str]] = {}
    for part in parts:
        if part.startswith("from "):
            source, _, name = part.partition(" import ")
            found.setdefault(source, []).append(name)
        else:
            found[part] = []
    made = []
    for source, names in found.items():
        line = f"{source} import {', '.join(dict.fromkeys(names))}" if names else source
        made.append(line)
    return made


def typing_test(node: ast.If) -> bool:
    return "TYPE_CHECKING" in ast.unparse(node.test)


# ---- merging ---------------------------------------------------------------------------------------------------------


def in_order(parts: list[str], modules: dict[str, Module], project: Project) -> list[str]:
    """The parts, each after those that it imports at its top."""
    found: list[str] = []

    def add(name: str) -> None:
        module = modules[name]
        for node, scope in module.imports:
            if scope is module.top and any(node is x for x in module.tree.body):
                for b in (module.top.imports[alias.asname or alias.name.partition(".")[0]] for alias in node.names):
                    if b.module in parts and b.module not in found and b.module != name:
                        add(b.module)
        if name not in found:
            found.append(name)

    for part in parts:
        add(part)
    return found


def split_part(editor: Editor, text: str) -> tuple[str, str]:
    """The docstring and the body of a part, its top-level imports taken out of it."""
    tree = ast.parse(text)
    lines = text.split("\n")
    gone: set[int] = set()
    doc = ast.get_docstring(tree, clean=False) or ""
    for k, node in enumerate(tree.body):
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        if k == 0 and doc:
            gone.update(range(first, last + 1))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            comment = "\n".join(lines[first : last + 1])
            if "#" in comment:
                notes.append(
                    f"{editor.module.path.relative_to(ROOT)}: an import had a comment: {comment.strip()[-90:]}"
                )
            gone.update(range(first, last + 1))
        elif exported(node) is not None:
            gone.update(range(first, last + 1))
        elif isinstance(node, ast.If) and typing_test(node):
            if not all(isinstance(n, (ast.Import, ast.ImportFrom, ast.Pass)) for n in node.body):
                continue  # definitions for type checkers
            gone.update(range(first, last + 1))
    body = "\n".join(line for k, line in enumerate(lines) if k not in gone).strip("\n")
    return doc, body


def exported(node: ast.stmt) -> list[str] | None:
    """The names of an `__all__`."""
    if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
        return [str(n.value) for n in ast.walk(node.value) if isinstance(n, ast.Constant)]
    return None


def tops(editor: Editor) -> dict[str, str]:
    """What each top-level name of a part is: an import, by its statement, or its own."""
    found = {}
    top = editor.module.top
    for name in top.bound:
        if name in top.imports:
            new = editor.local_names.get((id(top), name), name)
            b = top.imports[name]
            if not new or editor.own(b.module):
                continue
            found[new] = f"{editor.table.moves.get(b.module, b.module)} {editor.final(b.module, b.name)}"
        else:
            found[editor.table.renames.get((editor.module.name, name), name)] = f"own {editor.module.name}"
    return found


def merged(new: str, editors: list[Editor], table: Table) -> str:
    names: dict[str, str] = {}
    for editor in editors:
        for name, what in tops(editor).items():
            if name == "__all__":
                continue
            if name in names and names[name] != what:
                faults.append(f"{new}: {name} is {names.get(name)}, and {what}")
            names[name] = what
    for editor in editors:
        for name in editor.module.top.uses:
            if name.startswith("builtin ") and names.get(name[8:], "").startswith("own"):
                faults.append(
                    f"{new}: {editor.module.name} uses the builtin {name[8:]}, but there is {names[name[8:]]}"
                )
    pool = [p for e in editors for p in e.pool if not p.startswith("from __future__")]
    typing_pool = [p for e in editors for p in e.typing_pool if p not in pool]
    if typing_pool:
        pool.append("from typing import TYPE_CHECKING")
    docs, bodies = zip(*(split_part(e, e.text()) for e in editors), strict=True)
    head = table.heads.get(new) or docs[0]
    head += "\n" if "\n" in head else ""
    if new not in table.heads:
        faults.append(f"{new}: no head")
    out = [f'"""{head}"""', "", "from __future__ import annotations", "", *gathered(list(dict.fromkeys(pool)))]
    if typing_pool:
        out += ["", "if TYPE_CHECKING:", *(f"    {line}" for line in gathered(list(dict.fromkeys(typing_pool))))]
    listed = {name for e in editors for node in ast.parse(e.text()).body for name in exported(node) or ()}
    if any(not names.get(name, "own").startswith("own") for name in listed):  # what this module passes on
        out += ["", f"__all__ = {sorted(listed)!r}"]
    for k, (doc, body) in enumerate(zip(docs, bodies, strict=True)):
        title = [] if k == 0 and len(editors) == 1 else section(doc)
        out += ["", "", *title, *([""] if title else []), body]
    return "\n".join(out).rstrip("\n") + "\n"


def section(doc: str) -> list[str]:
    paragraphs = [" ".join(p.split()) for p in doc.strip().split("\n\n")]
    lines = [f"# ---- {line}" if not k else f"# {line}" for k, line in enumerate(textwrap.wrap(paragraphs[0], 112))]
    for paragraph in paragraphs[1:]:
        lines += ["#", *(f"# {line}" for line in textwrap.wrap(paragraph, 118))]
    return lines


# ---- paths in prose --------------------------------------------------------------------------------------------------


def prose(table: Table, modules: dict[str, Module], new_path: dict[str, str]) -> None:
    """Paths and dotted names in comments and pages."""
    pairs: list[tuple[str, str]] = []
    for old, new in table.moves.items():
        if old.startswith("/") or old == new:
            continue
        before = str(modules[old].path.relative_to(ROOT))
        after = new_path[new]
        if before == after:
            continue
        pairs.append((before, after))
        if before.startswith("bitblas/") and before.count("/") > 1:
            pairs.append((before[8:], after.removeprefix("bitblas/")))
        pairs.append((old, new))
    pairs.sort(key=lambda pair: -len(pair[0]))
    if not pairs:
        return
    pattern = re.compile(r"(?<![\w./-])(" + "|".join(re.escape(p) for p, _ in pairs) + r")(?![\w/-])(?!\.\w)")
    found = dict(pairs)
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    kinds = (".py", ".md", ".cu", ".cuh", ".toml", ".yml", ".ll", ".pyi", "")
    for name in {*listed, *new_path.values()}:
        path = ROOT / name
        if name.startswith(("tools/", "CHANGELOG")) or not path.is_file() or path.suffix not in kinds:
            continue
        text = path.read_text()
        done = pattern.sub(lambda m: found[m[1]], text)
        if done != text:
            path.write_text(done)


WIDTH = 120


def wrapped(text: str) -> str:
    """The text of a module, its comments and docstrings rewrapped if a line is too long."""
    lines = text.split("\n")
    spans = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and ast.get_docstring(
            node
        ):
            spans.append((node.body[0].lineno - 1, node.body[0].end_lineno - 1))  # type: ignore
    for first, last in sorted(spans, reverse=True):
        if all(len(line) <= WIDTH for line in lines[first : last + 1]):
            continue
        indent = " " * (len(lines[first]) - len(lines[first].lstrip()))
        block = lines[first : last + 1]
        out: list[str] = []
        k = 0
        while k < len(block):
            if len(block[k]) <= WIDTH:
                out.append(block[k])
                k += 1
                continue
            own = indent if k == 0 else " " * (len(block[k]) - len(block[k].lstrip()))
            end = k + 1  # the rest of the paragraph flows with it
            while end < len(block) and plain_prose(block[end], own) and plain_prose(block[k], own):
                end += 1
            out += textwrap.wrap(
                " ".join(line.strip() for line in block[k:end]),
                WIDTH,
                initial_indent=own,
                subsequent_indent=own,
                break_long_words=False,
                break_on_hyphens=False,
            )
            k = end
        lines[first : last + 1] = out
    k = 0
    while k < len(lines):
        line = lines[k]
        if len(line) > WIDTH and line.lstrip().startswith("# ") and "fmt:" not in line:
            own = " " * (len(line) - len(line.lstrip())) + "# "
            end = k + 1
            while end < len(lines) and lines[end].startswith(own) and plain_prose(lines[end][len(own) :], ""):
                end += 1
            new = textwrap.wrap(
                " ".join(part.strip()[1:].strip() for part in lines[k:end]),
                WIDTH,
                initial_indent=own,
                subsequent_indent=own,
                break_long_words=False,
                break_on_hyphens=False,
            )
            lines[k:end] = new
            k += len(new)
        else:
            k += 1
    return "\n".join(lines)


def plain_prose(line: str, indent: str) -> bool:
    """Whether a line of a docstring continues a paragraph."""
    rest = line[len(indent) :]
    return bool(rest.strip()) and line.startswith(indent) and not re.match(r"\s|[-*|>]|\d+\.|----|\"\"\"", rest)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("table", type=Path)
    parser.add_argument("--check", action="store_true", help="report only")
    options = parser.parse_args()
    if sys.version_info < (3, 12):
        sys.exit("needs Python 3.12")
    modules = load()
    table = read_table(options.table, modules)
    project = Project(modules, table)
    library = {new for new in table.groups if not new.startswith("/")}
    folders = {str(p.parent.relative_to(ROOT)).replace("/", ".") for p in others(table)}
    new_packages = {new for new in library if any(other.startswith(f"{new}.") for other in library) or new in folders}
    editors = {}
    for name, module in modules.items():
        editors[name] = Editor(project, module, new_packages)
        editors[name].run()
    texts: dict[str, str] = {}
    new_path: dict[str, str] = {}
    for new, parts in table.groups.items():
        if new.startswith("/"):
            texts[new[1:]] = editors[parts[0]].text()
            continue
        path = new.replace(".", "/") + ("/__init__.py" if new in new_packages else ".py")
        path = path.replace(*reversed(TOY))
        new_path[new] = path
        group = [editors[p] for p in in_order(parts, modules, project)]
        texts[path] = merged(new, group, table) if len(parts) > 1 else group[0].text()
    for note in sorted(set(notes)):
        print("note:", note)
    for fault in sorted(set(faults)):
        print("FAULT:", fault)
    if faults or options.check:
        sys.exit(bool(faults))
    write(table, modules, texts, new_path)
    prose(table, modules, new_path)
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for path in (ROOT / name for name in listed.split() if not name.startswith("tools/")):
        text = path.read_text()
        if any(len(line) > WIDTH for line in text.split("\n")) and (done := wrapped(text)) != text:
            path.write_text(done)


def others(table: Table) -> list[Path]:
    """Files of the library that are no modules, where they will be."""
    listed = subprocess.run(["git", "ls-files", *PACKAGES], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found = [ROOT / text for text in listed.split() if not text.endswith(".py") or text.endswith(".cpu.py")]
    return [ROOT / moved_file(table, str(p.relative_to(ROOT))) for p in found]


def moved_file(table: Table, text: str) -> str:
    """Where a file that is no module goes: with the package of its folder."""
    folder, _, name = text.rpartition("/")
    dotted = folder.replace("/", ".")
    new = table.moves.get(dotted, dotted)
    return f"{new.replace('.', '/')}/{name}"


def write(table: Table, modules: dict[str, Module], texts: dict[str, str], new_path: dict[str, str]) -> None:
    listed = subprocess.run(["git", "ls-files", *PACKAGES], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for text in listed.split():
        target = moved_file(table, text)
        if (not text.endswith(".py") or text.endswith(".cpu.py")) and target != text:
            (ROOT / target).parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["git", "mv", text, target], cwd=ROOT, check=True)
            if f"{text}" in texts:
                texts[target] = texts.pop(text)
    for new, parts in table.groups.items():
        if new.startswith("/"):
            continue
        first = str(modules[parts[0]].path.relative_to(ROOT))
        if first != new_path[new] and not (ROOT / new_path[new]).exists():
            (ROOT / new_path[new]).parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["git", "mv", first, new_path[new]], cwd=ROOT, check=True)
    kept = set(new_path.values())
    for name, module in modules.items():
        old = str(module.path.relative_to(ROOT))
        if not name.startswith("/") and old not in kept and (ROOT / old).exists():
            subprocess.run(["git", "rm", "-q", "-f", old], cwd=ROOT, check=True)
    for path, text in texts.items():
        target = ROOT / path
        if not target.exists() or target.read_text() != text:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
    subprocess.run(["git", "add", "-A", *PACKAGES], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
