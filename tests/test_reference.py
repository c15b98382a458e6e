"""What R and the publications say about the bundled tables, against llbt.

The figures of R are in ``tests/reference`` (its README says which call of which package each file is); other numbers
name the publication beside them.
"""

import itertools
import math
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import pandas as pd
import pytest
from statsmodels.genmod.families import Poisson
from statsmodels.genmod.generalized_linear_model import GLM
from support.fits import fit_by
from support.folders import REFERENCE

import llbt
from llbt import Comparisons, LLBTResults

# Refined estimates agree with an independent fit to 4e-15, printed ones of glm, BTm and PlackettLuce to about 1e-9.
ESTIMATE = 1e-7
# Covariances are printed by R at gnm's own, unpolished estimates, which are up to 4e-9 off.
COVARIANCE = 1e-7
# R's deviances, log-likelihoods, AIC and BIC are good to 5e-13 of their size; a sum of logs here to 1e-12 of it.
DEVIANCE = 1e-6
# X² moves with the first order of the estimates, times counts of hundreds.
PEARSON = 1e-6
# Worths come from prefmod's unpolished estimates.
WORTH = 1e-7
# Fitted values, residuals and hat values at gnm's unpolished estimates, with counts of hundreds.
CELL = 1e-6

FOLDER = REFERENCE
METHODS = ("glm", "eliminate")

# -- the tables ------------------------------------------------------------------------------------------------------


def whole(c: Comparisons) -> Comparisons:
    return c


def pooled(c: Comparisons) -> Comparisons:
    return c.pool()


def by_eng(c: Comparisons) -> Comparisons:
    return c.pool("SEX")


def three_schools_by_sex(c: Comparisons) -> Comparisons:
    return c.select(objects=["LO", "PA", "MI"]).pool("ENG")


def reading_b(c: Comparisons) -> Comparisons:
    """Exchange AD and BC for judge J3 only (reference README: what the ``*_readingB`` files were fitted to)."""
    frame = c.to_frame()
    pair = frame["object_i"] + frame["object_j"]
    ad = (pair == "AD") & (frame["judge"] == "J3")
    bc = (pair == "BC") & (frame["judge"] == "J3")
    counts = ["wins_i", "ties", "wins_j"]
    before = frame[counts].copy()
    frame.loc[ad, counts] = before.loc[bc].to_numpy()
    frame.loc[bc, counts] = before.loc[ad].to_numpy()
    return llbt.from_counts(frame, covariates="judge")


def reading_b_pooled(c: Comparisons) -> Comparisons:
    return reading_b(c).pool()


# -- names of R → names of llbt --------------------------------------------------------------------------------------

SCHOOLS = ("LO", "PA", "MI", "SG", "BA", "ST")
TEAMS = {
    "MIL": "Milwaukee",
    "DET": "Detroit",
    "TOR": "Toronto",
    "NY": "New York",
    "BOS": "Boston",
    "CLE": "Cleveland",
    "BAL": "Baltimore",
}
PREFMOD_PAIRS = [(SCHOOLS[i], SCHOOLS[j]) for j in range(1, 6) for i in range(j)]  # (1,2), (1,3), (2,3), (1,4), …
LEVELS = {
    **{f"ENG{k}": f"ENG[{k}]" for k in (1, 2)},
    **{f"SEX{k}": f"SEX[{k}]" for k in (1, 2)},
    **{f"SUBJ{k}": f"judge[J{k}]" for k in (1, 2, 3, 4)},
    **{f"mu{k}": f"pair[{':'.join(sorted(pair))}]" for k, pair in enumerate(PREFMOD_PAIRS, start=1)},
}
EFFECTS = {"g1": "tie", "tie2": "tie", "pos": "order", "at.home": "order", "LAT": "LAT", "EC": "EC"}


@dataclass(frozen=True)
class Case:
    """One file: the table and the formula it was fitted to, and how its names and scales translate."""

    file: str
    data: str
    prepare: Callable[[Comparisons], Comparisons]
    formula: str
    reference: str | int | None
    objects: dict[str, object] = field(default_factory=dict)
    scale: dict[str, float] = field(default_factory=dict)  # R's coefficient / llbt's; "" for all that are not named

    def name(self, r_name: str) -> str:
        pieces = [
            f"object[{self.objects[piece]}]" if piece in self.objects else EFFECTS.get(piece) or LEVELS[piece]
            for piece in r_name.split(":")
        ]
        return ":".join(pieces)

    def factor(self, r_name: str) -> float:
        return self.scale.get(r_name, self.scale.get("", 1.0))


