"""Bias reduction, priors and profile intervals, against R and against maximizations that share no code with llbt.

`Literal` holds a design whose rows are read off the names of the parameters; scipy maximizes what it computes.
"""

import itertools
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy import optimize, special, stats
from support.fits import fit_by

import llbt
from llbt import Comparisons, LLBTResults
from llbt.core.response import THREE

COLUMNS = ["object_i", "object_j", "wins_i", "ties", "wins_j"]
COUNTS = COLUMNS[2:]
UNSHRUNK = (Phase.explicit, Phase.generate)  # a failing table is small already
LR95 = stats.chi2.isf(0.05, 1)
# scipy's BFGS with numerical gradients, restarted at its result: about 1e-8 of the objective.
OPTIMIZED = 2e-5


def quietly(formula: str, c: Comparisons, **options: object) -> LLBTResults:
    """Fit with every warning an error: one of them says that the solver did not converge."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return fit_by(formula, c, **options)


def close(found, expected, *, rtol=0.0, atol=0.0):
    np.testing.assert_allclose(np.asarray(found, float), np.asarray(expected, float), rtol=rtol, atol=atol)


def table(rows: list[tuple], **roles: object) -> Comparisons:
    """A table of counts; without ties where all are 0."""
    frame = pd.DataFrame(rows, columns=COLUMNS)
    return llbt.from_counts(frame, **roles)


def with_tie_category(c: Comparisons) -> Comparisons:
    return replace(c, response=THREE)


# -- the literal model -----------------------------------------------------------------------------------------------


def cell_value(name: str, row: Mapping, outcome: str) -> float:
    """What a parameter adds to the log mean of an outcome: ``object[A]:judge[J2]``, ``tie``, ``order``."""
    factors = name.split(":")
    value = float(outcome == "tie") if "tie" in factors else {"i": 1.0, "tie": 0.0, "j": -1.0}[outcome]
    for factor in factors:
        if factor in ("tie", "order"):
            continue
        if "[" not in factor:
            value *= float(row[factor])
            continue
        head, level = factor.removesuffix("]").split("[")
        if head == "object":
            value *= float(str(row["object_i"]) == level) - float(str(row["object_j"]) == level)
        else:
            value *= float(str(row[head]) == level)
    return value


@dataclass(frozen=True, eq=False)
class Literal:
    """Counts (S, C) and rows (S, C, p) of a model."""

    counts: np.ndarray
    rows: np.ndarray

    @classmethod
    def of(cls, names: tuple[str, ...], c: Comparisons) -> "Literal":
        outcomes = ("i", "tie", "j") if c.has_ties else ("i", "j")
        records = c.to_frame().to_dict("records")
        rows = [[[cell_value(name, row, o) for name in names] for o in outcomes] for row in records]
        counts = c.counts if c.has_ties else c.counts[:, [0, 2]]
        return cls(np.array(counts, dtype=float), np.array(rows, dtype=float))

    def moments(self, params: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities (S, C) and z − z̄ (S, C, p)."""
        p = special.softmax(self.rows @ params, axis=1)
        return p, self.rows - (p[:, :, None] * self.rows).sum(axis=1, keepdims=True)

    def information(self, params: np.ndarray) -> np.ndarray:
        p, away = self.moments(params)
        return np.einsum("s,sc,scp,scq->pq", self.counts.sum(axis=1), p, away, away)

    def likelihood(self, params: np.ndarray) -> float:
        return float(np.sum(self.counts * special.log_softmax(self.rows @ params, axis=1)))

    def penalized(self, params: np.ndarray) -> float:
        return self.likelihood(params) + np.linalg.slogdet(self.information(params))[1] / 2

    def maximum(
        self, held: Mapping[int, float] | None = None, also_from: np.ndarray | None = None
    ) -> tuple[np.ndarray, float]:
        """Where l + ½ log|I| is largest with some parameters held, by scipy from 0 (and from elsewhere)."""
        held = held or {}
        free = [k for k in range(self.rows.shape[2]) if k not in held]
        params = np.zeros(self.rows.shape[2])
        for k, value in held.items():
            params[k] = value

        def negative(values: np.ndarray) -> float:
            params[free] = values
            return -self.penalized(params)

        def improved(found: np.ndarray) -> np.ndarray:
            for method in ("BFGS", "Nelder-Mead", "BFGS") if free else ():
                options = {"maxiter": 4000} if method == "BFGS" else {"maxiter": 4000, "xatol": 1e-8, "fatol": 1e-13}
                found = optimize.minimize(negative, found, method=method, options=options).x
            return found

        starts = [np.zeros(len(free))] if also_from is None else [np.zeros(len(free)), also_from[free]]
        best = min((improved(start) for start in starts), key=negative)
        value = -negative(best)
        return params.copy(), value

    def adjusted_score(self, params: np.ndarray) -> np.ndarray:
        """Gradient of the penalized likelihood by central differences."""
        steps = 1e-5 * np.eye(len(params))
        return np.array([(self.penalized(params + h) - self.penalized(params - h)) / 2e-5 for h in steps])


