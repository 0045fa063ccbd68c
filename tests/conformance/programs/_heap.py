"""libstdc++'s push_heap and pop_heap, with lt(a, b) saying that a is less than b."""


def _up(h, i, x, lt):
    while i > 0:
        p = (i - 1) // 2
        if not lt(h[p], x):
            break
        h[i] = h[p]
        i = p
    h[i] = x


def push(h, x, lt):
    h.append(x)
    _up(h, len(h) - 1, x, lt)


def pop(h, lt):
    top, x = h[0], h.pop()
    n = len(h)
    if n == 0:
        return top
    i = c = 0
    while c < (n - 1) // 2:
        c = 2 * (c + 1)
        if lt(h[c], h[c - 1]):
            c -= 1
        h[i] = h[c]
        i = c
    if n % 2 == 0 and c == (n - 2) // 2:
        c = 2 * (c + 1)
        h[i] = h[c - 1]
        i = c - 1
    _up(h, i, x, lt)
    return top