def same(*labels: str) -> dict[str, object]:
    return {label: label for label in labels}


O_SCHOOLS = {f"o{k}": school for k, school in enumerate(SCHOOLS, start=1)}
S_SCHOOLS = same(*SCHOOLS)
DRAS = same(*"ABCD")
SIGNS = {"o1": "+", "o2": "-"}
BT_TEAMS = {f"team{team}": team for team in TEAMS.values()}
BT_JOURNALS = {f"journal{j}": j for j in ("Biometrika", "Comm Statist", "JASA", "JRSS-B")}
PUDDINGS = {f"B{k}": k for k in range(1, 7)}
POS = {"pos": 2.0}  # 1 for a home win and 0 otherwise: pos = 2δ
LOG_ODDS = {"": 2.0}  # BTm prints 2λ, at.home = 2δ
DAVIDSON = {"": 2.0, "tie2": 1.0}  # PlackettLuce prints 2λ and log ν = γ
BTM = frozenset({"bt2_baseball", "bt2_baseball_home", "bt2_citations", "bt2_citations_refJASA"})

CASES = [
    # Dras (2015)
    Case("dras_single", "dras_modpref", whole, "object + tie", "-", SIGNS),
    Case("dras_single_gnm", "dras_modpref", whole, "object + tie", "-", SIGNS),
    Case("dras_single_notie", "dras_modpref", whole, "object", "-", SIGNS),
    Case("dras_multi_tie", "dras_table1_as_analysed", pooled, "object + tie", "D", DRAS),
    Case("dras_multi_notie", "dras_table1_as_analysed", pooled, "object", "D", DRAS),
    Case("dras_multi_subj_null", "dras_table1_as_analysed", whole, "object + tie", "D", DRAS),
    Case("dras_multi_subj", "dras_table1_as_analysed", whole, "object * judge + tie", "D", DRAS),
    Case("dras_multi_subj_tie", "dras_table1_as_analysed", whole, "object * judge + tie * judge", "D", DRAS),
    Case("dras_multi_tie_readingB", "dras_table1", reading_b_pooled, "object + tie", "D", DRAS),
    Case("dras_multi_subj_readingB", "dras_table1", reading_b, "object * judge + tie", "D", DRAS),
    # CEMS: Dittrich, Hatzinger & Katzenbeisser (1998)
    Case("cems_llbt_noundec", "cems", pooled, "object", "ST", S_SCHOOLS),
    Case("cems_llbt_undec", "cems", pooled, "object + tie", "ST", S_SCHOOLS),
    Case("cems_llbt_undec_percomparison", "cems", pooled, "object + tie:pair", "ST", S_SCHOOLS),
    Case("cems_llbt_objcov_LAT", "cems", pooled, "LAT + tie", "ST"),
    Case("cems_llbt_ENG_null", "cems", by_eng, "object + tie", "ST", O_SCHOOLS),
    Case("cems_llbt_ENG_noundec", "cems", by_eng, "object * ENG", "ST", O_SCHOOLS),
    Case("cems_llbt_ENG_undec", "cems", by_eng, "object * ENG + tie", "ST", O_SCHOOLS),
    Case("cems_llbt_ENG_undecENG", "cems", by_eng, "object * ENG + tie * ENG", "ST", O_SCHOOLS),
    Case("cems_llbt_objcov_LAT_EC_ENG", "cems", by_eng, "LAT + EC + LAT:ENG + tie", "ST"),
    Case("cems_llbt_tab_null", "cems", whole, "object + tie", "ST", S_SCHOOLS),
    Case("cems_llbt_tab_ENG", "cems", whole, "object * ENG + tie", "ST", S_SCHOOLS),
    Case("cems_llbt_tab_SEX", "cems", whole, "object * SEX + tie", "ST", S_SCHOOLS),
    Case("cems_llbt_tab_ENGplusSEX", "cems", whole, "object * (ENG + SEX) + tie", "ST", S_SCHOOLS),
    Case("cems_llbt_tab_ENGxSEX", "cems", whole, "object * ENG * SEX + tie", "ST", S_SCHOOLS),
    Case(
        "cems3_llbt_SEX", "cems", three_schools_by_sex, "object * SEX + tie", "MI", {"o1": "LO", "o2": "PA", "o3": "MI"}
    ),
    # baseball: Agresti (2002), p. 437
    Case("baseball_llbt_nopos", "baseball", whole, "object", "Baltimore", dict(TEAMS)),
    Case("baseball_llbt_pos", "baseball", whole, "object + order", "Baltimore", dict(TEAMS), POS),
    Case("bt2_baseball", "baseball", whole, "object", "Baltimore", BT_TEAMS, LOG_ODDS),
    Case("bt2_baseball_home", "baseball", whole, "object + order", "Baltimore", BT_TEAMS, LOG_ODDS),
    # citations: Stigler (1994)
    Case("bt2_citations", "citations", whole, "object", "Biometrika", BT_JOURNALS, LOG_ODDS),
    Case("bt2_citations_refJASA", "citations", whole, "object", "JASA", BT_JOURNALS, LOG_ODDS),
    # puddings: Davidson (1970)
    Case("pudding_llbt", "puddings", whole, "object + tie", 6, PUDDINGS),
    Case("pl_pudding_davidson", "puddings", whole, "object + tie", 1, PUDDINGS, DAVIDSON),
]
CASE = {case.file: case for case in CASES}