# -- BradleyTerry2 ---------------------------------------------------------------------------------------------------

BR_CASES = {
    "bt2_baseball_home_br": ("baseball", "object + order", "Baltimore", {"at.home": "order"}, "team"),
    "bt2_citations_br": ("citations", "object", "Biometrika", {}, "journal"),
}


@pytest.mark.parametrize("file", list(BR_CASES))
def test_bias_reduction_equals_bradleyterry2(reference, file: str) -> None:
    data, formula, first, effects, prefix = BR_CASES[file]
    figures = reference(file)
    res = quietly(formula, llbt.load_dataset(data), reference=first, prior="jeffreys")
    names = [effects.get(name) or f"object[{name.removeprefix(prefix)}]" for name in figures["coefficients"]]
    assert set(names) == set(res.names)
    close(2 * res.params[names], list(figures["coefficients"].values()), atol=2e-5)
    close(2 * res.bse[names], list(figures["se"].values()), atol=2e-5)
    likely = quietly(formula, llbt.load_dataset(data), reference=first)
    assert np.abs(2 * (likely.params - res.params)).max() > 1e-4  # not the maximum likelihood estimate


# -- an independent maximization -------------------------------------------------------------------------------------

SPARSE = table([("A", "B", 5, 1, 0), ("A", "C", 3, 0, 0), ("B", "C", 2, 2, 1), ("C", "D", 4, 0, 0)])
LINE = table([("A", "B", 3, 0, 0), ("B", "C", 3, 1, 0), ("C", "D", 4, 0, 1)])
PARTED = table([("A", "B", 6, 0, 0), ("A", "C", 4, 0, 0), ("B", "C", 5, 0, 1)])
ORDERED = table([("A", "B", 4, 1, 0), ("B", "A", 2, 0, 3), ("B", "C", 4, 0, 0), ("C", "A", 1, 2, 2)], order=True)
BY_JUDGE = llbt.load_dataset("dras_table1").select(where={"judge": ["J1", "J3"]})
NUMBERED = llbt.from_counts(
    pd.DataFrame(
        [(*row, age) for age, rows in ((-1.0, LINE), (0.0, SPARSE), (2.0, SPARSE)) for row in rows.to_frame().values],
        columns=[*COLUMNS, "age"],
    ).astype({name: int for name in COUNTS}),
    covariates="age",
)
FIRTH_CASES = {
    "sparse, ties": ("object + tie", SPARSE),
    "separated": ("object + tie", LINE),
    "no ties": ("object", PARTED),
    "an empty tie category": ("object + tie", with_tie_category(PARTED)),
    "order": ("object + tie + order", ORDERED),
    "judges": ("object * judge + tie * judge", BY_JUDGE),
    "a number": ("object + object:age + tie", NUMBERED),
    "dras": ("object + tie", llbt.load_dataset("dras_table1").pool()),
    "one pair": ("object + tie", table([("A", "B", 4, 1, 0)])),
}


