"""Effects of objects beside their covariates, ``price + (1 | object)``: every answer about objects has them."""

import itertools
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import special, stats
from support.shell import answered, facts

import llbt
from llbt.errors import DesignError, JudgmentError, OptionError
from llbt.inference.board_columns import COLUMNS
from llbt.kernel.laplace import effects_of_scale, information_beside, laplace

_COUNTS = [
    ("A", "B", 10, 90),
    ("A", "C", 50, 50),
    ("A", "D", 50, 50),
    ("B", "C", 90, 10),
    ("B", "D", 90, 10),
    ("C", "D", 50, 50),
]
_PRICES = pd.DataFrame({"object": list("ABCD"), "price": [1.0, 2.0, 3.0, 4.0]})


def _table(rows: list[tuple[str, str, int, int]], prices: pd.DataFrame = _PRICES) -> llbt.Comparisons:
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "wins_i", "wins_j"])
    return llbt.from_counts(frame, object_covariates=prices)


def _fit(formula: str, c: llbt.Comparisons) -> llbt.MixedResults:
    found = llbt.fit(formula, c)
    assert isinstance(found, llbt.MixedResults)
    return found


@pytest.fixture(scope="module")
def res() -> llbt.MixedResults:
    """B wins 270 of 300, whatever the prices."""
    return _fit("price + (1 | object)", _table(_COUNTS))


@pytest.fixture(scope="module")
def none() -> llbt.MixedResults:
    """Counts as near to those of log-worths of half the price as whole numbers are: σ = 0."""
    wins = {(i, j): round(100 * special.expit(i - j)) for i, j in itertools.combinations(range(4), 2)}
    return _fit("price + (1 | object)", _table([("ABCD"[i], "ABCD"[j], w, 100 - w) for (i, j), w in wins.items()]))


def test_covariates_that_leave_nothing_are_refused_and_the_remedy_works() -> None:
    """Four prices as labels tell four objects apart: the restricted likelihood does not depend on σ, which was .033."""
    for formula in ("C(price) + (1 | object)", "price + I(price**2) + I(price**3) + (1 | object)"):
        with pytest.raises(DesignError, match="all differences between the 4 objects") as caught:
            llbt.fit(formula, _table(_COUNTS))
        remedy = eval(caught.value.remedy.split(": ")[1].rstrip("."), {"llbt": llbt, "c": _table(_COUNTS)})
        assert remedy.deviance < 1e-8
    three = _PRICES.assign(price=list("aabc"))
    assert _fit("price + (1 | object)", _table(_COUNTS, three)).scales.iloc[0] > 0


@pytest.mark.slow
def test_coefficients_of_objects_have_t_on_the_objects_that_covariates_leave() -> None:
    """By z intervals of a covariate of 5 objects held .88, of 8 .85 (150 tables); on J − 2 df .96 and .92."""
    held = []
    for seed in range(60):
        rng = np.random.default_rng((1, seed))
        names, x, worth = [f"o{k}" for k in range(5)], rng.normal(size=5), rng.normal(0, 0.5, 5)
        rows = []
        for i, j in itertools.combinations(range(5), 2):
            won = int(rng.binomial(30, special.expit(2 * (worth[i] - worth[j]))))
            rows.append((names[i], names[j], won, 30 - won))
        c = _table(rows, pd.DataFrame({"object": names, "price": x}))
        res = llbt.fit("price + (1 | object)", c, approximation="laplace")
        assert isinstance(res, llbt.MixedResults)
        low, high = res.conf_int().iloc[0]
        held.append(low <= 0 <= high)
    assert np.mean(held) > 0.9


