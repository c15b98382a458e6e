"""What R and the publications say about the bundled tables, against llbt.

The figures of R are in ``tests/reference`` (its README says which call of which package each file is); other numbers name
the publication beside them.
"""

import math
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.genmod.families import Poisson
from statsmodels.genmod.generalized_linear_model import GLM

import llbt
from llbt import Comparisons, LLBTResults, TiesWarning

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

FOLDER = Path(__file__).parent / "reference"
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
        with pytest.warns(TiesWarning) if c.has_ties and "tie" not in formula else nullcontext():
            return llbt.fit(formula, c, **options)


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
    """All files but bias-reduced fits, which llbt does not have; the ``extras_*`` are those of EXTRAS below."""
    files = {path.stem for path in FOLDER.glob("*.json")}
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
    assert res.nobs == figures["nobs"]
    close(res.llf, figures["logLik"], DEVIANCE)
    close(res.aic, figures["AIC"], DEVIANCE)
    close(res.bic, figures["BIC"], DEVIANCE)


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
        part = frame[np.logical_and.reduce([frame[name] == level for name, level in at.items()] or [frame["object"] != ""])]
        found = part.set_index("object")["estimate"]
        close(found.sum(), 1.0, WORTH)
        for group in groups:
            close(found[group], found[group[0]], WORTH, "objects with the same covariates")
        # prefmod lets the worths of distinct objects sum to 1
        close([found[g[0]] / sum(found[h[0]] for h in groups) for g in groups], values, WORTH, column)


def test_there_are_worths_to_test():
    assert len(WITH_WORTH) == 16


@pytest.mark.parametrize("file", sorted(BTM & {p.stem for p in FOLDER.glob("bt2_*.json")}))
def test_abilities_of_BTm_are_log_odds(reference, file):
    figures = reference(file).get("abilities")
    if file == "bt2_citations_refJASA":
        assert figures is None
        figures = {"rows": ["JASA"], "values": [[0.0, 0.0]]}
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

# order of the cells in R's design (prefmod's pairs; in baseball each pair twice, the second time with the other at home)
EXTRAS = {
    "dras_multi_tie": [("AB"[0], "AB"[1])] + [("A", "C"), ("B", "C"), ("A", "D"), ("B", "D"), ("C", "D")],
    "cems_llbt_undec": PREFMOD_PAIRS,
    "baseball_llbt_pos": [
        (home, away) for flip in (1, -1) for j in range(1, 7) for home, away in [()] for i in range(j)
    ]
    if False
    else [],
}
