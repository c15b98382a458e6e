"""Draw rankings from their models: objects are ordered by worth plus random noise."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def drawn_orders(worths: FloatArray, taken: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw lists without ties: places (Q, m), 1 for the best; places after the first `taken` (Q,) are 0.

    The order of 2λ plus Gumbel noise follows Plackett-Luce (Yellott 1977, Journal of Mathematical Psychology 15).
    """
    utility = 2 * worths + rng.gumbel(size=worths.shape)
    places = np.argsort(np.argsort(-utility, axis=1), axis=1) + 1
    return np.where(places <= taken[:, None], places, 0)


def sets_of(size: int, orders: IntArray) -> npt.NDArray[np.bool_]:
    """Return the sets that can be chosen from m objects, of one object or of a size in `orders`, shape (number, m)."""
    chosen = [c for d in (1, *orders.tolist()) for c in itertools.combinations(range(size), d)]
    sets = np.zeros((len(chosen), size), dtype=np.bool_)
    for row, objects in zip(sets, chosen, strict=True):
        row[list(objects)] = True
    return sets


def drawn_tied(
    worths: FloatArray, taken: IntArray, deltas: FloatArray, orders: IntArray, rng: np.random.Generator
) -> IntArray:
    """Draw lists with ties: places (Q, m), of which the first `taken` (Q,) are filled, fewer if objects run out."""
    number, size = worths.shape
    sets = sets_of(size, orders)
    members = sets.sum(axis=1)
    of_order = np.append(0.0, deltas)[np.searchsorted(np.append(1, orders), members)]
    weight = 2 * worths @ (sets / members[:, None]).T + of_order
    left = np.ones((number, size), dtype=np.bool_)
    places = np.zeros((number, size), dtype=np.int64)
    for place in range(1, int(taken.max()) + 1):
        open_ = (left.astype(np.float64) @ sets.T.astype(np.float64)) == members
        utility = np.where(open_, weight + rng.gumbel(size=weight.shape), -np.inf)
        goes_on = (taken >= place) & left.any(axis=1)
        picked = sets[np.argmax(utility, axis=1)] & goes_on[:, None]
        places[picked] = place
        left &= ~picked
    return places


def drawn_extremes(worths: FloatArray, rng: np.random.Generator, *, sequential: bool) -> IntArray:
    """Draw a best and a worst object of each set: places (Q, m), 1 and 2; all other objects have 0."""
    number, size = worths.shape
    rows, places = np.arange(number), np.zeros(worths.shape, dtype=np.int64)
    if sequential:
        best = np.argmax(2 * worths + rng.gumbel(size=worths.shape), axis=1)
        utility = -2 * worths + rng.gumbel(size=worths.shape)
        utility[rows, best] = -np.inf
        worst = np.argmax(utility, axis=1)
    else:
        apart = worths[:, :, None] - worths[:, None, :]
        apart[:, np.arange(size), np.arange(size)] = -np.inf
        utility = apart.reshape(number, -1)
        best, worst = np.divmod(np.argmax(utility + rng.gumbel(size=utility.shape), axis=1), size)
    places[rows, best], places[rows, worst] = 1, 2
    return places
