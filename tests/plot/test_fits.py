"""The pictures show the numbers of the records that they are made from: artists are compared, not pixels."""

import itertools
import warnings

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

import llbt
from llbt.plot import look

TABLE1 = llbt.load_dataset("dras_table1")
MARKUP = ["$x_1$", "50%_a", r"a|b<b>\frac", "שלום"]


def fit(formula, c, **keywords):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", llbt.errors.TiesWarning)
        return llbt.fit(formula, c, **keywords)


def made(names, judges=3, n=40, seed=2):
    """Random judgments in both orders, with ties, by several judges."""
    rng = np.random.default_rng(seed)
    worth = dict(zip(names, rng.normal(0, 0.4, len(names)), strict=True))
    rows = []
    for judge, (a, b) in itertools.product(range(judges), itertools.permutations(names, 2)):
        weight = np.exp([worth[a] - worth[b] + 0.1, -0.4 + 0.2 * judge, worth[b] - worth[a] - 0.1])
        rows.append((a, b, f"J{judge}", *rng.multinomial(n, weight / weight.sum())))
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "judge", "wins_i", "ties", "wins_j"])
    return llbt.from_counts(frame, covariates="judge", order=True)


@pytest.fixture(scope="module")
def pooled():
    return fit("object + tie", TABLE1.pool())


@pytest.fixture(scope="module")
def by_judge():
    return fit("object * judge + tie * judge", TABLE1)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def bars(container):
    """Return center, low and high of horizontal error bars, and the rows that they stand in."""
    line, _, (segments,) = container.lines
    ends = np.array([segment[:, 0] for segment in segments.get_segments()])
    return np.column_stack([line.get_xdata(), ends]), np.asarray(line.get_ydata(), dtype=float)


def row_names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def texts(ax):
    return [text.get_text() for text in ax.texts]


PICTURES = {
    "plot.intervals": llbt.plot.intervals,
    "plot.probabilities": llbt.plot.probabilities,
    "plot.network": llbt.plot.network,
    "plot.residuals": llbt.plot.residuals,
    "plot.worth": llbt.plot.worth,
    "plot.ties": llbt.plot.ties,
    "plot.ranks": lambda res, ax=None: llbt.plot.ranks(llbt.leaderboard(res), ax=ax),
    "plot.outcomes": lambda res, ax=None: llbt.plot.outcomes(res.comparisons, ax=ax),
    "plot.anova": lambda res, ax=None: llbt.plot.anova(llbt.anova(res), ax=ax),
    "plot.judges": lambda res, ax=None: llbt.plot.judges(
        fit("object * judge + tie", res.comparisons if res.comparisons.covariates else TABLE1), ax=ax
    ),
}


# -- estimates and ranks --------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", ["log_odds", "log_worth", "odds_ratio", "elo", "probability"])
def test_intervals_are_those_of_the_leaderboard(pooled, scale):
    ax = llbt.plot.intervals(pooled, scale=scale, confidence=0.9)
    board = llbt.leaderboard(pooled, scale=scale, confidence=0.9).to_frame()
    values, rows = bars(ax.containers[0])
    np.testing.assert_allclose(values, board[["estimate", "conf_low", "conf_high"]], rtol=1e-9)
    np.testing.assert_array_equal(rows, range(4))
    assert row_names(ax) == board["object"].tolist()
    assert texts(ax) == board["group"].tolist()
    assert ax.get_xscale() == ("log" if scale in ("odds_ratio", "probability") else "linear")
    assert "90 % intervals" in ax.get_xlabel()


@pytest.mark.parametrize(("scale", "factor"), [("log_worth", 1), ("log_odds", 2), ("elo", 800 / np.log(10))])
def test_quasi_intervals_are_those_of_the_quasi_variances(pooled, scale, factor):
    ax = llbt.plot.intervals(pooled, bars="quasi", scale=scale)
    quasi = llbt.quasi_variances(pooled).to_frame().set_index("object").loc[row_names(ax)]
    values, _ = bars(ax.containers[0])
    np.testing.assert_allclose(values, factor * quasi[["estimate", "conf_low", "conf_high"]], rtol=1e-9)
    assert (np.diff(values[:, 0]) <= 0).all()


def test_breaks_stand_between_significance_clusters():
    res = fit("object + tie", made(list("abcdef"), n=6))
    ax = llbt.plot.intervals(res)
    cluster = llbt.pairwise(res).clusters().to_frame()["significance_cluster"].to_numpy()
    breaks = [line.get_ydata()[0] for line in ax.lines if line.get_linestyle() == "--"]
    np.testing.assert_array_equal(breaks, np.flatnonzero(np.diff(cluster)) + 0.5)
    assert 0 < len(breaks) < 5


