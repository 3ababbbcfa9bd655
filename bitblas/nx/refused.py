"""The exception that sends a call back to NetworkX when bitblas does not support a graph or an argument."""


class Refused(NotImplementedError):  # the class that NetworkX's dispatch catches, to run its own function
    """bitblas does not answer this; NetworkX does. The message says why, and `logging` tells it once."""
