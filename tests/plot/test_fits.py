"""Pictures of residuals and of analyses of deviance show the numbers of the records that they are made from."""

import re
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from support.pictures import made, row_names, texts
from support.worths import TABLE1, fit

import llbt


def test_pair_residuals_without_ties_are_the_residuals_of_cells():
    res = fit("object", llbt.load_dataset("citations").pool())
    cells = llbt.residuals(res).to_frame()
    cells = cells[cells["outcome"] == "i"].set_index(["object_i", "object_j"])["residual"]
    for row in llbt.residuals(res, of="pairs").to_frame().itertuples():
        assert row.residual == pytest.approx(cells[row.object_i, row.object_j])


@pytest.mark.parametrize("formula", ["object + tie", "object * judge + tie", "object + tie:judge + order"])
def test_pair_residuals_are_those_of_the_explicit_model(formula):
    """The second route: residual and covariance V − VXᵀ(XVX)⁻X V of the cells of the Poisson GLM with its nuisance."""
    res = fit(formula, made(list("abc"), n=9))
    glm = res.to_glm()
    design, means = np.asarray(glm.model.exog), np.asarray(glm.fittedvalues)
    weighted = design * means[:, None]
    cov = np.diag(means) - weighted @ np.linalg.pinv(design.T @ weighted, rcond=1e-12) @ weighted.T
    cells = res.fittedvalues.index.to_frame(index=False)
    raw = np.asarray(glm.model.endog) - means
    for row in llbt.residuals(res, of="pairs").to_frame().itertuples():
        forth = (cells["object_i"] == row.object_i) & (cells["object_j"] == row.object_j)
        back = (cells["object_i"] == row.object_j) & (cells["object_j"] == row.object_i)
        sign = (forth.astype(float) - back) * cells["outcome"].map({"i": 1, "tie": 0, "j": -1})
        weights = sign.to_numpy(dtype=float)
        assert row.residual == pytest.approx(weights @ raw / np.sqrt(weights @ cov @ weights), rel=1e-6)


@pytest.mark.parametrize("kind", ["pearson", "deviance"])
@pytest.mark.parametrize("dataset", ["dras_table1", "citations"])
def test_residuals_are_those_that_the_table_prints(kind, dataset):
    res = fit("object", llbt.load_dataset(dataset).pool())
    ax = llbt.plot.residuals(res, kind=kind, most=5)
    table = llbt.residuals(res, kind=kind, most=5)
    expected = table.to_frame().iloc[list(table.shown)]["residual"].to_numpy()
    points = np.vstack([line.get_xydata() for line in ax.lines if line.get_marker() in "oD"])
    np.testing.assert_allclose(points[np.argsort(points[:, 1]), 0], expected)
    assert len(row_names(ax)) == 5
    assert kind in ax.get_xlabel().lower()


def test_residuals_name_what_happened(by_judge):
    ax = llbt.plot.residuals(by_judge, most=3)
    frame = llbt.residuals(by_judge).to_frame().iloc[:3]
    for name, row in zip(row_names(ax), frame.itertuples(), strict=True):
        verb = " ties " if row.outcome == "tie" else " beats "
        assert verb in name
        assert name.endswith(f", {row.judge}")


@pytest.mark.parametrize("test", ["chi2", "F", "wald", "score"])
def test_bars_are_the_deviances_of_nested_models(by_judge, test):
    for table in (llbt.anova(fit("object + tie", TABLE1), by_judge, test=test), llbt.anova(by_judge, test=test)):
        ax = llbt.plot.anova(table)
        frame = table.to_frame()
        np.testing.assert_allclose([bar.get_width() for bar in ax.patches], frame["deviance"])
        strokes = ax.collections[0].get_segments()
        np.testing.assert_allclose([stroke[0, 0] for stroke in strokes], frame["df_resid"])
        last = frame.iloc[-1]
        assert any(text.startswith(f"{last['df']:.0f} df, p ") for text in texts(ax))


@pytest.mark.parametrize(
    "question",
    [
        llbt.plot.intervals,
        llbt.plot.probabilities,
        llbt.plot.network,
        llbt.plot.residuals,
        llbt.plot.worth,
        llbt.plot.ties,
        llbt.plot.judges,
    ],
)
def test_a_picture_of_no_fit_says_what_it_takes(question):
    with pytest.raises(
        llbt.errors.OptionError, match=rf"{question.__name__}: res is of type Comparisons; expected LLBT"
    ):
        question(TABLE1)


def test_pair_residuals_take_a_fit():
    with pytest.raises(llbt.errors.OptionError, match="residuals: res is of type Comparisons; expected LLBT"):
        llbt.residuals(TABLE1, of="pairs")


