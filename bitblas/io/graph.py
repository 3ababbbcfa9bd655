"""What a file of edges holds: a matrix, and the names of its vertices where the file has names."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..exceptions import InvalidValue


class Graph(NamedTuple):
    """matrix: the square Matrix; labels: labels[k] is the name of vertex k, None where the file numbers them."""

    matrix: Any
    labels: tuple[str, ...] | None = None

    def vertex(self, label: Any) -> int:
        """The number of a vertex, from its label or, where there are none, its number. InvalidValue for another."""
        text = str(label)
        if self.labels is not None:
            try:
                return self.labels.index(text)
            except ValueError:
                raise InvalidValue(f"expected one of the {len(self.labels)} labels of the file, got {text!r}") from None
        try:
            number = int(text)
        except ValueError:
            raise InvalidValue(f"expected the number of a vertex, got {text!r}") from None
        if not 0 <= number < self.matrix.nrows:
            raise InvalidValue(f"expected a vertex in 0..{self.matrix.nrows - 1}, got {number}")
        return number

    def label(self, vertex: int) -> str | int:
        """The name of a vertex: its label, or its number where there are none."""
        return vertex if self.labels is None else self.labels[vertex]
