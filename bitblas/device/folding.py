"""Constant folding of Python source: substitute constants for names and remove branches that are never taken."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:

    class Number(ast.Constant):
        """A constant integer or truth value."""

        value: int


Expr = ast.expr
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1

_BINARY: dict[type, Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
    ast.LShift: operator.lshift, ast.RShift: operator.rshift,
}  # fmt: skip
_COMPARE: dict[type, Callable[[int, int], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}  # fmt: skip


def _constant(node: ast.AST | None) -> TypeGuard[Number]:
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def module_statements(body: Iterable[ast.stmt], constants: dict[str, int]) -> Iterable[ast.stmt]:
    """The reachable statements of a module; names of integers are added to `constants`."""
    for node in body:
        node = Fold(constants, None).visit(node) if not isinstance(node, ast.FunctionDef) else node
        if isinstance(node, list):
            yield from module_statements(node, constants)
            continue
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
            pairs = [(target, value)]
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                pairs = list(zip(target.elts, value.elts))
            for left, right in pairs:
                if isinstance(left, ast.Name) and _constant(right):
                    constants[left.id] = int(right.value)
        if node is not None:
            yield node


def assigned(nodes: Iterable[ast.AST]) -> set[str]:
    return {n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _boolean(node: Expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    return isinstance(node, ast.Compare) or (isinstance(node, ast.Constant) and isinstance(node.value, bool))


class Fold(ast.NodeTransformer):
    """Substitute constants for their names and fold the resulting expressions and branches."""

    def __init__(self, constants: dict[str, int], function: ast.FunctionDef | None) -> None:
        local = set() if function is None else {a.arg for a in function.args.args} | assigned(function.body)
        self.constants = {n: v for n, v in constants.items() if n not in local}

    def function(self, function: ast.FunctionDef) -> None:
        function.body = self.block(function.body) or [ast.Pass()]

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for node in body:
            found = self.visit(node)
            out += found if isinstance(found, list) else [] if found is None else [found]
            if out and isinstance(out[-1], (ast.Return, ast.Continue, ast.Break)):
                break
        return out

    def visit_Name(self, node: ast.Name) -> Expr:
        if isinstance(node.ctx, ast.Load) and node.id in self.constants:
            return ast.Constant(self.constants[node.id])
        return node

    def visit_BinOp(self, node: ast.BinOp) -> Expr:
        self.generic_visit(node)
        found = _BINARY.get(type(node.op))
        if found is not None and _constant(node.left) and _constant(node.right):
            left, right = int(node.left.value), int(node.right.value)
            shift = isinstance(node.op, (ast.LShift, ast.RShift))
            if not (shift and not 0 <= right < 64) and not (isinstance(node.op, (ast.Mod, ast.FloorDiv)) and not right):
                if _LEAST <= (value := found(left, right)) <= _MOST:
                    return ast.Constant(value)
        return node

    def visit_Compare(self, node: ast.Compare) -> Expr:
        self.generic_visit(node)
        found = _COMPARE.get(type(node.ops[0]))
        if found is not None and len(node.ops) == 1 and _constant(node.left) and _constant(node.comparators[0]):
            return ast.Constant(found(node.left.value, node.comparators[0].value))
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Expr:
        self.generic_visit(node)
        if _constant(node.operand) and isinstance(node.op, ast.Not):
            return ast.Constant(not node.operand.value)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> Expr:
        self.generic_visit(node)
        return self.joined(node, truth=False)

    def joined(self, node: ast.BoolOp, truth: bool) -> Expr:
        """Simplify `and` and `or` with constant operands. truth: only the truth value of the result matters."""
        decides = isinstance(node.op, ast.Or)  # the truth value that short-circuits
        kept: list[Expr] = []
        for value in node.values:
            plain = truth or all(map(_boolean, kept))
            if not isinstance(value, ast.Constant) or not _constant(value):
                kept.append(value)
            elif bool(value.value) is decides:
                kept = [value] if plain else [*kept, value]
                break
            elif value is node.values[-1] and not (plain and kept):
                kept.append(value)
        return kept[0] if len(kept) == 1 else ast.BoolOp(node.op, kept)

    def test(self, node: Expr) -> Expr:
        found: Expr = self.visit(node)
        return self.joined(found, truth=True) if isinstance(found, ast.BoolOp) else found

    def visit_IfExp(self, node: ast.IfExp) -> Expr:
        node.test = self.test(node.test)
        if _constant(node.test):
            chosen: Expr = self.visit(node.body if node.test.value else node.orelse)
            return chosen
        node.body, node.orelse = self.visit(node.body), self.visit(node.orelse)
        return node

    def visit_If(self, node: ast.If) -> Any:
        node.test = self.test(node.test)
        if _constant(node.test):
            return self.block(node.body if node.test.value else node.orelse)
        node.body, node.orelse = self.block(node.body) or [ast.Pass()], self.block(node.orelse)
        return node

    def visit_While(self, node: ast.While) -> Any:
        node.test = self.test(node.test)
        if _constant(node.test) and not node.test.value:
            return []
        node.body = self.block(node.body) or [ast.Pass()]
        return node

    def visit_For(self, node: ast.For) -> Any:
        node.iter = self.visit(node.iter)
        node.body = self.block(node.body) or [ast.Pass()]
        return node