def test_many_letters_become_lines_over_the_objects_that_share_them():
    res = fit("object + tie", made([f"o{k:02d}" for k in range(26)], judges=1, n=6))
    ax = llbt.plot.intervals(res)
    groups = llbt.pairwise(res).letters().to_frame()["group"].tolist()
    assert max(map(len, groups)) > 5
    found = [set() for _ in groups]
    for line in ax.lines:
        if len(line.get_label()) == 1 and line.get_linestyle() == "-":
            low, high = line.get_ydata()
            for row in range(round(low + 0.35), round(high - 0.35) + 1):
                found[row].add(line.get_label())
    assert found == [set(group) for group in groups]


def test_rank_shares_are_those_of_the_bootstrap(pooled):
    res = fit("object + tie", made(list("abcde"), n=2))
    table = llbt.bootstrap(res, n=100, rng=1).ranks()
    ax = llbt.plot.ranks(table)
    square = table.to_frame().pivot(index="object", columns="rank", values="estimate").loc[row_names(ax)]
    np.testing.assert_array_equal(ax.images[0].get_array(), square)
    assert ax.images[0].get_extent() == [0.5, 5.5, 4.5, -0.5]
    assert (np.diff(square.to_numpy() @ np.arange(1, 6)) >= 0).all()  # by mean rank
    for text in ax.texts:
        share = square.iloc[text.get_position()[1], text.get_position()[0] - 1]
        assert abs(float(text.get_text()) - share) <= 0.01


@pytest.mark.parametrize("question", [llbt.leaderboard, lambda res: llbt.pairwise(res).ranks()])
def test_rank_sets_are_those_of_the_table(question):
    table = question(fit("object + tie", made(list("abcde"), n=2)))
    ax = llbt.plot.ranks(table)
    values, _ = bars(ax.containers[0])
    np.testing.assert_array_equal(values, table.to_frame()[["rank", "rank_low", "rank_high"]])
    assert row_names(ax) == table.to_frame()["object"].tolist()


# -- pairs ----------------------------------------------------------------------------------------------------


def test_probabilities_are_those_of_pairwise_and_of_the_worths(pooled):
    ax = llbt.plot.probabilities(pooled)
    square = pd.DataFrame(np.asarray(ax.images[0].get_array().filled(np.nan)), row_names(ax), row_names(ax))
    for row in llbt.pairwise(pooled, scale="probability").to_frame().itertuples():
        assert square.loc[row.object_i, row.object_j] == pytest.approx(row.estimate)
    share = llbt.worth(pooled).to_frame().set_index("object")["estimate"]  # the second route: π_i / (π_i + π_j)
    for a, b in itertools.permutations(share.index, 2):
        assert square.loc[a, b] == pytest.approx(share[a] / (share[a] + share[b]))
    wins = pooled.comparisons.win_matrix()
    for text in ax.texts:
        column, row = text.get_position()
        assert text.get_text().split("\n")[1] == f"{wins.loc[row_names(ax)[row], row_names(ax)[column]]:.0f}"
    assert len(ax.texts) == 12


def test_counts_are_those_of_the_judge_that_is_asked_for(by_judge):
    ax = llbt.plot.probabilities(by_judge, at={"judge": "J3"})
    total = sum(int(text.split("\n")[1]) for text in texts(ax))
    one = TABLE1.select(where={"judge": "J3"})
    assert total == one.n_judgments - one.n_ties


def test_small_cells_have_no_letters():
    _, ax = plt.subplots(figsize=(2, 2))
    llbt.plot.probabilities(fit("object + tie", made(list("abcdefghijkl"), judges=1, n=6)), ax=ax)
    assert not ax.texts
    assert ax.images[0].get_array().shape == (12, 12)