@pytest.mark.parametrize("case", list(FIRTH_CASES))
def test_bias_reduction_equals_a_maximization_by_scipy(case: str) -> None:
    formula, c = FIRTH_CASES[case]
    res = quietly(formula, c, prior="jeffreys")
    literal = Literal.of(res.names, c)
    params, value = literal.maximum()
    close(res.params / res.bse, params / res.bse, atol=OPTIMIZED)
    assert res.solution.objective == pytest.approx(value, abs=1e-8 * max(1.0, abs(value)))
    close(res.cov_params(), np.linalg.inv(literal.information(res.params.to_numpy())), rtol=1e-7, atol=1e-12)
    close(literal.adjusted_score(res.params.to_numpy()) * res.bse, np.zeros(len(params)), atol=1e-6)


def test_bias_reduction_of_one_pair_adds_half_a_win_to_either_side() -> None:
    """Firth (1993): for one binomial with the logit link, that is log((w + ½)/(l + ½)) = 2λ."""
    for wins, losses in ((7, 2), (5, 0), (0, 3), (1, 1)):
        res = quietly("object", table([("A", "B", wins, 0, losses)]), prior="jeffreys")
        close(2 * res.params["object[A]"], np.log((wins + 0.5) / (losses + 0.5)), atol=1e-8)


@pytest.mark.parametrize("wins", [(1, 0), (0, 1), (2, 0)])
def test_bias_reduction_of_a_pair_judged_once_converges(wins: tuple[int, int]) -> None:
    res = quietly("object", table([("A", "B", wins[0], 0, wins[1])]), prior="jeffreys")
    assert res.converged
    close(2 * res.params["object[A]"], np.log((wins[0] + 0.5) / (wins[1] + 0.5)), atol=1e-8)


@st.composite
def connected(draw) -> Comparisons:
    """A random tree of up to six objects with some more edges, few judgments each: mostly separated."""
    size = draw(st.integers(2, 6))
    edges = {(draw(st.integers(0, k - 1)), k) for k in range(1, size)}
    pairs = list(itertools.combinations(range(size), 2))
    edges |= set(draw(st.lists(st.sampled_from(pairs), max_size=3)))
    ties = draw(st.booleans())
    rows = []
    for a, b in sorted(edges):
        wins, tied, lost = draw(st.integers(0, 4)), draw(st.integers(0, 3)) if ties else 0, draw(st.integers(0, 4))
        if not wins + tied + lost:
            wins = 1
        rows.append(("ABCDEF"[a], "ABCDEF"[b], wins, tied, lost))
    c = table(rows)
    return with_tie_category(c) if ties else c


@given(connected())
@settings(max_examples=60, phases=UNSHRUNK)
@pytest.mark.slow
def test_bias_reduction_is_finite_wherever_the_objects_are_connected(c: Comparisons) -> None:
    res = quietly("object + tie" if c.has_ties else "object", c, prior="jeffreys")
    assert res.converged
    assert np.abs(res.params).max() < 12
    literal = Literal.of(res.names, c)
    close(literal.adjusted_score(res.params.to_numpy()), np.zeros(len(res.names)), atol=1e-5)


