"""Two tables compared: changes against separate fits, anchors by hand, gates by scipy, and planted changes."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import llbt
from llbt.errors import DesignError, OptionError
from llbt.inference.changes import against

NAMES = [f"m{k}" for k in range(8)]


def judged(worths: np.ndarray, n: int, rng: np.random.Generator, prompts: int = 100) -> llbt.Comparisons:
    """Return a table of n judgments drawn from Davidson's model, with γ = −.5."""
    size = len(worths)
    i = rng.integers(size, size=n)
    j = (i + rng.integers(1, size, size=n)) % size
    apart = worths[i] - worths[j]
    weights = np.exp(np.stack([apart, np.full(n, -0.5), -apart]))
    outcome = (rng.random(n) * weights.sum(0) > np.cumsum(weights, 0)).sum(0)
    frame = pd.DataFrame(
        {
            "object_i": np.array(NAMES)[i],
            "object_j": np.array(NAMES)[j],
            "outcome": np.array(["i", "tie", "j"])[outcome],
            "prompt": rng.integers(prompts, size=n),
        }
    )
    return llbt.from_judgments(frame, clusters=["prompt"])


RNG = np.random.default_rng(5)
WORTHS = RNG.normal(0, 0.5, len(NAMES))
WORSE = WORTHS - 0.5 * (np.arange(len(NAMES)) == 2)
BEFORE, AFTER = judged(WORTHS, 2000, RNG), judged(WORSE, 2000, RNG)
FOUND = llbt.compare(BEFORE, AFTER)


def test_changes_are_those_of_two_fits() -> None:
    """Estimates and independent errors: by two fits of their own, whose covariances are added."""
    found = llbt.compare(BEFORE, AFTER, anchor="mean", cov_type="nonrobust")
    fits = [llbt.fit("object + tie", c) for c in (BEFORE, AFTER)]
    names = [f"object[{name}]" for name in NAMES]
    change = np.append(fits[1].params[names[:-1]].to_numpy() - fits[0].params[names[:-1]].to_numpy(), 0.0)
    cov = sum(fit.cov_params().loc[names[:-1], names[:-1]].to_numpy() for fit in fits)
    full = np.zeros((8, 8))
    full[:7, :7] = cov
    weights = np.eye(8) - (1 - np.eye(8)) / 7
    np.testing.assert_allclose(found.changes.estimate, weights @ change, atol=1e-7)
    np.testing.assert_allclose(found.changes.std_error, np.sqrt(np.diag(weights @ full @ weights.T)), rtol=1e-6)


def test_clusters_are_of_both_tables() -> None:
    """By the fit of both tables: the hypothesis about its parameters, and its clustered covariance."""
    found = llbt.compare(BEFORE, AFTER, anchor=["m0"], cov_type="cluster", groups="prompt")
    tested = found.res.t_test("object[m1]:table[b] = 0", confidence=0.95).to_frame()
    row = found.to_frame().set_index("object").loc["m1"]
    assert row["estimate"] == pytest.approx(tested["estimate"][0])
    assert row["std_error"] == pytest.approx(tested["std_error"][0])
    assert found.res.specification.groups == ("prompt",)


def test_the_consensus_leaves_out_what_moved() -> None:
    assert FOUND.is_anchor.tolist() == [name != "m2" for name in NAMES]
    assert FOUND.verdicts == tuple("worse" if name == "m2" else "" for name in NAMES)
    assert FOUND.to_frame().set_index("object").loc["m2", "estimate"] == pytest.approx(-0.5, abs=0.25)
    assert "Worse in b: 'm2'" in str(FOUND)


def test_an_object_is_no_anchor_of_itself() -> None:
    weights = against(np.array([True, True, False, True]))
    np.testing.assert_allclose(weights, [[1, -1 / 2, 0, -1 / 2], [-1 / 2, 1, 0, -1 / 2], [-1 / 3, -1 / 3, 1, -1 / 3],
                                         [-1 / 2, -1 / 2, 0, 1]])  # fmt: skip