def test_tests_of_covariates_are_by_t_and_predictions_by_z(res: llbt.MixedResults) -> None:
    """One covariate of four objects leaves 4 − 1 − 1 df; pairs and ranks are predictions, whose errors allow for σ."""
    half = stats.t.isf(0.025, 2) * res.bse["price"]
    np.testing.assert_allclose(res.conf_int().loc["price"], res.params["price"] + np.array([-half, half]))
    assert res.pvalues["price"] == pytest.approx(2 * stats.t.sf(abs(res.tvalues["price"]), 2))
    assert res.t_test("price = 0").to_frame()["p_value"].iloc[0] == pytest.approx(res.pvalues["price"])
    board, pairs = llbt.leaderboard(res).to_frame(), llbt.contrasts(res, {"A − B": {"A": 1, "B": -1}}).to_frame()
    alone = llbt.worth(res, scale="log_worth", part="covariates").to_frame().set_index("object").loc["C"]
    assert (alone["conf_high"] - alone["estimate"]) / alone["std_error"] == pytest.approx(stats.t.isf(0.025, 2))
    assert (pairs["conf_high"] - pairs["estimate"])[0] / pairs["std_error"][0] == pytest.approx(stats.norm.isf(0.025))
    assert (board["conf_high"] - board["estimate"]).max() < 0.35


# -- the answers ---------------------------------------------------------------------------------------------------


def test_the_object_that_wins_leads(res: llbt.MixedResults) -> None:
    board = llbt.leaderboard(res).to_frame()
    assert board["object"].iloc[0] == "B"
    assert (board["rank_low"].iloc[0], board["rank_high"].iloc[0]) == (1, 1)
    assert list(board) == list(COLUMNS)
    assert set(board["group"]) == {""}
    assert "prediction" in llbt.leaderboard(res).as_text()
    assert llbt.worth(res).to_frame()["object"].iloc[0] == "B"
    assert llbt.contrasts(res, {"B": {"B": 1, "A": -1}}).to_frame()["estimate"].iloc[0] > 2
    assert llbt.quasi_variances(res).estimate.argmax() == 1


def test_pairs_are_predicted_and_not_tested(res: llbt.MixedResults) -> None:
    """10 of 100 said that A is better than B, and so many judgments leave the prior little say."""
    pairs = llbt.pairwise(res, scale="probability").to_frame()
    assert list(pairs) == [
        "object_i",
        "object_j",
        "estimate",
        "std_error",
        "probability_greater",
        "conf_low",
        "conf_high",
    ]
    assert pairs["estimate"].iloc[0] == pytest.approx(0.1, abs=0.01)
    assert pairs["probability_greater"].iloc[0] < 1e-10
    assert 0.5 < pairs["probability_greater"].iloc[1] < 0.6  # A and C
    found = res.predict().to_frame()
    assert found["estimate"].iloc[0] == pytest.approx(pairs["estimate"].iloc[0], abs=1e-12)
    assert found["std_error"].iloc[0] == pytest.approx(pairs["std_error"].iloc[0], abs=1e-12)
    assert res.predict(at={}).to_frame()["estimate"].tolist() == pytest.approx(found["estimate"].tolist())


@pytest.mark.parametrize("what", ["letters", "clusters"])
def test_what_needs_tests_names_the_ranges_of_ranks(res: llbt.MixedResults, what: str) -> None:
    with pytest.raises(DesignError, match="never equal") as error:
        getattr(llbt.pairwise(res), what)()
    ranks = eval(error.value.remedy.split(": ")[1].rstrip("."), {"llbt": llbt, "res": res})
    assert ranks.to_frame()["rank_low"].tolist() == [1, 2, 2, 2]


def test_the_covariates_alone_are_the_regression(res: llbt.MixedResults) -> None:
    found = llbt.worth(res, scale="log_worth", part="covariates").to_frame().set_index("object")
    slope, error = float(res.params["price"]), float(res.bse["price"])
    assert found.loc["A", ["estimate", "std_error"]].tolist() == pytest.approx([-3 * slope, 3 * error])
    for plain in (res.without, llbt.fit("price", res.comparisons)):
        with pytest.raises(OptionError, match="has no effects of objects"):
            llbt.worth(plain, part="covariates")


def test_words_and_pictures_follow(res: llbt.MixedResults) -> None:
    said = llbt.interpret(res)
    assert "judge" not in said.text.replace("judgments", "")
    assert said.text.index("B (") < said.text.index("A (")
    assert said.figures["share first"] == pytest.approx(0.895, abs=0.01)
    assert said.figures["probability first"] > 0.999
    assert "prediction interval" in said.text
    assert "significant" not in said.text
    assert "average judge" not in res.as_text()
    axes = llbt.plot.intervals(res)
    assert axes.get_yticklabels()[0].get_text() == "B"
    assert "ranks: 95 % prediction" in axes.get_xlabel()
    assert "prediction" in llbt.plot.ranks(llbt.leaderboard(res)).get_xlabel()
    plt.close("all")