@given(connected(), st.integers(0, 5), st.permutations("PQRSTU"))
@settings(max_examples=25, phases=UNSHRUNK)
@pytest.mark.slow
def test_bias_reduction_does_not_depend_on_reference_or_labels(c: Comparisons, place: int, names: list[str]) -> None:
    formula = "object + tie" if c.has_ties else "object"

    def differences(res: LLBTResults, labels: list[str]) -> np.ndarray:
        worth = np.array([res.params.get(f"object[{label}]", 0.0) for label in labels])
        return worth - worth[0]

    labels = list(c.objects)
    first = quietly(formula, c, reference=labels[-1], prior="jeffreys")
    other = quietly(formula, c, reference=labels[place % len(labels)], prior="jeffreys")
    renamed = dict(zip(labels, names, strict=False))
    frame = c.to_frame().replace({"object_i": renamed, "object_j": renamed})
    again = quietly(formula, replace(llbt.from_counts(frame), response=c.response), prior="jeffreys")
    expected = differences(first, labels)
    close(differences(other, labels), expected, atol=1e-6)
    close(differences(again, [renamed[label] for label in labels]), expected, atol=1e-6)


def test_bias_reduction_does_not_depend_on_reference_exactly() -> None:
    for formula, c in (("object + tie", SPARSE), ("object + tie", LINE), ("object * judge + tie", BY_JUDGE)):
        a, b = (quietly(formula, c, reference=label, prior="jeffreys") for label in ("A", "C"))
        for at in (None, "average"):
            if at is None and "judge" in formula:
                continue
            left, right = (llbt.worth(res, at).to_frame().set_index("object") for res in (a, b))
            for column in ("estimate", "std_error"):
                close(right.loc[left.index, column], left[column], atol=1e-7)


def test_bias_reduction_does_not_depend_on_splitting() -> None:
    c = llbt.load_dataset("dras_table1")
    by_judge, pooled = (quietly("object + tie", d, prior="jeffreys") for d in (c, c.pool()))
    close(by_judge.params, pooled.params, atol=1e-9)
    close(by_judge.cov_params(), pooled.cov_params(), rtol=1e-8)
    assert len(by_judge.comparisons) == 4 * len(pooled.comparisons)


def test_bias_reduction_keeps_the_figures_of_the_judgments() -> None:
    """Deviance and fitted counts are those at the estimates, of the judgments alone."""
    res = quietly("object + tie", LINE, prior="jeffreys")
    literal = Literal.of(res.names, LINE)
    means = literal.counts.sum(axis=1, keepdims=True) * literal.moments(res.params.to_numpy())[0]
    close(res.fittedvalues, means.ravel(), rtol=1e-10)
    close(res.deviance, 2 * np.sum(special.xlogy(literal.counts, literal.counts / means)), rtol=1e-10)
    assert "Firth" in res.as_text()


def test_held_parameters_stay_with_bias_reduction() -> None:
    res = quietly("object + tie", SPARSE, prior="jeffreys", fixed={"tie": -0.3})
    literal = Literal.of(res.names, SPARSE)
    assert res.params["tie"] == -0.3
    free = [name for name in res.names if name != "tie"]

    def negative(values: np.ndarray) -> float:
        params = np.append(values, -0.3)
        return -literal.likelihood(params) - np.linalg.slogdet(literal.information(params)[:3, :3])[1] / 2

    found = optimize.minimize(negative, np.zeros(3), method="BFGS").x
    close(res.params[free], found, atol=1e-4)
    assert res.names[-1] == "tie"


@pytest.mark.parametrize("options", [{"prior": "jeffreys"}, {"prior": 1.0}])
def test_disconnected_objects_are_refused_still(options: dict) -> None:
    apart = table([("A", "B", 3, 1, 2), ("C", "D", 2, 0, 2)])
    with pytest.raises(llbt.errors.DesignError, match=r"2 groups never compared with each other: \{A, B\}, \{C, D\}"):
        llbt.fit("object + tie", apart, **options)