def test_intervals_are_simultaneous() -> None:
    """By brute force: the 95 % quantile of max |z| in 200,000 draws of the joint distribution, t by one χ²."""
    rows = against(FOUND.is_anchor) @ FOUND.moved.rows[:, FOUND.res.free]
    cov = FOUND.res.covariance.combined(rows)
    df = FOUND.res.covariance.df
    rng = np.random.default_rng(1)
    z = rng.multivariate_normal(np.zeros(8), cov, 200_000, method="eigh") / np.sqrt(np.diag(cov))
    z /= np.sqrt(rng.chisquare(df, (len(z), 1)) / df) if np.isfinite(df) else 1.0
    reach = (FOUND.changes.conf_high - FOUND.changes.estimate) / FOUND.changes.std_error
    np.testing.assert_allclose(reach, np.quantile(np.abs(z).max(axis=1), 0.95), rtol=0.01)


def test_the_omnibus_test_is_that_of_the_interaction() -> None:
    found = llbt.compare(BEFORE, AFTER, cov_type="nonrobust")
    smaller = llbt.fit("object + tie*table", found.res.comparisons)
    by_likelihood = llbt.anova(smaller, found.res).to_frame()["p_value"].iloc[-1]
    assert found.test.df == 7
    assert np.log(found.test.p_value) == pytest.approx(np.log(by_likelihood), rel=0.05)


def test_common_terms_are_common() -> None:
    found = llbt.compare(BEFORE, AFTER, common=["tie"])
    assert not any(name.startswith("tie:table") for name in found.res.params.index)
    assert any(name.startswith("tie:table") for name in FOUND.res.params.index)


def test_a_gate_is_one_one_sided_test() -> None:
    gate = FOUND.gate("m2", by=0.1)
    estimate, error = FOUND.changes.estimate[2], FOUND.changes.std_error[2]
    assert gate.p_value[0] == pytest.approx(stats.t.cdf((estimate + 0.1) / error, FOUND.changes.df[2]))
    assert gate.failed.tolist() == [True]
    several = FOUND.gate(["m2", "m3"])
    assert several.p_adjusted[0] == pytest.approx(2 * several.p_value[0])
    assert several.failed.tolist() == [True, False]
    assert FOUND.gate("any").failed.tolist() == [verdict == "worse" for verdict in FOUND.verdicts]
    assert "Decided by a one-sided test at 5 %" in str(gate)


def test_by_is_in_units_of_the_scale() -> None:
    elo = llbt.compare(BEFORE, AFTER, scale="elo")
    factor = 800 / np.log(10)
    assert elo.gate("m2", by=0.1 * factor).p_value == pytest.approx(FOUND.gate("m2", by=0.1).p_value)
    np.testing.assert_allclose(elo.to_frame()["estimate"], factor * FOUND.to_frame()["estimate"])


class TestWithoutMajority:
    """Where half of the objects moved, changes have no direction; pairs have."""

    found = llbt.compare(BEFORE, judged(WORTHS - 0.8 * (np.arange(len(NAMES)) < 4), 2000, np.random.default_rng(7)))

    def test_nothing_is_called_worse(self) -> None:
        assert self.found.no_verdict
        assert set(self.found.verdicts) == {""}
        assert self.found.to_frame()["estimate"].isna().all()
        assert "No verdict" in str(self.found)

    def test_pairs_moved_apart(self) -> None:
        pairs = self.found.pairs().to_frame()
        apart = pairs[(pairs["object_i"] == "m0") & (pairs["object_j"] == "m7")]
        assert apart["conf_high"].iloc[0] < 0
        still = pairs[(pairs["object_i"] == "m5") & (pairs["object_j"] == "m6")]
        assert still["conf_low"].iloc[0] < 0 < still["conf_high"].iloc[0]

    def test_the_gate_and_the_picture_refuse(self) -> None:
        with pytest.raises(DesignError, match="no verdict: 4 objects changed relative to the other 4"):
            self.found.gate("m0")
        with pytest.raises(DesignError, match="no verdict"):
            llbt.plot.changes(self.found)

    def test_named_anchors_give_a_verdict(self) -> None:
        named = llbt.compare(BEFORE, self.after, anchor=["m5", "m6", "m7"])
        assert named.verdicts[0] == "worse"

    after = judged(WORTHS - 0.8 * (np.arange(len(NAMES)) < 4), 2000, np.random.default_rng(7))


