"""The outcomes that a judgment can have, and how predictors make them more or less probable.

Given the total of a comparison, its counts of K outcomes are multinomial. Outcome k has the log weight Σ_b L[k, b] ·
u_b, where L are the loadings and u the B predictors of the comparison. The first predictor is the signed one, λ_i − λ_j
+ δ; its sign changes if the two sides change places. The other predictors belong to outcomes that the sides share, such
as a tie.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from ..errors import JudgmentError, listed

FloatArray = npt.NDArray[np.float64]
_Terms = tuple[tuple[int, float], ...]

_BLOCK = 1 << 14  # comparisons computed at a time
_FAR = 300.0  # larger log weights are shifted, so that their exponentials do not overflow


@dataclass(frozen=True, eq=False)
class Response:
    """K outcomes of a judgment, and the loadings of B predictors on each.

    Attributes
    ----------
    outcomes : tuple of str, length K
    loadings : ndarray, shape (K, B)
        L: the log weight of outcome k is Σ_b L[k, b] · u_b.
    flip : tuple of int, length K
        The outcome that each outcome becomes if objects i and j change places.

    Raises
    ------
    JudgmentError
        For fewer than two outcomes; for names used twice; for loadings that are not finite, not of shape (K, B), or do
        not distinguish predictors; and for a flip that is not its own inverse, or that changes more than the sign of
        the signed predictors' loadings.

    Examples
    --------
    >>> THREE.outcomes, THREE.loadings.tolist()
    (('i', 'tie', 'j'), [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    >>> THREE.probabilities(np.array([[np.log(2)], [0.0]]))[0].ravel().round(4).tolist()
    [0.5714, 0.2857, 0.1429]
    """

    outcomes: tuple[str, ...]
    loadings: FloatArray
    flip: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "loadings", np.array(self.loadings, dtype=np.float64))
        _check(self)
        self.loadings.flags.writeable = False

    def __eq__(self, other: object) -> bool:
        """Whether two responses have the same outcomes with the same loadings."""
        if not isinstance(other, Response):
            return NotImplemented
        return (self.outcomes, self.flip) == (other.outcomes, other.flip) and np.array_equal(
            self.loadings, other.loadings
        )

    def __hash__(self) -> int:
        return hash((self.outcomes, self.flip))

    @functools.cached_property
    def _tied(self) -> npt.NDArray[np.bool_]:
        return np.array([outcome == "tie" for outcome in self.outcomes])

    @property
    def has_ties(self) -> bool:
        """Whether a judgment can be a tie."""
        return bool(self._tied.any())

    @property
    def tie(self) -> int | None:
        """The predictor that only the tie has; None if there is none."""
        alone = ((self.loadings != 0) == self._tied[:, None]).all(axis=0)
        return int(alone.argmax()) if self.has_ties and alone.any() else None

    @property
    def has_bad(self) -> bool:
        """Whether a judgment can be "both bad"."""
        return "bad" in self.outcomes

    @functools.cached_property
    def shared(self) -> dict[str, int]:
        """The predictors of outcomes that the sides share, by their names in a formula: ``{"tie": 1, "bad": 2}``."""
        shared = {} if self.tie is None else {"tie": self.tie}
        if self.has_bad:
            shared["bad"] = int(np.flatnonzero(self.loadings[self.outcomes.index("bad")])[0])
        return shared | {f"grade[{level}]": b for level, b in self.grades.items()}

    @functools.cached_property
    def grades(self) -> dict[str, int]:
        """The predictors of the larger grades of preference, by the suffix of their outcomes' names: ``{"+": 2}``."""
        first = {}
        for b, loading in enumerate(self.loadings.T):
            loaded = np.flatnonzero(loading)
            both = {int(loaded[0]), self.flip[loaded[0]]}
            if b and self.loadings[loaded[0], 0] > 0 and set(loaded) == both and (loading >= 0).all():
                first[self.outcomes[loaded[0]].removeprefix("i")] = b
        return first

    def tally(self, counts: FloatArray) -> FloatArray:
        """Return wins of i, undecided judgments and wins of j, shape (…, 3), from counts of outcomes (…, K).

        All grades of a win count as a win. Ties and "both bad" are undecided.
        """
        signed = self.loadings[:, 0]
        return np.asarray(counts @ np.column_stack([signed > 0, signed == 0, signed < 0]).astype(np.float64))

    @property
    def width(self) -> int:
        """Number of predictors B."""
        return int(self.loadings.shape[1])

    @functools.cached_property
    def _terms(self) -> tuple[_Terms, ...]:
        """The predictors of each outcome, with their loadings."""
        return tuple(_nonzero(row) for row in self.loadings)

    @functools.cached_property
    def _columns(self) -> tuple[_Terms, ...]:
        """The outcomes that each predictor enters, with their loadings."""
        return tuple(_nonzero(column) for column in self.loadings.T)

    @functools.cached_property
    def _products(self) -> dict[tuple[int, int], _Terms]:
        """The outcomes that both of two predictors enter, with the products of their loadings."""
        columns = enumerate(self.loadings.T)
        return {(b, c): _nonzero(x * y) for (b, x), (c, y) in itertools.combinations_with_replacement(columns, 2)}

    @functools.cached_property
    def _mirrors(self) -> tuple[int | None, ...]:
        """For each outcome, an earlier outcome whose log weight is its negative; None if there is none."""
        earlier = [np.flatnonzero((self.loadings[:k] == -row).all(axis=1)) for k, row in enumerate(self.loadings)]
        return tuple(int(mirror[0]) if len(mirror) else None for mirror in earlier)

    def log_weights(self, predictors: Sequence[FloatArray] | FloatArray) -> list[FloatArray]:
        """Return Σ_b L[k, b] · u_b of each outcome, K arrays (S,), for predictors (B, S)."""
        return [_combined(terms, predictors) for terms in self._terms]

    def probabilities(self, predictors: Sequence[FloatArray] | FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the probabilities of the outcomes, (K, S), and the log of their scale, (S,).

        Parameters
        ----------
        predictors : ndarray, shape (B, S)
            Any other shape after B is allowed, such as (B, R, S); the results then have it too.
        """
        logs = self.log_weights(predictors)
        probability = np.empty((len(logs), *np.broadcast_shapes(*(log.shape for log in logs))))
        shift = None if self._are_near(logs) else np.max(np.broadcast_arrays(*logs), axis=0)
        for k, (log, mirror) in enumerate(zip(logs, self._mirrors, strict=True)):
            if shift is not None:
                np.exp(log - shift, out=probability[k])
            elif mirror is None:
                np.exp(log, out=probability[k])
            else:  # a division costs a fifth of an exponential
                np.divide(1.0, probability[mirror], out=probability[k])
        norm = probability.sum(axis=0)
        probability /= norm
        return probability, np.log(norm) if shift is None else np.log(norm) + shift

    def _are_near(self, logs: list[FloatArray]) -> bool:
        """Whether the exponentials are far from an overflow and their sum is far from 0, which is usually true."""
        mirrored = {mirror for mirror in self._mirrors if mirror is not None}
        for k, log in enumerate(logs):
            if self._mirrors[k] is None and (np.abs(log) if k in mirrored else log).max(initial=0.0) >= _FAR:
                return False
        return bool(mirrored)

    def sums(self, values: Sequence[FloatArray] | FloatArray) -> FloatArray:
        """Return Lᵀ times values of the outcomes (K, S), shape (B, S).

        For probabilities these are the mean loadings p̄, for counts the sufficient statistics of the predictors.
        """
        return np.stack([_combined(terms, values) for terms in self._columns])

    def weight(self, probability: Sequence[FloatArray] | FloatArray, n: FloatArray | float) -> FloatArray:
        """Return the information of n judgments (S,) on the predictors, n (Lᵀ diag(p) L − p̄ p̄ᵀ), shape (B, B, S)."""
        return self._weight(probability, self.sums(probability), n)

    def _weight(
        self, probability: Sequence[FloatArray] | FloatArray, mean: FloatArray, n: FloatArray | float
    ) -> FloatArray:
        weight = np.empty((self.width, *mean.shape))
        for (b, c), terms in self._products.items():
            np.multiply(mean[b], mean[c], out=weight[b, c])
            np.subtract(_combined(terms, probability), weight[b, c], out=weight[b, c])
            weight[b, c] *= n
            if c > b:
                weight[c, b] = weight[b, c]
        return weight

    def slopes(self, probability: Sequence[FloatArray] | FloatArray) -> FloatArray:
        """Return the derivatives of the outcomes' log probabilities in the predictors, L − p̄, shape (K, B, S)."""
        return np.asarray(self.loadings[:, :, None] - self.sums(probability))

    def scores(
        self, probability: Sequence[FloatArray] | FloatArray, counts: Sequence[FloatArray] | FloatArray
    ) -> FloatArray:
        """Return the gradient of Σ y log p in the predictors for counts (K, S), shape (B, S)."""
        return self.sums(counts) - sum(counts[1:], counts[0]) * self.sums(probability)

    def information(
        self, probability: Sequence[FloatArray] | FloatArray, counts: Sequence[FloatArray] | FloatArray
    ) -> FloatArray:
        """Return minus the second derivatives of Σ y log p in the predictors for counts (K, S), shape (B, B, S)."""
        return self.weight(probability, sum(counts[1:], counts[0]))

    def contributions(
        self, predictors: Sequence[FloatArray] | FloatArray, counts: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return Σ y log p of comparisons, (…,), its gradient, (B, …), and minus its second derivatives, (B, B, …).

        Parameters
        ----------
        predictors : ndarray, shape (B, …)
        counts : ndarray, shape (K, …)
        """
        n, sums = sum(counts[1:], counts[0]), self.sums(counts)
        norm, mean, weight = self.moments(predictors, n)
        value = sum(u * total for u, total in zip(predictors, sums, strict=True)) - n * norm
        return np.asarray(value), sums - n * mean, weight

    @property
    def plain_odds(self) -> bool:
        """Whether exp(2u), with u the signed predictor, is the odds that i is preferred, given a decision."""
        return not self.grades

    @property
    def levels(self) -> dict[str, int]:
        """The predictors, besides the signed one, on which P(i preferred | decided) depends: those of larger grades."""
        return {f"grade[{level}]": b for level, b in self.grades.items()}

    def preference(self, difference: FloatArray, levels: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return log P(i preferred)/P(j preferred), (m,), and its slopes in the difference, (m,), and levels, (m, G).

        Parameters
        ----------
        difference : ndarray, shape (m,)
            The signed predictor.
        levels : ndarray, shape (G,) or (m, G)
        """
        wins = np.flatnonzero(self.loadings[:, 0] > 0)
        scores, loaded = self.loadings[wins, 0], self.loadings[wins][:, list(self.levels.values())]
        own, lead = levels @ loaded.T, scores * np.asarray(difference)[:, None]
        up, down = special.softmax(own + lead, axis=1), special.softmax(own - lead, axis=1)
        log_odds = special.logsumexp(own + lead, axis=1) - special.logsumexp(own - lead, axis=1)
        return np.asarray(log_odds), (up + down) @ scores, (up - down) @ loaded

    def moments(
        self, predictors: Sequence[FloatArray] | FloatArray, n: FloatArray | float
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the norm, mean and information that the likelihood of comparisons needs.

        Parameters
        ----------
        predictors : ndarray, shape (B, S)
        n : ndarray, shape (S,)
            The number of judgments of each comparison.

        Returns
        -------
        norm : ndarray, shape (S,)
            log Σ_k exp(Σ_b L[k, b] · u_b).
        mean : ndarray, shape (B, S)
            The gradient of the norm, p̄ = Lᵀp: what a judgment is expected to add to the predictors' statistics.
        weight : ndarray, shape (B, B, S)
            n (Lᵀ diag(p) L − p̄ p̄ᵀ), the information of n judgments on the predictors.
        """
        shape = np.broadcast_shapes(*(u.shape for u in predictors))
        norm, mean = np.empty(shape), np.empty((self.width, *shape))
        weight, judgments = np.empty((self.width, *mean.shape)), np.broadcast_to(n, shape)
        step = max(1, _BLOCK * shape[0] // max(1, norm.size))
        for start in range(0, shape[0], step):  # blocks fit into the processor's cache
            rows = slice(start, start + step)
            probability, norm[rows] = self.probabilities([u[rows] for u in predictors])
            mean[:, rows] = self.sums(probability)
            weight[:, :, rows] = self._weight(probability, mean[:, rows], judgments[rows])
        return norm, mean, weight


def graded(steps: int, middle: bool) -> Response:
    """Return the response of a scale with `steps` grades of preference on either side.

    Parameters
    ----------
    steps : int
        The number of grades of preference H, at least 1; with 2, either object is better or much better.
    middle : bool
        Whether the sides can tie.

    Returns
    -------
    Response
        The outcomes go from i with H − 1 plus signs to j with H − 1 plus signs. Their scores are h = H … −H, or 2H − 1,
        2H − 3 … −(2H − 1) without a middle. The predictors are the signed one, loaded with the scores; one for the tie;
        and one for each larger grade |h|, so only the smallest grade has none.

    References
    ----------
    Agresti, A. (1992). Analysis of ordinal paired comparison data. Applied Statistics 41(2), 287-297.

    Examples
    --------
    >>> graded(2, middle=True).outcomes
    ('i+', 'i', 'tie', 'j', 'j+')
    >>> graded(2, middle=False).loadings.tolist()
    [[3.0, 1.0], [1.0, 0.0], [-1.0, 0.0], [-3.0, 1.0]]
    >>> graded(1, middle=True) == THREE
    True
    """
    grades = np.arange(steps, 0, -1)
    scores = (grades if middle else 2 * grades - 1).astype(np.float64)
    names = ["+" * (grade - 1) for grade in grades]
    outcomes = [*(f"i{name}" for name in names), *(["tie"] if middle else []), *(f"j{name}" for name in names[::-1])]
    signed = np.concatenate([scores, [0.0] if middle else [], -scores[::-1]])
    levels = ([0.0] if middle else []) + sorted(scores[:-1])
    loadings = np.column_stack([signed, *(np.abs(signed) == level for level in levels)])
    return Response(tuple(outcomes), loadings, tuple(range(len(outcomes) - 1, -1, -1)))


def both_bad(*, ties: bool = True) -> Response:
    """Return the response with the outcome "both bad", with or without ties.

    Its predictors are the signed predictor, the predictor of ties (with `ties`) and the predictor of "both bad".

    Examples
    --------
    >>> both_bad().outcomes, both_bad().loadings.tolist()
    (('i', 'tie', 'bad', 'j'), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]])
    >>> both_bad(ties=False).outcomes
    ('i', 'bad', 'j')
    """
    undecided = ["tie", "bad"] if ties else ["bad"]
    size = len(undecided)
    loadings = np.zeros((size + 2, size + 1))
    loadings[:-1] = np.eye(size + 1)
    loadings[-1, 0] = -1
    return Response(("i", *undecided, "j"), loadings, (size + 1, *range(1, size + 1), 0))


def _nonzero(loadings: FloatArray) -> _Terms:
    """Return the places and values of the loadings that are not 0."""
    return tuple((int(k), float(loadings[k])) for k in np.flatnonzero(loadings))


def _combined(terms: _Terms, parts: Sequence[FloatArray] | FloatArray) -> FloatArray:
    """Return the sum of parts times factors; most factors are 1 or −1 and need no multiplication."""
    total: FloatArray | None = None
    for k, factor in terms:
        if total is None:
            total = parts[k] if factor == 1 else -parts[k] if factor == -1 else factor * parts[k]
        elif abs(factor) == 1:
            total = total + parts[k] if factor == 1 else total - parts[k]
        else:
            total = total + factor * parts[k]
    return np.zeros_like(parts[0]) if total is None else total


def _check(response: Response) -> None:
    """Raise for fields that do not fit together."""
    outcomes, loadings, flip = response.outcomes, response.loadings, response.flip
    size = len(outcomes)
    if size < 2 or len(set(outcomes)) < size:
        raise JudgmentError(f"response: its outcomes are {listed(outcomes)}", expected="two or more, each named once")
    if loadings.ndim != 2 or len(loadings) != size or not np.isfinite(loadings).all():
        raise JudgmentError(
            f"response: loadings of shape {loadings.shape} for {size} outcomes",
            expected="finite numbers, one row for each outcome and one column for each predictor",
        )
    if np.linalg.matrix_rank(loadings - loadings.mean(axis=0)) < loadings.shape[1]:
        raise JudgmentError(
            "response: some combination of the predictors has the same loading on every outcome, so judgments cannot "
            "estimate it",
            "Leave a column of loadings out.",
        )
    if sorted(flip) != list(range(size)) or any(flip[flip[k]] != k for k in range(size)):
        raise JudgmentError(
            f"response: flip={flip}", expected="the position of each outcome's mirror image, such as (2, 1, 0)"
        )
    flipped = loadings[list(flip)]
    turned, unturned = (flipped == -loadings).all(axis=0), (flipped == loadings).all(axis=0)
    if not turned[0] or not (turned | unturned).all():
        raise JudgmentError(
            f"response: flip={flip} changes the loadings {loadings.tolist()} to {flipped.tolist()}",
            expected="the first column to change its sign, and each other column to change its sign or stay the same",
        )


TWO = graded(1, middle=False)
THREE = graded(1, middle=True)