@pytest.mark.parametrize("options", [{"prior": "jeffreys"}, {"prior": 1.0}])
def test_aliased_parameters_are_left_out(options: dict) -> None:
    """Judge J2 never saw D, so the table does not say how J2 differs on it."""
    rows = [
        (*row, "J1") for row in [("A", "B", 3, 1, 0), ("A", "C", 2, 0, 1), ("B", "C", 4, 0, 0), ("A", "D", 1, 1, 0)]
    ]
    rows += [(*row, "J2") for row in [("A", "B", 2, 0, 2), ("A", "C", 5, 1, 0), ("B", "C", 1, 0, 3)]]
    c = llbt.from_counts(pd.DataFrame(rows, columns=[*COLUMNS, "judge"]), covariates="judge")
    res = quietly("object * judge + tie", c, reference="A", **options)
    assert res.aliased == ("object[D]:judge[J2]",)
    estimated = [name for name in res.names if name not in res.aliased]
    assert np.isfinite(res.params[estimated]).all()
    assert np.isfinite(res.bse[estimated]).all()
    assert np.isnan(res.params[list(res.aliased)]).all()
    if options["prior"] == "jeffreys":
        params, _ = Literal.of(tuple(estimated), c).maximum()
        close(res.params[estimated], params, atol=1e-4)
    profile = res.conf_int(method="profile")
    assert profile.loc[list(res.aliased)].isna().all(axis=None)
    assert profile.loc[estimated].notna().all(axis=None)


# -- prior -----------------------------------------------------------------------------------------------------------


def with_pseudo_counts(c: Comparisons, prior: float) -> Comparisons:
    """Each pair is given `prior` judgments: over its comparisons as its own, equally over the outcomes."""
    frame = c.to_frame().astype(dict.fromkeys(COUNTS, float))
    outcomes = COUNTS if c.has_ties else ["wins_i", "wins_j"]
    pair = frame[["object_i", "object_j"]].apply(lambda row: "|".join(sorted(map(str, row))), axis=1)
    totals = frame[COUNTS].sum(axis=1)
    for k, row in frame.iterrows():
        share = totals[k] / sum(totals[m] for m in frame.index if pair[m] == pair[k])
        for column in outcomes:
            frame.loc[k, column] = row[column] + prior * share / len(outcomes)
    found = llbt.from_counts(frame, covariates=c.covariates, order=c.keeps_order)
    return replace(found, response=c.response)


PRIOR_CASES = {
    "separated": ("object + tie", LINE, 1.0),
    "no ties": ("object", PARTED, 0.5),
    "an empty tie category": ("object + tie", with_tie_category(PARTED), 3.0),
    "order": ("object + tie + order", ORDERED, 2.0),
    "judges": ("object * judge + tie", BY_JUDGE, 4.0),
}


@pytest.mark.parametrize("method", ["glm", "eliminate"])
@pytest.mark.parametrize("case", list(PRIOR_CASES))
def test_a_prior_is_a_fit_to_more_counts(case: str, method: str) -> None:
    formula, c, prior = PRIOR_CASES[case]
    res = quietly(formula, c, prior=prior, method=method)
    by_hand = quietly(formula, with_pseudo_counts(c, prior))
    pairs = {frozenset(row) for row in c.to_frame()[["object_i", "object_j"]].to_numpy().tolist()}
    assert by_hand.comparisons.n_judgments == pytest.approx(c.n_judgments + prior * len(pairs))
    assert res.names == by_hand.names
    close(res.params, by_hand.params, atol=1e-7)
    close(res.bse, by_hand.bse, rtol=1e-6)
    assert res.comparisons == c
    # fitted counts and deviance are those of the judgments alone
    close(res.fittedvalues.groupby(level=[*res.fittedvalues.index.names[:-1]]).sum().sum(), c.n_judgments, rtol=1e-9)
    y = res.counts.ravel()
    close(res.deviance, 2 * np.sum(special.xlogy(y, y / res.fittedvalues.to_numpy())), rtol=1e-9)
    assert "prior of" in res.as_text()


def test_a_prior_does_not_depend_on_splitting() -> None:
    c = llbt.load_dataset("dras_table1")
    by_judge, pooled = (quietly("object + tie", d, prior=5.0) for d in (c, c.pool()))
    close(by_judge.params, pooled.params, atol=1e-8)
    close(by_judge.cov_params(), pooled.cov_params(), rtol=1e-7)