def table(case: Case) -> Comparisons:
    return case.prepare(llbt.load_dataset(case.data))


def quietly(formula: str, c: Comparisons, **options: object) -> LLBTResults:
    """Fit, and insist that ties without a tie term warn, and that nothing else does."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.warns(llbt.errors.TiesWarning) if c.has_ties and "tie" not in formula else nullcontext():
            return fit_by(formula, c, **options)


@cache
def fitted(file: str, method: str = "auto") -> LLBTResults:
    case = CASE[file]
    return quietly(case.formula, table(case), reference=case.reference, method=method)


def refined(figures: dict, key: str) -> dict[str, float]:
    return figures.get(f"{key}_refined") or figures[key]


def close(found, expected, tolerance, what=""):
    np.testing.assert_allclose(
        np.asarray(found, dtype=float), np.asarray(expected, dtype=float), rtol=0, atol=tolerance, err_msg=what
    )


every_case = pytest.mark.parametrize("file", list(CASE))
every_method = pytest.mark.parametrize("method", METHODS)

# -- R ---------------------------------------------------------------------------------------------------------------


def test_every_reference_is_tested():
    """All files but bias-reduced fits, which llbt does not have; the ``extras_*`` are those of EXTRAS below.

    The file of R's survey package is tested in ``classical/test_conjoint.py``.
    """
    files = {path.stem for path in FOLDER.glob("*.json")} - {"conjoint_survey"}
    assert {f for f in files if not f.startswith("extras_") and not f.endswith("_br")} == set(CASE)
    assert {f.removeprefix("extras_") for f in files if f.startswith("extras_")} == set(EXTRAS)
    assert {f for f in files if f.endswith("_br")} == {"bt2_baseball_home_br", "bt2_citations_br"}


@every_case
@every_method
def test_estimates_and_standard_errors(reference, file, method):
    case, figures, res = CASE[file], reference(file), fitted(file, method)
    estimates, errors = refined(figures, "coefficients"), refined(figures, "se")
    seen = set()
    for r_name, value in figures["coefficients"].items():
        if r_name == "(Intercept)":  # μ of the only comparison: a nuisance parameter
            glm = res.to_glm()
            close(glm.params["mu[0]"], value, ESTIMATE, r_name)
            close(glm.bse["mu[0]"], figures["se"][r_name], ESTIMATE, r_name)
            continue
        name, factor = case.name(r_name), case.factor(r_name)
        if math.isnan(value) or (value == 0 and figures["se"][r_name] == 0):  # R's NA, PlackettLuce's reference
            assert name in res.design.references, r_name
            continue
        close(factor * res.params[name], estimates[r_name], ESTIMATE, r_name)
        close(factor * res.bse[name], errors[r_name], ESTIMATE, r_name)
        seen.add(name)
    assert seen == set(res.params.index)


@every_case
@every_method
def test_covariance(reference, file, method):
    case, figures, res = CASE[file], reference(file), fitted(file, method)
    cov = res.cov_params()
    names = [r_name for r_name in figures["vcov"]["rows"] if r_name != "(Intercept)"]
    rows = [figures["vcov"]["rows"].index(r_name) for r_name in names]
    expected = np.array(figures["vcov"]["values"], dtype=float)[np.ix_(rows, rows)]
    factors = np.array([case.factor(r_name) for r_name in names])
    found = cov.reindex(index=map(case.name, names), columns=map(case.name, names)).fillna(0.0)  # R has 0 at NA
    close(found.to_numpy() * np.outer(factors, factors), expected, COVARIANCE)


@every_case
@every_method
def test_deviance_and_degrees_of_freedom(reference, file, method):
    figures, res = reference(file), fitted(file, method)
    if file == "pl_pudding_davidson":  # −2 log-likelihood of single rankings, of which each judgment is one
        share = res.fittedvalues.to_numpy() / np.repeat(res.counts.sum(axis=1), 3)
        log_likelihood = float(np.sum(res.counts.ravel() * np.log(share)))
        close(log_likelihood, figures["logLik"], DEVIANCE)
        close(-2 * log_likelihood, figures["deviance"], DEVIANCE)
        return
    close(res.deviance, figures["deviance"], DEVIANCE)
    close(res.pearson_chi2, figures["pearson_chi2"], PEARSON)
    assert res.df_resid == figures["df_residual"]


@every_case
@every_method
def test_likelihood_and_criteria(reference, file, method):
    figures, res = reference(file), fitted(file, method)
    if file == "pl_pudding_davidson":  # see test_deviance_and_degrees_of_freedom; AIC counts 5 worths and the tie
        close(-2 * figures["logLik"] + 2 * len(res.params), figures["AIC"], DEVIANCE)
        return
    if file in BTM:  # binomial, one row per comparison
        assert len(res.comparisons) == figures["nobs"]
        close(res.llf_multinomial, figures["logLik"], DEVIANCE)
        close(-2 * res.llf_multinomial + 2 * len(res.params), figures["AIC"], DEVIANCE)
        close(-2 * res.llf_multinomial + math.log(len(res.comparisons)) * len(res.params), figures["BIC"], DEVIANCE)
        return
    assert res.n_cells == figures["nobs"]
    close(res.llf_poisson, figures["logLik"], DEVIANCE)
    close(res.aic_poisson, figures["AIC"], DEVIANCE)
    close(res.bic_poisson, figures["BIC"], DEVIANCE)


WITH_WORTH = [path.stem for path in sorted(FOLDER.glob("*.json")) if '"worth":' in path.read_text(encoding="utf-8")]


def worth_groups(case: Case, rows: list[str]) -> list[list[object]]:
    """Objects of each row of R's worths; rows such as ``LO,SG,ST`` hold objects that share their covariates."""
    names = case.objects or {**S_SCHOOLS, **O_SCHOOLS}
    # prefmod lost the name of the last object in dras_multi_tie*
    return [[names[n] for n in row.split(",")] if row else ["D"] for row in rows]


