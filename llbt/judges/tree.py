"""Trees of judges: groups with different preferences, split by covariates of the judges."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.arguments import Count, Jobs, Number, Rng, Share, as_generator, checked
from ..base.table import Field, Qualifying, Record, Table, counted, format_number, format_p, format_share, named
from ..core import basis
from ..core.basis import Basis
from ..core.columns import IntArray
from ..core.comparisons import Comparisons
from ..core.rankings import Rankings
from ..data.frames import read_covariate
from ..data.sources import as_names, open_frame
from ..errors import DesignError, LLBTError, OptionError, listed, printable
from ..fitting.specification import Prior, Specification
from ..formulas.brackets import split_brackets
from ..formulas.coding import Reference
from ..formulas.grammar import parse, vocabulary
from ..inference.unit_models import units_to_predict
from ..inference.worth import worth
from ..resampling import Resampler, steps_shown
from .judge_lists import JudgeLists, judge_lists
from .judge_table import judge_data
from .tree_fits import ByJudge, Growth, NodeFit, fitted
from .tree_growth import Node, grow
from .tree_units import tree_units

_SAME_JUDGES = Qualifying(
    "The same judges were used to grow the tree and to estimate its leaves, so standard errors may be too small. "
    "honest=True uses different judges."
)
_BEST = 4  # objects that print below a leaf
_MANY = 60  # judges from which the tests keep about their level
_SUBSAMPLE = 0.632  # share of the judges in a resample: as many as a bootstrap has different ones


@dataclass(frozen=True, repr=False, eq=False)
class JudgeTree(Record):
    """A tree of judges: groups that covariates separate, each with its fit.

    Made by `tree`.

    Attributes
    ----------
    nodes : tuple of Node
        In the order of their numbers: node 1 is the root, and a left child follows its parent.
    data : JudgeData or JudgeLists
        The judgments from which the tree was grown.
    growth : Growth
    held : tuple of (int, LLBTResults or RankingResults)
        For an honest tree, the fit of each leaf to the other half of the judges.
    """

    _made_by: ClassVar[str] = "llbt.judges.tree(formula, c)"

    nodes: tuple[Node, ...]
    data: ByJudge
    growth: Growth
    held: tuple[tuple[int, NodeFit], ...] = ()

    @property
    def specification(self) -> Specification:
        """The options of the fits of the nodes."""
        specification = self.nodes[0].results.specification
        assert isinstance(specification, Specification)
        return specification

    @property
    def leaves(self) -> tuple[Node, ...]:
        """The nodes that are not split."""
        return tuple(node for node in self.nodes if node.split is None)

    @property
    def honest(self) -> bool:
        """Whether the leaves were fitted to judges who were not used to grow the tree."""
        return bool(self.held)

    @property
    def llf(self) -> float:
        """Sum of the leaves' log-likelihoods (judgments or lists) of the judges from whom the tree was grown."""
        return float(sum(node.results.llf for node in self.leaves))

    @property
    def n_params(self) -> int:
        """The number of parameters of all leaves; splits are not counted."""
        return sum(node.results.n_params for node in self.leaves)

    @property
    def effective_params(self) -> float:
        """The number of parameters that `aic` and `bic` count; a prior makes it smaller, as in the fit of each leaf."""
        return sum(node.results.effective_params for node in self.leaves)

    @property
    def n_judgments(self) -> float:
        """Number of judgments, or lists, of the judges from whom the tree was grown."""
        return float(sum(node.results.n_judgments for node in self.leaves))

    @property
    def basis(self) -> Basis:
        """The data of the log-likelihood. Compare `llf`, `aic` and `bic` of two fits only if their bases are equal."""
        return self.nodes[0].results.basis

    @property
    def aic(self) -> float:
        """−2 `llf` + 2 · `effective_params`."""
        return basis.aic(self.llf, self.effective_params)

    @property
    def bic(self) -> float:
        """−2 `llf` + log(judgments) · `effective_params`, as in other fits; `bic_judges` counts judges."""
        return basis.bic(self.llf, self.effective_params, self.n_judgments)

    @checked
    def bic_of(self, unit: str) -> float:
        """Return BIC with another number of observations: the levels of a cluster or label, such as ``"judge"``."""
        answers = self.data.rankings if isinstance(self.data, JudgeLists) else self.data.comparisons
        return basis.bic(self.llf, self.effective_params, basis.number_of(answers, unit))

    @property
    def bic_judges(self) -> float:
        """−2 `llf` + log(judges) · `effective_params`: judges are the sampled units, so judges are counted."""
        return basis.bic(self.llf, self.effective_params, len(self.data.levels))

    @property
    def leaf(self) -> pd.Series[Any]:
        """The leaf number of each judge from whom the tree was grown."""
        leaf = np.empty(len(self.data.levels), dtype=np.int64)
        for node in self.leaves:
            leaf[node.judges] = node.number
        return pd.Series(leaf, index=pd.Index(self.data.levels, name=self.data.by), name="node")

    @checked
    def results(self, node: Count) -> NodeFit:
        """Return the fit of a node, for worths, leaderboard, pairwise and predictions.

        Raises
        ------
        OptionError
            For a number that no node has.
        """
        if not 1 <= node <= len(self.nodes):
            raise OptionError(f"node {node!r}", expected=f"the number of a node, 1 to {len(self.nodes)}")
        return dict(self.held).get(node, self.nodes[node - 1].results)

    def tests(self) -> Table:
        """Return the tests of stability: node, covariate, statistic, df, p_value, p_adjusted."""
        frames = [node.tests.assign(node=node.number) for node in self.nodes if len(node.tests)]
        frame = pd.concat(frames) if frames else self.nodes[0].tests.assign(node=0)
        return Table(
            (
                Field("node", "node", frame["node"].tolist(), "count"),
                Field("covariate", "covariate", frame["covariate"].tolist()),
                Field("statistic", "statistic", frame["statistic"].tolist(), "statistic"),
                Field("df", "df", frame["df"].tolist(), "count"),
                Field("p_value", "p", frame["p_value"].tolist(), "p_value"),
                Field("p_adjusted", "p adjusted", frame["p_adjusted"].tolist(), "p_value"),
            ),
            title="Stability of the parameters among the judges of each node",
            notes=(
                "Numeric covariates: maximum of the cumulated scores (supLM). Labels: χ² of the summed scores.",
                "p adjusted: for the number of covariates that vary in the node.",
                *self._cautious(),
            ),
        )

    def table(self) -> Table:
        """Return node, rule, judges, term, estimate, std_error; a row per leaf and parameter."""
        rows = []
        for node in self.leaves:
            res = self.results(node.number)
            terms = zip(res.params.items(), res.bse, strict=True)
            rows += [(node.number, self._path(node), len(node.judges), *term, error) for term, error in terms]
        columns = list(zip(*rows, strict=True))
        whole = Table(
            (
                Field("node", "node", columns[0], "count"),
                Field("rule", "", columns[1]),
                Field("judges", "judges", columns[2], "count"),
                Field("term", "term", columns[3]),
                Field("estimate", "estimate", columns[4], "estimate"),
                Field("std_error", "std_error", columns[5], "estimate"),
            ),
            title=f"Tree of {self.data.by}: {self.growth.formula}",
            head=self._drawn(lines=0),
            foot=(
                f"Log-likelihood: {format_number(self.llf, 7)} on {counted(self.n_params, 'parameter')}   "
                f"AIC: {format_number(self.aic, 6)}   BIC of judges: {format_number(self.bic_judges, 6)}",
            ),
            notes=self._notes(),
        ).first(60)
        return replace(whole, printed=self._with_best(whole))

    def _with_best(self, whole: Table) -> Table:
        """Return the tree with the best objects of each leaf in place of its parameters."""
        title = f"{whole.title}; worths of the best objects below each leaf"
        return replace(whole, fields=(), title=title, head=self._drawn(_BEST), shown=None, more="")

    def _path(self, node: Node) -> str:
        rules = [node.rule]
        while node.parent is not None:
            node = self.nodes[node.parent - 1]
            rules.append(node.rule)
        return " & ".join(rule for rule in reversed(rules) if rule)

    def _drawn(self, lines: int) -> tuple[str, ...]:
        """Return the nodes as R prints a tree, with the best objects below each leaf."""
        drawn = []
        for node in self.nodes:
            text = f"{'|   ' * node.depth}[{node.number}] {node.rule or 'all judges'}"
            if node.split is None:
                drawn.append(f"{text}: {counted(len(node.judges), 'judge')}")
                drawn += [f"{'|   ' * (node.depth + 1)}{line}" for line in self._best(node, lines)]
            else:
                p = format_p(float(node.tests["p_adjusted"].min()))
                drawn.append(f"{text} (by {node.split.covariate}, p {'' if p.startswith('<') else '= '}{p})")
        return tuple(drawn)

    def _best(self, node: Node, most: int) -> list[str]:
        """Return the objects with the largest worths in a leaf, one in each line, and the number of other objects."""
        res = self.results(node.number)
        if not most or not res.design.plain:
            return []
        board = worth(res).to_frame()
        shown = most if len(board) > most + 1 else len(board)
        best = zip(board["estimate"][:shown].tolist(), board["object"], strict=False)
        lines = [f"{format_share(estimate)} {printable(label)}" for estimate, label in best]
        rest = len(board) - shown
        return [*lines, *([f"… {counted(rest, 'more object')}: .results({node.number})"] if rest else [])]

    def _cautious(self) -> tuple[str, ...]:
        """Return a note that tests of numeric covariates reject too seldom with few judges."""
        caution = "With 30 judges, tests at 5 % reject by chance in 1 to 2 %, and may miss splits."
        return (caution,) if len(self.data.levels) < _MANY else ()

    def _notes(self) -> tuple[str, ...]:
        whose = "Leaves are estimated from judges who were not used to grow the tree." if self.honest else _SAME_JUDGES
        notes = ["Estimates are log-worths λ: the odds of A over B are exp(2(λ_A − λ_B)).", whose]
        notes += [f"node {node.number} is not split: {node.why}" for node in self.nodes if node.why]
        still = [name for name, column in self.data.about.items() if len(np.unique(column.codes)) < 2]
        if still:
            notes.append(f"{named(still)}: the same for all judges, so no split.")
        return (*notes, *self._cautious(), *self.data.notes)

    @checked
    def predict(self, frame: Any) -> pd.Series[Any]:
        """Return the leaf of each judge in a frame.

        Parameters
        ----------
        frame : data frame
            A row for each judge, with the covariates of the tree's splits.

        Returns
        -------
        Series of int, shape (R,)
            The numbers of their leaves.

        Raises
        ------
        OptionError
            For labels that the tree has not seen.
        JudgmentError
            For columns that are missing or cannot be read.
        """
        used = list(dict.fromkeys(node.split.covariate for node in self.nodes if node.split is not None))
        rows = open_frame(frame).pick({"covariates": tuple(used)})
        values = {}
        for name in used:
            column = self.data.about[name]
            read = read_covariate(rows, name, numeric=column.numeric)
            unknown = [] if column.numeric else [v for v in read.levels.tolist() if v not in column.levels.tolist()]
            if unknown:
                raise OptionError(
                    f"{name}: {listed(unknown)} is not a label that the tree was grown with",
                    expected=f"some of {listed(column.levels.tolist())}",
                )
            values[name] = read.values
        return pd.Series(_leaves_of(self.nodes, values, len(rows.times)), name="node")

    @checked
    def prune(self, by: Literal["bic", "aic"] = "bic") -> JudgeTree:
        """Return the tree without splits that do not improve AIC or BIC.

        Parameters
        ----------
        by : {"bic", "aic"}
            A split into two leaves is removed if this criterion is smaller without it. BIC counts all judges of the
            tree.
        """
        penalty = math.log(len(self.data.levels)) if by == "bic" else 2.0
        nodes = {node.number: node for node in self.nodes}
        for node in reversed(self.nodes):
            split = nodes[node.number]
            children = [nodes[child] for child in split.children]
            if not children or any(child.children for child in children):
                continue
            more = sum(len(child.results.solution.params) for child in children) - len(split.results.solution.params)
            gain = sum(child.results.llf for child in children) - split.results.llf
            if 2 * gain < penalty * more:
                nodes[node.number] = replace(split, split=None, children=(), why=f"pruned by {by.upper()}")
                for child in children:
                    del nodes[child.number]
        return _renumbered(self, list(nodes.values()))

    @checked
    def stability(self, *, n: Count = 100, rng: Rng = None, n_jobs: Jobs = 1, progress: bool = False) -> Table:
        """Return how often trees of resampled judges split by each covariate.

        Parameters
        ----------
        n : int
            The number of trees, each grown from 63 % of the judges, drawn without replacement.
        rng : int, Generator or None
        n_jobs : int
            Processes; −1 for one per core. The result is the same for the same `rng`.
        progress : bool
            Whether to show a bar.

        Returns
        -------
        Table
            covariate, share (the share of trees that split by it), at_root (the share of trees that split all judges by
            it), splits (by it, the mean number per tree).
        """
        resampler = Resampler.of("JudgeTree.stability", rng, n_jobs, progress)
        drawn = resampler.blocks(self._resampled, n, len(self.nodes) * self.data.size, 10)
        trees = [tree for block in drawn for tree in block]
        names = list(self.data.about)
        counts = np.array([[tree.count(name) for name in names] for tree in trees], dtype=np.float64)
        root = np.array([[tree[:1] == (name,) for name in names] for tree in trees], dtype=np.float64)
        lost = sum(tree == ("",) for tree in trees)
        notes = [f"{counted(n, 'tree')} of {format_number(100 * _SUBSAMPLE, 2)} % of the judges each"]
        if lost:
            notes.append(f"{counted(lost, 'tree')} could not grow: its judges have no finite estimates")
        return Table(
            (
                Field("covariate", "covariate", names),
                Field("share", "trees", (counts > 0).mean(axis=0), "estimate", 3),
                Field("at_root", "at root", root.mean(axis=0), "estimate", 3),
                Field("splits", "splits", counts.mean(axis=0), "estimate", 3),
            ),
            title="Splits of trees of resampled judges",
            notes=tuple(notes),
        )

    def _resampled(self, size: int, rng: np.random.Generator) -> list[tuple[str, ...]]:
        """Return the covariates of the splits of trees, the root's first; an empty name if a tree could not grow."""
        splits: list[tuple[str, ...]] = []
        total = len(self.data.levels)
        for _ in range(size):
            some = np.sort(rng.choice(total, max(2, round(_SUBSAMPLE * total)), replace=False))
            try:
                nodes = grow(self.data.of(some), self.growth)
            except LLBTError:
                splits.append(("",))
                continue
            splits.append(tuple(node.split.covariate for node in nodes if node.split is not None))
        return splits