@pytest.mark.parametrize(
    ("ask", "fragment"),
    [
        (lambda res, _: llbt.plot.intervals(res, bars="wide"), "bars='wide'"),
        (lambda res, _: llbt.plot.intervals(res, scale="logit"), "scale='logit'"),
        (lambda res, _: llbt.plot.intervals(res, bars="quasi", scale="probability"), "bars='quasi' has no scale='prob"),
        (lambda _, judged: llbt.plot.intervals(judged), "Name one class: at="),
        (lambda _, judged: llbt.plot.probabilities(judged), "Name one class: at="),
        (lambda res, _: llbt.plot.ranks(llbt.worth(res)), "plot.ranks: found a table of 'object', 'estimate'"),
        (lambda res, _: llbt.plot.anova(TABLE1), "plot.anova: results is of type Comparisons"),
        (lambda res, _: llbt.plot.anova(llbt.worth(res)), "plot.anova: found a table of 'object'"),
        (lambda res, _: llbt.plot.outcomes(res), "plot.outcomes: c is of type LLBTResults; expected Comparisons"),
        (lambda res, _: llbt.plot.outcomes(res.comparisons, rows="judge"), "rows='judge'"),
        (lambda res, _: llbt.plot.outcomes(res.comparisons, most=0), "plot.outcomes"),
        (lambda res, _: llbt.plot.residuals(res, kind="raw"), "kind='raw'"),
        (lambda _, judged: llbt.plot.judges(judged, TABLE1), "plot.judges: pooled is of type Comparisons"),
        (lambda _, judged: llbt.plot.judges(judged, fit("object", llbt.load_dataset("cems"))), "other objects"),
        (lambda _, judged: llbt.plot.judges(judged, scale="logit"), "scale='logit'"),
    ],
)
def test_what_cannot_be_drawn_is_refused(ask, fragment, pooled, by_judge):
    with pytest.raises(llbt.errors.OptionError) as caught:
        ask(pooled, by_judge)
    assert fragment in str(caught.value)


@pytest.mark.parametrize(
    ("ask", "fragment"),
    [
        (lambda res: llbt.plot.judges(res), "no judge effects"),
        (lambda _: llbt.plot.ties(fit("object", TABLE1)), "has neither tie, grade, bad nor order"),
        (lambda _: llbt.plot.network(fit("tie", TABLE1)), "no term for the worths"),
        (
            lambda _: llbt.plot.residuals(fit("object + tie", llbt.load_dataset("dras_modpref"))),
            "fits every cell exactly",
        ),
    ],
)
def test_a_model_without_what_is_drawn_is_refused(ask, fragment, pooled):
    with pytest.raises(llbt.errors.DesignError, match=fragment):
        ask(pooled)


LLAMAS = ("llama-3.1-405b-instruct-bf16", "llama-3.1-70b-instruct-bf16", "mini", "nano")


def _of_llamas() -> llbt.LLBTResults:
    """Names that are alike at both ends, in counts of which the two llamas have the largest residuals."""
    rows = [(*pair, *wins) for pair, wins in zip(combinations(LLAMAS, 2), [(2, 18), *[(12, 8)] * 5], strict=True)]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "wins_i", "wins_j"])
    return llbt.fit("object", llbt.from_counts(frame, ties_column=None))


def test_no_two_objects_have_one_shortened_name():
    res = _of_llamas()
    for ax in (llbt.plot.residuals(res, most=12), llbt.plot.fragility(llbt.fragility(res, change="adjacent"))):
        names = {re.split(" beats | < ", label.get_text())[0] for label in ax.get_yticklabels()}
        assert len([name for name in names if name.startswith("ll")]) == 2
    one = llbt.plot.residuals(res, most=1).get_yticklabels()[0].get_text()  # as where all rows are drawn
    assert one in {label.get_text() for label in llbt.plot.residuals(res, most=12).get_yticklabels()}


def test_fragility_of_a_fit_is_that_of_its_neighbours_and_names_its_marks(pooled):
    by_hand = llbt.plot.fragility(llbt.fragility(pooled, change="adjacent"))
    ax = llbt.plot.fragility(pooled)
    assert [line.get_xdata().tolist() for line in ax.lines] == [line.get_xdata().tolist() for line in by_hand.lines]
    assert {text.get_text() for text in ax.get_legend().get_texts()} <= {"minimum", "upper bound", "not changed"}


def test_colours_of_probabilities_reach_as_far_as_the_values(pooled):
    ax = llbt.plot.probabilities(pooled)
    low, high = ax.images[0].get_clim()
    values = np.abs(np.asarray(ax.images[0].get_array(), dtype=float) - 0.5)
    assert low == pytest.approx(1 - high)
    assert high - 0.5 == pytest.approx(np.nanmax(values))


def test_a_fit_is_drawn_as_its_terms(by_judge: llbt.LLBTResults) -> None:
    one, two = llbt.plot.anova(by_judge), llbt.plot.anova(llbt.anova(by_judge))
    assert [bar.get_width() for bar in one.patches] == [bar.get_width() for bar in two.patches]


def test_values_of_covariates_have_few_digits() -> None:
    rng = np.random.default_rng(1)
    d = pd.DataFrame({"object_i": list("AB") * 20, "object_j": list("BC") * 20, "outcome": list("iijjiiij") * 5})
    d = d.assign(x=rng.normal(size=40), text=[f"a long label that no row has place for, number {k}" for k in range(40)])
    c = llbt.from_judgments(d, covariates=["x", "text"])
    rows = [text.get_text() for text in llbt.plot.residuals(llbt.fit("object", c)).get_yticklabels()]
    assert max(map(len, rows)) <= len("A beats B, ") + len("-0.1234, ") + 20