def worth_class(column: str) -> dict[str, int]:
    """Covariates of a column of R's worths: ``ENG1:SEX2``; the worths of a fit without covariates have none."""
    return {} if column == "worth" else {piece[:-1]: int(piece[-1]) for piece in column.split(":")}


@pytest.mark.parametrize("file", WITH_WORTH)
def test_worths(reference, file):
    case, figures = CASE[file], reference(file)["worth"]
    frame = llbt.worth(fitted(file)).to_frame()
    columns = figures["cols"] if isinstance(figures["cols"], list) else ["worth"]
    expected = np.array(figures["values"], dtype=float).reshape(-1, len(columns))
    groups = worth_groups(case, figures["rows"])
    assert sorted(o for group in groups for o in group) == list(fitted(file).comparisons.objects)
    for column, values in zip(columns, expected.T, strict=True):
        at = worth_class(column)
        found = frame.set_index([*at, "object"])["estimate"].loc[tuple(at.values()) if at else slice(None)]
        close(found.sum(), 1.0, WORTH)
        for group in groups:
            close(found[group], found[group[0]], WORTH, "objects with the same covariates")
        # prefmod lets the worths of distinct objects sum to 1
        close([found[g[0]] / sum(found[h[0]] for h in groups) for g in groups], values, WORTH, column)


def test_there_are_worths_to_test():
    assert len(WITH_WORTH) == 16


