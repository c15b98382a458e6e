"""Cluster-robust standard errors that leave out each cluster: against refits without it, and where there are none."""

import itertools
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.clusters import DRAS, close, free_cov, judged, quietly
from support.in_full import in_full

import llbt
from llbt import Comparisons, LLBTResults
from llbt.fitting import existence
from llbt.fitting.clusters import clustered
from llbt.kernel import jackknife
from llbt.kernel.jackknife import left_out
from llbt.kernel.likelihood import information
from llbt.kernel.robust import cluster_scores, effective_clusters


def fitted(formula: str, c: Comparisons, **options: object) -> LLBTResults:
    """Fit with every warning an error, but for few clusters."""
    return quietly(formula, c, cov_type="cluster", groups="judge", **options)


def steps(res: LLBTResults, name: str) -> np.ndarray:
    """−(H − H_g)⁻¹ s_g of each cluster, by a loop over dense matrices, (G, p)."""
    problem, clusters = res.problem(), clustered(res.comparisons, name, (name,))
    p = res.solution.means / problem.totals[:, None]
    whole, scores = np.linalg.inv(res.solution.cov), cluster_scores(problem, res.solution, clusters)
    found = []
    for g in range(clusters.size):
        inside = clusters.codes == g
        n = np.bincount(clusters.rows[inside], clusters.counts[inside].sum(axis=1), len(p))
        found.append(-np.linalg.pinv(whole - information(problem, p, n), rcond=1e-10) @ scores[g])
    return np.array(found)


CASES = {
    "a kept cluster": ("object + tie", judged(clusters="judge"), {}),
    "a covariate": ("object + tie", judged(covariates="judge"), {}),
    "with order": ("object + tie + order", judged(clusters="judge", order=True), {}),
    "a number": ("object + object:age + tie", judged(covariates="age", clusters="judge"), {}),
    "rows without zeros": ("C(object, Sum) + tie", judged(clusters="judge"), {}),
    "held": ("object + tie", judged(clusters="judge"), {"fixed": {"tie": -0.4}}),
    "a prior": ("object + tie", judged(clusters="judge"), {"prior": 2.0}),
    "bias reduced": ("object + tie", judged(clusters="judge"), {"prior": "jeffreys"}),
    "half wins": ("object", judged(clusters="judge").split_ties(), {}),
    "many clusters": ("object + tie", judged(150, clusters="judge"), {}),
    "classes": ("object * item + tie", judged(12, 3, 600, clusters="judge", covariates="item"), {}),
}


