"""torch.compile: a call recorded once and replayed.

    state    which Python values a function reaches, and whether they are still the same
    trace    one eager call as a list of array functions over values
    lower    what a node's forward and rules are, as array functions, elementwise ones as single operations
    effects  what writes tensors and their .grad
    outputs  what a call returns
    plan     the list without what nobody needs, and how it is executed
    run      the callable that torch.compile gives: guards, plans, falling back to eager
"""
