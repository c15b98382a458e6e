"""Labels and machine verdicts: `fit` at ω = 0, a general root finder, and simulated studies."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import root

import llbt
from llbt.judges.calibrate import calibrate

WORTHS = np.array([0.4, 0.1, -0.1, -0.4])
PAIRS = [(i, j) for j in range(4) for i in range(j)]


def study(rng, units=600, labels=120, flip=0.2, bias=0.0, shares=None):
    """Units with the verdicts of people and of a machine that errs, and that likes object A too much."""
    which = rng.choice(len(PAIRS), units, p=shares)
    i, j = np.array(PAIRS)[which].T
    gap = 2 * (WORTHS[i] - WORTHS[j])
    odds = np.column_stack([np.exp(gap / 2), np.full(units, 0.7), np.exp(-gap / 2)])
    said = (rng.random((units, 1)) > (odds / odds.sum(axis=1, keepdims=True)).cumsum(axis=1)).sum(axis=1)
    verdict = np.where(rng.random(units) < flip, rng.integers(0, 3, units), said)
    likes = (rng.random(units) < bias) & ((i == 0) | (j == 0))
    verdict = np.where(likes, np.where(i == 0, 0, 2), verdict)
    outcomes = np.array(["i", "tie", "j"])
    frame = pd.DataFrame({"object_i": np.array(list("ABCD"))[i], "object_j": np.array(list("ABCD"))[j]})
    frame["prompt"] = np.arange(units)
    human, machine = frame.assign(outcome=outcomes[said]), frame.assign(outcome=outcomes[verdict])
    return human.sample(labels, random_state=int(rng.integers(2**31))), machine


def test_no_weight_is_the_fit_of_the_labels():
    human, machine = study(np.random.default_rng(1))
    found = calibrate(human, machine, omega=0.0)
    for name in ("llf", "aic", "bic"):
        with pytest.raises(llbt.errors.DesignError, match=r"do not maximize a likelihood.*Fit the labels alone"):
            getattr(found, name)
    c = llbt.from_judgments(human, clusters="prompt")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        res = llbt.fit("object + tie", c, cov_type="cluster", groups="prompt")
    np.testing.assert_allclose(found.results.params, res.params, atol=1e-10)
    np.testing.assert_allclose(found.results.bse, res.bse, rtol=1e-8)
    assert found.effective_labels == pytest.approx(120)
    assert found.n_labels == 120


@pytest.mark.parametrize("formula", ["object + tie", "object + tie + order"])
def test_the_estimates_solve_the_equations(formula):
    rng = np.random.default_rng(2)
    human, machine = study(rng, bias=0.3)
    omega = 0.6
    found = calibrate(human, machine, formula=formula, omega=omega)
    order = "order" in formula
    frames = [human, machine[machine["prompt"].isin(human["prompt"])], machine]
    codes = {label: k for k, label in enumerate("ABCD")}

    def score(frame, x):
        i, j = (frame[name].map(codes).to_numpy() for name in ("object_i", "object_j"))
        said = frame["outcome"].map({"i": 0, "tie": 1, "j": 2}).to_numpy()
        swap = (i > j) & (not order)
        i, j, said = np.where(swap, j, i), np.where(swap, i, j), np.where(swap, 2 - said, said)
        worths = np.append(x[:3], 0.0)
        signed = worths[i] - worths[j] + (x[4] if order else 0.0)
        odds = np.column_stack([np.exp(signed), np.full(len(signed), np.exp(x[3])), np.exp(-signed)])
        p = odds / odds.sum(axis=1, keepdims=True)
        away = (said == 0) * 1.0 - (said == 2) - (p[:, 0] - p[:, 2])
        total = np.zeros(len(x))
        np.add.at(total, i[i < 3], away[i < 3])
        np.add.at(total, j[j < 3], -away[j < 3])
        total[3] = ((said == 1) - p[:, 1]).sum()
        if order:
            total[4] = away.sum()
        return total / len(frame)

    def equations(x):
        lab, mine, every = (score(frame, x) for frame in frames)
        return lab + omega * (every - mine)

    start = found.results.params.to_numpy()
    names = list(found.results.params.index)
    place = [names.index(n) for n in ("object[A]", "object[B]", "object[C]", "tie", *(["order"] if order else []))]
    np.testing.assert_allclose(equations(start[place]), 0, atol=1e-9)
    other = root(equations, np.zeros(len(place)), tol=1e-12).x
    np.testing.assert_allclose(start[place], other, atol=1e-7)


@pytest.mark.slow
def test_the_tuned_weight_makes_errors_smallest():
    human, machine = study(np.random.default_rng(3))

    def trace(found):
        rows = np.eye(4)[:, :3] - np.append(np.ones(3), 0)[:3] / 4
        return np.trace(rows @ found.results.cov_params().to_numpy()[:3, :3] @ rows.T)

    tuned = calibrate(human, machine)
    ws = np.linspace(0, 1, 11)
    traces = [trace(calibrate(human, machine, omega=float(w))) for w in ws]
    held = trace(calibrate(human, machine, omega=float(tuned.omega.iloc[0])))
    assert held < 1.02 * min(traces)  # ω is tuned by the plain sandwich, errors are by leaving out units
    assert held < trace(tuned) < 0.9 * traces[0]  # and say that ω is chosen by the same labels
    assert tuned.effective_labels > 140


def test_a_useless_machine_has_next_to_no_weight():
    human, machine = study(np.random.default_rng(4), flip=1.0)
    found = calibrate(human, machine)
    assert found.omega.iloc[0] < 0.2
    assert "Little is gained" in found.notes[-2]
    assert found.effective_labels > 0.99 * 120


def test_several_machines_have_weights_of_their_own():
    rng = np.random.default_rng(5)
    human, good = study(rng)
    bad = good.assign(outcome=rng.choice(["i", "tie", "j"], len(good)))
    found = calibrate(human, pd.concat([good.assign(judge="good"), bad.assign(judge="bad")]))
    assert found.omega["good"] > 0.4
    assert found.omega["bad"] < 0.2
    assert list(found.drift) == ["bad", "good"]
    alone = calibrate(human, good)
    assert found.effective_labels >= 0.98 * alone.effective_labels


def test_a_machine_that_errs_otherwise_on_some_pairs_drifts():
    human, machine = study(np.random.default_rng(6), units=3000, labels=900, flip=0.1, bias=0.8)
    assert calibrate(human, machine).drift["machine"].p_value < 0.001
    human, machine = study(np.random.default_rng(7), units=3000, labels=900, flip=0.2)
    assert calibrate(human, machine).drift["machine"].p_value > 0.001


def test_labels_of_other_pairs_are_noticed_and_weighted():
    rng = np.random.default_rng(8)
    human, machine = study(rng, units=1500, labels=1500)
    first = human["object_i"].isin(["A", "B"]) & human["object_j"].isin(["A", "B"])
    kept = first | (rng.random(len(human)) < 0.05)
    found = calibrate(human[kept], machine)
    assert found.within_pairs
    assert found.shares.p_value < 1e-6
    assert "machines' means are within pairs" in " ".join(str(found).split())
    gone = human[kept & ~(human["object_i"].isin(["C", "D"]) & human["object_j"].isin(["C", "D"]))]
    assert "C:D" in " ".join(calibrate(gone, machine).notes)


def test_repeated_labels_of_a_unit_are_averaged():
    human, machine = study(np.random.default_rng(9))
    once, thrice = calibrate(human, machine), calibrate(pd.concat([human] * 3), machine)
    np.testing.assert_allclose(thrice.results.params, once.results.params, atol=1e-9)
    np.testing.assert_allclose(thrice.results.bse, once.results.bse, rtol=1e-9)


@pytest.mark.slow
def test_errors_are_those_of_leaving_units_out():
    """One step without a unit is near the solution without it, and at ω = .7 the covariance is theirs."""
    human, machine = study(np.random.default_rng(17), units=150, labels=40)
    found = calibrate(human, machine, omega=0.7)
    moved = []
    for prompt in human["prompt"]:
        rest = [frame[frame["prompt"] != prompt] for frame in (human, machine)]
        moved.append(calibrate(*rest, omega=0.7).results.params - found.results.params)
    errors = np.sqrt(39 / 40 * np.sum(np.square(moved), axis=0))
    labelled_alone = found.results.bse  # has the part of the other units, too
    assert (errors < labelled_alone).all()
    np.testing.assert_allclose(errors, labelled_alone, rtol=0.12)


def test_groups_of_units_are_left_out_together():
    human, machine = study(np.random.default_rng(18), labels=150)
    both = [frame.assign(topic=frame["prompt"] % 12) for frame in (human, machine)]
    found = calibrate(*both, omega=0.0, groups="topic")
    res = llbt.fit("object + tie", llbt.from_judgments(both[0], clusters="topic"), cov_type="cluster", groups="topic")
    np.testing.assert_allclose(found.results.bse, res.bse, rtol=1e-8)
    assert found.results.df_inference == pytest.approx(res.df_inference)


def test_units_of_a_group_depend_on_each_other():
    human, machine = study(np.random.default_rng(10))
    double = [frame.assign(topic=frame["prompt"] // 2) for frame in (human, machine)]
    one, other = calibrate(*double), calibrate(*double, groups="topic", omega=None)
    assert not np.allclose(one.results.bse, other.results.bse)
    assert other.results.df_inference < one.results.df_inference


@pytest.mark.slow
def test_rogan_and_gladen_undo_what_the_table_says():
    human, machine = study(np.random.default_rng(11), units=30_000, labels=3000, flip=0.3)
    table = calibrate(human, machine).rogan_gladen
    truth = np.exp(np.array([WORTHS[0] - WORTHS[1], np.log(0.7), WORTHS[1] - WORTHS[0]]))
    found = table[table["pair"] == "A:B"]
    assert np.all(np.abs(found["estimate"] - truth / truth.sum()) < 4 * found["std_error"])
    assert found["estimate"].sum() == pytest.approx(1)
    assert abs(found["verdicts"].iloc[0] - truth[0] / truth.sum()) > 2 * found["std_error"].iloc[0]


def test_what_takes_no_part_is_counted():
    human, machine = study(np.random.default_rng(12))
    found = calibrate(human, machine[machine["prompt"] != human["prompt"].iloc[0]])
    assert any("1 unit with human labels left out" in note for note in found.notes)
    with pytest.raises(llbt.errors.JudgmentError, match="no unit has both a human judgment and a machine judgment"):
        calibrate(human, machine.assign(prompt=machine["prompt"] + 10_000))


@pytest.mark.parametrize("formula", ["object * prompt + tie", "tie", "object + tie:object"])
def test_other_formulas_are_refused(formula):
    human, machine = study(np.random.default_rng(13))
    with pytest.raises(llbt.errors.FormulaError):
        calibrate(human, machine, formula=formula)


def test_infinite_estimates_are_refused():
    human, machine = study(np.random.default_rng(14), labels=40)
    wins = (human["object_i"] == "A") | (human["object_j"] == "A")
    human.loc[wins, "outcome"] = np.where(human.loc[wins, "object_i"] == "A", "i", "j")
    with pytest.raises(llbt.errors.SeparationError, match="no finite estimates"):
        calibrate(human, machine, omega=0.0)


def test_machines_may_have_estimates_where_few_labels_have_none():
    human, machine = study(np.random.default_rng(14), labels=24)
    human.loc[human["outcome"] == "tie", "outcome"] = "i"  # so that γ is −∞ by the labels
    found = calibrate(human, machine.assign(outcome=machine["outcome"]), omega=0.5)
    assert found.labels is None
    assert np.isnan(found.effective_labels)
    assert "is unknown" in found.notes[-1]


def test_answers_about_worths_are_those_of_other_fits():
    human, machine = study(np.random.default_rng(15))
    found = calibrate(human, machine)
    assert "Worths from labels and machine verdicts" in str(found)
    board = llbt.leaderboard(found.results, scale="log_worth", rng=1).to_frame().set_index("object")["estimate"]
    own = found.to_frame().set_index("object")["estimate"]
    pd.testing.assert_series_equal(board.sort_index(), own.sort_index(), rtol=1e-9)


@pytest.mark.parametrize(
    ("flip", "bias", "shares"),
    [
        pytest.param(0.2, 0.0, None, marks=pytest.mark.exhaustive),
        pytest.param(1.0, 0.0, None, marks=pytest.mark.exhaustive),
        pytest.param(0.2, 0.5, None, marks=pytest.mark.slow),
        pytest.param(0.2, 0.5, (0.4, 0.2, 0.1, 0.1, 0.1, 0.1), marks=pytest.mark.exhaustive),
    ],
)
def test_intervals_hold_for_good_useless_and_biased_machines(flip, bias, shares):
    rng = np.random.default_rng(16)
    held, by_labels, by_tuned, by_full = [], [], [], []
    truth = WORTHS[0] - WORTHS[3]
    for _ in range(120):
        human, machine = study(rng, 600, 100, flip, bias, shares)
        found = calibrate(human, machine)
        bounds = found.results.conf_int().loc["object[A]"]
        held.append(bounds["conf_low"] < truth < bounds["conf_high"])
        by_labels.append(found.labels.params["object[A]"] - truth)
        by_tuned.append(found.results.params["object[A]"] - truth)
        by_full.append(calibrate(human, machine, omega=1.0).results.params["object[A]"] - truth)
    assert 0.9 <= np.mean(held) <= 0.99
    errors = [np.sqrt(np.mean(np.square(x))) for x in (by_labels, by_tuned, by_full)]
    assert errors[1] < 1.05 * errors[0]
    if flip == 1.0:
        assert errors[2] > 1.05 * errors[0]  # plain PPI is worse than the labels alone


def test_machines_alone_are_the_fit_of_their_verdicts_by_units():
    human, machine = study(np.random.default_rng(3))
    found = calibrate(human, machine).machines
    c = llbt.from_judgments(machine, clusters="prompt")
    res = llbt.fit("object + tie", c, cov_type="CR1", groups="prompt")
    np.testing.assert_allclose(found.params, res.params, atol=1e-8)
    np.testing.assert_allclose(found.bse, res.bse, rtol=5e-3)  # R's factor has the parameters in it, too
    assert "not errors of machines" in found.covariance.notes[1]


@pytest.mark.slow
@pytest.mark.parametrize("omega", [None, 0.0, 0.7, 1.0])
def test_few_labels_have_estimates_or_say_so(omega):
    human, machine = study(np.random.default_rng(5), units=120, flip=0.5)
    rng, refused = np.random.default_rng(6), 0
    for number in (2, 3, 4, 5, 6):
        for _ in range(6):
            try:
                calibrate(human.sample(number, random_state=int(rng.integers(2**31))), machine, omega=omega)
            except llbt.errors.SeparationError:
                refused += 1
    assert refused > 5


def test_labels_that_leave_an_object_out_say_so():
    human, machine = study(np.random.default_rng(5))
    some = human[(human["object_i"] != "D") & (human["object_j"] != "D")]
    for means in ("auto", "overall", "within_pairs"):
        with pytest.raises(llbt.errors.SeparationError, match="labels do not connect all objects"):
            calibrate(some, machine, means=means)


def test_a_missing_machine_is_named():
    human, machine = study(np.random.default_rng(1))
    both = pd.concat([machine.assign(judge="a"), machine.assign(judge="b")], ignore_index=True)
    both.loc[3, "judge"] = None
    with pytest.raises(llbt.errors.JudgmentError, match=r"'judge'.* no value in 1 of 1,200 rows, first at row 3"):
        calibrate(human, both)


def test_a_formula_needs_no_spaces():
    human, machine = study(np.random.default_rng(1))
    one, two = (calibrate(human, machine, formula=f).results for f in ("object+tie+order", "object + tie + order"))
    pd.testing.assert_series_equal(one.params, two.params)


def test_groups_that_differ_between_tables_are_refused():
    human, machine = study(np.random.default_rng(18), labels=50)
    both = human.assign(topic=human["prompt"] % 12), machine.assign(topic=machine["prompt"] % 12 + 1)
    with pytest.raises(llbt.errors.JudgmentError, match=r"50 of .* units have more than one"):
        calibrate(*both, groups="topic")


def test_questions_about_worths_are_answered():
    """Own formulas of the estimates and their covariance: contrasts, pairs, quasi-variances, predictions."""
    human, machine = study(np.random.default_rng(4))
    found = calibrate(human, machine)
    names = list(found.results.params.index)
    lam = np.array([found.results.params.get(f"object[{o}]", 0.0) for o in "ABCD"])
    pick = np.array([[float(name == f"object[{o}]") for name in names] for o in "ABCD"])
    cov = pick @ found.results.covariance.matrix @ pick.T
    worth = llbt.worth(found).to_frame().set_index("object")["estimate"]
    np.testing.assert_allclose(worth[list("ABCD")], np.exp(2 * lam) / np.exp(2 * lam).sum())
    board = llbt.leaderboard(found).to_frame().set_index("object")["estimate"]
    np.testing.assert_allclose(board[list("ABCD")], 2 * (lam - lam.mean()), atol=1e-12)
    pairs = llbt.pairwise(found).to_frame()
    i, j = np.triu_indices(4, 1)
    apart = np.diag(cov)[i] + np.diag(cov)[j] - 2 * cov[i, j]
    np.testing.assert_allclose(pairs["estimate"], 2 * (lam[i] - lam[j]), atol=1e-12)
    np.testing.assert_allclose(pairs["std_error"], 2 * np.sqrt(apart))
    row = np.array([1, -0.5, -0.5, 0])
    contrast = llbt.contrasts(found, {"A": dict(zip("ABCD", row, strict=True))}).to_frame().iloc[0]
    assert contrast["std_error"] == pytest.approx(2 * np.sqrt(row @ cov @ row))
    quasi = llbt.quasi_variances(found).to_frame().set_index("object")["quasi_variance"][list("ABCD")].to_numpy()
    assert np.abs(np.log((quasi[i] + quasi[j]) / apart)).max() < 0.3
    odds = np.exp(np.column_stack([lam[i] - lam[j], np.full(6, found.results.params["tie"]), lam[j] - lam[i]]))
    shares = odds / odds.sum(axis=1, keepdims=True)
    expected = {("ABCD"[a], "ABCD"[b]): p for a, b, p in zip(i, j, shares, strict=True)}
    for pair, rows in found.predict().to_frame().groupby(["object_i", "object_j"]):
        np.testing.assert_allclose(rows["estimate"], expected[pair])
