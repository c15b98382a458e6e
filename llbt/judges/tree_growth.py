"""How a tree of judges grows: tests of stability in a node, and the best split by the most significant covariate."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.table import counted
from ..core.columns import Coded, IntArray, Label
from ..errors import DesignError, SeparationError
from ..kernel.score_processes import adjusted_p, contingency, fluctuation, orthonormal_scores
from .tree_fits import ByJudge, Growth, NodeFit, fitted, gains, judge_scores

_EVERY = 8  # labels up to which all their partitions are tried


@dataclass(frozen=True)
class Split:
    """Which judges go left: those with a number of at most `value`, or with one of `labels`."""

    covariate: str
    value: float | None
    labels: tuple[Label, ...]
    others: tuple[Label, ...]

    def goes_left(self, values: npt.NDArray[np.object_]) -> npt.NDArray[np.bool_]:
        """Return which judges with these values go left."""
        if self.value is not None:
            return np.asarray(values.astype(np.float64) <= self.value)
        return np.array([value in self.labels for value in values.tolist()], dtype=np.bool_)

    def text(self, left: bool) -> str:
        """Return the rule of one side in words."""
        if self.value is not None:
            value = f"{self.value:.0f}" if float(self.value).is_integer() else f"{self.value:.6g}"
            return f"{self.covariate} {'≤' if left else '>'} {value}"
        return f"{self.covariate}: {', '.join(map(str, self.labels if left else self.others))}"


@dataclass(frozen=True, eq=False)
class Node:
    """A node of a tree.

    Attributes
    ----------
    number : int
        The number as in R's partykit: the root is 1, and a left child follows its parent.
    parent : int or None
    depth : int
    rule : str
        The covariate values of its judges that define the split; empty for the root.
    judges : ndarray of int, shape (n,)
        Positions among all judges.
    results : LLBTResults or RankingResults
        The fit of the judgments or lists of these judges.
    tests : DataFrame
        covariate, statistic, df, p_value, p_adjusted: the tests of the stability of all parameters.
    split : Split or None
    children : tuple of int
        The numbers of the left and the right child; empty for a leaf.
    why : str
        Why the node is a leaf, if its tests are not the reason.
    """

    number: int
    parent: int | None
    depth: int
    rule: str
    judges: IntArray
    results: NodeFit
    tests: pd.DataFrame
    split: Split | None = None
    children: tuple[int, ...] = ()
    why: str = ""


def grow(data: ByJudge, growth: Growth) -> tuple[Node, ...]:
    """Return the nodes of a tree in the order of their numbers.

    Raises
    ------
    DesignError, SeparationError
        Where all judges together have no finite estimates.
    """
    nodes: list[Node] = []
    everybody = np.arange(len(data.levels))
    _grown(data, growth, nodes, everybody, None, 0, "", fitted(data, growth))
    return tuple(nodes)


def _grown(
    data: ByJudge,
    growth: Growth,
    nodes: list[Node],
    judges: IntArray,
    parent: int | None,
    depth: int,
    rule: str,
    results: NodeFit,
) -> int:
    own = data.of(judges) if len(judges) < len(data.levels) else data
    number = len(nodes) + 1
    tests = stability_tests(own, results, growth.min_size)
    node = Node(number, parent, depth, rule, judges, results, tests)
    nodes.append(node)
    if len(tests) and depth < growth.max_depth and tests["p_adjusted"].min() <= growth.alpha:
        best = _best_split(
            own, growth, results, tests["covariate"].tolist()[int(tests["p_adjusted"].to_numpy().argmin())]
        )
        if isinstance(best, str):
            nodes[number - 1] = replace(node, why=best)
            return number
        split, left = best
        children = []
        for side, goes in ((True, left), (False, ~left)):
            some = judges[goes]
            fit = fitted(data.of(some), growth)
            children.append(_grown(data, growth, nodes, some, number, depth + 1, split.text(side), fit))
        nodes[number - 1] = replace(node, split=split, children=tuple(children))
    return number


def stability_tests(data: ByJudge, results: NodeFit, min_size: int) -> pd.DataFrame:
    """Return the tests of stability by each covariate that varies: covariate, statistic, df, p_value, p_adjusted.

    The judges' scores at the estimate are made orthonormal; see `kernel.score_processes`.
    """
    by_judge = judge_scores(data, results)
    scores = orthonormal_scores(by_judge)
    rows = []
    for name, column in data.about.items():
        codes = column.codes
        levels = len(np.unique(codes))
        if levels < 2 or len(codes) < 2 * min_size:
            continue
        if column.numeric:
            statistic, p = fluctuation(scores, column.levels[codes].astype(np.float64), min_size)
            df = scores.shape[1]
        else:
            statistic, p = contingency(scores, np.unique(codes, return_inverse=True)[1])
            df = scores.shape[1] * (levels - 1)
        if not math.isnan(p):
            rows.append((name, statistic, df, p))
    frame = pd.DataFrame(rows, columns=["covariate", "statistic", "df", "p_value"])
    return frame.assign(p_adjusted=[adjusted_p(p, len(frame)) for p in frame["p_value"]])


def _best_split(
    data: ByJudge, growth: Growth, results: NodeFit, covariate: str
) -> tuple[Split, npt.NDArray[np.bool_]] | str:
    """Return the split with the highest likelihood and the judges on the left, or why there is no split."""
    column = data.about[covariate]
    candidates = list(_cuts(column) if column.numeric else _partitions(column, data, results))
    masks = [split.goes_left(column.values) for split in candidates]
    enough = [k for k, mask in enumerate(masks) if growth.min_size <= mask.sum() <= len(mask) - growth.min_size]
    if not enough:
        return f"no split by {covariate} leaves {growth.min_size} judges on both sides"
    values = gains(data, growth, results, np.array([masks[k] for k in enough]))
    if not np.isfinite(values).any():
        return (
            f"no split by {covariate} gives finite estimates on both sides "
            f"({counted(len(enough), 'split')} tried); with a prior they are finite"
        )
    for k in np.argsort(-values, kind="stable"):
        best = enough[int(k)]
        if np.isfinite(values[k]) and _stands(data, growth, masks[best]):
            return candidates[best], masks[best]
    return f"no split by {covariate} gives finite estimates on both sides"


def _stands(data: ByJudge, growth: Growth, mask: npt.NDArray[np.bool_]) -> bool:
    """Whether the model has a finite fit on either side."""
    try:
        for side in (mask, ~mask):
            fitted(data.of(np.flatnonzero(side)), growth)
    except (DesignError, SeparationError):
        return False
    return True


def _cuts(column: Coded) -> Iterator[Split]:
    for value in np.unique(column.values)[:-1]:
        yield Split(column.name, float(value), (), ())


def _partitions(column: Coded, data: ByJudge, results: NodeFit) -> Iterator[Split]:
    """Yield partitions of the labels in two: all of a few labels, else cuts along their first principal component."""
    present = np.unique(column.codes)
    labels = column.levels[present].tolist()
    if len(labels) <= _EVERY:
        rest = range(1, len(labels))
        chosen = itertools.chain.from_iterable(itertools.combinations(rest, size) for size in range(len(labels) - 1))
        sides = [(0, *some) for some in chosen]
    else:
        scores, codes = judge_scores(data, results), column.codes
        means = np.stack([scores[codes == code].mean(axis=0) for code in present])
        order = np.argsort(np.linalg.svd(means - means.mean(axis=0), full_matrices=False)[0][:, 0], kind="stable")
        sides = [tuple(sorted(order[:k].tolist())) for k in range(1, len(labels))]
    for side in sides:
        yield Split(
            column.name,
            None,
            tuple(labels[k] for k in side),
            tuple(label for k, label in enumerate(labels) if k not in side),
        )
