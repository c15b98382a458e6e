"""Independent tight Newton solutions in plain numpy, one per tie rule; nothing of llbt is used here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from . import sparse_prototype
from .frames import cube, shipped
from .inputs import Array, described, read

LIMIT = 1e-8  # for llbt, in estimates and standard errors
Solution = dict[str, Array]


def differences(rule: str, folder: Path, found: Mapping[str, Any], memory: dict[tuple[str, str], Solution]) -> Solution:
    """Return max |found − tight| over all parameters that both have; worths and log-odds are centred."""
    key = (rule, str(folder))
    if key not in memory:
        memory[key] = RULES[rule](folder)
    tight = memory[key]
    result: Solution = {}
    for name in sorted(tight.keys() & found.keys()):
        a, b = (np.asarray(x, dtype=float) for x in (found[name], tight[name]))
        if name == "log_odds":
            a, b = a - a.mean(axis=-1, keepdims=True), b - b.mean(axis=-1, keepdims=True)
        result[name] = np.max(np.abs(a - b)) if a.shape == b.shape else np.inf
    return result


def newton(
    size: int, at: Callable[[Array], tuple[float, Array, Array]], start: Array | None = None
) -> tuple[Array, Array]:
    """Return the maximum and the inverse information, from (log-likelihood, score, information) at a point."""
    point = np.zeros(size) if start is None else start
    value, score, information = at(point)
    for _ in range(100):
        step = np.linalg.solve(information, score)
        for _ in range(40):
            reached, *rest = at(point + step)
            if reached >= value - 1e-12 * abs(value):
                break
            step = step / 2
        point = point + step
        value, score, information = reached, *rest
        if np.max(np.abs(step)) < 1e-13:
            break
    return point, np.linalg.inv(information)


def davidson(counts: Array, *, order: bool) -> Solution:
    """Fit Davidson's ties to counts (J, J, 3), the row shown first: λ of the last object is 0, then γ and δ."""
    size = len(counts)
    totals = counts.sum(axis=2)
    free = np.r_[0 : size - 1, size, size + 1] if order else np.r_[0 : size - 1, size]

    def at(point: Array) -> tuple[float, Array, Array]:
        full = np.zeros(size + 2)
        full[free] = point
        log_worth, tie, shift = full[:size], full[size], full[size + 1]
        signed = log_worth[:, None] - log_worth[None, :] + shift
        predictor = np.stack([signed, np.full_like(signed, tie), -signed], axis=2)
        shifted = predictor - predictor.max(axis=2, keepdims=True)
        norm = np.log(np.exp(shifted).sum(axis=2, keepdims=True))
        p = np.exp(shifted - norm)
        excess = counts - totals[:, :, None] * p
        lead = excess[:, :, 0] - excess[:, :, 2]
        score = np.r_[lead.sum(axis=1) - lead.sum(axis=0), excess[:, :, 1].sum(), lead.sum()]
        mean = p[:, :, 0] - p[:, :, 2]
        signed_weight = totals * (p[:, :, 0] + p[:, :, 2] - mean**2)
        cross = -totals * mean * p[:, :, 1]
        information = np.zeros((size + 2, size + 2))
        both = signed_weight + signed_weight.T
        information[:size, :size] = np.diag(both.sum(axis=1)) - both
        information[:size, size] = information[size, :size] = cross.sum(axis=1) - cross.sum(axis=0)
        along = signed_weight.sum(axis=1) - signed_weight.sum(axis=0)
        information[:size, size + 1] = information[size + 1, :size] = along
        information[size, size] = (totals * p[:, :, 1] * (1 - p[:, :, 1])).sum()
        information[size, size + 1] = information[size + 1, size] = cross.sum()
        information[size + 1, size + 1] = signed_weight.sum()
        value = float((counts * (shifted - norm)).sum())
        return value, score[free], information[np.ix_(free, free)]

    point, cov = newton(len(free), at)
    error = np.sqrt(np.diag(cov))
    found = {"log_odds": np.r_[2 * point[: size - 1], 0], "se": error[: size - 1]}
    found |= {"tie": point[size - 1], "tie_se": error[size - 1]}
    return found | ({"order": point[size], "order_se": error[size]} if order else {})


