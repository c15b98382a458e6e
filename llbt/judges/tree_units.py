"""Trees of judges as models of new judges or prompts, which are predicted by a tree grown without them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy import special

from ..core.columns import FloatArray, IntArray, Label, summed_by
from ..errors import DesignError, LLBTError, OptionError, listed
from ..fitting.clusters import kept_ways
from ..fitting.fitted import plain_of
from ..fitting.plain_estimates import PlainEstimates
from ..kernel.likelihood import probabilities
from ..kernel.robust import Clustered
from .judge_table import JudgeData
from .tree_fits import ByJudge, Growth
from .tree_growth import Node, grow


class TreeLike(Protocol):
    """The attributes of a tree of judges that `tree_units` reads."""

    @property
    def nodes(self) -> Sequence[Node]:
        """The nodes, the root first."""

    @property
    def data(self) -> ByJudge:
        """The judgments from which the tree was grown."""

    @property
    def growth(self) -> Growth:
        """The settings with which the tree was grown."""

    @property
    def honest(self) -> bool:
        """Whether the leaves were fitted to judges who were not used to grow the tree."""


@dataclass(frozen=True, eq=False)
class TreeUnits:
    """A tree of G judges whose judgments form U units. The parameters (G·p,) are the estimates in each judge's leaf.

    Attributes
    ----------
    data : JudgeData
    growth : Growth
    root : LLBTResults
        The fit of all judges.
    lines : Clustered
        The comparison, the counts and the judge of each of L lines.
    judges : tuple
        The judges in the order of the lines' codes.
    unit : str
        The column whose levels are the units.
    labels : tuple
    codes : ndarray of int, shape (L,)
        The unit of each line.
    """

    data: JudgeData
    growth: Growth
    root: PlainEstimates
    lines: Clustered
    judges: tuple[Label, ...]
    unit: str
    labels: tuple[Label, ...]
    codes: IntArray

    @property
    def counts(self) -> FloatArray:
        """The count of every unit: one, shape (U,)."""
        return np.ones(len(self.labels))

    @property
    def sizes(self) -> FloatArray:
        """How many judgments each unit has, shape (U,)."""
        return summed_by(self.codes, self.lines.counts.sum(axis=1), len(self.labels))

    @property
    def each(self) -> str:
        """The word for what `sizes` counts."""
        return "judgment"

    def estimated(self, counts: FloatArray) -> FloatArray:
        """Return the parameters of each judge's leaf in a tree grown from the units whose count is 1."""
        return self._grown(counts, self.growth)

    def shrunk(self, counts: FloatArray) -> FloatArray:
        """Return the parameters as `estimated` does, with a prior of one judgment for each pair in every node."""
        return self._grown(counts, replace(self.growth, prior=1.0))

    def _grown(self, counts: FloatArray, growth: Growth) -> FloatArray:
        known = [label for label, count in zip(self.labels, counts.tolist(), strict=True) if count > 0]
        try:
            nodes = grow(self.data.where(self.unit, known), growth)
        except LLBTError as error:
            raise DesignError(
                f"no tree can be grown from the remaining {self.unit}s: {error}", "Ask for more folds."
            ) from error
        place = {level: g for g, level in enumerate(self.data.levels)}
        leaf = self._leaves(nodes)[[place[label] for label in self.judges]]
        estimates = np.empty((len(self.judges), len(self.root.solution.params)))
        for node in nodes:
            if node.split is None:
                estimates[leaf == node.number] = self._params(node)
        return estimates.ravel()

    def _leaves(self, nodes: Sequence[Node]) -> IntArray:
        """Return the leaf of each judge in the order of the data; in `nodes`, children follow their parents."""
        leaf = np.ones(len(self.data.levels), dtype=np.int64)
        for node in nodes:
            if node.split is None:
                continue
            values, here = self.data.about[node.split.covariate].values, leaf == node.number
            known = (*node.split.labels, *node.split.others)
            new = [value for value in values[here].tolist() if value not in known]
            if node.split.value is None and new:
                raise DesignError(
                    f"{node.split.covariate}: only held-out judges have {new[0]!r}, so their leaf is unknown",
                    "Ask for more folds.",
                )
            left = node.split.goes_left(values)
            leaf[here & left], leaf[here & ~left] = node.children
        return leaf

    def _params(self, node: Node) -> FloatArray:
        names, own = ([res.names[k] for k in res.free] for res in (self.root, node.results))
        if names != own:
            raise DesignError(
                f"a leaf of {len(node.judges)} judges lacks parameters that all judges together have",
                "Grow the tree with a larger min_size=, or ask for more folds.",
            )
        return np.asarray(node.results.solution.params)

    def log_scores(self, params: FloatArray) -> FloatArray:
        """Return the log-probability of all judgments of each unit, at the parameters of their judges, (U,)."""
        by_judge = params.reshape(len(self.judges), -1)
        each, index = np.unique(by_judge, axis=0, return_inverse=True)
        logs = np.zeros(len(self.lines.rows))
        for k, one in enumerate(each):
            mine = np.flatnonzero(index.ravel()[self.lines.codes] == k)
            p = probabilities(self.root.problem(), one)[self.lines.rows[mine]]
            logs[mine] = special.xlogy(self.lines.counts[mine], p).sum(axis=1)
        return summed_by(self.codes, logs, len(self.labels))


def tree_units(tree: TreeLike, by: str | None) -> TreeUnits:
    """Return a tree of judges as a model of new judges, or of new levels of another cluster of its table.

    Raises
    ------
    OptionError
        For a column that is no cluster of the table, for trees of lists, and for honest and pruned trees.
    """
    data = tree.data
    root = plain_of(tree.nodes[0].results)
    if not isinstance(data, JudgeData) or root is None:
        raise OptionError(
            "the tree is of lists, not of pairs",
            "Grow a tree of pairs: llbt.judges.tree(formula, rankings.to_comparisons()).",
        )
    name = data.by if by is None else root.comparisons.named(by)
    if name not in root.comparisons.clusters:
        raise OptionError(
            f"by={by!r} is no cluster of the tree's table",
            f"Make it one before the tree is grown: from_judgments(…, clusters=({data.by!r}, {by!r})).",
            expected=f"one of {listed(root.comparisons.clusters)}",
        )
    if tree.honest or any(node.why.startswith("pruned by") for node in tree.nodes):
        raise OptionError(
            "the tree is honest or pruned, so it cannot be grown again without some of its judges",
            f"Grow a plain tree: llbt.judges.tree({tree.growth.formula!r}, c).",
        )
    of_judges, of_units = kept_ways(root.comparisons, [data.by, name])
    lines, codes = of_judges.clusters, of_units.clusters.codes
    return TreeUnits(data, tree.growth, root, lines, of_judges.levels, name, of_units.levels, codes)
