"""torch.compile: a call recorded once and replayed.

    reach      which Python values a function reaches
    guards     whether they are still the same
    arguments  what of the arguments must be the same
    mood       the modes under which a call runs
    book       what is known of the arrays of a call
    calls      which public functions a plan may hold
    passes     backward passes as entries
    callouts   entries that call hooks
    hooked     where a recorded call calls hooks
    looks      conditions that Python branches on
    trace      one eager call as a list of array functions over values
    whole      a public function as one entry, with its part of the graph
    graph      the node of results that can still be differentiated, whose backward pass is a plan
    lower      what a node's forward and rules are, as array functions, elementwise ones as single operations
    effects    what writes tensors and their .grad
    past       nodes of results whose graph was used up
    outputs    what a call returns
    small      operations on few elements, and where what they give lies
    code       runs of operations, and the program in C
    steps      entries made ready for execution
    plan       the list without what nobody needs, and how it is executed
    variant    a plan, and when it may be used
    writes     what a call may write, kept and put back
    wrapper    what users ask of a compiled function
    track      calls of public functions that are compared, and their plan
    promises   tensors that are not computed yet
    verified   the callable that torch.compile gives: Python runs
    stance     torch.compiler.set_stance
    backends   names that torch.compile takes
    run        the one that skips Python: finding plans, recording, checking, falling back to eager
"""