def test_a_large_prior_makes_all_objects_equal_and_a_small_one_nothing() -> None:
    c = llbt.load_dataset("dras_table1").pool()
    equal = quietly("object + tie", c, prior=1e7)
    close(equal.params, np.zeros(4), atol=1e-4)
    close(quietly("object + tie", c, prior=1e-7).params, quietly("object + tie", c).params, atol=1e-7)


# -- errors ----------------------------------------------------------------------------------------------------------

REFUSED = {
    "prior 0": ({"prior": 0}, "prior=0.*positive"),
    "prior below 0": ({"prior": -1.0}, "prior=-1.0.*positive"),
    "prior nan": ({"prior": float("nan")}, "prior=nan.*positive"),
    "prior infinite": ({"prior": float("inf")}, "prior=inf.*positive"),
    "prior a word": ({"prior": "weak"}, "prior='weak'.*positive"),
    "prior true": ({"prior": True}, "prior=True.*positive"),
    "Jeffreys' by glm": ({"prior": "jeffreys", "method": "glm"}, "does not go with method='glm'.*eliminate"),
}


@pytest.mark.parametrize("what", list(REFUSED))
def test_options_that_do_not_go_together(what: str) -> None:
    options, said = REFUSED[what]
    with pytest.raises(llbt.errors.OptionError, match=said):
        fit_by("object + tie", SPARSE, **options)


def no_ties_of_one_judge() -> Comparisons:
    frame = llbt.load_dataset("dras_table1").to_frame()
    frame.loc[frame["judge"] == "J1", "ties"] = 0
    return llbt.from_counts(frame, covariates="judge")


SEPARATED = {
    "objects": ("object", PARTED),
    "objects and ties": ("object + tie", table([("A", "B", 6, 0, 0), ("B", "C", 4, 2, 1)])),
    "no ties": ("object + tie", with_tie_category(table([("A", "B", 3, 0, 2)]))),
    "no ties of one judge": ("object + tie * judge", no_ties_of_one_judge()),
    "order": ("object + order", table([("A", "B", 3, 0, 0), ("B", "A", 4, 0, 0)], order=True)),
    "wins and ties": ("object + tie", table([("A", "B", 5, 3, 0)])),
}


@pytest.mark.parametrize("what", list(SEPARATED))
def test_separation_names_bias_reduction_and_prior(what: str) -> None:
    formula, c = SEPARATED[what]
    with pytest.raises(llbt.errors.SeparationError) as caught:
        llbt.fit(formula, c)
    for options in ({"prior": "jeffreys"}, {"prior": 1.0}):  # what the message promises holds
        assert np.isfinite(quietly(formula, c, **options).params).all()
    assert "prior='jeffreys'" in str(caught.value)
    assert "prior=1.0" in str(caught.value)


# -- profile intervals -----------------------------------------------------------------------------------------------

TEAMS = {
    **{"MIL": "Milwaukee", "DET": "Detroit", "TOR": "Toronto", "NY": "New York", "BOS": "Boston", "CLE": "Cleveland"},
    "BAL": "Baltimore",
}
EXTRAS = {
    "extras_baseball_llbt_pos": ("baseball", "object + order", "Baltimore"),
    "extras_cems_llbt_undec": ("cems", "object + tie", "ST"),
    "extras_dras_multi_tie": ("dras_table1_as_analysed", "object + tie", "D"),
}