@pytest.mark.parametrize("alone", [False, True], ids=["together", "alone"])
@pytest.mark.parametrize("case", list(CASES))
def test_one_step_of_every_cluster(case: str, alone: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """(G − 1)/G Σ (θ₍₋g₎ − θ̂)(θ₍₋g₎ − θ̂)ᵀ with literal steps, however the clusters are gone through."""
    monkeypatch.setattr(jackknife, "_ALONE", -1 if alone else np.inf)
    formula, c, options = CASES[case]
    res = fitted(formula, c, **options)
    moved = steps(res, "judge")
    expected = (len(moved) - 1) / len(moved) * moved.T @ moved
    spread = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    close(free_cov(res) / spread, expected / spread, atol=1e-8)


def test_clusters_that_hold_much_by_a_factor_or_by_eigenvalues(monkeypatch: pytest.MonkeyPatch) -> None:
    c = judged(4, 3, 900, clusters="judge", covariates="item")
    by_eigenvalues = fitted("object * item + tie", c)
    monkeypatch.setattr(jackknife, "_LARGE", 0)
    monkeypatch.setattr(jackknife, "_spectral", lambda *_: pytest.fail("no pivot is small"))
    by_factor = fitted("object * item + tie", c)
    close(free_cov(by_factor), free_cov(by_eigenvalues), rtol=1e-8)


def test_a_factor_that_is_sparse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many judges with parameters of their own, in few clusters across them."""
    c = judged(30, 4, 3000, clusters="item", covariates="judge")
    found = []
    for large in (0, 10_000):
        monkeypatch.setattr(jackknife, "_LARGE", large)
        found.append(quietly("object * judge + tie", c, cov_type="cluster", groups="item", prior="jeffreys"))
    close(free_cov(found[0]), free_cov(found[1]), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize(("judges", "rows"), [(8, 4000), (25, 6000)])
@pytest.mark.slow
def test_one_step_is_about_a_refit_without_the_cluster(judges: int, rows: int) -> None:
    """The second route: the model fitted again to the table without each judge."""
    c = judged(judges, rows=rows, clusters="judge")
    res = fitted("object + tie", c)
    labels = next(column.levels for column in c.cluster_counts.columns if column.name == "judge")
    moved = []
    for label in labels:
        rest = c.select(where={"judge": [other for other in labels if other != label]})
        moved.append(quietly("object + tie", rest).params.to_numpy() - res.params.to_numpy())
    expected = np.sqrt((judges - 1) / judges * np.sum(np.square(moved), axis=0))
    close(res.bse, expected, rtol=0.02)


def test_degrees_of_freedom_and_printout() -> None:
    c = judged(12, clusters="judge")
    res = fitted("object + tie", c)
    number, effective = effective_clusters(clustered(c, "judge", ("judge",)).judgments)
    assert number == 12
    assert 11 < effective < 12
    close(res.df_inference, effective - 1, rtol=1e-12)
    close(res.pvalues, 2 * stats.t.sf(np.abs(res.params / res.bse), effective - 1), rtol=1e-10)
    text = res.as_text()
    assert f"Standard errors: CR3 by judge (G = 12, G* = {effective:.1f}), t with" in text


def test_the_sandwich_is_smaller() -> None:
    """CR1 is downward biased, and so takes the wrong side of CR3."""
    c = judged(8, clusters="judge")
    sandwich = quietly("object + tie", c, cov_type="CR1", groups="judge")
    assert (fitted("object + tie", c).bse > sandwich.bse).all()
    assert sandwich.df_inference == 7


def test_clusters_of_equal_size_split_in_halves_by_hand() -> None:
    """Two objects, no ties: the log-odds of k of n, without each cluster in turn."""
    wins, n = np.array([6.0, 9.0, 4.0, 7.0]), 12.0
    frame = pd.DataFrame({"object_i": "A", "object_j": "B", "wins_i": wins, "wins_j": n - wins, "judge": list("abcd")})
    res = fitted("object", llbt.from_counts(frame, clusters="judge"))
    p = wins.sum() / (4 * n)
    step = -(wins - n * p) / (3 * n * p * (1 - p)) / 2  # of the log-worth, half the log-odds
    close(res.bse["object[A]"], np.sqrt(3 / 4 * np.sum(step**2)), rtol=1e-9)


# -- what lives in one cluster ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def own() -> LLBTResults:
    """Every judge has parameters of its own."""
    return fitted("object * judge + tie * judge", DRAS)


def test_parameters_of_a_judge_have_no_error_by_judges(own: LLBTResults) -> None:
    assert own.bse.isna().all()
    assert own.pvalues.isna().all()
    assert own.cov_params().isna().all(axis=None)
    note = next(note for note in own.covariance.notes if note.startswith("Std. Error NA"))
    for part in ("'object[A]'", "without judge 'J1'", "without judge 'J2'", "cov_type='nonrobust'"):
        assert part in note
    assert "<2e-16" not in own.as_text()


def test_the_others_keep_theirs() -> None:
    """Worths of all judges together with tie effects of their own: only these are lost."""
    res = fitted("object + tie * judge", DRAS)
    ties = [name for name in res.names if name.startswith("tie")]
    assert res.bse[ties].isna().all()
    assert (res.bse.drop(ties) > 0).all()
    moved = steps(res, "judge")
    close(res.bse.drop(ties), np.sqrt(3 / 4 * (moved**2).sum(axis=0))[:3], rtol=1e-8)
    assert not res.cov_params().drop(index=ties, columns=ties).isna().any(axis=None)


def lone_object() -> Comparisons:
    """Object E is judged by judge J00 alone."""
    frame = judged(10, rows=600, clusters="judge").to_frame(clusters=True)
    some = frame[(frame["judge"] == "J00") & (frame["object_i"] == "A")].assign(object_i="E")
    return llbt.from_counts(
        pd.concat([frame, some, some.rename(columns={"wins_i": "wins_j", "wins_j": "wins_i"})]), clusters="judge"
    )


@pytest.mark.parametrize("reference", ["D", "E"])
def test_differences_of_the_other_objects_are_known_whatever_the_reference(reference: str) -> None:
    res = fitted("object + tie", lone_object(), reference=reference)
    lost = ["object[E]"] if reference == "D" else [f"object[{o}]" for o in "ABCD"]
    assert sorted(res.bse.index[res.bse.isna()]) == sorted(lost)
    pairs = llbt.pairwise(res).to_frame().set_index(["object_i", "object_j"])
    assert pairs.loc[[("A", "E"), ("B", "E"), ("C", "E"), ("D", "E")], "std_error"].isna().all()
    plain = fitted("object + tie", lone_object(), reference="A")
    for i, j in itertools.combinations("ABCD", 2):
        expected = plain.t_test(plain_contrast(plain, i, j)).to_frame()["std_error"].iloc[0]
        close(pairs.loc[(i, j), "std_error"] / 2, expected, rtol=1e-8)
    contrast = llbt.contrasts(res, {"known": {"A": 1, "B": -1}, "lost": {"A": 1, "E": -1}}).to_frame()
    assert contrast["std_error"].isna().tolist() == [False, True]


def plain_contrast(res: LLBTResults, i: str, j: str) -> np.ndarray:
    row = np.zeros(len(res.names))
    for label, sign in ((i, 1.0), (j, -1.0)):
        if f"object[{label}]" in res.names:
            row[res.names.index(f"object[{label}]")] += sign
    return row[None]


def test_questions_to_such_a_fit(own: LLBTResults) -> None:
    """NA in place of 0, and no answer that takes 0 for an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for table in (
            llbt.worth(own),
            llbt.worth(own, scale="log_odds"),
            llbt.pairwise(own, at="average"),
            llbt.contrasts(own, {"A vs B": {"A": 1, "B": -1}}, at="average"),
            own.predict(),
            own.t_test("object[A] = object[B]"),
        ):
            assert "Std. Error NA: no finite estimate of" in table.as_text()
            frame = table.to_frame()
            spread = frame[["std_error", "conf_low", "conf_high"]]
            if "object" in frame:  # the reference itself is 0, without error
                spread = spread[~(frame["estimate"] == 0)]
            assert spread.isna().all(axis=None)
        printed = llbt.leaderboard(own, at={"judge": "J1"})
        board = printed.to_frame()
        assert board[["conf_low", "conf_high"]].isna().all(axis=None)
        assert (board["rank_low"] == 1).all()
        assert (board["rank_high"] == 4).all()
        assert "Group" not in printed.as_text()
        assert np.isnan(own.wald_test("tie = 0").p_value)
        assert "NA" in llbt.model_table([own]).as_text()
        llbt.interpret(own)
        llbt.plot.worth(own)
        llbt.plot.judges(own)
        with pytest.raises(llbt.errors.DesignError, match="three or more"):
            llbt.quasi_variances(own, at="average")


def test_resampled_judges_say_nothing_of_parameters_of_one(own: LLBTResults) -> None:
    boot = llbt.bootstrap(own, resample="judge", n=200, rng=1)
    frame = boot.to_frame()
    assert frame[["bias", "std_error", "conf_low", "conf_high"]].isna().all(axis=None)
    assert "so resamples without it have no estimate" in " ".join(boot.as_text().split())
    assert boot.conf_int(method="bca").isna().all(axis=None)
    plain = llbt.bootstrap(fitted("object + tie", judged(clusters="judge")), resample="judge", n=50, rng=1)
    assert not plain.unsupported.any()


@pytest.mark.parametrize("formula", ["object + tie", "object * judge + tie * judge"])
def test_the_warning_goes_by_effective_clusters(formula: str) -> None:
    """It names neither a model of the clusters, which has no error by them, nor resampling, which holds no better."""
    frame = DRAS.to_frame()
    frame.loc[frame["judge"] == "J1", ["wins_i", "ties", "wins_j"]] *= 20
    with pytest.warns(llbt.errors.ClusterWarning) as caught:
        llbt.fit(formula, llbt.from_counts(frame, covariates="judge"), cov_type="cluster", groups="judge")
    said = str(caught[0].message)
    assert "object *" not in said
    assert "bootstrap" not in said
    assert said.startswith("judge (G = 4, G* = 1.")


def test_one_lost_direction() -> None:
    res = fitted("object + tie", lone_object())
    found = left_out(res.problem(), res.solution, clustered(res.comparisons, "judge", ("judge",)))
    close(np.abs(found.lost), [[0.5, 0.5, 0.5, 0.5, 0.0]], atol=1e-9)  # all others against E, the reference
    assert found.clusters.tolist() == [0]


# -- what few of the clusters know -----------------------------------------------------------------------------------


def known_by(few: int) -> Comparisons:
    """Object E is judged by so many of twelve judges alone."""
    frame = judged(12, rows=1200, clusters="judge").to_frame(clusters=True)
    some = frame[(frame["judge"] < f"J{few:02d}") & (frame["object_i"] == "A")].assign(object_i="E")
    turned = some.rename(columns={"wins_i": "wins_j", "wins_j": "wins_i"})
    return llbt.from_counts(pd.concat([frame, some, turned]), clusters="judge")


@pytest.mark.parametrize("few", [2, 3, 5])
def test_from_how_many_clusters_a_parameter_is_known(few: int) -> None:
    """(Σv)²/Σv², v the diagonal of V H_g V, by a loop over dense matrices."""
    res = fitted("object + tie", known_by(few), reference="D")
    problem, clusters = res.problem(), clustered(res.comparisons, "judge", ("judge",))
    p = res.solution.means / problem.totals[:, None]
    v = []
    for g in range(12):
        inside = clusters.codes == g
        n = np.bincount(clusters.rows[inside], clusters.counts[inside].sum(axis=1), len(p))
        v.append(np.diag(res.solution.cov @ information(problem, p, n) @ res.solution.cov))
    v = np.array(v)
    close(v.sum(axis=0), np.diag(res.solution.cov), rtol=1e-5)
    own = v.sum(axis=0) ** 2 / (v**2).sum(axis=0)
    close(res.covariance.effective(np.eye(len(own))), own, rtol=1e-8)
    k = res.names.index("object[E]")
    assert few - 0.5 < own[k] < 1.4 * few  # the other object's share is everybody's
    df = res.df_of(np.eye(len(own)))
    close(df[k], own[k] - 1, rtol=1e-10)
    close(np.delete(df, k), res.df_inference, rtol=1e-12)


def test_its_intervals_are_those_of_as_few() -> None:
    res = fitted("object + tie", known_by(3), reference="D")
    name = "object[E]"
    df = float(res.df_of(np.eye(len(res.names)))[res.names.index(name)])
    assert 1.5 < df < 3.2
    t = res.params[name] / res.bse[name]
    p = 2 * stats.t.sf(abs(t), df)
    close(res.pvalues[name], p, rtol=1e-10)
    half = stats.t.isf(0.025, df) * res.bse[name]
    close(res.conf_int().loc[name], [res.params[name] - half, res.params[name] + half], rtol=1e-10)
    asked = res.t_test("object[E] = 0").to_frame()
    close(asked["p_value"], p, rtol=1e-10)
    close(asked["conf_high"], res.params[name] + half, rtol=1e-10)
    close(res.wald_test("object[E] = 0").p_value, p, rtol=1e-8)
    worths = llbt.worth(res, scale="log_worth").to_frame().set_index("object")
    close(worths.loc["E", "conf_high"], res.params[name] + half, rtol=1e-10)
    contrast = llbt.contrasts(res, {"E": {"E": 1, "D": -1}}, scale="log_worth").to_frame()
    close(contrast["p_value"], p, rtol=1e-8)
    close(contrast["conf_high"], res.params[name] + half, rtol=1e-8)
    pairs = llbt.pairwise(res, adjust=None).to_frame().set_index(["object_i", "object_j"])
    close(pairs.loc[("D", "E"), "p_value"], p, rtol=1e-8)
    assert f"object[E] (G* = {df + 1:.2f}). Their t tests have G* − 1 df" in " ".join(res.as_text().split())
    table = llbt.model_table([res], below="conf_int")
    assert f"{res.params[name] + half:.5f}" in table.as_text().replace("−", "-")


def test_simultaneous_intervals_have_the_tail_of_as_few() -> None:
    res = fitted("object + tie", known_by(3), reference="D")
    pairs = llbt.pairwise(res)
    few = np.array([res.comparisons.objects[j] == "E" for j in pairs.pairs[:, 1]])
    assert (pairs.reach[few] > 1.3 * pairs.critical).all()
    close(pairs.reach[~few], pairs.critical, rtol=1e-12)
    own = res.df_of(np.array([plain_contrast(res, "C", "E")[0]]))
    row = [tuple(pairs.objects[k] for k in two) for two in pairs.pairs].index(("C", "E"))
    close(stats.t.sf(pairs.reach[row], own), stats.t.sf(pairs.critical, pairs.df), rtol=1e-8)


def test_fewer_than_two_have_no_error() -> None:
    """Two judges know it, one of them next to nothing."""
    frame = known_by(2).to_frame(clusters=True)
    little = (frame["judge"] == "J01") & ((frame["object_i"] == "E") | (frame["object_j"] == "E"))
    frame = frame.astype({"wins_i": float, "ties": float, "wins_j": float})
    frame.loc[little, ["wins_i", "ties", "wins_j"]] *= 0.05
    res = fitted("object + tie", llbt.from_counts(frame, clusters="judge"), reference="D")
    assert res.bse.index[res.bse.isna()].tolist() == ["object[E]"]
    assert np.isnan(res.pvalues["object[E]"])
    note = next(note for note in res.covariance.notes if note.startswith("Std. Error NA"))
    assert "the effective number of judges is below 2 for object[E] (G* = 1." in note
    assert "cov_type='nonrobust'" in note
    pairs = llbt.pairwise(res).to_frame()
    assert pairs[pairs["object_j"] == "E"][["std_error", "p_adjusted", "conf_low"]].isna().all(axis=None)
    worths = llbt.worth(res, scale="log_odds").to_frame().set_index("object")
    assert worths.loc["E", ["std_error", "conf_low", "conf_high"]].isna().all()
    predicted = res.predict().to_frame()
    assert predicted[predicted["object_j"] == "E"]["std_error"].isna().all()


# -- what is infinite without a cluster ------------------------------------------------------------------------------


def changed(c: Comparisons, where: Callable[[pd.DataFrame], pd.Series], **counts: str) -> Comparisons:
    """Return a table whose lines that are named have the counts of other outcomes added to theirs."""
    frame = c.to_frame(clusters=True)
    some = where(frame)
    for new, old in counts.items():
        frame.loc[some, new] += frame.loc[some, old]
        frame.loc[some, old] = 0
    return llbt.from_counts(frame, clusters="judge")


def test_the_only_judge_who_ties() -> None:
    """Without J00 there are no ties, and the tie effect is −∞: one step says a finite error, which is none."""
    c = changed(judged(12, clusters="judge"), lambda f: f["judge"] != "J00", wins_i="ties")
    rest = c.select(where={"judge": [f"J{k:02d}" for k in range(1, 12)]})
    with pytest.raises(llbt.errors.SeparationError, match="tie"):
        quietly("object + tie", rest)
    res = fitted("object + tie", c)
    assert res.bse.index[res.bse.isna()].tolist() == ["tie"]
    moved = steps(res, "judge")
    close(res.bse.drop("tie"), np.sqrt(11 / 12 * (moved**2).sum(axis=0))[:3], rtol=1e-8)
    note = next(note for note in res.covariance.notes if note.startswith("Std. Error NA"))
    assert "no finite estimate of 'tie' without judge 'J00'" in note
    for finite in ({"prior": "jeffreys"}, {"prior": 1.0}):
        assert fitted("object + tie", c, **finite).bse.notna().all()


def test_the_only_judge_for_whom_an_object_wins() -> None:
    """Without J01 object A never wins nor ties: all differences to A are infinite, the others known."""
    table = changed(
        judged(12, clusters="judge"), lambda f: (f["judge"] != "J01") & (f["object_i"] == "A"), wins_j="ties"
    )
    c = changed(table, lambda f: (f["judge"] != "J01") & (f["object_i"] == "A"), wins_j="wins_i")
    with pytest.raises(llbt.errors.SeparationError, match="A"):
        quietly("object + tie", c.select(where={"judge": [f"J{k:02d}" for k in range(12) if k != 1]}))
    res = fitted("object + tie", c, reference="D")
    assert res.bse.index[res.bse.isna()].tolist() == ["object[A]"]
    pairs = llbt.pairwise(res).to_frame()
    assert pairs.loc[pairs["object_i"] == "A", "std_error"].isna().all()
    assert pairs.loc[pairs["object_i"] != "A", "std_error"].notna().all()


@pytest.mark.parametrize(("seed", "separates"), [(0, True), (1, False), (2, False), (4, True), (10, True)])
def test_as_refitting_without_each_judge_says(seed: int, separates: bool) -> None:
    """Sparse tables: some parameter has no error where a judge is needed for a finite estimate, else all do."""
    rng = np.random.default_rng(seed)
    pair = np.array([(i, j) for i in range(4) for j in range(i + 1, 4)])[rng.integers(0, 6, 40)]
    sides = np.array(list("ABCD"))[pair].T
    frame = pd.DataFrame({"object_i": sides[0], "object_j": sides[1]})
    frame["outcome"] = np.array(["i", "tie", "j"], dtype=object)[rng.choice(3, 40, p=[0.5, 0.05, 0.45])]
    frame["judge"] = [f"J{k}" for k in rng.integers(0, 6, 40)]
    res = fitted("object + tie", llbt.from_judgments(frame, clusters="judge"))
    without = []
    for judge in frame["judge"].unique():
        try:
            quietly("object + tie", llbt.from_judgments(frame[frame["judge"] != judge]))
        except llbt.LLBTError:  # separated, or without any tie
            without.append(judge)
    assert bool(without) == separates == bool(res.bse.isna().any())
    assert all(f"'{judge}'" in res.as_text() for judge in without)


def test_nothing_is_asked_of_shared_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where every cell has several judges no linear program is solved."""
    monkeypatch.setattr(existence, "recession_direction", lambda _: pytest.fail("asked"))
    assert fitted("object + tie", judged(10, rows=3000, clusters="judge")).bse.notna().all()


def test_errors_that_are_missing_beside_a_prior_are_told_where_the_fit_warns_and_prints() -> None:
    """A prior gives every fit without a cluster an estimate, so nothing is lost, and one judge tells all of B."""
    rows = [("A", "B", "i", "J1"), ("B", "C", "i", "J2")] * 4
    table = llbt.from_judgments(
        pd.DataFrame(rows, columns=["object_i", "object_j", "outcome", "judge"]), clusters="judge"
    )
    with pytest.warns(llbt.errors.ClusterWarning, match=r"NA if fewer than two clusters .* res\.summary\(\) names"):
        res = llbt.fit("object", table, prior=1, cov_type="cluster", groups="judge")
    assert res.bse.isna().to_dict() == {"object[A]": False, "object[B]": True}
    assert "the effective number of judges is below 2 for object[B] (G* = 1.00)" in in_full(res.summary())


def copies(judges: int) -> Comparisons:
    """The same judgments, of each judge once more."""
    rows = [("a", "b", 5, 2, 3), ("a", "c", 2, 3, 1), ("b", "c", 4, 1, 4)]
    columns = ["object_i", "object_j", "wins_i", "ties", "wins_j"]
    each = [pd.DataFrame(rows, columns=columns).assign(judge=f"j{k}") for k in range(judges)]
    return llbt.from_counts(pd.concat(each), clusters="judge")


@pytest.mark.parametrize("cov_type", ["cluster", "CR1"])
@pytest.mark.parametrize("judges", [2, 6])
def test_clusters_that_are_copies_have_no_error_and_every_answer_says_why(cov_type: str, judges: int) -> None:
    res = quietly("object + tie", copies(judges), cov_type=cov_type, groups="judge")
    assert res.bse.isna().all()
    assert res.cov_params().isna().to_numpy().all()
    assert np.isnan(res.conf_int().to_numpy()).all()
    note = "all give the same value of any parameter. Are they copies of each other?"
    assert note in in_full(res.summary())
    answers = (
        llbt.worth(res),
        llbt.pairwise(res),
        llbt.pairwise(res, scale="log_worth"),
        res.predict(),
        llbt.contrasts(res, {"a : b": {"a": 1, "b": -1}}),
        res.t_test("object[a] = 0"),
    )
    for answer in answers:
        assert answer.to_frame()["std_error"].isna().all()
        assert note in in_full(answer)
    board = llbt.leaderboard(res)
    assert board.to_frame()["conf_low"].isna().all()
    assert note in in_full(board)
    assert any(note in line for line in res.wald_test(["object[a]", "object[b]"]).notes)
    with pytest.raises(llbt.errors.DesignError, match="quasi-variances"):
        llbt.quasi_variances(res)
    words = llbt.interpret(res).text
    assert "without a standard error by clusters" in words
    assert "(held)" not in words


def test_one_judge_unlike_the_copies_is_enough() -> None:
    frame = copies(6).to_frame(clusters=True)
    frame.loc[(frame["judge"] == "j0") & (frame["object_j"] == "b"), ["wins_i", "wins_j"]] = [3, 4]
    res = fitted("object + tie", llbt.from_counts(frame, clusters="judge"))
    assert (res.bse > 1e-3).all()
    assert not res.covariance.missing
    assert not any("Std. Error NA" in note for note in llbt.worth(res).notes)
