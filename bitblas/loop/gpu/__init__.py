"""The GPU's back end of the loop compiler: memory is bound, launches are captured, and run."""