@pytest.mark.parametrize("file", ["bt2_baseball", "bt2_baseball_home", "bt2_citations", "bt2_citations_refJASA"])
def test_abilities_of_btm_are_log_odds(reference, file):
    figures = reference(file)["abilities"]
    found = llbt.worth(fitted(file), scale="log_odds").to_frame().set_index("object")
    close(found.loc[figures["rows"], ["estimate", "std_error"]], figures["values"], ESTIMATE)


def test_home_advantage_by_analysis_of_deviance(reference):
    """BradleyTerry2's anova of the baseball fits with and without at.home."""
    expected = reference("bt2_baseball_home")["anova"]
    found = llbt.anova(fitted("bt2_baseball"), fitted("bt2_baseball_home")).to_frame()
    assert found["df_resid"].tolist() == [row["Resid. Df"] for row in expected]
    close(found["deviance"], [row["Resid. Dev"] for row in expected], DEVIANCE)
    close(found["statistic"].iloc[1], expected[1]["Deviance"], DEVIANCE)
    close(found["p_value"].iloc[1], expected[1]["Pr(>Chi)"], ESTIMATE)


# -- cells -----------------------------------------------------------------------------------------------------------

Cell = tuple[object, object, str]  # object_i, object_j, outcome


def merged_cells(pairs: list[tuple[str, str]]) -> list[Cell]:
    """Cells (first wins, tie, second wins) of pairs whose presentations are merged: the smaller label is object i."""
    cells: list[Cell] = []
    for a, b in pairs:
        i, j = sorted((a, b))
        outcomes = ("i", "tie", "j") if (i, j) == (a, b) else ("j", "tie", "i")
        cells += [(i, j, outcome) for outcome in outcomes]
    return cells


def home_and_away_cells() -> list[Cell]:
    """Cells of prefmod's baseball design: every pair with the first at home, then every pair with the second.

    The first cell of a pair is always a win of its first team.
    """
    teams = list(TEAMS.values())
    pairs = [(teams[i], teams[j]) for j in range(1, 7) for i in range(j)]
    first_home = [(a, b, outcome) for a, b in pairs for outcome in ("i", "j")]
    second_home = [(b, a, outcome) for a, b in pairs for outcome in ("j", "i")]
    return [*first_home, *second_home]


DRAS_PAIRS = list(itertools.combinations("ABCD", 2))
EXTRAS = {
    "dras_multi_tie": [(i, j, outcome) for i, j in DRAS_PAIRS for outcome in ("tie", "i", "j")],
    "cems_llbt_undec": merged_cells(PREFMOD_PAIRS),
    "baseball_llbt_pos": home_and_away_cells(),
}
every_extra = pytest.mark.parametrize("file", list(EXTRAS))
CELL_FIGURES = {
    "fitted": "fittedvalues",
    "resid_response": "resid_response",
    "resid_pearson": "resid_pearson",
    "resid_deviance": "resid_deviance",
    "hat": "hat_diag",
}


@every_extra
def test_cells_are_matched_by_their_counts(reference, file):
    """Fitted values and response residuals of R add up to the counts, so the order above is R's."""
    figures, res = reference(f"extras_{file}"), fitted(file)
    counts = pd.Series(res.counts.ravel(), index=res.fittedvalues.index)
    close([counts[cell] for cell in EXTRAS[file]], np.add(figures["fitted"], figures["resid_response"]), CELL)
    assert len(set(EXTRAS[file])) == res.n_cells


@every_extra
@every_method
@pytest.mark.parametrize("figure", list(CELL_FIGURES))
def test_cells(reference, file, method, figure):
    res = fitted(file, method)
    found = getattr(res, CELL_FIGURES[figure])
    assert len(found) == len(EXTRAS[file]) == res.n_cells
    close([found[cell] for cell in EXTRAS[file]], reference(f"extras_{file}")[figure], CELL)


@every_extra
def test_standardized_deviance_residuals(reference, file):
    """R's rstandard: deviance residuals over √(1 − h)."""
    res = fitted(file)
    found = res.resid_deviance / np.sqrt(1 - res.hat_diag)
    close([found[cell] for cell in EXTRAS[file]], reference(f"extras_{file}")["rstandard"], CELL)


# -- Dras (2015), as printed -----------------------------------------------------------------------------------------


