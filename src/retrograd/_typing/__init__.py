"""For type checkers and editors: names that are made at import.  Nothing here runs.

Written by `make generate`.
"""
