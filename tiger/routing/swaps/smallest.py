"""Selection of the smallest keys, compiled."""

from tiger.model.arrays import FloatArray
from tiger.routing.coupling import IndexArray
from tiger.solvers.kernel import inner_kernel


@inner_kernel
def select(keys: FloatArray, order: IndexArray, count: int, most: int) -> None:
    """Bring the `most` smallest of `count` keys to the front, with what goes with them; O(count) on average."""
    # Quickselect (Hoare 1961): only the side that holds the border is partitioned further.
    low, high = 0, count - 1
    while low < high and most <= high:
        pivot = keys[(low + high) // 2]
        i, j = low, high
        while i <= j:
            # Hoare's partition around the key in the middle.
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if most <= j:
            high = j
        elif most >= i:
            low = i
        else:
            return