def test_objects_of_one_table_are_named_and_left_out() -> None:
    after = AFTER.select(objects=NAMES[:7])
    found = llbt.compare(BEFORE, after)
    assert found.objects == tuple(NAMES[:7])
    assert found.only == (("m7",), ())
    assert "Only in a, left out: 'm7'" in str(found)


def test_judgments_are_counted_by_table() -> None:
    frame = FOUND.to_frame()
    assert frame["n_a"].sum() == frame["n_b"].sum() == 4000


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ({"anchor": ["m9"]}, OptionError, "anchor=\\['m9'\\]"),
        ({"anchor": []}, OptionError, "anchor=\\[\\]"),
        ({"anchor": ["m1", "m2"]}, OptionError, "changed relative to each other"),
        ({"names": ["a", "a"]}, OptionError, "names="),
        ({"common": ["order"]}, OptionError, "common='order'"),
        ({"formula": "object + tie + (object | prompt)"}, OptionError, "effects in brackets"),
        ({"at": {"language": "de"}}, OptionError, "language"),
    ],
)
def test_what_makes_no_sense_is_refused(asked, error, message) -> None:
    with pytest.raises(error, match=message):
        llbt.compare(BEFORE, AFTER, **asked)


def test_tables_without_shared_objects_are_refused() -> None:
    with pytest.raises(DesignError, match="the tables share 1 of their objects"):
        llbt.compare(BEFORE.select(objects=["m0", "m1"]), AFTER.select(objects=["m1", "m2"]))


def test_worths_by_a_covariate_are_compared_where_they_are_asked_for() -> None:
    """By hand: the table of one language alone, with ties that are its own."""
    rng = np.random.default_rng(3)
    tables = []
    for worths in (WORTHS, WORSE):
        parts = [judged(worths, 1500, rng).to_frame().assign(language=language) for language in ("de", "en")]
        tables.append(llbt.from_counts(pd.concat(parts), covariates=["language"]))
    found = llbt.compare(*tables, "object*language + tie*language", at={"language": "de"}, cov_type="nonrobust")
    alone = llbt.compare(*(c.select(where={"language": "de"}).pool() for c in tables), cov_type="nonrobust")
    np.testing.assert_allclose(found.moved.estimate - found.moved.estimate[0],
                               alone.moved.estimate - alone.moved.estimate[0], atol=1e-6)  # fmt: skip
    with pytest.raises(OptionError, match=r"Name one class: at=\{'language': 'de'\}"):
        llbt.compare(*tables, "object*language + tie*language")


@pytest.mark.parametrize("size", [4, 20, 60])
def test_the_printout_is_read_at_a_glance(size: int) -> None:
    rng = np.random.default_rng(size)
    i, j = np.triu_indices(size, 1)
    both = []
    for _ in range(2):
        wins = rng.binomial(20, 0.5, len(i))
        frame = pd.DataFrame(
            {"object_i": [f"model-{k:02d}" for k in i], "object_j": [f"model-{k:02d}" for k in j], "wins_i": wins,
             "wins_j": 20 - wins}
        )  # fmt: skip
        both.append(llbt.from_counts(frame))
    found = llbt.compare(*both, "object", scale="elo", names=["week 1", "week 2"])
    assert max(map(len, str(found).splitlines()[: 6 + size])) <= 88
    assert str(found).splitlines()[1].startswith(("No change detected: χ²", "Some objects changed: χ²"))
    assert len(str(found).splitlines()) <= size + 10


def test_the_call_in_place_of_brackets_can_be_pasted() -> None:
    rng = np.random.default_rng(2)
    tables = []
    for _ in range(2):
        rows = [(*rng.choice(list("ABC"), 2, replace=False), rng.choice(["i", "j"]), k % 12) for k in range(120)]
        frame = pd.DataFrame(rows, columns=["object_i", "object_j", "outcome", "judge"])
        tables.append(llbt.from_judgments(frame, clusters="judge"))
    with pytest.raises(OptionError, match="effects in brackets") as refused:
        llbt.compare(*tables, formula="object + (object | judge)")
    call = str(refused.value).rpartition("by clusters: ")[2].removesuffix(".")
    found = eval(call, {"llbt": llbt, "a": tables[0], "b": tables[1]})
    assert found.res.specification.groups == ("judge",)
