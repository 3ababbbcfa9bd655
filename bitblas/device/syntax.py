"""Parse Python source, in one thread at a time."""

import ast
import threading

# One interpreter counts how deep `ast.parse` is for all of its threads: when garbage is collected on the way and
# another thread goes on, both end with SystemError "AST constructor recursion depth mismatch" (CPython 3.11).
_one_at_a_time = threading.RLock()


def statements(text: str) -> list[ast.stmt]:
    with _one_at_a_time:
        return ast.parse(text).body