def rao_kupper(counts: Array) -> Solution:
    """Fit Rao and Kupper's ties to counts (J, J, 3): λ of the last object is 0, then the cut θ.

    A tie has the probability P(i wins) P(j wins) (e^2θ − 1), so the likelihood is that of two logistic regressions and
    of a function of θ alone.
    """
    size = len(counts)
    won, ties, lost = np.moveaxis(counts, 2, 0)

    def at(point: Array) -> tuple[float, Array, Array]:
        log_worth, cut = np.r_[point[:-1], 0], float(point[-1])
        difference = 2 * (log_worth[:, None] - log_worth[None, :])
        value, score, information = 0.0, np.zeros(size + 1), np.zeros((size + 1, size + 1))
        for sign, n in ((1.0, won + ties), (-1.0, lost + ties)):
            p = 1 / (1 + np.exp(cut - sign * difference))
            value += float((n * np.log(p)).sum()) if cut > 0 else -np.inf
            pull, weight = n * (1 - p), n * p * (1 - p)
            both = 4 * (weight + weight.T)
            score[:size] += 2 * sign * (pull.sum(axis=1) - pull.sum(axis=0))
            score[size] -= pull.sum()
            information[:size, :size] += np.diag(both.sum(axis=1)) - both
            cross = -2 * sign * (weight.sum(axis=1) - weight.sum(axis=0))
            information[:size, size] += cross
            information[size, :size] += cross
            information[size, size] += weight.sum()
        grown = np.expm1(2 * cut)
        value += float(ties.sum() * np.log(grown)) if cut > 0 else -np.inf
        score[size] += 2 * ties.sum() * (grown + 1) / grown
        information[size, size] += 4 * ties.sum() * (grown + 1) / grown**2
        free = np.r_[0 : size - 1, size]
        return value, score[free], information[np.ix_(free, free)]

    point, cov = newton(size, at, np.r_[np.zeros(size - 1), 0.5])
    error = np.sqrt(np.diag(cov))
    return {"log_odds": np.r_[2 * point[:-1], 0], "se": error[:-1], "tie": point[-1], "tie_se": error[-1]}


def adjacent_grades(folder: Path) -> Solution:
    """Fit adjacent categories to five grades: λ of the last object is 0, then γ₀ of the tie and γ₂ of the larger."""
    i, j, outcome = read(folder, "i", "j", "outcome")
    size = int(max(i.max(), j.max())) + 1
    counts = np.zeros((size, size, 5))
    np.add.at(counts, (i, j, outcome), 1)
    totals, scores = counts.sum(axis=2), np.array([2.0, 1, 0, -1, -2])
    loaded = np.array([[0.0, 1], [0, 0], [1, 0], [0, 0], [0, 1]])

    def at(point: Array) -> tuple[float, Array, Array]:
        log_worth = np.r_[point[: size - 1], 0]
        predictor = scores * (log_worth[:, None] - log_worth[None, :])[..., None] + loaded @ point[size - 1 :]
        shifted = predictor - predictor.max(axis=2, keepdims=True)
        norm = np.log(np.exp(shifted).sum(axis=2, keepdims=True))
        p = np.exp(shifted - norm)
        excess = counts - totals[:, :, None] * p
        lead, mean = excess @ scores, p @ scores
        levels = p @ loaded  # (J, J, 2)
        weight = totals * (p @ scores**2 - mean**2)
        cross = totals[..., None] * (p @ (scores[:, None] * loaded) - mean[..., None] * levels)
        information = np.zeros((size + 2, size + 2))
        both = weight + weight.T
        information[:size, :size] = np.diag(both.sum(axis=1)) - both
        information[:size, size:] = cross.sum(axis=1) - cross.sum(axis=0)
        information[size:, :size] = information[:size, size:].T
        shared = np.einsum("ij,ijk,kb,kc->bc", totals, p, loaded, loaded)
        information[size:, size:] = shared - np.einsum("ij,ijb,ijc->bc", totals, levels, levels)
        score = np.r_[lead.sum(axis=1) - lead.sum(axis=0), np.einsum("ijk,kb->b", excess, loaded)]
        free = np.r_[0 : size - 1, size, size + 1]
        return float((counts * (shifted - norm)).sum()), score[free], information[np.ix_(free, free)]

    point, cov = newton(size + 1, at)
    error = np.sqrt(np.diag(cov))
    found = {"log_odds": np.r_[2 * point[: size - 1], 0], "se": error[: size - 1]}
    return found | {"tie": point[-2], "tie_se": error[-2], "grade": point[-1], "grade_se": error[-1]}


