"""Contracts: what gradients a model gives, kept in a file that a test compares with."""
