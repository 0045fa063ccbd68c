"""Random programs, run on retrograd and on PyTorch and compared statement by statement.

    python -m random_programs views --minutes 30      from the folder tests: as long as you like, differences made small
    tests/test_random_programs.py                     a few hundred of each kind

A kind of program is a module here with `program(rng) -> list[str]`: statements that name the engine `torch`, equal for equal
states of `rng`, and `KNOWN`: differences that are wanted, each a regular expression for the report and its reason.
"""
