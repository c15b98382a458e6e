"""Standard errors of predicted probabilities by finite differences, and intervals that stay between 0 and 1."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats
from support.fits import fit_by

import llbt
from llbt import Comparisons, LLBTResults

COLUMNS = ["object_i", "object_j", "wins_i", "ties", "wins_j"]
# Central differences of step 1e-5 are off by 1e-10 and by rounding of the probabilities over the step.
DIFFERENCE = 1e-7
DRAS = llbt.load_dataset("dras_table1")


def quietly(formula: str, c: Comparisons, **options: object) -> LLBTResults:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", llbt.errors.ClusterWarning)
        return fit_by(formula, c, **options)


def close(found, expected, *, rtol=0.0, atol=0.0):
    np.testing.assert_allclose(np.asarray(found, float), np.asarray(expected, float), rtol=rtol, atol=atol)


def table(rows: list[tuple], **roles: object) -> Comparisons:
    return llbt.from_counts(pd.DataFrame(rows, columns=COLUMNS), **roles)


def ordered() -> Comparisons:
    rows = [("A", "B", 9, 3, 6), ("B", "A", 5, 4, 8), ("B", "C", 7, 2, 6), ("C", "A", 3, 4, 9), ("C", "B", 6, 1, 5)]
    return table(rows, order=True)


def with_length() -> Comparisons:
    rng = np.random.default_rng(2)
    rows = [
        (a, b, *rng.integers(2, 9, 3), *lengths)
        for a, b in (("A", "B"), ("A", "C"), ("B", "C"))
        for lengths in rng.normal(0, 1, (4, 2)).round(2)
    ]
    frame = pd.DataFrame(rows, columns=[*COLUMNS, "length_a", "length_b"])
    return llbt.from_counts(frame, side_covariates={"length": ("length_a", "length_b")})


def with_age() -> Comparisons:
    rng = np.random.default_rng(5)
    rows = [
        (a, b, *rng.integers(2, 12, 3), age)
        for a, b in (("A", "B"), ("A", "C"), ("B", "C"))
        for age in (20.0, 35.0, 60.0)
    ]
    return llbt.from_counts(pd.DataFrame(rows, columns=[*COLUMNS, "age"]), covariates="age")


CLUSTERED = llbt.from_counts(DRAS.to_frame(), clusters="judge")
NEW_LENGTHS = pd.DataFrame(
    [("A", "C", 0.5, -1.0), ("C", "B", 2.0, 0.1)], columns=["object_i", "object_j", "length_i", "length_j"]
)
CASES = {
    "pooled": (quietly("object + tie", DRAS.pool()), {}),
    "all pairs": (quietly("object + tie", DRAS.pool()), {"at": {}}),
    "judges": (quietly("object * judge + tie * judge", DRAS), {}),
    "one judge": (quietly("object * judge + tie * judge", DRAS), {"at": {"judge": "J3"}}),
    "no ties": (quietly("object + order", llbt.load_dataset("baseball")), {}),
    "order, all pairs": (quietly("object + tie + order", ordered()), {"at": {}}),
    "a number": (quietly("object + object:age + tie", with_age()), {"at": {"age": [20.0, 47.5]}}),
    "a side covariate": (quietly("object + length + tie", with_length()), {"frame": NEW_LENGTHS}),
    "a pair each": (quietly("object + tie:pair", llbt.load_dataset("puddings")), {}),
    "held": (quietly("object + tie", DRAS.pool(), fixed={"tie": -1.5}), {}),
    "HC0": (quietly("object + tie", DRAS.pool(), cov_type="HC0"), {}),
    "clusters": (quietly("object + tie", CLUSTERED, cov_type="cluster", groups="judge"), {}),
    "X2": (quietly("object + tie", DRAS, cov_type="quasi"), {}),
    "bias reduced": (
        quietly("object + tie", table([("A", "B", 5, 1, 0), ("B", "C", 3, 0, 0)]), prior="jeffreys"),
        {},
    ),
    "prior": (quietly("object + tie", table([("A", "B", 5, 1, 0), ("B", "C", 3, 0, 0)]), prior=1.0), {}),
}
every_case = pytest.mark.parametrize("case", list(CASES))


def moved(res: LLBTResults, place: int, step: float) -> LLBTResults:
    """The same fit with one of its free parameters elsewhere."""
    params = res.solution.params.copy()
    params[place] += step
    return replace(res, solution=replace(res.solution, params=params))


def gradient(res: LLBTResults, **question: object) -> np.ndarray:
    """∂p/∂θ of the free parameters by central differences, (cells, p)."""
    step = 1e-5
    columns = []
    for k in range(len(res.free)):
        high, low = (moved(res, k, sign * step).predict(**question).to_frame()["estimate"] for sign in (1, -1))
        columns.append((high - low).to_numpy() / (2 * step))
    return np.array(columns).T


@every_case
def test_standard_errors_are_those_of_the_delta_method(case: str) -> None:
    res, question = CASES[case]
    frame = res.predict(**question).to_frame()
    jacobian = gradient(res, **question)
    cov = res.cov_params().to_numpy()[np.ix_(res.free, res.free)]
    expected = np.sqrt(np.einsum("cp,pq,cq->c", jacobian, cov, jacobian))
    close(frame["std_error"], expected, rtol=1e-6, atol=DIFFERENCE)
    assert (frame["std_error"] > 0).all()


@every_case
def test_intervals_stay_between_0_and_1(case: str) -> None:
    res, question = CASES[case]
    widths = []
    for confidence in (0.5, 0.95, 0.999):
        frame = res.predict(**question, confidence=confidence).to_frame()
        assert ((frame["conf_low"] > 0) & (frame["conf_high"] < 1)).all()
        assert ((frame["conf_low"] < frame["estimate"]) & (frame["estimate"] < frame["conf_high"])).all()
        half = stats.t.isf((1 - confidence) / 2, res.df_inference) * frame["std_error"]
        logit = special.logit(frame["estimate"])
        spread = half / (frame["estimate"] * (1 - frame["estimate"]))
        close(frame["conf_low"], special.expit(logit - spread), rtol=1e-9)
        close(frame["conf_high"], special.expit(logit + spread), rtol=1e-9)
        widths.append((frame["conf_high"] - frame["conf_low"]).to_numpy())
    assert (widths[0] < widths[1]).all()
    assert (widths[1] < widths[2]).all()


@every_case
def test_probabilities_of_a_comparison_sum_to_one(case: str) -> None:
    res, question = CASES[case]
    frame = res.predict(**question).to_frame()
    cells = 3 if res.comparisons.has_ties else 2
    outcomes = ["i", "tie", "j"] if cells == 3 else ["i", "j"]
    assert frame["outcome"].tolist() == outcomes * (len(frame) // cells)
    close(frame["estimate"].to_numpy().reshape(-1, cells).sum(axis=1), np.ones(len(frame) // cells), atol=1e-12)


def test_probabilities_by_hand() -> None:
    res = CASES["pooled"][0]
    frame = res.predict().to_frame().set_index(["object_i", "object_j", "outcome"])["estimate"]
    worth = {label: res.params.get(f"object[{label}]", 0.0) for label in "ABCD"}
    for i, j in (("A", "B"), ("B", "D"), ("A", "C")):
        weights = np.exp([worth[i] - worth[j], res.params["tie"], worth[j] - worth[i]])
        close([frame[i, j, outcome] for outcome in ("i", "tie", "j")], weights / weights.sum(), rtol=1e-10)


def test_two_outcomes_have_mirrored_intervals() -> None:
    frame = CASES["no ties"][0].predict().to_frame()
    first, second = (frame[frame["outcome"] == outcome].reset_index(drop=True) for outcome in ("i", "j"))
    close(first["std_error"], second["std_error"], rtol=1e-9)
    close(first["conf_low"], 1 - second["conf_high"], rtol=1e-9)


def test_without_ties_the_interval_is_that_of_the_log_odds() -> None:
    """Two outcomes: the logit of p is the log-odds 2(λ + δ), so the interval is Wald's on that scale."""
    res = quietly("object", table([("A", "B", 8, 0, 3), ("B", "C", 4, 0, 5), ("A", "C", 6, 0, 2)]))
    row = res.predict(at={}).to_frame().query("object_i == 'A' and object_j == 'C' and outcome == 'i'").iloc[0]
    low, high = res.conf_int().loc["object[A]"]
    close([row["conf_low"], row["conf_high"]], special.expit([2 * low, 2 * high]), rtol=1e-9)