def test_modpref_as_published():
    """Dras (2015), section 3: 61 preferences for +, 24 ties, 35 for −."""
    c = llbt.load_dataset("dras_modpref")
    assert c.to_frame()[["wins_i", "ties", "wins_j"]].to_numpy().tolist() == [[61, 24, 35]]
    res = llbt.fit("object + tie", c)
    assert res.params.round(4).to_dict() == {"object[+]": 0.2778, "tie": -0.6551}
    assert res.bse.round(4).to_dict() == {"object[+]": 0.1060, "tie": 0.2300}
    assert res.pvalues.round(4).to_dict() == {"object[+]": 0.0088, "tie": 0.0044}
    assert round(math.exp(2 * res.params["object[+]"]), 2) == 1.74
    assert res.df_resid == 0
    close(res.deviance, 0, DEVIANCE)
    close(res.fittedvalues, [61, 24, 35], CELL)


def test_modpref_in_closed_form():
    """One saturated comparison: the odds 61/35 are exp(2λ), γ = log(24/√(61·35)); variances are sums of 1/n."""
    res = llbt.fit("object + tie", llbt.load_dataset("dras_modpref"))
    close(res.params["object[+]"], math.log(61 / 35) / 2, 1e-12)
    close(res.params["tie"], math.log(24 / math.sqrt(61 * 35)), 1e-12)
    close(res.bse["object[+]"], math.sqrt(1 / 61 + 1 / 35) / 2, 1e-12)
    close(res.bse["tie"], math.sqrt(1 / 24 + (1 / 61 + 1 / 35) / 4), 1e-12)


@every_method
@pytest.mark.parametrize("n", [1, 40, 1_000_000])
def test_equal_counts_give_zeros(n, method):
    """Dras (2015), section 3: with counts (n, n, n) both parameters are 0."""
    frame = pd.DataFrame({"object_i": ["x"], "object_j": ["y"], "wins_i": [n], "ties": [n], "wins_j": [n]})
    res = fit_by("object + tie", llbt.from_counts(frame), method=method)
    close(res.params, [0, 0], 1e-12)
    close(res.deviance, 0, 1e-9)
    close(res.null_deviance, 0, 1e-9)


def test_collins_as_published():
    """Dras (2015) on Collins et al. (2005): γ 0.303, p 0.0432."""
    res = llbt.fit("object + tie", llbt.load_dataset("dras_collins"))
    assert round(res.params["tie"], 3) == 0.303
    assert round(res.pvalues["tie"], 4) == 0.0432


@every_method
@pytest.mark.parametrize(
    ("data", "prepare", "formula", "deviance", "df"),
    [
        # the table as printed
        ("dras_table1", pooled, "object + tie", "30.4554", 8),
        ("dras_table1", pooled, "object", "220.9466", 9),
        ("dras_table1", whole, "object * judge + tie", "107.500", 35),
        # with AD and BC exchanged: 30.646 and 221.22 of the paper
        ("dras_table1_as_analysed", pooled, "object + tie", "30.645854", 8),
        ("dras_table1_as_analysed", pooled, "object", "221.218930", 9),
        ("dras_table1_as_analysed", whole, "object * judge + tie", "108.792114", 35),
        ("dras_table1_as_analysed", whole, "object * judge + tie * judge", "102.984947", 32),
        ("dras_table1_as_analysed", whole, "object + tie", "281.1032", 44),
    ],
)
def test_table_1_of_dras(data, prepare, formula, deviance, df, method):
    """Dras (2015), Table 1 and section 5, and the same models in prefmod to more places."""
    res = quietly(formula, prepare(llbt.load_dataset(data)), method=method)
    places = len(deviance.partition(".")[2])
    assert (f"{res.deviance:.{places}f}", res.df_resid) == (deviance, df)


@pytest.mark.parametrize(("prepare", "deviance", "df"), [(whole, 1438.7032, 48), (pooled, 1188.2458, 12)])
def test_null_deviance_of_table_1(prepare, deviance, df):
    """prefmod on the table as analysed: nuisance parameters alone."""
    res = llbt.fit("object + tie", prepare(llbt.load_dataset("dras_table1_as_analysed")))
    close(res.null_deviance, deviance, 0.5e-4)
    assert res.df_null == df


