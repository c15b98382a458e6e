"""Tables of five outcomes, made by hand: what Comparisons keep of them, and what fits to them answer."""

from dataclasses import replace

import numpy as np
import pytest
from support.fits import fit_by

import llbt
from llbt import Comparisons
from llbt.core.columns import ClusterCounts, Coded, Lines
from llbt.core.comparisons import tabulate
from llbt.core.response import Response, both_bad, graded
from llbt.errors import JudgmentError

FIVE = graded(2, middle=True)
BOTH_BAD = both_bad()
PAIRS = np.array([(i, j) for i in range(4) for j in range(4) for _ in range(3) if i != j])
JUDGE = Coded("judge", np.array(["x", "y", "z"], dtype=object), np.tile(np.arange(3), 12))


def judged(*, order: bool = True, response: Response = FIVE) -> Comparisons:
    """Four objects in both orders by three judges, each judgment of one of twenty items."""
    rng = np.random.default_rng(8)
    lines = np.repeat(np.arange(len(PAIRS)), 20)
    u = np.array([0.3, 0.1, -0.1, -0.3])[PAIRS[lines]] @ [1, -1] + 0.1
    p = response.probabilities([u, *np.full((response.width - 1, len(u)), -0.2)])[0].T
    counts = np.array([rng.multinomial(2, row) for row in p]).astype(float)
    item = Coded("item", np.arange(20).astype(object), np.tile(np.arange(20), len(PAIRS)))
    kept = ClusterCounts(lines, (item,), counts)
    c = Comparisons(
        tuple("ABCD"), PAIRS, np.add.reduceat(counts, np.arange(0, len(lines), 20)), response, True, (JUDGE,)
    )
    c = replace(c, cluster_counts=kept)
    return c if order else replace(c, keeps_order=False).select()


@pytest.mark.parametrize("response", [FIVE, BOTH_BAD], ids=["five", "both bad"])
def test_pairs_that_are_turned_flip_their_outcomes(response: Response) -> None:
    shown, unordered = judged(response=response), judged(response=response, order=False)
    assert len(unordered) == len(shown) / 2
    for (i, j), k, counts in zip(unordered.pairs, unordered.columns[0].codes, unordered.counts, strict=True):
        same = (shown.columns[0].codes == k) & (shown.pairs == [i, j]).all(axis=1)
        other = (shown.columns[0].codes == k) & (shown.pairs == [j, i]).all(axis=1)
        np.testing.assert_array_equal(counts, (shown.counts[same] + shown.counts[other][:, response.flip])[0])
    np.testing.assert_array_equal(unordered.win_matrix(), shown.win_matrix())


def test_tables_keep_their_outcomes() -> None:
    c = judged()
    assert c.wins_i.tolist() == c.counts[:, :2].sum(axis=1).tolist()
    assert c.wins_j.tolist() == c.counts[:, 3:].sum(axis=1).tolist()
    assert c.ties.tolist() == c.counts[:, 2].tolist()
    assert (c.n_ties, c.n_judgments) == (c.counts[:, 2].sum(), 36 * 40)
    assert c.to_frame(clusters=True)[list(FIVE.outcomes)].to_numpy().sum() == c.n_judgments
    pooled, part = c.pool(), c.select(objects=["A", "B"], where={"judge": "y"})
    assert (pooled.response, part.response) == (FIVE, FIVE)
    np.testing.assert_array_equal(pooled.counts, np.add.reduceat(c.counts, np.arange(0, 36, 3)))
    assert part.counts.tolist() == c.counts[[1, 10]].tolist()
    assert pooled != replace(pooled, response=replace(FIVE, outcomes=("a", "b", "tie", "c", "d")))
    assert "Object i Object j Judge i+" in str(c)