def test_robust_errors_are_used() -> None:
    plain = quietly("object + tie", CLUSTERED).predict().to_frame()
    robust = CASES["clusters"][0].predict().to_frame()
    close(robust["estimate"], plain["estimate"], rtol=1e-10)
    assert not np.allclose(robust["std_error"], plain["std_error"], rtol=0.05)
    x2 = CASES["X2"][0]
    scaled = x2.predict().to_frame()
    unscaled = quietly("object + tie", DRAS).predict().to_frame()
    ratio = np.sqrt(x2.pearson_chi2 / x2.df_resid)
    close(scaled["std_error"], ratio * unscaled["std_error"], rtol=1e-8)


def test_a_frame_is_predicted_as_the_table_is() -> None:
    res = CASES["judges"][0]
    rows = DRAS.to_frame()[["object_i", "object_j", "judge"]]
    a, b = res.predict().to_frame(), res.predict(rows).to_frame()
    columns = ["estimate", "std_error", "conf_low", "conf_high"]
    close(b[columns], a[columns], rtol=1e-10)
    swapped = rows.rename(columns={"object_i": "object_j", "object_j": "object_i"})
    found = res.predict(swapped).to_frame()["std_error"].to_numpy().reshape(-1, 3)
    close(found[:, ::-1], a["std_error"].to_numpy().reshape(-1, 3), rtol=1e-9)


def test_what_the_table_does_not_determine_is_nan() -> None:
    """Judge J2 never saw D."""
    rows = [
        (*row, "J1") for row in [("A", "B", 3, 1, 2), ("A", "C", 2, 1, 1), ("B", "C", 4, 1, 2), ("A", "D", 2, 1, 1)]
    ]
    rows += [(*row, "J2") for row in [("A", "B", 2, 1, 2), ("A", "C", 5, 1, 1), ("B", "C", 1, 2, 3)]]
    c = llbt.from_counts(pd.DataFrame(rows, columns=[*COLUMNS, "judge"]), covariates="judge")
    frame = quietly("object * judge + tie", c, reference="A").predict(at={"judge": "J2"}).to_frame()
    unknown = (frame["object_i"] == "D") | (frame["object_j"] == "D")
    columns = ["estimate", "std_error", "conf_low", "conf_high"]
    assert frame.loc[unknown, columns].isna().all(axis=None)
    assert frame.loc[~unknown, columns].notna().all(axis=None)
    assert unknown.sum() == 9


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 95, "high"])
def test_confidence_out_of_range(confidence: object) -> None:
    with pytest.raises(llbt.errors.OptionError, match="predict: confidence"):
        CASES["pooled"][0].predict(confidence=confidence)


def test_a_frame_and_a_place_are_one_too_many() -> None:
    with pytest.raises(llbt.errors.OptionError, match="a frame and at=; expected one of the two, not both"):
        CASES["a side covariate"][0].predict(NEW_LENGTHS, at={})
