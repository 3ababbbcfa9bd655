"""Memory estimates: raise OutOfMemory before an algorithm allocates arrays that do not fit.

GraphBLAS statements predict their own memory. Arrays that algorithms use between statements (degrees, entry lists,
sorted scores) are estimated in bytes per vertex and per matrix entry (the argument `arrays` of the decorator
`algorithm`): slightly below the peaks measured on the CPU for graphs of 500 to 4000 vertices and up to 24 000 entries.
Arrays whose size depends on an intermediate result are checked with `check_memory` when that size is known.
"""


def check_memory(A, what, nbytes):
    """Raise bitblas's OutOfMemory if arrays of `nbytes` do not fit on the device of A. No check on python-graphblas."""
    foresee = getattr(getattr(A, "device", None), "foresee", None)
    if foresee is not None:
        foresee(what, int(nbytes))


def check_default_memory(gb, what, nbytes):
    """`check_memory` for the default device of new objects."""
    get = getattr(getattr(gb, "device", None), "get", None)  # None: python-graphblas has no devices
    if get is not None:
        get(gb.config.device).foresee(what, int(nbytes))
