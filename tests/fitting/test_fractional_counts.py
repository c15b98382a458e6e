"""Sampling weights with clustered errors: statsmodels, sums by hand and refits; notes on weights; coverage."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import llbt
from llbt.base.foreign_names import UnknownArgumentError
from llbt.fitting.fractional_counts import are_weights

NAMES = np.array(list("ABC"))
MIX, SAMPLED = np.array([0.8, 0.2]), np.array([0.4, 0.6])  # of easy and hard prompts, in the population and the sample
OF_KIND = np.array([[0.8, 0.2, 0.0], [-0.4, 0.4, 0.0]])


def drawn(rng: np.random.Generator, n: int, ties: bool = True) -> pd.DataFrame:
    """Return judgments by 20 judges; hard prompts are sampled more often, and weigh less."""
    i = rng.integers(3, size=n)
    j = (i + rng.integers(1, 3, size=n)) % 3
    hard = rng.choice(2, size=n, p=SAMPLED)
    lead = OF_KIND[hard, i] - OF_KIND[hard, j]
    chances = np.exp(np.stack([lead, np.full(n, -0.4 if ties else -np.inf), -lead]))
    outcome = (rng.random(n) * chances.sum(0) > np.cumsum(chances, 0)).sum(0)
    frame = pd.DataFrame({"object_i": NAMES[i], "object_j": NAMES[j], "outcome": np.array(["i", "tie", "j"])[outcome]})
    return frame.assign(judge=rng.integers(20, size=n), row=np.arange(n), w=(MIX / SAMPLED)[hard])


FRAME = drawn(np.random.default_rng(3), 400)
FRAME["w"] *= np.random.default_rng(4).uniform(0.5, 1.5, len(FRAME)).round(3)
TABLE = llbt.from_judgments(FRAME, weights="w", clusters=["judge", "row"])


def rows_of(frame: pd.DataFrame) -> np.ndarray:
    """Return what the log-worths of A and B add to the log-odds of half, C being 0, shape (n, 2)."""
    sides = [frame[side].to_numpy()[:, None] == NAMES[:2] for side in ("object_i", "object_j")]
    return sides[0].astype(float) - sides[1]


@pytest.mark.filterwarnings("ignore:cov_type not fully supported")
@pytest.mark.filterwarnings("ignore::llbt.errors.ClusterWarning")
def test_weighted_clusters_are_those_of_statsmodels() -> None:
    """A binomial GLM with frequency weights, whose cluster sandwich has no factor G/(G − 1)."""
    frame = drawn(np.random.default_rng(6), 300, ties=False)
    table = llbt.from_judgments(frame, weights="w", clusters="judge")
    res = llbt.fit("object", table, cov_type="CR1", groups="judge")
    glm = sm.GLM(frame["outcome"] == "i", 2 * rows_of(frame), sm.families.Binomial(), freq_weights=frame["w"]).fit(
        cov_type="cluster", cov_kwds={"groups": frame["judge"], "use_correction": False}, tol=1e-12
    )
    names = ["object[A]", "object[B]"]
    np.testing.assert_allclose(res.params[names], glm.params, atol=1e-8)
    np.testing.assert_allclose(res.bse[names], glm.bse * np.sqrt(20 / 19), rtol=1e-7)


@pytest.mark.filterwarnings("ignore::llbt.errors.ClusterWarning")
@pytest.mark.parametrize("unit", ["judge", "row"])
def test_weighted_clusters_are_sums_of_weighted_scores(unit: str) -> None:
    """By hand: w(z − z̄) of each judgment, summed by judge; by row it is the sum of squares of them."""
    res = llbt.fit("object + tie", TABLE, cov_type="CR1", groups=unit)
    names = ["object[A]", "object[B]", "tie"]
    x, w = rows_of(FRAME), FRAME["w"].to_numpy()
    z = np.stack([np.column_stack([x * h, np.full(len(x), h == 0)]) for h in (1, 0, -1)])  # (outcome, n, 3)
    chance = np.exp(z @ res.params[names].to_numpy())
    chance /= chance.sum(0)
    mean = np.einsum("kn,knp->np", chance, z)
    score = w[:, None] * (z[FRAME["outcome"].map({"i": 0, "tie": 1, "j": 2}), np.arange(len(x))] - mean)
    information = np.einsum("n,kn,knp,knq->pq", w, chance, z - mean, z - mean)
    by = pd.DataFrame(score).groupby(FRAME[unit]).sum().to_numpy()
    inverse, groups = np.linalg.inv(information), len(by)
    cov = groups / (groups - 1) * inverse @ by.T @ by @ inverse
    np.testing.assert_allclose(score.sum(0), 0, atol=1e-6)
    np.testing.assert_allclose(res.cov_params().loc[names, names], cov, rtol=1e-6, atol=1e-10)


def test_weighted_clusters_left_out_are_refits() -> None:
    res = llbt.fit("object + tie", TABLE, cov_type="cluster", groups="judge")
    names = ["object[A]", "object[B]", "tie"]
    left = []
    for judge in range(20):
        rest = llbt.from_judgments(FRAME[FRAME["judge"] != judge], weights="w")
        left.append(llbt.fit("object + tie", rest).params[names] - res.params[names])
    by_refits = np.sqrt(19 / 20 * (np.array(left) ** 2).sum(0))
    np.testing.assert_allclose(res.bse[names], by_refits, rtol=0.02)  # one step of each refit


def test_the_scale_of_weights_changes_neither_estimates_nor_errors() -> None:
    larger = llbt.from_judgments(FRAME.assign(w=7.3 * FRAME["w"]), weights="w", clusters="judge")
    one, other = (
        llbt.contrasts(llbt.fit("object + tie", c, cov_type="cluster", groups="judge"), {"A - B": {"A": 1, "B": -1}})
        for c in (TABLE, larger)
    )
    pd.testing.assert_frame_equal(one.to_frame(), other.to_frame(), rtol=1e-7)


def test_weights_qualify_errors_that_take_them_as_counts() -> None:
    said = str(llbt.fit("object + tie", TABLE))
    assert "cluster: fit(…, cov_type='cluster', groups='judge')" in " ".join(said.split())
    unkept = str(llbt.fit("object + tie", llbt.from_judgments(FRAME, weights="w")))
    assert "from_judgments(…, weights=…, clusters='judge'), then fit" in " ".join(unkept.split())
    clustered = str(llbt.fit("object + tie", TABLE, cov_type="cluster", groups="judge"))
    assert "sampling weights" not in clustered
    effects = llbt.fit("object + tie + (object | judge)", llbt.from_judgments(FRAME, weights="w", covariates="judge"))
    assert "σ is wrong" in str(effects)


def test_halves_of_ties_are_no_weights() -> None:
    halves = llbt.load_dataset("dras_table1").split_ties()
    assert not are_weights(halves.counts)
    assert "sampling weights" not in str(llbt.fit("object", halves))
    assert are_weights(TABLE.counts)


def test_reading_weights_says_how_much_they_tell() -> None:
    """Kish's effective number by hand."""
    w = FRAME["w"]
    expected = f"400 rows are worth {w.sum() ** 2 / (w**2).sum():.4g} of equal weight"
    assert any(expected in note for note in TABLE.notes)
    whole = llbt.from_judgments(FRAME.assign(w=2), weights="w")
    assert not any("equal weight" in note for note in whole.notes)