def _leaves_of(nodes: Sequence[Node], values: Mapping[str, npt.NDArray[Any]], size: int) -> IntArray:
    """Return the leaf numbers of judges, by the values of their covariates."""
    leaf = np.ones(size, dtype=np.int64)
    for node in nodes:  # children stand behind their parents
        if node.split is not None:
            here, left = leaf == node.number, node.split.goes_left(values[node.split.covariate])
            leaf[here & left], leaf[here & ~left] = node.children
    return leaf


def _renumbered(tree: JudgeTree, nodes: list[Node]) -> JudgeTree:
    number = {node.number: k for k, node in enumerate(nodes, start=1)}
    held = tree.held
    again = tuple(
        replace(
            node,
            number=number[node.number],
            parent=None if node.parent is None else number[node.parent],
            children=tuple(number[child] for child in node.children),
        )
        for node in nodes
    )
    pruned = replace(tree, nodes=again, held=())
    return pruned if not held else replace(pruned, held=tuple((number[n], res) for n, res in held if n in number))


@checked
def tree(
    formula: str,
    data: Comparisons | Rankings,
    *,
    by: str = "judge",
    split: str | Sequence[str] | None = None,
    alpha: Share = 0.05,
    min_size: Count = 5,
    max_depth: Number = 30,
    honest: bool = False,
    reference: Reference = None,
    prior: Prior = None,
    rng: Rng = None,
    progress: bool = False,
) -> JudgeTree:
    """Grow a tree that splits judges by their covariates into groups with different worths.

    Parameters
    ----------
    formula : str
        The model of each group: ``"object + tie"``; no brackets.
    data : Comparisons or Rankings
        Judgments with the judges and their covariates: ``llbt.from_judgments(frame, clusters="judge",
        covariates=["age", "gender"], numeric=["age"])``; or lists, ``llbt.from_rankings(frame, objects=[…],
        clusters="judge", covariates=["age", "gender"])``, which are fitted as by `llbt.fit`.
    by : str
        The cluster or covariate whose levels are the judges.
    split : str or sequence of str, optional
        The covariates to split by; by default all covariates that are constant within each judge, except the covariates
        in the formula.
    alpha : float
        A node is split if the smallest adjusted p-value of its tests is at most `alpha`.
    min_size : int
        The smallest number of judges in a leaf.
    max_depth : int
        The largest number of splits above a leaf; 0 tests only the root.
    honest : bool
        Whether a random half of the judges grows the tree, and the other half estimates its leaves. Then errors and
        p-values in the leaves are valid.
    reference : label or mapping, optional
        As in `llbt.fit`.
    prior : float, optional
        As in `llbt.fit`, in every node.
    rng : int, Generator or None
        Draws the halves of an honest tree.
    progress : bool
        Show a bar that counts the steps of the fits; their total is not known in advance.

    Returns
    -------
    JudgeTree

    Raises
    ------
    FormulaError
        As `llbt.fit`.
    OptionError
        For columns that the table does not have, and brackets.
    DesignError
        For covariates that differ within a judge, without covariates, for too few judges, and as `llbt.fit`.
    SeparationError
        If all judges together have no finite estimates, or if the judges of a leaf of an honest tree have none.

    Notes
    -----
    In a node the model is fitted to all its judges. Their scores, made orthonormal by the root of Σss′, are tested for
    each covariate. For a numeric covariate, W(t) is the sum of the scores of the share t of judges with the smallest
    values. The statistic is the maximum of ‖W(t)‖²/(t(1 − t)) over all t that leave at least a tenth of the judges, and
    at least `min_size`, on either side. For labels, the statistic is Σ ‖Σs‖²/n over the labels, which is χ². P-values
    are adjusted for the number of tested covariates, as in R's partykit. If the smallest is at most `alpha`, the judges
    are divided by the split with the highest likelihood (Zeileis, Hothorn & Hornik 2008; Strobl, Wickelmaier & Zeileis
    2011, Journal of Educational and Behavioral Statistics 36(2)). The search tries all cuts of a numeric covariate and
    all partitions of up to 8 labels. For more labels it tries the cuts along the first principal component of their
    mean scores. With few judges the tests are conservative: with 30 judges they reject 1 to 2 % of true null hypotheses
    at the 5 % level.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import llbt
    >>> rng = np.random.default_rng(1)
    >>> judge = np.repeat(np.arange(60), 6)
    >>> age = 20 + judge
    >>> says = np.where(rng.random(360) < np.where(age < 50, 0.8, 0.3), "i", "j")
    >>> frame = pd.DataFrame({"judge": judge, "age": age, "object_i": "A", "object_j": "B", "outcome": says})
    >>> c = llbt.from_judgments(frame, clusters="judge", covariates="age", numeric="age")
    >>> tree = llbt.judges.tree("object", c)
    >>> [node.rule for node in tree.leaves]
    ['age ≤ 49', 'age > 49']
    """
    text, brackets = split_brackets(formula)
    if brackets:
        raise OptionError(f"formula {formula!r} with brackets", "Leave them out: the tree describes how judges differ.")
    asked = None if split is None else as_names(split, "split")
    known = vocabulary(replace(data, cluster_columns=()).to_comparisons() if isinstance(data, Rankings) else data)
    parsed = parse(text, known)
    covariates = [name for name in sorted(parsed.variables) if name in data.covariates]
    judges = (
        judge_lists(data, by, asked, covariates)
        if isinstance(data, Rankings)
        else judge_data(data, by, asked, covariates)
    )
    if len(judges.levels) < 2 * min_size:
        raise DesignError(
            f"{counted(len(judges.levels), 'judge')} of {by!r}",
            "Take a smaller min_size=.",
            expected=f"at least {2 * min_size}, for two groups of {min_size}",
        )
    worths = " + ".join(term.name for term in parsed.worth)
    growth = Growth(text, worths, reference, prior, alpha, min_size, max_depth)
    with steps_shown("judges.tree", progress):
        return _honest(judges, growth, as_generator(rng)) if honest else JudgeTree(grow(judges, growth), judges, growth)


def _honest(whole: ByJudge, growth: Growth, rng: np.random.Generator) -> JudgeTree:
    """Return the tree grown from half of the judges, with leaves estimated from the others."""
    order = rng.permutation(len(whole.levels))
    middle = (len(order) + 1) // 2
    finding, held = whole.of(np.sort(order[:middle])), whole.of(np.sort(order[middle:]))
    grown = JudgeTree(grow(finding, growth), finding, growth)
    return replace(grown, held=_held(grown, held))


def _held(grown: JudgeTree, held: ByJudge) -> tuple[tuple[int, NodeFit], ...]:
    """Return the fit of each leaf to judges who were not used to grow the tree."""
    values = {name: column.values for name, column in held.about.items()}
    leaf = _leaves_of(grown.nodes, values, len(held.levels))
    fits = []
    for node in grown.leaves:
        some: IntArray = np.flatnonzero(leaf == node.number)
        if not len(some):
            raise DesignError(
                f"no judge of the half that estimates the leaves belongs to leaf {node.number}",
                "Take more judges, a larger min_size=, or honest=False.",
            )
        fits.append((node.number, fitted(held.of(some), grown.growth)))
    return tuple(fits)


units_to_predict.register(JudgeTree)(tree_units)
