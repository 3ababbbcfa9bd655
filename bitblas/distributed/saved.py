"""placeholder"""
class MatrixFiles:
    __slots__ = ()