def half_wins(counts: Array) -> Solution:
    """Fit Bradley-Terry to counts (J, J, 3) with a tie as half a win of either."""
    wins = counts[:, :, 0] + counts[:, :, 2].T + (counts[:, :, 1] + counts[:, :, 1].T) / 2
    totals = wins + wins.T
    size = len(wins)

    def at(point: Array) -> tuple[float, Array, Array]:
        log_odds = np.r_[point, 0]
        difference = log_odds[:, None] - log_odds[None, :]
        p = 1 / (1 + np.exp(-difference))
        weight = totals * p * (1 - p)
        information = np.diag(weight.sum(axis=1)) - weight
        value = -float((wins * np.logaddexp(0, -difference)).sum())
        return value, (wins - totals * p).sum(axis=1)[:-1], information[:-1, :-1]

    return {"log_odds": np.r_[newton(size - 1, at)[0], 0]}


def sparse_davidson(folder: Path) -> Solution:
    """Fit Davidson's ties on the pairs that were judged, every step solved to rounding."""
    i, j, outcome = read(folder, "i", "j", "outcome")
    return sparse_prototype.fit(i, j, outcome, described(folder).objects, tolerance=1e-13)


def large_davidson(folder: Path) -> Solution:
    """Fit Davidson's ties with a prior by Newton's method, steps solved as tightly as conjugate gradients can."""
    i, j, outcome = read(folder, "i", "j", "outcome")
    size = described(folder).objects
    return sparse_prototype.fit(i, j, outcome, size, tolerance=1e-11, prior=sparse_prototype.PRIOR)


def by_judge(folder: Path) -> Solution:
    """Fit each judge by itself, as `object * judge + tie * judge` does; errors are coded by the first judge."""
    i, j, outcome, judge = read(folder, "i", "j", "outcome", "judge")
    size = int(max(i.max(), j.max())) + 1
    fits = []
    for k in range(int(judge.max()) + 1):
        own = judge == k
        counts = np.zeros((size, size, 3))
        np.add.at(counts, (i[own], j[own], outcome[own]), 1)
        fits.append(davidson(counts, order=False))
    log_odds, error, tie, tie_error = (np.array([fit[name] for fit in fits]) for name in fits[0])
    return {"log_odds": log_odds, "se": _contrast(error), "tie": tie, "tie_se": _contrast(tie_error)}


def _contrast(error: Array) -> Array:
    return np.concatenate([error[:1], np.hypot(error[1:], error[0])])


def with_sides(folder: Path) -> Solution:
    """`object + x1 + … + tie + order`, by single judgments."""
    rows, outcome, size = _side_rows(folder, order=True)
    n, columns = rows.shape
    seen = np.eye(3)[outcome]
    leading = np.array([1.0, 0.0, -1.0])

    def at(point: Array) -> tuple[float, Array, Array]:
        signed = rows @ point[1:]
        predictor = np.stack([signed, np.full(n, point[0]), -signed], axis=1)
        shifted = predictor - predictor.max(axis=1, keepdims=True)
        norm = np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        p = np.exp(shifted - norm)
        excess = seen - p
        mean = p[:, 0] - p[:, 2]
        information = np.empty((columns + 1, columns + 1))
        information[1:, 1:] = rows.T @ ((p[:, 0] + p[:, 2] - mean**2)[:, None] * rows)
        information[0, 1:] = information[1:, 0] = -rows.T @ (mean * p[:, 1])
        information[0, 0] = (p[:, 1] * (1 - p[:, 1])).sum()
        score = np.r_[excess[:, 1].sum(), rows.T @ (excess @ leading)]
        return float((seen * (shifted - norm)).sum()), score, information

    point, cov = newton(columns + 1, at)
    error = np.sqrt(np.diag(cov))
    worth, rest = slice(1, size), slice(size + 1, None)
    found = {"log_odds": np.r_[2 * point[worth], 0], "se": error[worth], "tie": point[0], "tie_se": error[0]}
    found |= {"order": point[size], "order_se": error[size]}
    return found | {"coefficients": point[rest], "coefficients_se": error[rest]}