def test_weights_of_a_fit_are_those_of_its_table() -> None:
    with pytest.raises(UnknownArgumentError, match=r"from_judgments\(frame, weights='w', clusters='judge'\)"):
        llbt.fit("object + tie", TABLE, weights="w")  # type: ignore[call-overload]


@pytest.mark.exhaustive
def test_weighted_clusters_cover_the_population() -> None:
    """300 tables of 500 judgments: intervals hold the worths of the population.

    Clustered by row .963; taken as counts .892; without weights .437 (seed 39).
    """
    rng, names = np.random.default_rng(39), ["object[A]", "object[B]"]
    truth = population()
    held = []
    for _ in range(300):
        frame = drawn(rng, 500, ties=False)
        table = llbt.from_judgments(frame, weights="w", clusters="row")
        fits = [
            llbt.fit("object", table, cov_type="CR1", groups="row", method="eliminate"),
            llbt.fit("object", table, method="eliminate"),
            llbt.fit("object", llbt.from_judgments(frame), method="eliminate"),
        ]
        held.append([np.mean(np.abs(res.params[names] - truth) < 1.96 * res.bse[names]) for res in fits])
    clustered, counts, without = np.mean(held, axis=0)
    assert 0.93 < clustered < 0.98
    assert counts < clustered - 0.02
    assert without < 0.5


def population() -> np.ndarray:
    """Return the worths that a very large sample of the population has."""
    pairs = np.array([(0, 1), (0, 2), (1, 2)])
    chance = MIX @ (1 / (1 + np.exp(-2 * (OF_KIND[:, pairs[:, 0]] - OF_KIND[:, pairs[:, 1]]))))
    frame = pd.DataFrame({"object_i": NAMES[pairs[:, 0]], "object_j": NAMES[pairs[:, 1]]})
    res = llbt.fit("object", llbt.from_counts(frame.assign(wins_i=1e6 * chance, wins_j=1e6 * (1 - chance))))
    return res.params[["object[A]", "object[B]"]].to_numpy()
