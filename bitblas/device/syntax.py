"""Parse Python source, in one thread at a time."""

import ast
import threading

# CPython 3.11 counts the depth of `ast.parse` per interpreter: if garbage collection switches to another thread that
# parses too, both raise SystemError "AST constructor recursion depth mismatch".
_one_at_a_time = threading.RLock()


def statements(text: str) -> list[ast.stmt]:
    with _one_at_a_time:
        return ast.parse(text).body
