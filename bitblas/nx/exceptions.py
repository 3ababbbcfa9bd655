"""The exception that sends a call back to NetworkX when bitblas does not support a graph or an argument."""


class Refused(NotImplementedError):  # NetworkX's dispatch catches this base class and runs its own function
    """bitblas does not support this call; NetworkX runs it. The message gives the reason and is logged once."""