@pytest.mark.parametrize("method", ["glm", "eliminate"])
@pytest.mark.parametrize("file", list(EXTRAS))
def test_profile_intervals_equal_those_of_r(reference, file: str, method: str) -> None:
    data, formula, last = EXTRAS[file]
    figures = reference(file)["confint_profile95"]
    res = quietly(formula, llbt.load_dataset(data).pool(), reference=last, method=method)
    found = res.conf_int(method="profile")
    names = {"g1": "tie", "pos": "order", **{r: f"object[{TEAMS.get(r, r)}]" for r in figures["rows"]}}
    names |= {"g1": "tie", "pos": "order"}
    seen = set()
    for r_name, bounds in zip(figures["rows"], figures["values"], strict=True):
        if np.isnan(bounds).all():
            assert names[r_name] == f"object[{last}]"
            continue
        factor = 2.0 if r_name == "pos" else 1.0  # pos is 1 for a home win and 0 otherwise
        close(factor * found.loc[names[r_name]], bounds, atol=1e-4)
        seen.add(names[r_name])
    assert seen == set(res.names)


SKEWED = {
    "dras": ("object + tie", llbt.load_dataset("dras_table1").pool()),
    "judges": ("object * judge + tie", BY_JUDGE),
    "order": ("object + tie + order", ORDERED),
    "few": ("object + tie", table([("A", "B", 2, 1, 1), ("B", "C", 3, 1, 1)])),
    "lopsided": ("object + tie", table([("A", "B", 1, 2, 60), ("A", "C", 20, 1, 1), ("B", "C", 9, 0, 1)])),
    "one loss": ("object", table([("A", "B", 30, 0, 1)])),
}


@pytest.mark.parametrize("case", list(SKEWED))
@pytest.mark.parametrize("alpha", [0.05, 0.001])
@pytest.mark.slow
def test_at_the_bounds_the_likelihood_ratio_is_the_quantile(case: str, alpha: float) -> None:
    formula, c = SKEWED[case]
    res = quietly(formula, c)
    found = res.conf_int(alpha, method="profile")
    assert list(found.columns) == ["conf_low", "conf_high"]
    for name in res.names:
        low, high = found.loc[name]
        assert low < res.params[name] < high
        for bound in (low, high):
            constrained = llbt.fit(formula, c, fixed={name: bound})
            assert constrained.deviance - res.deviance == pytest.approx(stats.chi2.isf(alpha, 1), abs=1e-6)


# Tables whose estimates exist, and whose profile is nearly flat on one side: Newton's steps on it go far.
FLAT = [
    [("A", "B", 0, 1, 20), ("A", "C", 2, 0, 1)],
    [("A", "B", 8, 0, 122), ("A", "C", 0, 860, 2)],
    [("A", "B", 0, 778, 0), ("B", "C", 95, 219, 4)],
    [("A", "B", 3, 3, 19), ("B", "C", 11, 3, 3), ("C", "D", 0, 1, 25)],
]


@pytest.mark.parametrize("method", ["glm", "eliminate"])
@pytest.mark.parametrize("rows", FLAT, ids=[str(k) for k in range(len(FLAT))])
def test_profile_intervals_of_lopsided_tables(rows: list[tuple], method: str) -> None:
    c = table(rows)
    res = quietly("object + tie", c, method=method)
    found = res.conf_int(method="profile")
    for name in res.names:
        for bound in found.loc[name]:
            constrained = fit_by("object + tie", c, fixed={name: bound}, method=method)
            assert constrained.deviance - res.deviance == pytest.approx(LR95, abs=1e-5)


def test_profile_of_one_pair_by_hand() -> None:
    """Wins w of n: bounds are where 2 (l(λ̂) − l(λ)) is the quantile, found by brentq on the binomial."""
    wins, losses = 9, 2
    res = quietly("object", table([("A", "B", wins, 0, losses)]))

    def excess(worth: float) -> float:
        def likelihood(x: float) -> float:
            return wins * np.log(special.expit(2 * x)) + losses * np.log(special.expit(-2 * x))

        return 2 * (likelihood(np.log(wins / losses) / 2) - likelihood(worth)) - LR95

    best = np.log(wins / losses) / 2
    expected = [optimize.brentq(excess, best - 5, best), optimize.brentq(excess, best, best + 5)]
    close(res.conf_int(method="profile").loc["object[A]"], expected, atol=1e-7)