def half_wins_with_sides(folder: Path) -> Solution:
    """Logistic regression on objects and on differences of side covariates, a tie as half a win of either."""
    rows, outcome, size = _side_rows(folder, order=False)
    won = 1 - outcome / 2

    def at(point: Array) -> tuple[float, Array, Array]:
        difference = rows @ point
        p = 1 / (1 + np.exp(-difference))
        value = -float((won * np.logaddexp(0, -difference) + (1 - won) * np.logaddexp(0, difference)).sum())
        return value, rows.T @ (won - p), rows.T @ ((p * (1 - p))[:, None] * rows)

    point, _ = newton(rows.shape[1], at)
    return {"log_odds": np.r_[point[: size - 1], 0], "coefficients": point[size - 1 :]}


def _side_rows(folder: Path, *, order: bool) -> tuple[Array, Array, int]:
    i, j, outcome, values = read(folder, "i", "j", "outcome", "sides")
    size, n = int(max(i.max(), j.max())) + 1, len(i)
    rows = np.zeros((n, size))
    rows[np.arange(n), i] = 1
    rows[np.arange(n), j] = -1
    middle = [np.ones((n, 1))] if order else []
    return np.hstack([rows[:, :-1], *middle, values[:, 0] - values[:, 1]]), outcome, size


def plackett_luce(folder: Path) -> Solution:
    """Fit Plackett-Luce to lists (n, m), stage by stage: λ of the last object is 0."""
    (lists,) = read(folder, "lists")
    size, m = described(folder).objects, lists.shape[1]

    def at(point: Array) -> tuple[float, Array, Array]:
        log_worth = np.r_[point, 0]
        value, score, information = 0.0, np.zeros(size), np.zeros((size, size))
        for stage in range(m - 1):
            left = lists[:, stage:]
            weights = np.exp(2 * log_worth[left])
            p = weights / weights.sum(axis=1, keepdims=True)
            value += float(np.log(p[:, 0]).sum())
            score += 2 * np.bincount(left[:, 0], minlength=size)
            expected = 2 * np.bincount(left.ravel(), p.ravel(), size)
            score -= expected
            information += np.diag(2 * expected)
            for k in range(m - stage):
                key = left[:, [k]].astype(np.int64) * size + left
                information -= 4 * np.bincount(key.ravel(), (p[:, [k]] * p).ravel(), size * size).reshape(size, size)
        return value, score[:-1], information[:-1, :-1]

    point, cov = newton(size - 1, at, _borda(lists, size))
    return {"log_odds": np.r_[2 * point, 0], "se": np.sqrt(np.diag(cov))}


def _borda(lists: Array, size: int) -> Array:
    """Return half the log-odds of being above another object of the list: the start of Newton's method."""
    m = lists.shape[1]
    above = np.bincount(lists.ravel(), np.tile(np.arange(m)[::-1], len(lists)), size) + 0.5
    below = np.bincount(lists.ravel(), np.tile(np.arange(m), len(lists)), size) + 0.5
    start = np.log(above / below) / 2
    return np.asarray(start[:-1] - start[-1])


def _shipped_cube(folder: Path) -> Array:
    pairs, counts, names = shipped(folder)
    found = np.zeros((len(names), len(names), 3))
    np.add.at(found, (pairs[:, 0], pairs[:, 1]), counts)
    return found


RULES: dict[str, Callable[[Path], Solution]] = {
    "Davidson ties, order effect": lambda folder: davidson(cube(folder), order=True),
    "Davidson ties": lambda folder: davidson(cube(folder), order=False),
    "ties as half wins": lambda folder: half_wins(cube(folder)),
    "Davidson ties, sparse": sparse_davidson,
    "Davidson ties, large": large_davidson,
    "Davidson ties by judge": by_judge,
    "Davidson ties, order effect, side covariates": with_sides,
    "ties as half wins, side covariates": half_wins_with_sides,
    "Rao and Kupper's ties": lambda folder: rao_kupper(cube(folder)),
    "Rao and Kupper's ties, arena": lambda folder: rao_kupper(_shipped_cube(folder)),
    "adjacent grades": adjacent_grades,
    "Plackett-Luce": plackett_luce,
    "Davidson ties, arena": lambda folder: davidson(_shipped_cube(folder), order=False),
}
