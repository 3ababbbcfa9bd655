"""User-defined operators without Numba: their saved CUDA C++ computes the same as Python."""

from __future__ import annotations

import json

import numpy as np
import pytest
from udf_texts import SAVED, generate, heads, made_by, unpacked

from bitblas import device as devices
from bitblas.device import jit
from bitblas.kernels.variant import Variant

TEXTS = json.loads(SAVED.read_text())


def close(want, got, step):
    """Equal, or within 8 units in the last place of what is computed in the floating type `step`."""
    if want.dtype.kind != "f":
        return want == got
    scale = np.maximum(np.abs(want), 4.0)  # terms of this size may cancel, and a GPU's differ by some ulp
    with np.errstate(all="ignore"):
        near = np.abs(want - got) <= 8 * np.finfo(step).eps * scale
    return (want == got) | ((want != want) & (got != got)) | near


def launcher(device, text, tmp_path):
    """The kernel `evaluate` of a text on a GPU or in the emulator."""
    d = devices.get(device)
    if device == "emulator":
        from emulator import emu

        return emu.RawModule(code=text).get_function("evaluate")
    path = tmp_path / "udf.cubin"
    path.write_bytes(jit._nvrtc(text, Variant("kernels/udf"), d.arch)[0])
    return d.xp.RawModule(path=str(path)).get_function("evaluate")


@pytest.mark.parametrize("t", TEXTS["types"])
def test_saved_operators(t, device, tmp_path):
    if device == "cpu":
        pytest.skip("the CPU runs the Python function itself: test_udf.py")
    saved, d = TEXTS["types"][t], devices.get(device)
    kernel = launcher(device, "".join(heads()) + "\n".join(saved["text"]) + "\n", tmp_path)
    x, y, want = unpacked(saved["x"]), unpacked(saved["y"]), {k: unpacked(v) for k, v in saved["want"].items()}
    assert len(want) >= 22
    got = [d.xp.zeros(len(x), w.dtype) for w in want.values()]
    kernel((-(-len(x) // jit.BLOCK),), (jit.BLOCK,), (np.int64(len(x)), d.asarray(x), d.asarray(y), *got))
    # Numba takes the arctan2 of small integers in FP32, whatever the result is stored as.
    steps = {name: np.float32 if (t, name) == ("INT8", "transcendental") else w.dtype for name, w in want.items()}
    wrong = {name for (name, w), g in zip(want.items(), got) if not close(w, d.to_host(g), steps[name]).all()}
    assert wrong == set()


def test_what_is_saved_is_what_is_made():
    numba = pytest.importorskip("numba")
    if TEXTS["made by"] != made_by():
        pytest.skip(f"saved with {TEXTS['made by']}, here is Numba {numba.__version__}")
    with np.errstate(all="ignore"):
        assert told(generate()) == told(TEXTS), "run python tests/udf_texts.py"


def told(texts):
    """With numbers as text, without the sign of a NaN, which the compiler chooses."""
    read = lambda want: {name: list(map(str, unpacked(x))) for name, x in want.items()}
    return {t: saved | {"want": read(saved["want"])} for t, saved in texts["types"].items()}
