"""Agreement by quality: against statsmodels' GLM on pairs made by hand, and scores with a planted effect."""

import itertools

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from scipy import stats

import llbt
from llbt.errors import JudgmentError, OptionError
from llbt.metrics import MetricScores
from llbt.metrics.agreement_regression import logistic_regression
from llbt.metrics.quality_reliability import design_of, human_reliability, quality_reliability


def drawn(rng, tasks=6, systems=9, metrics=3, effect=0.0, *, skewed=False, human_error=0.0, inputs=1):
    """Scores whose metrics have errors exp(effect · z) times as large for a system of standardized quality z."""
    frames = []
    for task in range(tasks):
        quality = -rng.exponential(size=systems) if skewed else rng.normal(size=systems)
        size = 0.8 * np.exp(effect * (quality - quality.mean()) / quality.std())
        shared = rng.normal(0, 0.5**0.5, systems)
        columns = {f"m{k}": quality + size * (shared + rng.normal(0, 0.5**0.5, systems)) for k in range(metrics)}
        frame = pd.DataFrame({"task": f"t{task}", "system": [f"s{k}" for k in range(systems)], **columns})
        for segment in range(inputs):
            human = quality + human_error * inputs**0.5 * rng.normal(size=systems)
            frames.append(frame.assign(segment=segment, human=human))
    return pd.concat(frames, ignore_index=True)


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return drawn(np.random.default_rng(3), 4, 7, 2)


