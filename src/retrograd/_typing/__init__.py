"""For type checkers and editors: names that are made at import.  Nothing here runs.

Written by `python tools/make_stubs.py`.
"""