def _written(folder: Path) -> tuple[object, ...]:
    frame = pd.DataFrame(_COUNTS, columns=["object_i", "object_j", "wins_i", "wins_j"])
    frame.to_csv(folder / "votes.csv", index=False)
    _PRICES.to_csv(folder / "prices.csv", index=False)
    return folder / "votes.csv", "--formula", "price + (1 | object)", "--object-covariates", folder / "prices.csv"


def test_the_command_line_follows(tmp_path: Path) -> None:
    asked = _written(tmp_path)
    assert [row["object"] for row in facts("leaderboard", *asked)["rows"]] == ["B", "A", "C", "D"]
    assert facts("worth", *asked)["rows"][0]["object"] == "B"


@pytest.mark.slow
def test_the_report_follows(tmp_path: Path) -> None:
    answered("report", *_written(tmp_path), "--output", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Effects of objects" in page
    assert "average judge" not in page
    assert "drawn from the population" not in page


def test_a_new_object_is_what_its_covariates_say_and_sigma_in_the_error(res: llbt.MixedResults) -> None:
    pairs = pd.DataFrame({"object_i": ["new", "other", "A"], "object_j": ["B", "new", "B"]})
    prices = pd.DataFrame({"object": ["new", "other"], "price": [2.0, 5.0]})
    found = res.predict(pairs, object_covariates=prices).to_frame()[::2].reset_index(drop=True)
    effects, slope = res.average.object_effects, float(res.params["price"])
    assert effects is not None
    share = special.expit(2 * (0 - effects.effect[1]))  # B has the price of the new object
    assert found["estimate"].iloc[:2].tolist() == pytest.approx([share, special.expit(2 * 3 * slope)])
    cov, sigma = effects.covariance, effects.sigma
    error = 2 * share * (1 - share) * np.sqrt(cov[2, 2] + sigma**2)  # the slope cancels; of B its own error
    assert found["std_error"].iloc[0] == pytest.approx(error)
    logit = 2 * np.sqrt(9 * cov[0, 0] + 2 * sigma**2)
    assert found["std_error"].iloc[1] == pytest.approx(
        found["estimate"].iloc[1] * (1 - found["estimate"].iloc[1]) * logit
    )
    assert found["estimate"].iloc[2] == pytest.approx(res.predict().to_frame()["estimate"].iloc[0])
    with pytest.raises(OptionError, match="object has no 'new'"):
        res.predict(pairs)
    with pytest.raises(JudgmentError, match="no row for 1 object: 'other'"):
        res.predict(pairs, object_covariates=prices[:1])
    with pytest.raises(OptionError, match="no column 'price'"):
        res.predict(pairs, object_covariates=prices.rename(columns={"price": "cost"}))
    with pytest.raises(OptionError, match="no judges drawn from a population"):
        res.predict(population=True)


def test_without_variance_worths_are_the_covariates(none: llbt.MixedResults) -> None:
    assert none.scales.tolist() == [0.0]
    board = llbt.leaderboard(none)
    frame = board.to_frame()
    assert "do not differ beyond the covariates (σ = 0)" in board.as_text()
    assert frame[["rank_low", "rank_high"]].isna().all(axis=None)
    plain = llbt.leaderboard(none.without).to_frame()
    assert frame["estimate"].tolist() == pytest.approx(plain["estimate"].tolist())
    assert frame["conf_low"].tolist() == pytest.approx(plain["conf_low"].tolist())
    assert none.predict().to_frame()["estimate"].tolist() == pytest.approx(
        none.without.predict().to_frame()["estimate"].tolist()
    )
    llbt.plot.intervals(none)
    plt.close("all")


def test_resamples_have_no_ranks_of_the_covariates_alone(res: llbt.MixedResults) -> None:
    found = llbt.bootstrap(res, resample="parametric", n=2, rng=1)
    with pytest.raises(DesignError, match=r"llbt\.pairwise\(res\)\.ranks\(\)"):
        found.ranks()
    with pytest.raises(DesignError, match="effects of objects"):
        llbt.judge_effects(res).worths()


def test_sigma_is_of_the_restricted_likelihood(res: llbt.MixedResults) -> None:
    """With worths all but known: the sum of squares over 3 contrasts less one slope, not over 3."""
    assert res.scales.iloc[0] / res.maximum.scales[0] == pytest.approx(np.sqrt(3 / 2), rel=0.02)


# -- the errors ----------------------------------------------------------------------------------------------------


def _given(res: llbt.MixedResults, z: np.ndarray) -> np.ndarray:
    """Return the covariance of log-worths β z + u with σ and weights held, by Henderson's equations."""
    problem, lines, found = res.judges.problem, res.judges.lines, res.solution
    assert lines is not None
    _, own, moves = effects_of_scale(problem, lines, found.params, found.scales, 0)
    at = laplace(problem, lines, found.params, found.scales)
    beta = np.linalg.inv(information_beside(problem, lines, found.params, found.scales, at))
    along = z[:, None] + moves[:, :1]
    return own + along @ beta @ along.T


def test_errors_of_prediction_without_henderson(res: llbt.MixedResults) -> None:
    """On contrasts V = (L + (I − Z(ZᵀZ)⁻¹Zᵀ)/σ²)⁻¹, L the Laplacian of the judgments with their Fisher weights."""
    z = _PRICES["price"].to_numpy()[:, None]
    found = _given(res, z[:, 0])
    share = res.predict().to_frame()["estimate"].to_numpy()[::2]
    weight = 4 * share * (1 - share) * res.comparisons.totals
    apart = np.zeros((6, 4))
    apart[range(6), res.comparisons.pairs[:, 0]], apart[range(6), res.comparisons.pairs[:, 1]] = 1, -1
    sigma = float(res.scales.iloc[0])
    prior = (np.eye(4) - z @ np.linalg.solve(z.T @ z, z.T)) / sigma**2
    direct = np.linalg.inv(apart.T @ (weight[:, None] * apart) + prior + 1e-9)
    contrast = np.eye(4) - 0.25
    np.testing.assert_allclose(contrast @ found @ contrast, contrast @ direct @ contrast, atol=1e-8)


def test_modes_move_as_differences_say(res: llbt.MixedResults) -> None:
    problem, lines, found = res.judges.problem, res.judges.lines, res.solution
    assert lines is not None
    moves = effects_of_scale(problem, lines, found.params, found.scales, 0)[2]
    step = 1e-4
    for k, (params, log) in enumerate([(step, 0.0), (0.0, step)]):
        ahead, behind = (
            effects_of_scale(problem, lines, found.params + s * params, found.scales * np.exp(s * log), 0)[0]
            for s in (1, -1)
        )
        np.testing.assert_allclose((ahead - behind) / (2 * step), moves[:, k], atol=1e-6)


def test_errors_of_prediction_by_integration() -> None:
    """Three objects: the posterior of λ with β flat and σ known, summed over a grid of β and two differences of u."""
    rows = [("A", "B", 30, 20), ("A", "C", 15, 35), ("B", "C", 20, 30)]
    prices = _PRICES[:3].assign(price=[1.0, 3.0, 2.0])
    res = _fit("price + (1 | object)", _table(rows, prices))
    sigma, z = float(res.scales.iloc[0]), prices["price"].to_numpy()
    assert sigma > 0.1
    grid = np.linspace(-1.6, 1.6, 161)
    d, e = np.meshgrid(grid, grid, indexing="ij")  # λ_A − λ_C, λ_B − λ_C; β integrated by hand: its prior is flat
    lam = np.stack([d, e, np.zeros_like(d)])
    centre = np.eye(3) - 1 / 3
    zc = centre @ z
    project = (centre - np.outer(zc, zc) / (zc @ zc)) / sigma**2  # the mean of u is free, too
    log = -0.5 * np.einsum("iab,ij,jab->ab", lam, project, lam)
    for i, j, wins, losses in rows:
        u = lam["ABC".index(i)] - lam["ABC".index(j)]
        log -= wins * np.logaddexp(0, -2 * u) + losses * np.logaddexp(0, 2 * u)
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    mean = (weight * d).sum()
    error = np.sqrt((weight * (d - mean) ** 2).sum())
    contrasts = llbt.contrasts(res, {"A-C": {"A": 1, "C": -1}}, scale="log_worth").to_frame().iloc[0]
    assert contrasts["estimate"] == pytest.approx(mean, abs=0.02)
    cov = _given(res, z)
    assert np.sqrt(cov[0, 0] + cov[2, 2] - 2 * cov[0, 2]) == pytest.approx(error, rel=0.03)
    assert contrasts["std_error"] > 1.05 * error  # σ is estimated, of three objects


# -- beside effects of judges ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def crossed() -> llbt.MixedResults:
    rng = np.random.default_rng(2)
    worth, names = np.array([0.9, -0.5, 0.2, -0.4]), list("ABCD")
    rows = []
    for judge in range(15):
        own = rng.normal(0, 0.4, 4) + worth
        for i, j in itertools.combinations(range(4), 2):
            wins = rng.binomial(6, special.expit(2 * (own[i] - own[j])))
            rows.append((names[i], names[j], wins, 6 - wins, judge))
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "wins_i", "wins_j", "judge"])
    c = llbt.from_counts(frame, object_covariates=_PRICES, clusters="judge")
    return _fit("price + (1 | object) + (object | judge)", c)


