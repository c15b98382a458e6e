"""Latent classes of judges: published figures, special cases, and what is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.errors import DesignError, FormulaError, OptionError
from llbt.judges.class_test import bootstrap_test
from llbt.kernel.likelihood import probabilities
from llbt.resampling import Resampler


def by_judge(orders: dict[str, str], repeats: int = 1) -> llbt.Comparisons:
    """The comparisons of judges who order A, B and C."""
    rows = [
        (f"{who}{n}", i, j, "i" if order.index(i) < order.index(j) else "j")
        for n in range(repeats)
        for who, order in orders.items()
        for i, j in ("AB", "AC", "BC")
    ]
    return llbt.from_judgments(
        pd.DataFrame(rows, columns=["judge", "object_i", "object_j", "outcome"]), clusters="judge"
    )


ORDERS = {
    "ann": "ABC",
    "bob": "ABC",
    "cem": "ACB",
    "dan": "CBA",
    "eve": "CBA",
    "fay": "BCA",
    "gus": "CAB",
    "hal": "BAC",
}


@pytest.fixture(scope="module")
def parties(shared: Path) -> llbt.Comparisons:
    frame = pd.read_csv(shared / "data" / "german_parties_2009.csv")
    pairs = [name for name in frame.columns if ":" in name]
    long = frame.melt(id_vars="judge", value_vars=pairs, var_name="pair", value_name="first").dropna()
    long[["object_i", "object_j"]] = long["pair"].str.split(":", expand=True)
    long["outcome"] = long["first"].map({1: "i", -1: "j"})
    return llbt.from_judgments(long[["judge", "object_i", "object_j", "outcome"]], clusters="judge")


@pytest.mark.shared
@pytest.mark.slow
def test_german_parties(parties: llbt.Comparisons, reference: Callable[[str], Any]) -> None:
    """The maximum as another program finds it, and the figures of R psychomix, which stops early."""
    found = llbt.judges.classes("object", parties, k=range(1, 7), rng=1)
    said = reference("models/german_parties_em")
    for k, value in said["loglik"].items():
        assert found[int(k)].llf == pytest.approx(value, abs=1e-5)
    four = said["four_classes"]
    np.testing.assert_allclose(found[4].shares, four["shares"], atol=1e-4)
    for label, worths in enumerate(four["worths"], start=1):
        own = llbt.worth(found[4].results(label)).to_frame().set_index("object")["estimate"]
        np.testing.assert_allclose(own[four["objects"]], worths, atol=1e-4)
    assert found[6].infinite
    assert np.isnan(found[6].bse.to_numpy()).any(axis=1).sum() == len(found[6].infinite)
    assert found[6].llf == pytest.approx(-1252.939, abs=1e-3)
    for row in reference("models/german_parties_btmix"):
        assert found[row["k"]].n_params == row["df"]
        assert found[row["k"]].llf == pytest.approx(row["logLik"], abs=2e-3)
        assert found[row["k"]].bic_judges == pytest.approx(row["BIC"], abs=4e-3)


def test_one_class_is_the_fit_of_all_judges() -> None:
    c = by_judge(ORDERS)
    one, res = llbt.judges.classes("object", c, k=1, rng=1)[1], llbt.fit("object", c)
    np.testing.assert_allclose(one.params.to_numpy()[0], res.params, atol=1e-8)
    np.testing.assert_allclose(one.bse.to_numpy()[0], res.bse, atol=1e-8)
    assert one.llf == pytest.approx(res.llf, abs=1e-9)
    assert (one.entropy, one.icl) == (1.0, one.bic_judges)


def test_a_class_answers_as_a_fit_does() -> None:
    """Its estimates are those of the judgments weighted by posteriors, as the M-step has them."""
    found = llbt.judges.classes("object", by_judge(ORDERS, 3), k=2, prior=1, rng=1)[2]
    for label in found.labels:
        own = found.results(label)
        again = llbt.fit("object", own.comparisons, prior=1)
        np.testing.assert_allclose(own.params.to_numpy(), found.params.loc[label])
        # the prior is shared out among all judgments of the pair, weighted or not
        np.testing.assert_allclose(own.params, again.params, atol=1e-5)
        assert len(llbt.pairwise(own).to_frame()) == 3
    np.testing.assert_allclose(found.posterior.sum(axis=1), 1.0)
    assert found.shares.is_monotonic_decreasing
    assert len(found.posterior) == 24
    assert len(found.by_judge.answers.repeats) == 6  # judges with the same order said the same


def test_judges_may_be_a_covariate_of_the_table() -> None:
    c = by_judge(ORDERS)
    frame = c.to_frame(clusters=True)
    split = llbt.from_counts(frame, covariates="judge")
    first, second = (llbt.judges.classes("object", table, k=2, prior=1, rng=1)[2] for table in (c, split))
    np.testing.assert_allclose(first.llf, second.llf)
    np.testing.assert_allclose(first.params, second.params, atol=1e-6)


def test_class_at_infinity_is_named_and_a_prior_keeps_it() -> None:
    c = by_judge({"ann": "ABC", "bob": "ABC", "cem": "CBA", "dan": "CBA", "eve": "BAC"}, 4)
    found = llbt.judges.classes("object", c, k=3, rng=1)[3]
    assert found.infinite
    assert "No finite estimates" in str(found)
    assert not llbt.judges.classes("object", c, k=3, prior=1, rng=1)[3].infinite


def test_judges_without_overlap_leave_a_direction_open_which_is_said() -> None:
    """Ten judges compare A, B and C, ten D, E and F; one compares C with D."""
    rng = np.random.default_rng(1)
    rows = [
        (f"p{g}", objects[i], objects[j], rng.choice(["i", "j"]))
        for g in range(20)
        for objects in ["ABC" if g < 10 else "DEF"]
        for i, j in ((0, 1), (0, 1), (0, 2), (0, 2), (1, 2), (1, 2))
    ]
    rows += [("p0", "C", "D", "i"), ("p0", "C", "D", "j")]
    frame = pd.DataFrame(rows, columns=["judge", "object_i", "object_j", "outcome"])
    c = llbt.from_judgments(frame, clusters="judge")
    text = llbt.judges.classes("object", c, k=2, starts=3, rng=1)[2].summary().as_text()
    assert "No standard errors: the judgments do not determine all estimates" in text
    assert "nan" not in text.lower()
    kept = llbt.judges.classes("object", c, k=2, starts=3, prior=0.1, rng=1)[2]
    assert np.isfinite(kept.bse).all(axis=None)


@pytest.mark.slow
def test_the_same_seed_finds_the_same_classes() -> None:
    c = by_judge(ORDERS, 2)
    one, two = (llbt.judges.classes("object", c, k=[1, 2], prior=1, rng=7, n_jobs=jobs) for jobs in (1, 2))
    assert str(one) == str(two)
    np.testing.assert_array_equal(one[2].params, two[2].params)
    assert one.best.k in (1, 2)


@pytest.mark.parametrize(
    ("formula", "options", "error", "said"),
    [
        ("object", {"k": 9}, OptionError, "at most 6"),
        ("object", {"k": 0}, OptionError, "a number of classes"),
        ("object", {"by": "rater"}, OptionError, "is not a column of this table"),
        ("object", {"common": ["tie"]}, OptionError, "terms of the formula"),
        ("object + (object | judge)", {}, OptionError, "brackets"),
        ("object + age", {}, FormulaError, "age"),
    ],
)
def test_refusals(formula: str, options: dict[str, object], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        llbt.judges.classes(formula, by_judge(ORDERS), **{"rng": 1, **options})  # type: ignore[arg-type]


def test_two_judges_are_no_classes() -> None:
    with pytest.raises(DesignError, match="2 judges"):
        llbt.judges.classes("object", by_judge({"ann": "ABC", "dan": "CAB"}), k=2, prior=1)


def drawn(classes: np.ndarray, n_judges: int, repeats: int, seed: int) -> llbt.Comparisons:
    """Judges who say of each pair of objects, so many times, what worths (K, J) of their class make probable."""
    rng = np.random.default_rng(seed)
    j = classes.shape[1]
    pairs = np.column_stack(np.triu_indices(j, 1))
    of = np.arange(n_judges) % len(classes)
    odds = np.exp(2 * (classes[of][:, pairs[:, 0]] - classes[of][:, pairs[:, 1]]))
    wins = rng.binomial(repeats, odds / (1 + odds))
    frame = pd.DataFrame(
        {
            "judge": np.repeat(np.arange(n_judges), len(pairs)),
            "object_i": np.array(list("ABCDEF"))[np.tile(pairs[:, 0], n_judges)],
            "object_j": np.array(list("ABCDEF"))[np.tile(pairs[:, 1], n_judges)],
            "wins_i": wins.ravel(),
            "wins_j": repeats - wins.ravel(),
        }
    )
    return llbt.from_counts(frame, clusters="judge")


def adjusted_rand(one: np.ndarray, other: np.ndarray) -> float:
    """Hubert & Arabie (1985): 1 where two groupings are the same, 0 on average by chance."""
    table = pd.crosstab(one, other).to_numpy()
    both, first, second = (float((n * (n - 1) / 2).sum()) for n in (table, table.sum(axis=1), table.sum(axis=0)))
    chance = first * second / (table.sum() * (table.sum() - 1) / 2)
    return (both - chance) / ((first + second) / 2 - chance)


APART = np.array([[0.8, 0.3, -0.3, -0.8], [-0.8, -0.3, 0.3, 0.8], [0.3, -0.8, 0.8, -0.3]])


@pytest.mark.slow
def test_classes_are_recovered() -> None:
    """Three classes with separated worths: judges are put where they were drawn from, and BIC finds how many."""
    for seed in range(3):
        found = llbt.judges.classes("object", drawn(APART, 60, 3, seed), k=range(1, 5), starts=10, rng=seed)
        assert found.best.k == 3
        placed = found[3].posterior.idxmax(axis=1)
        assert adjusted_rand(placed.to_numpy(), placed.index.to_numpy() % 3) > 0.9
        for label in found[3].labels:
            worths = llbt.worth(found[3].results(label), scale="log_worth").to_frame().set_index("object")["estimate"]
            true = APART[placed.index[placed == label].to_series().mod(3).mode()[0]]
            assert np.abs(worths[list("ABCD")] - worths.mean() - true).max() < 0.4
    assert adjusted_rand(np.array([1, 1, 2, 2]), np.array([1, 2, 1, 2])) == pytest.approx(-0.5)  # by hand


@pytest.mark.slow
def test_one_class_more_is_tested_by_judges_drawn(capsys: pytest.CaptureFixture) -> None:
    models = llbt.judges.classes("object", drawn(APART[:2], 24, 2, 1), k=[1, 2, 3], starts=5, rng=1)
    needed = models.bootstrap_test(1, n=9, starts=2, rng=1)
    assert needed.statistic == pytest.approx(2 * (models[2].llf - models[1].llf))
    assert (needed.as_large, needed.stopped, needed.p_value) == (0, False, 1 / 10)
    assert needed.draws.max() < needed.statistic
    enough = models.bootstrap_test(2, n=200, starts=2, enough=2, rng=1)
    drawn_until = len(enough.draws)
    assert enough.stopped
    assert enough.p_value == 2 / drawn_until
    assert enough.draws[-1] >= enough.statistic  # it ends with the second that is as large
    assert enough.std_error == pytest.approx(np.sqrt(enough.p_value * (1 - enough.p_value) / drawn_until))
    assert f"Stopped after {drawn_until} of 200 draws" in enough.as_text(notes="all")
    with joblib.parallel_config(backend="threading"):
        shared = models.bootstrap_test(2, n=200, starts=2, enough=2, rng=1, n_jobs=2, progress=True)
    np.testing.assert_array_equal(enough.draws, shared.draws)
    assert "ClassModels.bootstrap_test" in capsys.readouterr().err
    with pytest.raises(OptionError, match="4 classes"):
        models.bootstrap_test(3, rng=1)


@pytest.mark.slow
def test_draws_have_the_judges_comparisons_and_the_classes_probabilities() -> None:
    rng = np.random.default_rng(1)
    rows = [
        (g, i, j, rng.choice(["i", "tie", "j"])) for g in range(12) for i, j in ("AB", "AC", "BC") for _ in range(g)
    ]
    c = llbt.from_judgments(pd.DataFrame(rows, columns=["judge", "object_i", "object_j", "outcome"]), clusters="judge")
    found = llbt.judges.classes("object + tie", c, k=2, starts=5, prior=1, rng=1)[2]
    answers, mixture = found.by_judge.answers, found.mixture
    shape = (answers.judges, *answers.problem.counts.shape)
    asked = answers.table[answers.index].toarray().reshape(shape).sum(axis=2)
    total = np.zeros(shape[1:])
    for _ in range(100):
        new = answers.drawn(mixture.shares, mixture.params, rng)
        table = new.table[new.index].toarray().reshape(shape)
        np.testing.assert_array_equal(table.sum(axis=2), asked)
        np.testing.assert_array_equal(table.sum(axis=0), new.problem.counts)
        total += new.problem.counts / 100
    of_class = np.stack([probabilities(answers.problem, params) for params in mixture.params])
    expected = asked.sum(axis=0)[:, None] * np.einsum("k,ksc->sc", mixture.shares, of_class)
    np.testing.assert_allclose(total, expected, rtol=0.1)


def test_worths_by_class_are_those_of_each_class() -> None:
    found = llbt.judges.classes("object", by_judge(ORDERS, 2), k=2, prior=1, rng=1)[2]
    frame = found.worths(confidence=0.8).to_frame()
    columns = ["class", "share", "object", "estimate", "std_error", "conf_low", "conf_high"]
    assert list(frame.columns) == columns
    for label, own in frame.groupby("class"):
        same = llbt.worth(found.results(label), confidence=0.8).to_frame()
        pd.testing.assert_frame_equal(own[columns[2:]].reset_index(drop=True), same)
        assert own["estimate"].sum() == pytest.approx(1)
        assert set(own["share"]) == {found.shares[label]}


def test_maxima_that_were_not_found_are_said() -> None:
    """In the wrong order the fit with more classes is always the less likely one."""
    models = llbt.judges.classes("object", drawn(APART[:2], 24, 2, 1), k=[1, 2], starts=5, rng=1)
    found = bootstrap_test(models[2], models[1], 3, 2, 10, Resampler.of("ClassModels.bootstrap_test", 1))
    assert (found.statistic, found.short, found.shorts, found.p_value) == (0.0, True, 3, 1.0)
    assert "In 3 draws the" in str(found)
    assert "the statistic is set to 0" in " ".join(str(found).split())


def test_units_that_were_ranked_are_refused() -> None:
    """One population of 60 rankings: two or three classes were found in each of 40 data sets."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame([rng.permutation(5) + 1 for _ in range(60)], columns=list("ABCDE")).assign(judge=range(60))
    whole = llbt.from_rankings(frame, objects=list("ABCDE"), clusters="judge")
    with pytest.raises(DesignError, match=r"llbt\.fit\('object', llbt\.from_rankings") as caught:
        llbt.judges.classes("object", whole.to_comparisons())
    assert "assume independent judgments" in str(caught.value)
    assert llbt.fit("object", whole).converged


def test_several_numbers_of_classes_fit_a_line() -> None:
    rows = [(k % 9, *pair, "i" if k % 4 else "j") for k in range(4000) for pair in [("ABC"[k % 3], "ABC"[(k + 1) % 3])]]
    frame = pd.DataFrame(rows, columns=["judge", "object_i", "object_j", "outcome"])
    c = llbt.from_judgments(frame, clusters="judge")
    found = llbt.judges.classes("object", c, k=[1, 2], starts=2, prior=0.5, rng=1)
    assert max(map(len, found.as_text().split("\n"))) <= 88
    assert "reached" in found.as_text(columns=["k", "reached"]).lower()