@pytest.mark.parametrize("by", ["pair", "object"])
def test_outcome_bars_are_shares_of_counts(by):
    c = made(list("abcd"))
    ax = llbt.plot.outcomes(c, rows=by)
    frame = c.to_frame()
    widths = np.array([[bar.get_width() for bar in container] for container in ax.containers]).T
    left = np.array([[bar.get_x() for bar in container] for container in ax.containers]).T
    np.testing.assert_allclose(left, np.cumsum(widths, axis=1) - widths, atol=1e-12)
    np.testing.assert_allclose(widths.sum(axis=1), 1)
    notes = [text for text in ax.texts if text.get_position()[0] > 1]
    for row, name in enumerate(row_names(ax)):
        other = notes[row].get_text().split(" (")[0] if by == "pair" else None
        expected = counted_by_hand(frame, name, other)
        np.testing.assert_allclose(widths[row], expected / expected.sum())
        assert f"{expected.sum():.0f}" in notes[row].get_text()
    assert len(widths) == (6 if by == "pair" else 4)


def counted_by_hand(frame, name, other):
    """Wins, ties and losses of an object (against another), by a loop over the rows."""
    total = np.zeros(3)
    for row in frame.itertuples():
        if row.object_i == name and other in (None, row.object_j):
            total += [row.wins_i, row.ties, row.wins_j]
        if row.object_j == name and other in (None, row.object_i):
            total += [row.wins_j, row.ties, row.wins_i]
    return total


def test_outcomes_keep_the_rows_with_the_most_judgments():
    ax = llbt.plot.outcomes(made(list("abcdef")), most=4)
    assert len(row_names(ax)) == 4
    assert "the 4 pairs with the most judgments" in ax.get_xlabel()


def test_without_ties_there_are_two_bars():
    ax = llbt.plot.outcomes(llbt.load_dataset("citations"))
    assert [container.get_label() for container in ax.containers] == ["left wins", "right wins"]


# -- who met whom ---------------------------------------------------------------------------------------------


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
    cov = np.diag(means) - weighted @ np.linalg.pinv(design.T @ weighted) @ weighted.T
    cells = res.fittedvalues.index.to_frame(index=False)
    raw = np.asarray(glm.model.endog) - means
    for row in llbt.residuals(res, of="pairs").to_frame().itertuples():
        forth = (cells["object_i"] == row.object_i) & (cells["object_j"] == row.object_j)
        back = (cells["object_i"] == row.object_j) & (cells["object_j"] == row.object_i)
        sign = (forth.astype(float) - back) * cells["outcome"].map({"i": 1, "tie": 0, "j": -1})
        weights = sign.to_numpy(dtype=float)
        assert row.residual == pytest.approx(weights @ raw / np.sqrt(weights @ cov @ weights), rel=1e-6)


def test_the_network_has_a_line_per_pair_as_wide_as_its_judgments(pooled):
    c = made(list("abcdef"), n=9).select(where={"judge": "J1"})
    res = fit("object + tie", c)
    ax = llbt.plot.network(res)
    best_first = llbt.leaderboard(res).to_frame()["object"].tolist()
    assert texts(ax) == best_first
    angle = np.pi / 2 - 2 * np.pi * np.arange(6) / 6
    places = np.column_stack([np.cos(angle), np.sin(angle)])
    frame = llbt.residuals(res, of="pairs").to_frame().set_index(["object_i", "object_j"])
    lines = ax.collections[0]
    assert len(lines.get_segments()) == 15
    for segment, width, residual in zip(lines.get_segments(), lines.get_linewidths(), lines.get_array(), strict=True):
        ends = [best_first[int(np.argmin(np.abs(places - end).sum(axis=1)))] for end in segment]
        assert best_first.index(ends[0]) < best_first.index(ends[1])
        row = frame.loc[tuple(sorted(ends))]
        assert residual == pytest.approx(row["residual"] * (1 if ends == sorted(ends) else -1))
        assert width / max(lines.get_linewidths()) == pytest.approx(row["judgments"] / frame["judgments"].max())


def test_a_pair_that_is_fitted_exactly_has_no_colour():
    ax = llbt.plot.network(fit("object + tie", llbt.load_dataset("dras_modpref")))
    assert np.ma.is_masked(ax.collections[0].get_array()[0])


# -- fits -----------------------------------------------------------------------------------------------------


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


# -- judges ---------------------------------------------------------------------------------------------------


def centred_by_hand(res, at):
    frame = llbt.worth(res, at, "log_worth").to_frame().set_index("object")["estimate"]
    return frame - frame.mean()


