"""Quasi-variances against qvcalc, against a general minimiser, and as a bound over contrasts."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

import llbt
from llbt.errors import DesignError, OptionError
from llbt.inference.quasi_variances import fitted_quasi_variances, quasi_variances, worst_errors

# R's figures: qvcalc stops its least squares where the fit changes by less than 1e-8.
REFERENCE = 1e-6
# ... which moves a relative error by twice the relative change of the quasi standard errors (dras_multi_tie: 1.2e-5).
RELATIVE = 3e-5

TEAMS = {
    "MIL": "Milwaukee",
    "DET": "Detroit",
    "TOR": "Toronto",
    "NY": "New York",
    "BOS": "Boston",
    "CLE": "Cleveland",
    "BAL": "Baltimore",
}
EXTRAS = {
    "extras_dras_multi_tie": ("dras_table1_as_analysed", "object + tie", "D"),
    "extras_cems_llbt_undec": ("cems", "object + tie", "ST"),
    "extras_baseball_llbt_pos": ("baseball", "object + order", "Baltimore"),
}
LOG_ODDS = {  # R's fits on the scale 2λ
    "bt2_baseball": ("baseball", "object", "Baltimore"),
    "bt2_baseball_home": ("baseball", "object + order", "Baltimore"),
    "bt2_citations": ("citations", "object", "Biometrika"),
    "bt2_citations_refJASA": ("citations", "object", "JASA"),
    "pl_pudding_davidson": ("puddings", "object + tie", 1),
}


def asked(data, formula, reference):
    c = llbt.load_dataset(data)
    return quasi_variances(llbt.fit(formula, c if data == "baseball" else c.pool(), reference=reference))


def rows_of(names, objects):
    """Positions of R's row names among our objects; puddings are B1 … B6 there and 1 … 6 here."""
    texts = [str(o) for o in objects]
    return [texts.index(TEAMS.get(n, n.removeprefix("B") if n[1:].isdigit() else n)) for n in names]


def as_qvcalc(cov):
    """qvcalc's own way: iteratively reweighted least squares on log v with R's glm stopping rule (epsilon 1e-8)."""
    i, j = np.triu_indices(len(cov), 1)
    design = np.zeros((len(i), len(cov)))
    design[np.arange(len(i)), i] = design[np.arange(len(i)), j] = 1
    y = np.log(cov[i, i] + cov[j, j] - 2 * cov[i, j])
    mu, deviance = y, 0.0
    for _ in range(25):
        eta = np.exp(mu)
        q = np.linalg.lstsq(design / eta[:, None], (eta + (y - mu) * eta) / eta, rcond=None)[0]
        mu = np.log(design @ q)
        before, deviance = deviance, float(np.sum((y - mu) ** 2))
        if abs(deviance - before) / (abs(deviance) + 0.1) < 1e-8:
            break
    return q, np.sqrt(np.exp(mu - y)) - 1


@pytest.mark.parametrize(
    ("file", "fit", "scale"),
    [(f, fit, 1.0) for f, fit in EXTRAS.items()] + [(f, fit, 2.0) for f, fit in LOG_ODDS.items()],
)
def test_they_are_those_of_qvcalc(reference, file, fit, scale):
    figures, found = reference(file)["quasi"], asked(*fit)
    rows = rows_of(figures["rows"], found.objects)
    assert sorted(rows) == list(range(len(found.objects)))
    frame = found.to_frame().iloc[rows]
    estimate, error, quasi_error, quasi = np.array(figures["values"], dtype=float).T
    close = {"rtol": 0, "atol": REFERENCE}
    np.testing.assert_allclose(scale * frame["estimate"], np.nan_to_num(estimate), **close)
    np.testing.assert_allclose(scale * frame["std_error"], error, **close)
    np.testing.assert_allclose(scale * frame["quasi_std_error"], quasi_error, **close)
    np.testing.assert_allclose(scale**2 * frame["quasi_variance"], quasi, **close)


