"""What NetworkX hears of a graph or an argument that bitblas leaves to it."""


class Refused(NotImplementedError):  # the class that NetworkX's dispatch catches, to run its own function
    """bitblas does not answer this; NetworkX does. The message says why, and `logging` tells it once."""
