"""The verbs: from stores to stores. They ask the plan, take the form that it names, and launch kernels.

Each returns a fresh store; statements on vectors (`Into`) write into their output. `core` has checked shapes and types.
"""
