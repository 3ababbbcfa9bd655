"""NetworkX backend metadata: plain data that NetworkX reads during its own import.

It is a separate package because `import networkx` must import neither bitblas nor any other module.
"""
