"""CUDA C++ types of records, tuples and sub-arrays: structs and fixed-size arrays (see udf.cuh)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .dtypes import DataType, lookup_dtype
from .errors import UdfParseError
from .expressions import include_guarded
from .user_types import FIELD, FIRST, UserType


@dataclass(frozen=True)
class Fixed:
    """A sub-array: numbers of one type in row-major order."""

    base: DataType
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def c_type(self) -> str:
        return f"Fixed<{self.base.c_type}, {self.size}>"


@dataclass(frozen=True)
class Fields:
    """A record, or a tuple (without names): a struct with members f0, f1, ..."""

    kinds: tuple[Kind, ...]
    names: tuple[str, ...] = ()

    @property
    def c_type(self) -> str:
        return f"Fields_{_digest(self.members)}"

    @property
    def members(self) -> str:
        return " ".join(f"{kind.c_type} f{k};" for k, kind in enumerate(self.kinds))


Kind = DataType | Fixed | Fields


def _digest(text: str) -> str:
    import hashlib  # imported late: loads OpenSSL, 5 ms

    return hashlib.sha256(text.encode()).hexdigest()[:12]


def kind_of(t: DataType) -> Kind:
    """The CUDA C++ kind of a type. UdfParseError if there is none."""
    return of_numpy(t.record, t) if isinstance(t, UserType) else t


def of_numpy(dtype: np.dtype, of: object = "") -> Kind:
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        found = of_numpy(base, of)
        if isinstance(found, DataType):
            return Fixed(found, shape)
    elif dtype.names is not None:
        return Fields(tuple(of_numpy(dtype[name], of) for name in dtype.names), dtype.names)
    elif dtype.kind in "biuf" and dtype.isnative and dtype.itemsize in (1, 2, 4, 8) and dtype != np.float16:
        return lookup_dtype(dtype)
    raise UdfParseError(f"{of}: values of {dtype} are not supported on a GPU; functions of them run on the CPU only")


def definitions(kind: Kind) -> str:
    """The struct definitions of a kind, include-guarded."""
    if not isinstance(kind, Fields):
        return ""
    inner = "".join(map(definitions, kind.kinds))
    return inner + include_guarded(kind.c_type.upper(), f"struct {kind.c_type} {{ {kind.members} }};\n")


def _leaves(kind: Kind, path: str, offset: int) -> Iterator[tuple[str, int, int]]:
    """Each part of a packed value: path, byte offset, and size in bytes."""
    if isinstance(kind, Fields):
        for k, inner in enumerate(kind.kinds):
            for leaf in _leaves(inner, f"{path}.f{k}", offset):
                yield leaf
            offset = leaf[1] + leaf[2]
    elif isinstance(kind, Fixed):
        yield path, offset, kind.base.nbytes * kind.size
    else:
        yield path, offset, kind.nbytes


def word_of(t: DataType) -> int:
    """Bytes of the widest word that divides all parts of a packed value; tables are read in such words."""
    if not isinstance(t, UserType):
        return t.nbytes
    leaves, sizes = list(_leaves(kind_of(t), "", 0)), []
    for _, offset, size in leaves:
        sizes += [offset, size]
    return math.gcd(8, *sizes)


def packing(name: str, t: DataType) -> str:
    """CUDA C++ for values of a type: `name_T`, the value; `name_N`, what is stored for one; `name_at(numbers, table,
    k)` reads one; `name_write(words, value)` writes one packed, as name_WORDS words `name_W`.
    """
    if not isinstance(t, UserType):
        return _of_number(name, t.c_type)
    kind, word = kind_of(t), word_of(t)
    words, count = f"u{8 * word}", t._packed[FIELD].itemsize // word
    parts = [(path, offset, size) for path, offset, size in _leaves(kind, "", 0)]
    read = " ".join(f"copy_bytes(&x{path}, (const char*)w + {offset}, {size});" for path, offset, size in parts)
    write = " ".join(f"copy_bytes((char*)w + {offset}, &x{path}, {size});" for path, offset, size in parts)
    return (
        f"{definitions(kind)}typedef {kind.c_type} {name}_T;\ntypedef {words} {name}_W;\n"
        f"typedef i64 {name}_N;\n"
        f"__device__ __forceinline__ {name}_T {name}_at(const i64* numbers, const {words}* table, i64 k) {{\n"
        f"  const i64 number = numbers[k];\n"
        f"  const {words}* p = table + (number == 0 ? 0 : number - {FIRST}ll) * {count};\n"
        f"  {words} w[{count}];\n  for (int j = 0; j < {count}; ++j) w[j] = p[j];\n"
        f"  {name}_T x = {{}};\n  {read}\n  return x;\n}}\n"
        f"__device__ __forceinline__ void {name}_write({words}* p, {name}_T x) {{\n"
        f"  {words} w[{count}] = {{}};\n  {write}\n  for (int k = 0; k < {count}; ++k) p[k] = w[k];\n}}\n"
        f"#define {name}_WORDS {count}\n"
    )


def _of_number(name: str, c: str) -> str:
    return (
        f"typedef {c} {name}_T, {name}_W, {name}_N;\n#define {name}_WORDS 1\n"
        f"__device__ __forceinline__ {c} {name}_at(const {c}* x, const {c}* table, i64 k) {{ return x[k]; }}\n"
        f"__device__ __forceinline__ void {name}_write({c}* p, {c} x) {{ *p = x; }}\n"
    )


def converted(text: str, source: Kind, to: Kind) -> tuple[str, str]:
    """A value converted to another kind: helper functions, and the expression. UdfParseError if the kinds do not
    match.
    """
    if source.c_type == to.c_type:
        return "", text
    if isinstance(source, DataType) and isinstance(to, DataType):
        return "", f"cast<{to.c_type}>({text})"
    if isinstance(source, Fixed) and isinstance(to, Fixed) and source.size == to.size:
        loop = f"for (int k = 0; k < {to.size}; ++k) z.at[k] = cast<{to.base.c_type}>(x.at[k]);"
        head = ""
    elif isinstance(source, Fields) and isinstance(to, (Fields, Fixed)):
        inner = to.kinds if isinstance(to, Fields) else (to.base,) * to.size
        if len(inner) != len(source.kinds) or (isinstance(to, Fixed) and len(to.shape) != 1):
            raise UdfParseError(f"a value of {len(source.kinds)} fields, expected one of {len(inner)}")
        made = [converted(f"x.f{k}", a, b) for k, (a, b) in enumerate(zip(source.kinds, inner))]
        head = "".join(part for part, _ in made)
        member = "f{}" if isinstance(to, Fields) else "at[{}]"
        loop = " ".join(f"z.{member.format(k)} = {word};" for k, (_, word) in enumerate(made))
    else:
        raise UdfParseError(f"a value of {source.c_type}, expected one of {to.c_type}")
    name = f"convert_{_digest(f'{source.c_type} {to.c_type}')}"
    z, x = to.c_type, source.c_type
    body = f"__device__ __forceinline__ {z} {name}({x} x) {{ {z} z = {{}}; {loop} return z; }}\n"
    return definitions(source) + definitions(to) + head + include_guarded(name.upper(), body), f"{name}({text})"