@pytest.mark.parametrize("file", list(EXTRAS))
def test_relative_errors_of_pairs_are_those_of_qvcalc(reference, file):
    figures, found = reference(file), asked(*EXTRAS[file])
    rows = rows_of(figures["quasi"]["rows"], found.objects)
    i, j = np.triu_indices(len(rows), 1)
    errors = found.relative_errors.to_numpy()[np.ix_(rows, rows)]
    np.testing.assert_allclose(errors[i, j], figures["qv_relerrs"], rtol=0, atol=RELATIVE)
    np.testing.assert_array_equal(errors, errors.T)
    # what is left is where R stops: its steps and its rule give its figures from our covariance
    quasi, relative = as_qvcalc(found.cov[np.ix_(rows, rows)])
    np.testing.assert_allclose(quasi, [row[3] for row in figures["quasi"]["values"]], rtol=1e-7)
    np.testing.assert_allclose(relative, figures["qv_relerrs"], rtol=0, atol=1e-7)


def random_cov(seed, size, df=None):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(size, df or size + 3))
    return root @ root.T / root.shape[1]


def variances(cov):
    variance = np.diag(cov)
    return variance[:, None] + variance - 2 * cov


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), size=st.integers(3, 9), scale=st.sampled_from([1e-8, 1.0, 1e5]))
@pytest.mark.slow
def test_they_are_the_minimum(seed, size, scale):
    v = scale * variances(random_cov(seed, size))
    found, converged = fitted_quasi_variances(v)
    assert converged
    i, j = np.triu_indices(size, 1)
    sums = found[i] + found[j]
    assert (sums > 0).all()
    residual = np.log(sums) - np.log(v[i, j])
    gradient = np.bincount(np.concatenate([i, j]), np.tile(residual * scale / sums, 2), size)
    np.testing.assert_allclose(gradient, 0, atol=1e-8 * max(1, np.abs(scale / sums).max()))

    def misfit(q):
        total = q[i] + q[j]
        return np.sum((np.log(total) - np.log(v[i, j] / scale)) ** 2) if (total > 0).all() else 1e9

    other = optimize.minimize(misfit, np.full(size, 0.5), method="Nelder-Mead", options={"maxiter": 4000})
    assert np.sum(residual**2) <= other.fun + 1e-9