def test_profile_of_held_parameters_is_nan() -> None:
    res = quietly("object + tie", SPARSE, fixed={"tie": -0.5, "object[B]": 0.0}, prior="jeffreys")
    found = res.conf_int(method="profile")
    assert found.loc[["tie", "object[B]"]].isna().all(axis=None)
    assert np.isfinite(found.loc[["object[A]", "object[C]"]]).all(axis=None)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["sparse, ties", "separated", "no ties", "one pair", "order"])
def test_profile_with_bias_reduction_equals_a_constrained_maximization(case: str) -> None:
    formula, c = FIRTH_CASES[case]
    res = quietly(formula, c, prior="jeffreys")
    literal = Literal.of(res.names, c)
    top = literal.maximum()[1]
    found = res.conf_int(method="profile")
    for k, name in enumerate(res.names):
        low, high = found.loc[name]
        assert low < res.params[name] < high
        for bound in (low, high):
            assert np.isfinite(bound)
            assert 2 * (top - literal.maximum({k: bound})[1]) == pytest.approx(LR95, abs=1e-5)


# Separated tables, for which bias reduction is meant.
APART = [
    [("A", "B", 0, 1, 0), ("A", "C", 0, 1, 0), ("B", "C", 0, 0, 2)],
    [("A", "B", 0, 1, 0), ("B", "C", 2, 0, 0)],
    [("A", "B", 0, 2, 37), ("A", "C", 22, 5, 8)],
]


@pytest.mark.slow
@pytest.mark.parametrize("rows", APART, ids=[str(k) for k in range(len(APART))])
def test_profile_with_bias_reduction_of_separated_tables(rows: list[tuple]) -> None:
    """A bound is where the penalized profile has fallen far enough, or infinite; never an error of linear algebra."""
    c = table(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", llbt.errors.ConvergenceWarning)  # another test insists on it
        res = llbt.fit("object + tie", c, prior="jeffreys")
    literal = Literal.of(res.names, c)
    start = res.params.to_numpy()
    top = literal.maximum(also_from=start)[1]
    found = res.conf_int(method="profile")
    for k, name in enumerate(res.names):
        assert found.loc[name, "conf_low"] < res.params[name] < found.loc[name, "conf_high"]
        for bound in found.loc[name]:
            if np.isfinite(bound):
                assert 2 * (top - literal.maximum({k: bound}, start)[1]) == pytest.approx(LR95, abs=1e-3)


def test_profile_with_a_prior_is_that_of_the_counts_with_it() -> None:
    res = quietly("object + tie", LINE, prior=2.0)
    by_hand = quietly("object + tie", with_pseudo_counts(LINE, 2.0))
    close(res.conf_int(method="profile"), by_hand.conf_int(method="profile"), atol=1e-6)


def test_profile_takes_judgments_as_independent() -> None:
    c = llbt.load_dataset("dras_table1").pool()
    robust = quietly("object + tie", c, cov_type="HC0")
    close(robust.conf_int(method="profile"), quietly("object + tie", c).conf_int(method="profile"), atol=1e-9)
    assert not np.allclose(robust.conf_int(), robust.conf_int(method="profile"), atol=1e-3)


def test_profile_does_not_depend_on_splitting() -> None:
    c = llbt.load_dataset("dras_table1")
    by_judge, pooled = (quietly("object + tie", d).conf_int(method="profile") for d in (c, c.pool()))
    close(by_judge, pooled, atol=1e-6)


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 1.5])
def test_alpha_out_of_range(alpha: float) -> None:
    with pytest.raises(llbt.errors.OptionError, match="alpha"):
        quietly("object + tie", LINE, prior=1.0).conf_int(alpha, method="profile")


def test_unknown_method_of_intervals() -> None:
    with pytest.raises(llbt.errors.OptionError, match=r"method='exact'.*'profile'"):
        quietly("object + tie", LINE, prior=1.0).conf_int(method="exact")