def test_judges_are_drawn_beside_the_pooled_model(by_judge):
    base = fit("object + tie", TABLE1)
    ax = llbt.plot.judges(by_judge, base)
    stroke = [segment[0, 0] for segment in ax.collections[0].get_segments()]
    shared = centred_by_hand(base, None).loc[row_names(ax)]
    np.testing.assert_allclose(stroke, shared)
    assert (np.diff(shared) <= 0).all()
    drawn = {container.get_label(): container for container in ax.containers if hasattr(container, "lines")}
    for judge in ("J1", "J2", "J3", "J4"):
        values, rows = bars(drawn[judge])
        np.testing.assert_allclose(values[:, 0], centred_by_hand(by_judge, {"judge": judge}).loc[row_names(ax)])
        np.testing.assert_array_equal(np.round(rows), range(4))
        board = llbt.leaderboard(by_judge, at={"judge": judge}, scale="log_worth").to_frame().set_index("object")
        np.testing.assert_allclose(values[:, 1:], board.loc[row_names(ax), ["conf_low", "conf_high"]], rtol=1e-9)


def test_by_default_judges_are_drawn_beside_their_average(by_judge):
    ax = llbt.plot.judges(by_judge)
    stroke = [segment[0, 0] for segment in ax.collections[0].get_segments()]
    np.testing.assert_allclose(stroke, centred_by_hand(by_judge, "average").loc[row_names(ax)])


def test_many_judges_are_points():
    res = fit("object * judge + tie", made(list("abc"), judges=10))
    ax = llbt.plot.judges(res)
    points = [line for line in ax.lines if line.get_marker() == "o"]
    assert len(points) == 10
    np.testing.assert_allclose(points[0].get_xdata(), centred_by_hand(res, {"judge": "J0"}).loc[row_names(ax)])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["average", "one dot per class"]


def test_tie_effects_are_the_parameters_of_each_judge(by_judge):
    ax = llbt.plot.ties(by_judge)
    values, rows = bars(ax.containers[0])
    assert row_names(ax) == ["J1", "J2", "J3", "J4"]
    gamma = by_judge.params["tie"]
    expected = [gamma, *(gamma + by_judge.params[f"tie:judge[J{k}]"] for k in (2, 3, 4))]
    np.testing.assert_allclose(values[:, 0], expected)
    np.testing.assert_allclose(values[0, 1:], by_judge.conf_int().loc["tie"])
    for k in (1, 2, 3):  # the second route: the same fit with another first level
        hypothesis = by_judge.t_test(f"tie + tie:judge[J{k + 1}]").to_frame()
        np.testing.assert_allclose(values[k], hypothesis.loc[0, ["estimate", "conf_low", "conf_high"]].to_numpy(float))
    np.testing.assert_array_equal(rows, range(4))


def test_order_effects_stand_beside_tie_effects():
    res = fit("object + tie + order * judge", made(list("abc")))
    ax = llbt.plot.ties(res)
    drawn = {container.get_label(): bars(container) for container in ax.containers}
    assert set(drawn) == {"tie effect γ", "order effect δ"}
    np.testing.assert_allclose(drawn["tie effect γ"][0][:, 0], [res.params["tie"]])
    assert row_names(ax) == ["all", "J0", "J1", "J2"]
    expected = res.params["order"] + np.array([0, res.params["order:judge[J1]"], res.params["order:judge[J2]"]])
    np.testing.assert_allclose(drawn["order effect δ"][0][:, 0], expected)


@pytest.mark.parametrize(
    ("formula", "rows"),
    [("object + tie:pair", ["a – b", "a – c", "b – c"]), ("object + tie + order:object", list("abc"))],
)
def test_effects_by_pair_and_by_object(formula, rows):
    res = fit(formula, made(list("abc")))
    ax = llbt.plot.ties(res)
    assert set(rows) <= set(row_names(ax))
    values, _ = bars(ax.containers[-1])
    names = [name for name in res.params.index if "pair" in name or name.startswith("order")]
    np.testing.assert_allclose(np.sort(values[:, 0]), np.sort(effects_by_hand(res, names)))


def effects_by_hand(res, names):
    """Effects of treatment-coded classes: all parameters are levels where there is no main effect."""
    main = [name for name in names if "[" not in name]
    levels = [res.params[name] for name in names if "[" in name]
    return levels if not main else [res.params[main[0]], *(res.params[main[0]] + level for level in levels)]


# -- the look of all ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_draw_where_they_are_told_and_leave_settings_alone(name, pooled):
    settings = dict(mpl.rcParams)
    figure, (left, right) = plt.subplots(1, 2, layout="constrained")
    assert PICTURES[name](pooled, ax=left) is left
    assert plt.get_fignums() == [figure.number]
    assert left.has_data() or left.images
    assert not right.has_data()
    assert dict(mpl.rcParams) == settings


