"""Score tests of judges (or the levels of any covariate or cluster) against the rest, without a fit for each."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.arguments import checked
from ..base.table import Field, Table
from ..core.columns import FloatArray
from ..core.comparisons import Comparisons
from ..errors import DesignError, OptionError, listed
from ..fitting.clusters import clustered, independence_note
from ..fitting.fitted import WithWorths, plain_of
from ..fitting.plain_estimates import PlainEstimates
from ..formulas.variables import word_of
from ..kernel.likelihood import probabilities
from ..kernel.unit_scores import UnitTests, compare_units
from .unit_tests import unit_tests

_PRINTED = 20


@checked
def level_tests(res: WithWorths, *, by: str = "judge") -> Table:
    """Test each judge, or level of another column, against the rest: which judges judge differently from all others.

    Parameters
    ----------
    res : LLBTResults, MixedResults, DiscriminationResults, RankingResults or PatternResults
    by : str
        A covariate or cluster.

    Returns
    -------
    Table
        The level, its judgments, and standardized scores: agreement (below 0: the level decides against the worths of
        all, or by chance), tie (above 0: more ties), each larger grade (above 0: more of it), and order (above 0: more
        wins of the object shown first), if the model has these terms. Then the object on which the level differs most
        from the rest, with its score (above 0: in favour of the object); the reason, which is the most extreme score;
        its p-value times the number of scores; and p_adjusted by Holm's method over all levels. The smallest p-value
        comes first. Values are NaN for fewer than ten judgments. For fits other than `LLBTResults`: the level, its
        judgments (lists, patterns), statistic, df, reason (the estimate that differs most from the rest) with its
        score, p_value and p_adjusted.

    Raises
    ------
    OptionError
        For a `by` that the table does not have.
    DesignError
        If `by` has only one level.

    Notes
    -----
    This is Rao's score test of separate parameters for a level, at the estimates of all judgments. Agreement is a
    factor on the level's log-worths; tie, grades and order are added to γ and δ. Each object in turn has an added
    log-worth, if the level's judgments of it have at least five expected wins and five expected losses. So nothing is
    fitted again, however many judges there are. P-values come from Pearson's type III distribution with the same
    variance and skewness. They take the judgments of a judge as independent, even if the fit is clustered. They are too
    small if a prompt was judged many times; a note says so if the fit has clusters other than `by`.

    For fits other than `LLBTResults` a level is tested for separate worths, ties and order effects jointly, against χ²;
    σ and other parameters are those of the whole fit. Levels with fewer than ten judgments, lists or patterns, or with
    fewer than 20 judges with effects, have no p-value. Scores and information of a level are differences of the
    log-probability of its judges' judgments, its lists or its patterns. Levels have to be independent by the model: the
    judges with effects, or levels of columns in which these are nested.

    References
    ----------
    Rao, C. R. (1948). Large sample tests of statistical hypotheses concerning several parameters. Mathematical
    Proceedings of the Cambridge Philosophical Society 44(1), 50-57. Holm, S. (1979). A simple sequentially rejective
    multiple test procedure. Scandinavian Journal of Statistics 6(2), 65-70.

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1"))
    >>> llbt.level_tests(res, by="judge").to_frame()[["judge", "reason"]].iloc[0].tolist()
    ['J3', 'object']
    """
    plain = plain_of(res)
    return unit_tests(res, by) if plain is None else _of_scores(plain, by)


def _of_scores(res: PlainEstimates, by: str) -> Table:
    """Return the tests of the levels of a fit, by the scores of its judgments."""
    c, by = res.comparisons, res.comparisons.named(by)
    levels = levels_of(c, by)
    if len(levels) < 2:
        raise DesignError(f"by={by!r} has one level", "There is no other level to compare it with.")
    tests, units = tests_of(res, by), clustered(c, by, (by,))
    order = np.argsort(np.where(np.isnan(tests.p_values), np.inf, tests.p_values), kind="stable")
    objects = [*c.objects, None]
    return Table(
        (
            Field(by, by, [levels[k] for k in order]),
            Field("judgments", "judgments", units.judgments[order], "count"),
            *(Field(name, name, z[order], "statistic") for name, z in tests.statistics.items()),
            Field("object", "object", [objects[k] for k in tests.item[order]]),
            Field("object_statistic", "its score", tests.item_statistic[order], "statistic"),
            Field("reason", "reason", tests.reason[order].tolist()),
            Field("p_value", "p", tests.p_values[order], "p_value"),
            Field("p_adjusted", "p (Holm)", tests.p_adjusted[order], "p_value"),
        ),
        title=f"Each {by} against the rest: score tests",
        notes=(_note(tests), *dependence_note(res, by)),
    ).first(_PRINTED)


def dependence_note(res: PlainEstimates, by: str) -> tuple[str, ...]:
    """Return a note if a fit takes judgments of a level as dependent; the tests of levels take them as independent."""
    others = [name for name in res.specification.groups if name != by]
    return independence_note(others, f"P-values take a {by}'s")


def tests_of(res: PlainEstimates, by: str) -> UnitTests:
    """Return the tests of the levels of a covariate or cluster, in the order of `levels_of`."""
    problem, c = res.problem(), res.comparisons
    probability = probabilities(problem, res.solution.params)
    return compare_units(problem, res.solution, probability, clustered(c, by, (by,)), c.pairs, _directions(res))


def levels_of(c: Comparisons, by: str) -> list[Any]:
    """Return the levels that have judgments."""
    by_cluster, by = c.cluster_counts, c.named(by)
    for column, counts in (
        *((column, c.counts) for column in c.columns),
        *((column, by_cluster.counts) for column in (by_cluster.columns if by_cluster else ()) if by_cluster),
    ):
        if column.name == by:
            judged = np.bincount(column.codes, weights=counts.sum(axis=1), minlength=len(column.levels)) > 0
            levels: list[Any] = column.levels[judged].tolist()
            return levels
    has = listed((*c.covariates, *c.clusters)) or "none"
    raise OptionError(
        f"by={by!r} is not a column of this table; it has {has}",
        f"Keep it when the table is made: from_judgments(…, clusters={by!r}).",
    )


def _directions(res: PlainEstimates) -> dict[str, tuple[int, FloatArray]]:
    """Return what a level's separate parameters add to the predictors: the predictor, and the added values, (S,)."""
    c, one = res.comparisons, np.ones(len(res.comparisons))
    worth = np.array([block == "worth" for block in res.design.blocks])
    # an aliased parameter (NaN) adds nothing to the predictors
    lead = res.design.worth.of_comparisons() @ np.where(
        worth, np.nan_to_num(res.params.to_numpy(dtype=np.float64)), 0.0
    )
    directions = {"agreement": (0, lead)} if worth.any() else {}
    directions |= {block: (b, one) for block, b in c.response.shared.items() if word_of(block) in res.design.blocks}
    return directions | ({"order": (0, one)} if "order" in res.design.blocks else {})


def _note(tests: UnitTests) -> str:
    m = int((~np.isnan(tests.p_values)).sum())
    return f"Scores are standardized. p: all tests of a level; p adjusted: Holm's, {m} levels."