def test_the_tables_differ_by_the_exchange_of_ad_and_bc():
    """Positional pairs in prefmod's order AB, AC, BC, AD, BD, CD, read from columns AB, AC, AD, BC, BD, CD."""
    printed = llbt.load_dataset("dras_table1").to_frame()
    names = {("A", "D"): ("B", "C"), ("B", "C"): ("A", "D")}
    pairs = [names.get(p, p) for p in zip(printed["object_i"], printed["object_j"], strict=True)]
    printed[["object_i", "object_j"]] = pairs
    assert llbt.from_counts(printed, covariates="judge") == llbt.load_dataset("dras_table1_as_analysed")


@pytest.mark.parametrize("data", ["dras_table1", "dras_table1_as_analysed"])
def test_only_judge_j3_differs_and_only_on_a_and_b(data):
    """Dras (2015), section 4: the interactions of judge J3 with A and B are the only large ones."""
    res = llbt.fit("object * judge + tie", llbt.load_dataset(data))
    interactions = res.pvalues[res.pvalues.index.str.contains(":judge")]
    assert len(interactions) == 9
    assert set(interactions.index[interactions < 0.001]) == {"object[A]:judge[J3]", "object[B]:judge[J3]"}
    assert interactions.drop(["object[A]:judge[J3]", "object[B]:judge[J3]"]).min() > 0.2
    assert (res.params[["object[A]:judge[J3]", "object[B]:judge[J3]"]] < -1).all()


def with_numbered_judges(data: str) -> pd.DataFrame:
    return llbt.load_dataset(data).to_frame().assign(judge=lambda f: f["judge"].str[1:].astype(int))


@every_method
@pytest.mark.parametrize(("data", "deviance"), [("dras_table1", "107.500"), ("dras_table1_as_analysed", "108.792114")])
def test_judges_coded_as_integers_are_labels(data, deviance, method):
    """Judges 1–4 give the numbers of judges J1–J4: Dras (2015), section 4."""
    expected = fit_by("object * judge + tie", llbt.load_dataset(data), method=method)
    by_number = llbt.from_counts(with_numbered_judges(data), covariates="judge")
    res = fit_by("object * judge + tie", by_number, method=method)
    assert res.params.index.tolist() == [name.replace("[J", "[") for name in expected.params.index]
    close(res.params, expected.params, ESTIMATE)
    close(res.bse, expected.bse, ESTIMATE)
    assert (f"{res.deviance:.{len(deviance.partition('.')[2])}f}", res.df_resid) == (deviance, 35)


@every_method
@pytest.mark.parametrize("as_number", ["numeric=", "float"])
def test_judges_as_slopes(as_number, method):
    """As numbers the judges of the printed table would give 266.6 on 41 df (issue 2), a model nobody wants."""
    frame = with_numbered_judges("dras_table1")
    if as_number == "float":
        table = llbt.from_counts(frame.astype({"judge": float}), covariates="judge")
    else:
        table = llbt.from_counts(frame, covariates="judge", numeric="judge")
    res = fit_by("object * judge + tie", table, method=method)
    objects = ["object[A]", "object[B]", "object[C]"]
    assert res.params.index.tolist() == [*objects, *(f"{name}:judge" for name in objects), "tie"]
    assert (f"{res.deviance:.1f}", res.df_resid) == ("266.6", 41)


# -- object covariates -----------------------------------------------------------------------------------------------


def numeric_eng() -> Comparisons:
    c = llbt.load_dataset("cems").pool("SEX")
    objects = pd.DataFrame({"object": ["LO", "PA", "MI", "SG", "BA", "ST"], "LAT": [0.0, 1, 1, 0, 1, 0]})
    return llbt.from_counts(c.to_frame(), covariates="ENG", numeric="ENG", object_covariates=objects)


def test_an_interaction_with_a_number_adds_no_main_effect():
    """``price:age`` alone has one column, price × age; statsmodels fits the same with that column made by hand."""
    c = numeric_eng()
    res = llbt.fit("LAT:ENG + tie", c)
    assert res.params.index.tolist() == ["LAT:ENG", "tie"]
    latin = {"LO": 0, "PA": 1, "MI": 1, "SG": 0, "BA": 1, "ST": 0}
    y, columns = [], []
    for s, row in enumerate(c.to_frame().itertuples()):
        product = (latin[row.object_i] - latin[row.object_j]) * row.ENG
        y += [row.wins_i, row.ties, row.wins_j]
        columns += [(product, 0, s), (0, 1, s), (-product, 0, s)]
    found = np.array(columns, dtype=float)
    nuisance = (found[:, 2:] == np.arange(len(c))).astype(float)
    glm = GLM(y, np.column_stack([found[:, :2], nuisance]), family=Poisson()).fit(tol=1e-12)
    close(res.params, glm.params[:2], ESTIMATE)
    close(res.bse, glm.bse[:2], ESTIMATE)
    close(res.deviance, glm.deviance, DEVIANCE)
    assert res.df_resid == glm.df_resid == 90 - 30 - 2