@pytest.mark.parametrize("name", PICTURES)
def test_a_new_figure_is_white_with_dark_letters_whatever_the_style(name, pooled):
    with plt.style.context("dark_background"):
        ax = PICTURES[name](pooled)
        assert to_hex(ax.figure.get_facecolor()) == "#ffffff"
        letters = [ax.xaxis.label, *ax.get_yticklabels(), *ax.get_xticklabels()]
        on_white = [text for text in letters if text.get_text()]
        assert all(look.contrasting(text.get_color()) != look.contrasting("white") for text in on_white)
        assert ax.figure.axes[0] is ax
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ax.figure.canvas.draw()


@pytest.mark.parametrize("name", PICTURES)
def test_names_are_drawn_letter_by_letter(name):
    res = fit("object + tie", made(MARKUP, judges=2, n=12))
    ax = PICTURES[name](res)
    ax.figure.canvas.draw()
    everything = [*ax.get_yticklabels(), *ax.get_xticklabels(), *ax.texts]
    named = [text for text in everything if any(label in text.get_text() for label in MARKUP)]
    if name not in ("plot.anova", "plot.ties"):
        assert {label for label in MARKUP if any(label in text.get_text() for text in named)} == set(MARKUP)
    assert not any(text.get_parse_math() or text.get_usetex() for text in named)


def test_long_names_are_cut_in_the_middle_and_stay_different():
    names = [f"organization/{'x' * 30}-model-{k}" for k in range(12)]
    short = look.short_names(names)
    assert len(set(short)) == 12
    assert max(map(len, short)) <= 24
    twins = ["a" * 20 + "-one-" + "b" * 20, "a" * 20 + "-two-" + "b" * 20]
    assert len(set(look.short_names(twins))) == 2
    assert look.short_names(["two\nlines", "plain"]) == ["two lines", "plain"]


@pytest.mark.parametrize(("behind", "dark"), [("white", True), ("black", False), ("#0072B2", False), ("#DDDDDD", True)])
def test_letters_contrast_with_what_is_behind_them(behind, dark):
    assert (look.contrasting(behind) == look.contrasting("white")) is dark
    _, ax = plt.subplots(facecolor=behind)
    ax.set_facecolor("none")
    assert look.ink(ax) == look.contrasting(behind)


# -- errors ---------------------------------------------------------------------------------------------------


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
        (lambda _, judged: llbt.plot.intervals(judged), "say where: at="),
        (lambda _, judged: llbt.plot.probabilities(judged), "say where: at="),
        (lambda res, _: llbt.plot.ranks(res), "plot.ranks: found a LLBTResults; it takes what llbt.bootstrap"),
        (lambda res, _: llbt.plot.ranks(llbt.worth(res)), "plot.ranks: found a table of 'object', 'estimate'"),
        (lambda res, _: llbt.plot.anova(res), "plot.anova: found a LLBTResults; it takes what llbt.anova"),
        (lambda res, _: llbt.plot.anova(llbt.worth(res)), "plot.anova: found a table of 'object'"),
        (lambda res, _: llbt.plot.outcomes(res), "plot.outcomes: c is of type LLBTResults; expected Comparisons"),
        (lambda res, _: llbt.plot.outcomes(res.comparisons, rows="judge"), "rows='judge'"),
        (lambda res, _: llbt.plot.outcomes(res.comparisons, most=0), "plot.outcomes"),
        (lambda res, _: llbt.plot.residuals(res, kind="raw"), "kind='raw'"),
        (lambda res, _: llbt.plot.judges(res), "do not differ by judges"),
        (lambda _, judged: llbt.plot.judges(judged, TABLE1), "plot.judges: pooled is of type Comparisons"),
        (lambda _, judged: llbt.plot.judges(judged, fit("object", llbt.load_dataset("cems"))), "other objects"),
        (lambda _, judged: llbt.plot.judges(judged, scale="logit"), "scale='logit'"),
        (lambda _, __: llbt.plot.ties(fit("object", TABLE1)), "has neither tie nor order"),
        (lambda _, __: llbt.plot.network(fit("tie", TABLE1)), "no term for the worths"),
        (
            lambda _, __: llbt.plot.residuals(fit("object + tie", llbt.load_dataset("dras_modpref"))),
            "fits every cell exactly",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused(ask, fragment, pooled, by_judge):
    with pytest.raises((llbt.errors.OptionError, llbt.errors.DesignError)) as caught:
        ask(pooled, by_judge)
    assert fragment in str(caught.value)