def test_answers_of_a_fit_have_all_outcomes() -> None:
    c = judged()
    res = llbt.fit("object + tie + order", c)
    means = res.solution.means
    assert means.shape == (36, 5)
    assert res.hat_diag.sum() == pytest.approx(36 + 5, rel=1e-9)
    frame = res.predict().to_frame()
    assert frame["outcome"].tolist()[:5] == list(FIVE.outcomes)
    np.testing.assert_allclose(frame["estimate"].to_numpy().reshape(36, 5) * 40, means, rtol=1e-9)
    # the pooled table says the same of a model without judges
    pooled = llbt.fit("object + tie + order", c.pool())
    np.testing.assert_allclose(res.params, pooled.params, atol=1e-8)
    assert llbt.simulate(res, n=2, rng=1)[1].counts.shape == c.counts.shape
    replicates = llbt.bootstrap(res, n=200, rng=1).replicates
    np.testing.assert_allclose(replicates.std(axis=0, ddof=1), res.bse, rtol=0.25)
    assert llbt.leaderboard(res).to_frame()["wins"].sum() == c.wins_i.sum() + c.wins_j.sum()


def test_bias_reduction_and_priors_have_the_gradient_that_finite_differences_have() -> None:
    c = judged().pool()
    res = llbt.fit("object + tie + order", c)
    problem = res.problem()
    rows = np.stack(FIVE.log_weights([part.toarray() for part in problem.predictors]), axis=1)

    def objective(params: np.ndarray, prior: float | None) -> float:
        logs = rows @ params
        logs -= np.logaddexp.reduce(logs, axis=1, keepdims=True)
        added = 0.0 if prior is None else prior / 2 / 5  # two orders of a pair, five outcomes
        value = float(((problem.counts + added) * logs).sum())
        if prior is not None:
            return value
        p = np.exp(logs)
        away = rows - np.einsum("sk,skp->sp", p, rows)[:, None]
        information = np.einsum("sk,skp,skq->pq", problem.totals[:, None] * p, away, away)
        return value + np.linalg.slogdet(information)[1] / 2

    for options, prior in (({"prior": "jeffreys"}, None), ({"prior": 3.0, "method": "eliminate"}, 3.0)):
        found = fit_by("object + tie + order", c, **options)
        estimate = found.params.to_numpy()
        for step in np.eye(len(estimate)) * 1e-4:
            slope = (objective(estimate + step, prior) - objective(estimate - step, prior)) / 2e-4
            assert slope == pytest.approx(0, abs=1e-5)
        assert found.solution.objective == pytest.approx(objective(estimate, prior), rel=1e-12)
        assert not np.allclose(estimate, res.params, atol=1e-5)
    glm = fit_by("object + tie + order", c, prior=3.0, method="glm")
    np.testing.assert_allclose(glm.params, estimate, atol=1e-8)
    np.testing.assert_allclose(glm.bse, found.bse, rtol=1e-7)
    np.testing.assert_allclose(glm.solution.means.sum(axis=1), c.totals, rtol=1e-9)


def test_functions_of_wins_ties_and_losses_refuse_other_outcomes() -> None:
    c = judged()
    for ask in (c.drop_ties, c.split_ties, lambda: llbt.classical.sign_test(c)):
        with pytest.raises(JudgmentError, match=r"'i\+', 'i', 'tie', 'j', 'j\+'; expected a table of wins, ties and"):
            ask()
    with pytest.raises(JudgmentError, match=r"shape \(36, 3\) for the outcomes"):
        replace(c, counts=c.counts[:, :3].copy())
    assert tabulate(Lines(c.pairs, c.counts, c.columns), c).counts.tolist() == c.counts.tolist()


def test_the_warning_without_a_tie_term_says_what_it_means_for_grades() -> None:
    """γ = 0 of ties: as often as the first grade of either side, which is a third of three outcomes alone."""
    five = llbt.from_counts(
        [{"object_i": "A", "object_j": "B", "++": 4, "+": 6, "=": 5, "-": 6, "--": 4}], grades=GRADES
    )
    with pytest.warns(llbt.errors.TiesWarning, match=r"as often as either of them is preferred by the first grade"):
        res = llbt.fit("object + grade", five)
    equal = res.response.probabilities([np.zeros(1), np.zeros(1), np.full(1, res.params["grade[+]"])])[0].ravel()
    assert equal[2] == pytest.approx(equal[1], abs=1e-15)
    assert equal[2] != pytest.approx(1 / 3, abs=0.05)
    with pytest.warns(llbt.errors.TiesWarning, match="in a third of their judgments"):
        llbt.fit("object", five.collapse())


GRADES = ("++", "+", "=", "-", "--")