def test_other_brackets_add_their_blocks(crossed: llbt.MixedResults) -> None:
    """Henderson's equations of all effects at once, 1 + 4 + 60 unknowns, beside what is solved by blocks."""
    c, z = crossed.comparisons, _PRICES["price"].to_numpy()
    assert c.cluster_counts is not None
    pairs, judge = c.pairs[c.cluster_counts.rows], c.cluster_counts.columns[0].codes
    place = np.arange(len(pairs))
    apart = np.zeros((len(pairs), 65))  # the slope, an effect of each object, and of each judge on each
    for side, sign in ((0, 1), (1, -1)):
        apart[:, 0] += sign * z[pairs[:, side]]
        apart[place, 1 + pairs[:, side]] += sign
        apart[place, 5 + 4 * judge + pairs[:, side]] += sign
    of_objects = crossed.solution.predicted[0]
    own = llbt.judge_effects(crossed, by="judge").effects
    at = np.concatenate([crossed.solution.params, of_objects.effect, own.ravel()])
    share = special.expit(2 * apart @ at)
    weight = 4 * share * (1 - share) * c.cluster_counts.counts.sum(axis=1)
    prior = np.repeat([0, *(1 / crossed.solution.scales**2)], [1, 4, 60])
    whole = np.linalg.inv(apart.T @ (weight[:, None] * apart) + np.diag(prior))[:5, :5]
    rows = np.column_stack([z, np.eye(4)])
    found = _given(crossed, z)
    contrast = np.eye(4) - 0.25
    np.testing.assert_allclose(contrast @ found @ contrast, contrast @ rows @ whole @ rows.T @ contrast, rtol=1e-5)
    problem, lines, best = crossed.judges.problem, crossed.judges.lines, crossed.solution
    assert lines is not None
    moves = effects_of_scale(problem, lines, best.params, best.scales, 0)[2]
    for k in range(2):
        by = np.exp(1e-4 * (np.arange(2) == k))
        ahead, behind = (effects_of_scale(problem, lines, best.params, best.scales * b, 0)[0] for b in (by, 1 / by))
        np.testing.assert_allclose((ahead - behind) / 2e-4, moves[:, 1 + k], atol=1e-5)


def test_a_new_judge_keeps_the_effects_of_objects(crossed: llbt.MixedResults) -> None:
    """Averaged over judges alone: nearer to a half than for the average judge, and in the same order."""
    average = llbt.pairwise(crossed, scale="probability")
    drawn = llbt.pairwise(crossed, scale="probability", population=True)
    here, there = (pairs.to_frame()["estimate"].to_numpy() for pairs in (average, drawn))
    assert (np.abs(there - 0.5) < np.abs(here - 0.5)).all()
    assert np.abs(there - here).max() < 0.1
    found = crossed.predict(population=True).to_frame()
    assert found["estimate"].to_numpy()[:12:2] == pytest.approx(there, abs=1e-9)
    assert found["std_error"].to_numpy()[:12:2] == pytest.approx(drawn.to_frame()["std_error"].to_numpy(), rel=1e-6)
    assert "average judge" in llbt.interpret(crossed).text