@pytest.mark.parametrize(("spread", "rank"), [(2, 1), (0, -2), (1, -2)])
def test_variances_of_very_different_size(spread, rank):
    """Here relative least squares start outside (sums below 0) or Newton's first steps overshoot."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        size = int(rng.integers(4, 12))
        root = rng.normal(size=(size, size + rank)) * np.exp(spread * rng.normal(size=(size, 1)))
        v = variances(root @ root.T)
        found, converged = fitted_quasi_variances(v)
        assert converged
        i, j = np.triu_indices(size, 1)
        sums = found[i] + found[j]
        both, twice = np.concatenate([i, j]), np.tile(1 / sums, 2)
        gradient = np.bincount(both, np.tile(np.log(sums / v[i, j]), 2) * twice)
        assert np.abs(gradient / np.bincount(both, twice)).max() < 1e-9


def test_a_minimum_that_is_not_reached_is_said(monkeypatch):
    monkeypatch.setattr("llbt.inference.quasi_variances._MOST_STEPS", 1)
    with pytest.warns(llbt.errors.ConvergenceWarning, match="after 1 steps; see worst_error"):
        quasi_variances(plain())


def test_three_objects_are_exact():
    cov = random_cov(5, 3)
    found, _ = fitted_quasi_variances(variances(cov))
    v = variances(cov)
    np.testing.assert_allclose(found[0], (v[0, 1] + v[0, 2] - v[1, 2]) / 2, rtol=1e-10)
    np.testing.assert_allclose(worst_errors(cov, found), (0, 0), atol=1e-9)


def test_independent_estimates_keep_their_variances():
    variance = np.array([0.5, 1.0, 2.0, 4.0, 3.0])
    found, _ = fitted_quasi_variances(variances(np.diag(variance)))
    np.testing.assert_allclose(found, variance, rtol=1e-10)
    np.testing.assert_allclose(worst_errors(np.diag(variance), found), (0, 0), atol=1e-9)


@pytest.mark.slow
@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), size=st.integers(3, 8))
def test_no_contrast_is_worse_than_the_worst_and_one_attains_it(seed, size):
    cov = random_cov(seed, size)
    quasi, _ = fitted_quasi_variances(variances(cov))
    low, high = worst_errors(cov, quasi)

    def error(contrast):
        c = contrast - contrast.mean()
        return np.sqrt(max(c @ (quasi * c), 0.0) / (c @ cov @ c)) - 1

    rng = np.random.default_rng(seed)
    tried = [error(rng.normal(size=size)) for _ in range(300)]
    assert low - 1e-9 <= min(tried)
    assert max(tried) <= high + 1e-9
    for sign, bound in ((1, low), (-1, high)):
        start = min((rng.normal(size=size) for _ in range(200)), key=lambda c: sign * error(c))
        found = optimize.minimize(lambda c, s=sign: s * error(c), start, method="BFGS")
        assert sign * found.fun == pytest.approx(bound, abs=1e-4)


def test_the_reference_object_changes_only_estimates_and_standard_errors():
    c = llbt.load_dataset("dras_table1").pool()
    first, other = (quasi_variances(llbt.fit("object + tie", c, reference=o)) for o in "AD")
    np.testing.assert_allclose(first.quasi_variance, other.quasi_variance, rtol=1e-8)
    np.testing.assert_allclose(first.worst_errors, other.worst_errors, rtol=1e-6)
    np.testing.assert_allclose(first.relative_errors, other.relative_errors, atol=1e-7)
    np.testing.assert_allclose(first.estimate - first.estimate[3], other.estimate, atol=1e-8)
    assert first.std_error[0] == other.std_error[3] == 0


def test_the_record():
    found = quasi_variances(llbt.fit("object + tie", llbt.load_dataset("cems").pool()), confidence=0.9)
    frame = found.to_frame()
    assert list(frame) == [
        *("object", "estimate", "std_error", "quasi_std_error", "quasi_variance", "conf_low", "conf_high"),
    ]
    np.testing.assert_allclose(frame["quasi_std_error"] ** 2, frame["quasi_variance"])
    np.testing.assert_allclose(frame["conf_high"] - frame["estimate"], 1.6448536 * frame["quasi_std_error"], rtol=1e-7)
    np.testing.assert_allclose(frame["estimate"] - frame["conf_low"], 1.6448536 * frame["quasi_std_error"], rtol=1e-7)
    assert found.worst_error == max(-found.worst_errors[0], found.worst_errors[1])
    assert found.worst_errors[0] <= found.relative_errors.min().min()
    assert found.relative_errors.max().max() <= found.worst_errors[1]
    text = " ".join(found.as_text(notes="all").split())
    assert "scale λ, reference ST" in text
    assert "90 % intervals" in text
    assert "pairs: -1.9 % to +2.4 %; of all contrasts: -3.7 % to +3.6 %" in text


def test_covariates_are_asked_for():
    res = llbt.fit("object * judge + tie", llbt.load_dataset("dras_table1"))
    with pytest.raises(llbt.errors.OptionError, match="quasi_variances: the worths differ by judge"):
        quasi_variances(res)
    alone = llbt.fit("object", llbt.load_dataset("dras_table1").select(where={"judge": "J3"}).drop_ties())
    both = llbt.fit("object * judge", llbt.load_dataset("dras_table1").drop_ties())
    found = quasi_variances(both, at={"judge": "J3"})
    np.testing.assert_allclose(found.quasi_variance, quasi_variances(alone).quasi_variance, rtol=1e-6)
    assert "at judge J3" in found.notes
    assert quasi_variances(res, at="average").worst_error < 1


def test_a_negative_quasi_variance_is_said(monkeypatch):
    """Three objects, one measured against the middle of the others: q = (v₁₂ + v₁₃ − v₂₃)/2 < 0."""
    v = np.array([[0, 1.0, 1.0], [1.0, 0, 3.9], [1.0, 3.9, 0]])
    quasi, converged = fitted_quasi_variances(v)
    assert converged
    np.testing.assert_allclose(quasi, [-0.95, 1.95, 1.95], rtol=1e-9)
    res = llbt.fit("object + tie", llbt.load_dataset("cems").pool().select(objects=["LO", "MI", "PA"]))
    cov = np.array([[0, 0, 0], [0, 1.0, (2 - 3.9) / 2], [0, (2 - 3.9) / 2, 1.0]])
    found = llbt.inference.log_worths.LogWorths(np.eye(3), np.zeros(3), cov, np.zeros((3, 0)))
    monkeypatch.setattr("llbt.inference.quasi_variances.log_worths_at", lambda *_: (found, ()))
    record = quasi_variances(res)
    assert np.isnan(record.quasi_std_error).tolist() == [True, False, False]
    assert np.isnan(record.to_frame()["conf_low"]).tolist() == [True, False, False]
    assert any(note.startswith("negative quasi-variance") and "'LO'" in note for note in record.notes)


def test_undetermined_log_worths_are_left_out():
    """Judge K never saw d: at K its log-worth is unknown, and the others have the quasi-variances of K's own fit."""
    pairs = [("a", "b", 4, 3), ("a", "c", 5, 4), ("b", "c", 6, 3), ("a", "d", 7, 4), ("b", "d", 3, 5)]
    rows = [(*pair, judge) for judge in "JK" for pair in pairs if judge == "J" or "d" not in pair]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "wins_i", "wins_j", "judge"])
    c = llbt.from_counts(frame, covariates="judge")
    found = quasi_variances(llbt.fit("object * judge", c, reference="c"), at={"judge": "K"})
    alone = quasi_variances(llbt.fit("object", c.select(where={"judge": "K"}), reference="c"))
    assert found.objects == alone.objects == ("a", "b", "c")
    np.testing.assert_allclose(found.quasi_variance, alone.quasi_variance, rtol=1e-6)
    assert "left out, log-worth not determined by the table: 'd'" in found.notes


