"""Names of an edge list: numbered by kernels as by a dictionary, and refused with their line."""

import io

import pytest

from bitblas.exceptions import InvalidValue
from bitblas.io import edgelist_parser, read_edgelist


def read(text, **options):
    return read_edgelist(io.BytesIO(text.encode()), **options)


def entries(A):
    return {(i, j): x for i, j, x in zip(*(part.tolist() for part in A.to_coo()))}


LONG = "a name of more than sixteen letters"
WORDS = {  # texts that the kernels read, or leave to the reader of lines, and how
    "blanks": ("".join(f"v{k * k % 97} \t w{k % 31}\n" for k in range(400)), {}),
    "long": (
        f"{LONG}\t{LONG}.\n\n{LONG[:16]}\t{LONG[:8]}\n{LONG}\tZürich\n Zürich \t{LONG[:17]}\r\n",
        {"delimiter": "\t"},
    ),
    "weights": ("a,b c,1\nb c,a,+2\nc,c,-3e2\n", {"delimiter": ","}),
    "decimal commas": ("a;b c;1,5\nb c;a;+2\nc;c;-3,25e2\n", {"delimiter": ";", "decimal": ","}),
    "third column": ("a b x\nc a y\n", {"weights": False}),
    "zeros": ("a\0,a\na,a\0\0\nb,a\0\n", {"delimiter": ","}),
    "quotes": ('a,"b, c"\nd,a\n', {"delimiter": ","}),
    "blanks of Unicode": ("a\u2003b\nb\u00a0c\n", {}),
}


@pytest.mark.parametrize("case", WORDS)
def test_names_by_kernels(case, tune):
    """The table of names, and the dictionary of a small file, number alike; also in blocks, the first of them small."""
    text, options = WORDS[case]
    expected = read(text, labels=True, **options)
    tune({"labels.kernel_bytes": 0, "labels.launch_words": 64})
    found = read(text, labels=True, **options)
    assert found.labels == expected.labels and found.matrix.isequal(expected.matrix, check_dtype=True)
    tune({"labels.kernel_bytes": 20})
    decimal = options.get("decimal", ".")
    layout = edgelist_parser.EdgeListOptions(
        options.get("delimiter"), False, True, options.get("weights"), decimal=decimal
    )
    reader = edgelist_parser.Reader("text", layout, 0, None)
    for line in text.encode().splitlines(keepends=True):
        reader.feed(line)
    rows, cols, _ = reader.finish()
    assert reader.labels == expected.labels
    assert set(zip(rows.tolist(), cols.tolist())) == set(entries(expected.matrix))


@pytest.mark.parametrize("text", ["a b\nc\n", "a b\nc d e\n", "a,b\nc,\n", "a b 1\nb c x\n", "a b 1\nb c 1_0\n"])
def test_what_kernels_refuse_has_its_line(text, tune):
    tune({"labels.kernel_bytes": 0})
    with pytest.raises(InvalidValue, match="line 2"):
        read(text, labels=True, delimiter="," if "," in text else None)