def test_a_main_effect_is_another_model():
    c = numeric_eng()
    alone, both = llbt.fit("LAT:ENG + tie", c), llbt.fit("LAT + LAT:ENG + tie", c)
    assert both.params.index.tolist() == ["LAT", "LAT:ENG", "tie"]
    assert both.df_resid == alone.df_resid - 1
    assert both.deviance < alone.deviance - 0.1


def test_an_interaction_with_a_label_is_coded_as_r_codes_it():
    """R's model.matrix(~ LAT:ENG) has LAT:ENG1 and LAT:ENG2 and no LAT: a reparametrized LAT + LAT:ENG."""
    c = by_eng(llbt.load_dataset("cems"))
    alone, both = llbt.fit("LAT:ENG + tie", c), llbt.fit("LAT + LAT:ENG + tie", c)
    assert alone.params.index.tolist() == ["LAT:ENG[1]", "LAT:ENG[2]", "tie"]
    assert both.params.index.tolist() == ["LAT", "LAT:ENG[2]", "tie"]
    close(alone.params["LAT:ENG[1]"], both.params["LAT"], ESTIMATE)
    close(alone.params["LAT:ENG[2]"], both.params["LAT"] + both.params["LAT:ENG[2]"], ESTIMATE)
    close(alone.deviance, both.deviance, DEVIANCE)


# -- how finely a table is split -------------------------------------------------------------------------------------


@every_method
@pytest.mark.parametrize(
    ("data", "formula", "coarse", "deviances", "dfs"),
    [
        # prefmod's deviances: dras_multi_subj_null and dras_multi_tie, cems_llbt_tab_null, _ENG_null and _undec
        ("dras_table1_as_analysed", "object + tie", pooled, (281.103242651684, 30.6458544606739), (44, 8)),
        ("cems", "object + tie", pooled, (276.110832587618, 140.48288155496), (114, 24)),
        ("cems", "object + tie", by_eng, (276.110832587618, 179.843933294751), (114, 54)),
        ("cems", "object * ENG + tie", by_eng, (259.168672680119, 162.901773387251), (109, 49)),
    ],
)
def test_pooling_changes_deviances_and_not_estimates(data, formula, coarse, deviances, dfs, method):
    fine = llbt.load_dataset(data)
    split, merged = (fit_by(formula, c, method=method) for c in (fine, coarse(fine)))
    close(merged.params, split.params, ESTIMATE)
    close(merged.cov_params(), split.cov_params(), COVARIANCE)
    close([split.deviance, merged.deviance], deviances, DEVIANCE)
    assert (split.df_resid, merged.df_resid) == dfs
    close(split.null_deviance - split.deviance, merged.null_deviance - merged.deviance, DEVIANCE)


# -- scale -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hundred(reference) -> Comparisons:
    frame = reference("bench_agg_100.csv.gz")
    return llbt.from_counts(frame, objects=("i", "j"), wins=("win", "loss"), ties_column="tie", covariates="subj")


def test_a_hundred_objects(hundred):
    """gnm: 9831.42168 on 9,800 df, in 0.60 s."""
    res = llbt.fit("object + tie", hundred.pool())
    assert (f"{res.deviance:.5f}", res.df_resid) == ("9831.42168", 9800)
    assert res.solution.solver == "eliminate"


def test_a_hundred_objects_by_subject(hundred):
    """gnm: 41382.46799 on 39,203 df, in 27.4 s; its summary() did not finish."""
    res = llbt.fit("object * subj + tie", hundred)
    assert (f"{res.deviance:.5f}", res.df_resid) == ("41382.46799", 39203)
    assert len(res.bse) == 4 * 99 + 1
    assert np.isfinite(res.bse).all()
    assert "39203 " in str(res.summary()).replace(",", "")
