"""Growing steps and bisection over the prefixes of an order of flips.

Growing steps find a prefix that changes the class, bisection shortens it: about 1.5 log2(d) calls for d flips.
Bisection ends at a prefix that is a counterfactual while the prefix with one flip less is not. If no flip of the order
ever moves the graph back towards its own class, this is the shortest such prefix.
"""

from __future__ import annotations

from countergraph.search.protocol import Ask, Attempt, Flips, Part


def grow_and_bisect(order: Flips) -> Attempt:
    """Classify longer and longer prefixes of an order; bisect the first that is a counterfactual."""
    size = 1
    while order.size:
        if (yield Ask(order[:size])).flipped:
            return (yield from bisect(order[:size], size // 4))
        if order.size <= size:
            break
        size = next_size(size)
    return None


def next_size(size: int) -> int:
    """Return the next size of a growing prefix: 1, 5, 21, 85, ...; all odd, as a rule may depend on the parity."""
    return 4 * size + 1


def bisect(order: Flips, low: int = 0) -> Part:
    """Shorten a counterfactual to a prefix that is one, such that the prefix with one flip less is not.

    ``low`` is the size of a prefix that is known not to be a counterfactual.
    """
    high = order.size
    while high - low > 1:
        middle = (low + high) // 2
        if (yield Ask(order[:middle])).flipped:
            high = middle
        else:
            low = middle
    return order[:high]


def shorten(order: Flips) -> Part:
    """Drop flips from the end of a counterfactual: the step doubles after a success and is halved after a failure."""
    step = 1
    while order.size > step:
        if (yield Ask(order[:-step])).flipped:
            order, step = order[:-step], 2 * step
        elif step == 1:
            break
        else:
            step //= 2
    return order