def test_contrasts_without_variance_have_an_infinite_error():
    """A single slope: all pairs differ, but a − 2b + c of equidistant prices is known."""
    frame = pd.DataFrame(
        [("a", "b", 5, 4), ("b", "c", 6, 4), ("a", "c", 8, 4), ("c", "d", 5, 4)],
        columns=["object_i", "object_j", "wins_i", "wins_j"],
    )
    prices = pd.DataFrame({"object": list("abcd"), "price": [1.0, 2.0, 3.0, 4.0]})
    found = quasi_variances(llbt.fit("price", llbt.from_counts(frame, object_covariates=prices)))
    assert found.worst_errors[1] == np.inf
    assert "infinite" in found.as_text()
    assert np.isfinite(found.relative_errors.to_numpy()).all()


def two():
    return llbt.fit("object + tie", llbt.load_dataset("dras_modpref"))


def shared_covariate():
    frame = llbt.load_dataset("cems").pool()
    return llbt.fit("LAT + tie", frame)


def held():
    return llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool(), fixed={"object[A]": 0.4})


def plain():
    return llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())


def without_worths():
    return llbt.fit("tie", llbt.load_dataset("dras_table1").pool())


@pytest.mark.parametrize(
    ("make", "options", "error", "message"),
    [
        (two, {}, DesignError, r"2 log-worths \('\+', '-'\); expected three or more"),
        (shared_covariate, {}, DesignError, r"6 of 15 differences of log-worths have no variance: BA − MI"),
        (held, {}, DesignError, r"1 of 6 differences of log-worths have no variance: A − D"),
        (plain, {"confidence": 95}, OptionError, r"confidence=95; expected a number between 0 and 1"),
        (plain, {"at": {"judge": "J1"}}, OptionError, r"judge"),
        (without_worths, {}, DesignError, r"has no term for the worths"),
    ],
)
def test_errors(make, options, error, message):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", llbt.errors.LLBTWarning)
        res = make()
    with pytest.raises(error, match=message):
        quasi_variances(res, **options)
