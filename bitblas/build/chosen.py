"""Convert a matrix in use to the format that the planner chooses."""

from __future__ import annotations

import threading
import weakref

from ..device.forks import held_over_forks
from ..exceptions import OutOfMemory
from ..plan import choice as plan_choice
from ..store import MatrixStore
from . import stores

_choosing = held_over_forks(threading.Lock())


def in_chosen_form(A: MatrixStore, *, now: bool = False) -> MatrixStore:
    """The same matrix in the format that the planner chooses, once reads have amortized it, or (`now`) at once.
    Unchanged while another thread searches. Matrices that share the structure share the search and its result."""
    if not _choosing.acquire(blocking=now):
        return A
    try:
        key = plan_choice.due(A.structure, A.iso, now=now)
        if key == A.structure.primary.key:
            return A
        choice = plan_choice.choice_of(A.structure, A.iso)
        made = None if choice.made is None else choice.made()
        if made is None:
            try:
                B = stores.in_form(A, key)
            except OutOfMemory:
                plan_choice.give_up(A.structure, A.iso)
                return A
            choice.made = weakref.ref(B.structure)
            return B
        return MatrixStore(made, A.dtype, A.raw_for(key, False)).tagged(A.order)
    finally:
        _choosing.release()