def by_hand(frame: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for task, part in frame.groupby("task"):
        spread, mean = part["human"].std(), part["human"].mean()
        pairs = list(itertools.combinations(part.to_dict("records"), 2))
        average = np.mean([abs(a["human"] - b["human"]) for a, b in pairs])
        for a, b in pairs:
            for metric in [name for name in frame if name.startswith("m")]:
                agree = (a["human"] - b["human"]) * (a[metric] - b[metric]) > 0
                size = (abs(a["human"] - b["human"]) - average) / spread
                quality = ((a["human"] + b["human"]) / 2 - mean) / spread
                rows += [(task, metric, (task, a["system"]), (task, b["system"]), size, quality, int(agree))]
    return pd.DataFrame(rows, columns=["task", "metric", "i", "j", "size", "quality", "agree"])


def glm(rows: pd.DataFrame):
    return smf.glm("agree ~ 0 + metric + size + quality", rows, family=sm.families.Binomial()).fit(tol=1e-12)


@pytest.mark.parametrize("cluster", ["task", "system"])
def test_an_explicit_glm_and_each_cluster_left_out(frame: pd.DataFrame, cluster: str) -> None:
    rows = by_hand(frame)
    res = glm(rows)
    found = llbt.metrics.read_study(frame).reliability_by_quality(cluster=cluster)
    np.testing.assert_allclose(found.params, res.params, rtol=0, atol=1e-8)
    x, left = res.model.exog, (rows["agree"] - res.fittedvalues).to_numpy()
    weight, cov = (res.fittedvalues * (1 - res.fittedvalues)).to_numpy(), np.asarray(res.cov_params())
    of = {"task": [rows["task"] == t for t in rows["task"].unique()]}
    of["system"] = [(rows["i"] == s) | (rows["j"] == s) for s in set(rows["i"]) | set(rows["j"])]
    moved, shares, refitted = [], [], []
    for mask in of[cluster]:
        k = mask.to_numpy()
        information = x[k].T @ (weight[k, None] * x[k])
        moved.append(np.linalg.solve(np.linalg.inv(cov) - information, x[k].T @ left[k]))
        shares.append((cov @ information @ cov)[-1, -1])
        refitted.append(sm.GLM(rows["agree"][~k], x[~k], family=sm.families.Binomial()).fit().params.iloc[-1])
    groups = len(moved)
    expected = (groups - 1) / groups * np.array(moved).T @ np.array(moved)
    np.testing.assert_allclose(found.cov, expected, rtol=1e-6, atol=1e-9)
    jackknife = (
        (groups - 1) / groups * ((np.array(refitted) - found.params[-1]) ** 2).sum()
    )  # whole refits, not one step
    assert found.cov[-1, -1] == pytest.approx(jackknife, rel=0.25)
    row = found.to_frame().set_index("term").loc["mean quality"]
    df = sum(shares) ** 2 / sum(v**2 for v in shares) - 1
    error = expected[-1, -1] ** 0.5
    assert row["p_value"] == pytest.approx(2 * stats.t.sf(abs(res.params["quality"]) / error, df), abs=1e-6)
    assert row["conf_high"] - row["estimate"] == pytest.approx(stats.t.ppf(0.975, df) * error, rel=1e-6)


def test_each_metric_alone_is_a_study_of_that_metric(frame: pd.DataFrame) -> None:
    table = llbt.metrics.read_study(frame).reliability_by_quality().by_metric().to_frame().set_index("metric")
    one = llbt.metrics.read_study(frame[["task", "system", "human", "m1"]]).reliability_by_quality()
    expected = one.to_frame().set_index("term").loc["mean quality", ["estimate", "std_error", "conf_low", "p_value"]]
    assert table.loc["m1", expected.index].tolist() == pytest.approx(expected.tolist(), abs=1e-9)


def test_a_planted_effect_is_found_and_its_absence_is_not_called_one() -> None:
    falling = llbt.metrics.read_study(drawn(np.random.default_rng(1), 10, 9, 3, 0.6)).reliability_by_quality()
    assert falling.cluster == "task"
    assert falling.answer.startswith("At equal human difference, agreement falls with quality: odds × 0.")
    none = llbt.metrics.read_study(drawn(np.random.default_rng(1), 10, 9, 3)).reliability_by_quality()
    assert "no change of agreement with quality was shown" in none.answer
    rising = llbt.metrics.read_study(drawn(np.random.default_rng(1), 10, 9, 3, -0.6)).reliability_by_quality()
    assert "agreement rises with quality" in rising.answer
    assert rising.answer in str(rising).replace("\n  ", " ")


def test_pairs_are_those_of_the_regression(frame: pd.DataFrame) -> None:
    rows = llbt.metrics.read_study(frame).reliability_by_quality().pairs().to_frame()
    expected = by_hand(frame).sort_values(["task", "metric", "i", "j"])
    found = rows.sort_values(["task", "metric", "object_i", "object_j"])
    np.testing.assert_allclose(found["difference"], expected["size"], atol=1e-12)
    np.testing.assert_allclose(found["quality"], expected["quality"], atol=1e-12)
    assert found["agree"].tolist() == expected["agree"].tolist()


def test_what_is_left_out_is_noted(frame: pd.DataFrame) -> None:
    human = frame["human"].where(frame.index != 1, frame["human"][0])
    changed = frame.assign(human=human, exact=human, m3=frame["m0"].round())
    notes = llbt.metrics.read_study(changed).reliability_by_quality().notes
    assert "left out: 1 pair with equal human scores" in notes
    assert "left out, as they order all pairs (or none) as humans do: 'exact'" in notes
    assert any("tied by a metric: not ordered" in note for note in notes)


def test_errors_of_human_scores_are_named() -> None:
    frame = drawn(np.random.default_rng(2), 1, 10, 2, human_error=0.6, inputs=20)
    wide = frame.pivot(index="system", columns="segment", values="human")
    anova = smf.ols("human ~ C(system) + C(segment)", frame).fit()
    expected = 1 - anova.mse_resid / 20 / wide.mean(axis=1).var()
    assert human_reliability(wide.to_numpy(), wide.mean(axis=1).std()) == pytest.approx(expected, abs=1e-10)
    found = llbt.metrics.read_study(frame).reliability_by_quality()
    assert f"reliability of {expected:.2f}" in str(found).replace("\n", " ")


@pytest.mark.parametrize(
    ("change", "options", "said"),
    [
        (lambda f: f, {"cluster": "task"}, "cluster='task' with one task"),
        (lambda f: f.assign(m0=f["human"], m1=f["human"]), {}, "every metric orders all pairs"),
        (lambda f: f.assign(human=1.0), {}, "humans score all systems alike"),
        (
            lambda f: f.assign(m1=[0, *range(6)], human=range(7))[["system", "m1", "human"]],
            {},
            "difference and quality predict without error",
        ),
        (lambda f: f, {"human": "mqm"}, "human='mqm'"),
    ],
)
def test_refused(frame: pd.DataFrame, change, options, said) -> None:
    one = change(frame[frame["task"] == "t0"])
    with pytest.raises((JudgmentError, OptionError), match=said):
        llbt.metrics.read_study(one).reliability_by_quality(**options)


def test_few_pairs_tell_nothing() -> None:
    rng = np.random.default_rng(4)
    found = llbt.metrics.read_study(drawn(rng, 1, 5, 3)).reliability_by_quality()
    assert found.answer.startswith("The pairs are too few to tell")


@pytest.mark.shared
@pytest.mark.slow
def test_wmt19(shared) -> None:
    """18 language pairs, 34 metrics: agreement does not fall for better systems, Mathur et al. (2020), section 4.1."""
    found = llbt.metrics.read_study(shared / "data" / "wmt19_sys_scores").reliability_by_quality()
    assert found.cluster == "task"
    row = found.to_frame().set_index("term").loc["mean quality"]
    assert (round(row["estimate"], 2), round(row["conf_low"], 2), round(row["conf_high"], 2)) == (0.12, -0.14, 0.38)


SETTINGS = {  # tasks, systems, effect, skewed, human error: share of p ≤ .05 and mean slope, recorded below
    "3 tasks": (3, 10, 0.0, False, 0.0),
    "18 tasks": (18, 10, 0.0, False, 0.0),
    "one task of 30": (1, 30, 0.0, False, 0.0),
    "18 tasks, falling": (18, 10, 0.3, False, 0.0),
    "18 tasks, skewed": (18, 10, 0.0, True, 0.0),
    "18 tasks, skewed, errors": (18, 10, 0.0, True, 0.3),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("setting", SETTINGS)
def test_size_and_power(setting: str) -> None:
    """Mean slope of quality and share of p ≤ .05: pairs taken as independent, clustered by system, by task.

    300 studies each of 4 metrics and 10 systems a task, seed 41
    (pytest -m exhaustive tests/metrics/test_quality_reliability.py, 3 CPU min):

    3 tasks:                    -0.02   0.34  0.010  0.050
    18 tasks:                   +0.00   0.32  0.013  0.047
    one task of 30:             +0.01   0.51  0.013
    18 tasks, falling:          -0.31   0.89  0.383  0.533
    18 tasks, skewed:           -0.05   0.34  0.013  0.067
    18 tasks, skewed, errors:   -0.26   0.74  0.160  0.283

    Where good systems are closer together than poor ones (skewed), errors of human scores alone give a slope below 0.
    """
    tasks, systems, effect, skewed, error = SETTINGS[setting]
    rng = np.random.default_rng(41)
    rows = []
    for _ in range(300):
        frame = drawn(rng, tasks, systems, 4, effect, skewed=skewed, human_error=error)
        scores = {
            task: MetricScores.from_matrices({f"m{k}": part[f"m{k}"] for k in range(4)}, part["human"])
            for task, part in frame.set_index("system").groupby("task")
        }
        try:
            found = [quality_reliability(scores, by, 0.95, ()) for by in ("system", "task")[: min(tasks, 2)]]
        except JudgmentError:
            continue
        independent = logistic_regression(design_of(found[0].scored), found[0].scored.agree, [])
        tests = [one.p_values(np.eye(6)[-1:])[0] <= 0.05 for one in (independent, *(one.regression for one in found))]
        rows.append((found[0].params[-1], *tests))
    shares = np.mean(rows, axis=0)
    print(setting, len(rows), shares.round(3).tolist())
    if not (effect or skewed):
        assert (shares[2:] < 0.08).all()
    if effect:
        assert shares[2] > 0.3
