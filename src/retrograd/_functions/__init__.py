"""The documented functions of the torch namespace.  Each is the method of the same name, too.

A family module lists the names it gives the namespace in `__all__`, and those it gives Tensor in `METHODS`.
"""
