"""Views in the texts of CPU kernels become plain arguments; files with several CUDA kernels give each its own text."""

from __future__ import annotations

import re
from pathlib import Path

import bitblas
from bitblas.device import jit
from bitblas.device.jit import without_views

PACKAGE = Path(bitblas.__file__).parent


def test_views_become_plain_arguments():
    text = (
        "@njit(**KERNEL)\ndef push(lo, hi, a: Values, mask: MaskView, to: Epilogue, scale):\n"
        "    put(to.t.bits, a.values[lo], mask.invert)  # a, a.iso\n    return f(a, scale) + other.a + at(a_iso)\n\n\n"
        "@njit(**FUNCTION)\ndef f(a, scale):\n    return a.values\n"
    )
    found = without_views(text)
    assert "def push(lo, hi, a_values, a_iso, a_stride, mask_bits, mask_stride, mask_invert, to_w_bits," in found
    assert "put(to_t_bits, a_values[lo], mask_invert)" in found
    assert "return f(a_values, a_iso, a_stride, scale) + other.a + at(a_iso)" in found
    assert found.endswith("def f(a, scale):\n    return a.values\n")  # no view there


def test_a_text_without_views_stays():
    text = "@njit(**FUNCTION)\ndef f(a, b):\n    return a.values\n"
    assert without_views(text) is text


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
