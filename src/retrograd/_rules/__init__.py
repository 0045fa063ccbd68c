"""One class per op, beside the function that calls it; rules are made of ops."""
