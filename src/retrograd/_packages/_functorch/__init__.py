"""torch._functorch: what libraries take from its modules."""
