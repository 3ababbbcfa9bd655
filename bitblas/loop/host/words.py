"""Text of expressions on 64-bit words of positions: `inside` is the mask of existing positions, ZERO has none."""

from __future__ import annotations

from collections.abc import Sequence

Lines = list[str]


def indented(lines: Sequence[str]) -> Lines:
    return [f"    {line}" for line in lines]


def both(*words: str) -> str:
    """The intersection of words; `inside` is the mask of existing positions."""
    kept = [w for w in dict.fromkeys(words) if w != "inside"]
    return "ZERO" if "ZERO" in kept else "inside" if not kept else f"({' & '.join(kept)})" if kept[1:] else kept[0]


def either(*words: str) -> str:
    kept = [w for w in dict.fromkeys(words) if w != "ZERO"]
    return "inside" if "inside" in kept else "ZERO" if not kept else f"({' | '.join(kept)})" if kept[1:] else kept[0]


def outside(word: str) -> str:
    return {"inside": "ZERO", "ZERO": "inside"}.get(word, f"(inside & ~{word})")
