"""Random programs on bitblas and on python-graphblas, compared after every statement.

    python -m fuzz --minutes 5 --seed 1        (make fuzz MINUTES=5 SEED=1)
    python -m fuzz --seed 1 --one 372          that program alone, each statement printed

program.py      a program as data, and its text
palette.py      the types, operators and formats that programs share, because each pair is a kernel to compile
generate.py     random objects, expressions by shape, statements, and programs of them: the same ones for a seed
user_types.py   user-defined types, and functions of their values
run.py          a program on both libraries, statement by statement
compare.py      what two libraries can agree on
shrink.py       the smallest program that still differs in the same way
excluded.py     statements that the oracle runs in other words, and what is not compared, each with its reason
__main__.py     the command, with counts of the parts of the programs of a run
"""
