"""Save user-defined operators as CUDA C++ on a machine with Numba, so that a GPU without Numba can run them:

    python tests/udf_texts.py        writes tests/data/udf.json

For each type the functions of udf_functions.py in CUDA C++, operands, and Python's results.
"""

from __future__ import annotations

import base64
import json
import platform
from pathlib import Path

import numpy as np

from semirings.dtypes import FP64, INT8

SAVED = Path(__file__).parent / "data" / "udf.json"


def packed(array):
    return {"dtype": array.dtype.name, "data": base64.b64encode(array.tobytes()).decode()}


def unpacked(saved):
    return np.frombuffer(base64.b64decode(saved["data"]), saved["dtype"])


def pairs(t):
    """Operands of every kind, each with each."""
    if t.kind == "f":
        ends = [0.0, -0.0, 1.0, 2.0, -3.5, 1e6, -1e-3, 7.25, np.nan, np.inf, -np.inf]
    else:
        ends = [x for x in (0, 1, 2, 3, 5, 7, 50, 100, -1, -3, -100) if t.lowest <= x <= t.highest]
    ends = np.array(ends).astype(t.np_type)
    return np.repeat(ends, len(ends)), np.tile(ends, len(ends))


def made_by():
    import numba

    return f"Python {platform.python_version_tuple()[1]}, Numba {numba.__version__}"


def generate():
    from udf_functions import text_for

    types = {}
    for t in (INT8, FP64):
        text, named = text_for(t)
        head, library = heads()
        assert text.startswith(head) and library in text
        x, y = pairs(t)
        want = {name: packed(np.array([op.evaluate(t, x=a, y=b) for a, b in zip(x, y)])) for name, op in named.items()}
        types[t.name] = {
            "text": text[len(head) :].replace(library, "").splitlines(),
            "x": packed(x),
            "y": packed(y),
            "want": want,
        }
    return {"made by": made_by(), "types": types}


def heads():
    """The common parts of all texts, which are not saved: the kernels' head and the operators' library."""
    from bitblas.device import jit

    head = (jit.PACKAGE / "kernels" / "base.cuh").read_text() + (jit.ALGEBRA / "functions.cuh").read_text()
    return head, f"#ifndef UDF_CUH\n#define UDF_CUH\n{(jit.ALGEBRA / 'udf.cuh').read_text()}#endif\n"


if __name__ == "__main__":
    with np.errstate(all="ignore"):
        SAVED.write_text(json.dumps(generate(), indent=1) + "\n")
