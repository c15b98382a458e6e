"""Normal effects of judges: against sums over grids in one and two dimensions, finite differences, and R."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.polynomial.hermite_e import hermegauss
from scipy import stats

import llbt
from llbt.core.links import AnyResponse
from llbt.fitting.clusters import kept_way
from llbt.fitting.effect_lines import entries_of
from llbt.formulas.brackets import Bracket
from llbt.kernel.effect_groups import Grouped, grouped
from llbt.kernel.likelihood import Problem
from llbt.kernel.marginal import marginal
from llbt.kernel.mixed import MixedFit, maximize
from llbt.kernel.quadrature import Quadrature
from llbt.kernel.sampled import sampled_maximum


def _groups(res: llbt.LLBTResults, name: str, effects: tuple[str, ...]) -> tuple[Problem, Grouped]:
    c = res.comparisons
    lines = kept_way(c, name, (name,)).clusters
    brackets = [Bracket(effect, name) for effect in effects]
    entries = entries_of(brackets, c.response, [None] * len(effects))
    return res.problem(), grouped(lines.rows, lines.codes, lines.counts, c.pairs, entries, res.response.width)


def _maximum(res: llbt.LLBTResults, name: str, effects: tuple[str, ...]) -> MixedFit:
    problem, groups = _groups(res, name, effects)
    return maximize(problem, groups.bundles, res.solution.params, np.ones(len(effects)))


def _two_objects(outcomes: tuple[str, ...], seed: int, judges: int = 12) -> llbt.Comparisons:
    rng = np.random.default_rng(seed)
    share = 1 / (1 + np.exp(-2 * rng.normal(0.4, 0.8, judges)))
    p = np.stack([share ** (k + 1) for k in range(len(outcomes))], axis=1) + 0.1
    counts = np.array([rng.multinomial(rng.integers(3, 9), row / row.sum()) for row in p])
    frame = pd.DataFrame(counts, columns=list(outcomes)).assign(object_i="A", object_j="B", judge=range(judges))
    if outcomes in (("wins_i", "ties", "wins_j"), ("wins_i", "wins_j")):
        return llbt.from_counts(frame, clusters="judge")
    return llbt.from_counts(frame, clusters="judge", grades=outcomes)


def _by_quad(response: AnyResponse, eta: np.ndarray, counts: np.ndarray, sigma: float) -> float:
    """Σ_g log ∫ Π p^y dΦ, the signed predictor moved by σ√2 z: the trapezoidal rule, exact for what decays so fast."""
    z = np.linspace(-12, 12, 2001)
    predictors = [np.full(2001, level) for level in eta]
    predictors[0] = eta[0] + sigma * np.sqrt(2) * z
    log = np.log(response.probabilities(np.array(predictors))[0])
    return float(sum(np.log(np.exp(said @ log + stats.norm.logpdf(z)).sum() * (z[1] - z[0])) for said in counts))


CASES = [
    (("wins_i", "wins_j"), "object", "adjacent"),
    (("wins_i", "ties", "wins_j"), "object + tie", "adjacent"),
    (("wins_i", "ties", "wins_j"), "object + tie", "cumulative"),
    (("wins_i", "wins_j"), "object", "probit"),
    (("++", "+", "=", "-", "--"), "object + tie + grade", "adjacent"),
]


@pytest.mark.parametrize(("outcomes", "formula", "link"), CASES)
def test_two_objects_are_an_integral_in_one_dimension(outcomes: tuple[str, ...], formula: str, link: str) -> None:
    res = llbt.fit(formula, _two_objects(outcomes, seed=5), link=link)  # type: ignore[arg-type]
    found = _maximum(res, "judge", ("object",))
    assert found.converged
    assert found.scales[0] > 0.05
    lines = kept_way(res.comparisons, "judge", ("judge",)).clusters
    counts = np.zeros((lines.size, lines.counts.shape[1]))
    np.add.at(counts, lines.codes, lines.counts)

    def by_quad(at: np.ndarray) -> float:
        eta = np.array([u[0] for u in res.problem().at(at[:-1])])
        return _by_quad(res.response, eta, counts, np.exp(at[-1]))

    at = np.append(found.params, np.log(found.scales))
    assert found.value == pytest.approx(by_quad(at), abs=1e-8)
    for direction in np.eye(len(at)):  # and it is the maximum of that integral
        slope = (by_quad(at + 1e-3 * direction) - by_quad(at - 1e-3 * direction)) / 2e-3
        assert slope == pytest.approx(0, abs=2e-4)


def _three_objects(seed: int = 3, judges: int = 8) -> llbt.Comparisons:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        [(i, j, g) for g in range(judges) for i in "ABC" for j in "ABC" if i != j],
        columns=["object_i", "object_j", "judge"],
    )
    worth = {"A": 0.5, "B": 0.0, "C": -0.4}
    own = rng.normal(0, 0.7, (judges, 3))
    frame["u"] = [
        worth[i] - worth[j] + 0.3 + own[g, "ABC".index(i)] - own[g, "ABC".index(j)]
        for i, j, g in zip(frame["object_i"], frame["object_j"], frame["judge"], strict=True)
    ]
    p = np.stack([np.exp(frame["u"]), np.full(len(frame), 0.7), np.exp(-frame["u"])], axis=1)
    counts = np.array([rng.multinomial(2, row / row.sum()) for row in p])
    frame[["wins_i", "ties", "wins_j"]] = counts
    return llbt.from_counts(frame.drop(columns="u"), clusters="judge", order=True)


@pytest.mark.parametrize(("effects", "number"), [(("tie", "order"), 21), (("object", "tie"), 13)])
def test_score_and_information_are_derivatives(effects: tuple[str, ...], number: int) -> None:
    res = llbt.fit("object + tie + order", _three_objects())
    problem, groups = _groups(res, "judge", effects)
    at = np.append(res.solution.params, np.log([0.6, 0.4]))

    def found(x: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        size = len(res.solution.params)
        one = marginal(problem, groups.bundles, x[:size], np.exp(x[size:]), Quadrature(number))
        return one.value, one.score, one.information

    _, score, information = found(at)
    steps = 1e-3 * np.eye(len(at))
    np.testing.assert_allclose(score, [(found(at + h)[0] - found(at - h)[0]) / 2e-3 for h in steps], atol=2e-4)
    numeric = np.array([(found(at + h)[1] - found(at - h)[1]) / 2e-3 for h in steps])
    np.testing.assert_allclose(information, -numeric, atol=2e-3)


def test_several_effects_are_an_integral_over_a_grid() -> None:
    """Two objects, effects of worths and of ties: a sum over a grid of 401 × 401 points, by hand."""
    c = _two_objects(("wins_i", "ties", "wins_j"), seed=8, judges=6)
    res = llbt.fit("object + tie", c)
    problem, groups = _groups(res, "judge", ("object", "tie"))
    scales = np.array([0.7, 0.5])
    value = marginal(problem, groups.bundles, res.solution.params, scales, Quadrature(41)).value
    z = np.linspace(-9, 9, 401)
    u = res.params["object[A]"] + 0.7 * np.sqrt(2) * z[:, None]
    w = res.params["tie"] + 0.5 * z[None, :]
    norm = np.log(np.exp(u) + np.exp(w) + np.exp(-u))
    density = stats.norm.logpdf(z)[:, None] + stats.norm.logpdf(z)
    kept = c.cluster_counts
    assert kept is not None
    total = 0.0
    for level in range(6):
        said = kept.counts[kept.columns[0].codes == level].sum(axis=0)
        log = said[0] * (u - norm) + said[1] * (w - norm) + said[2] * (-u - norm)
        total += np.log(np.sum(np.exp(log + density)) * (z[1] - z[0]) ** 2)
    assert value == pytest.approx(total, abs=1e-8)


def test_judges_who_agree_too_well_have_no_effects() -> None:
    """σ = 0: estimates and log-likelihood are those of the fit without effects."""
    frame = pd.DataFrame({"object_i": "A", "object_j": "B", "wins_i": 4, "wins_j": 2, "judge": range(9)})
    res = llbt.fit("object", llbt.from_counts(frame, clusters="judge"))
    found = _maximum(res, "judge", ("object",))
    assert found.scales.tolist() == [0.0]
    np.testing.assert_allclose(found.params, res.solution.params, atol=1e-8)
    assert found.value == pytest.approx(res.llf, abs=1e-8)


def test_judges_consistent_in_themselves_have_effects_without_bound() -> None:
    frame = pd.DataFrame({"object_i": "A", "object_j": "B", "judge": range(10), "wins_i": [6] * 6 + [0] * 4})
    frame["wins_j"] = 6 - frame["wins_i"]
    res = llbt.fit("object", llbt.from_counts(frame, clusters="judge"))
    assert _maximum(res, "judge", ("object",)).infinite == (0,)


def test_points_end_where_their_weights_do() -> None:
    """Judges whose answers nearly all agree have integrands that more points hardly get hold of: no overflow."""
    frame = pd.DataFrame({"object_i": "A", "object_j": "B", "judge": range(12), "wins_i": [40] * 7 + [0] * 4 + [20]})
    frame["wins_j"] = 40 - frame["wins_i"]
    res = llbt.fit("object", llbt.from_counts(frame, clusters="judge"))
    with np.errstate(all="raise", under="ignore"):
        assert np.isfinite(np.log(hermegauss(127)[1])).all()
        found = _maximum(res, "judge", ("object",))
    assert found.infinite or found.converged


def test_equal_judges_are_integrated_once() -> None:
    c = _three_objects()
    frame = c.to_frame(clusters=True)
    twice = pd.concat([frame, frame.assign(judge=frame["judge"] + 100)])
    res = [llbt.fit("object + tie + order", llbt.from_counts(f, clusters="judge", order=True)) for f in (frame, twice)]
    found = []
    for one in res:
        problem, groups = _groups(one, "judge", ("object",))
        assert sum(len(bundle.rows) for bundle in groups.bundles) == 8
        found.append(marginal(problem, groups.bundles, res[0].solution.params, np.array([0.5]), Quadrature(9)))
    assert found[1].value == pytest.approx(2 * found[0].value, rel=1e-12)
    np.testing.assert_allclose(found[1].information, 2 * found[0].information, rtol=1e-9, atol=1e-9)


def test_a_sample_and_a_rule_find_the_same_maximum() -> None:
    res = llbt.fit("object + tie + order", _three_objects(judges=20))
    problem, groups = _groups(res, "judge", ("object", "tie"))
    rule = maximize(problem, groups.bundles, res.solution.params, np.ones(2))
    sample = sampled_maximum(problem, groups.bundles, res.solution.params, np.ones(2))
    assert sample.converged
    some = rule.scales > 0
    kept = np.append(np.ones(len(res.names), dtype=bool), some)
    apart = np.append(sample.params - rule.params, np.log(sample.scales[some] / rule.scales[some]))
    errors = np.sqrt(np.diag(rule.covariance))[kept]
    assert np.all(np.abs(apart) < 0.3 * errors)
    assert np.all(np.abs(apart) < 5 * sample.noise[kept] + 0.02 * errors)
    assert sample.value == pytest.approx(rule.value, abs=5 * sample.moved + 0.01)


# -- studies that do not ship ------------------------------------------------------------------------------------


def _study(shared: Path, name: str, reference: str, order: bool = False) -> llbt.Comparisons:
    frame = pd.read_csv(shared / "data" / f"{name}_long.csv")
    names = {"i": "object_i", "j": "object_j", "wi": "wins_i", "t": "ties", "wj": "wins_j"}
    kept = [column for column in ("g", *names) if column in frame]
    return llbt.from_counts(frame[kept].rename(columns=names), clusters="g", order=order)


@pytest.mark.shared
@pytest.mark.parametrize(("name", "within"), [("trdel", 0.01), ("immig", 0.005)])
@pytest.mark.slow
def test_random_worths_of_real_judges(shared: Path, name: str, within: float) -> None:
    """Figures of an adaptive Gauss-Hermite quadrature with 13 and 11 nodes, by another program."""
    expected = json.loads((shared / "reference" / "models" / "mixed.json").read_text())[name]
    c = _study(shared, name, expected["objects"][-1])
    res = llbt.fit("object + tie" if c.has_ties else "object", c, reference=expected["objects"][-1])
    assert res.llf == pytest.approx(expected["llf_sigma0"], abs=1e-6)
    found = _maximum(res, "g", ("object",))
    assert found.converged
    assert found.value == pytest.approx(expected["llf"], abs=within)
    order = [expected["names"].index(term) for term in res.names] + [len(expected["names"]) - 1]
    at = np.append(found.params, np.log(found.scales))
    np.testing.assert_allclose(at, np.array(expected["ml"])[order], atol=2e-3)
    np.testing.assert_allclose(np.sqrt(np.diag(found.covariance)), np.array(expected["se"])[order], rtol=0.01)


@pytest.mark.shared
@pytest.mark.parametrize("name", ["trdel", "immig"])
def test_one_point_is_laplaces_approximation(shared: Path, name: str) -> None:
    """At the maximum of Laplace's approximation found by another program: 27 and 8.5 below that of the likelihood."""
    expected = json.loads((shared / "reference" / "models" / "mixed.json").read_text())[name]
    c = _study(shared, name, expected["objects"][-1])
    res = llbt.fit("object + tie" if c.has_ties else "object", c, reference=expected["objects"][-1])
    problem, groups = _groups(res, "g", ("object",))
    at = [expected["laplace"][expected["names"].index(term)] for term in res.names]

    def laplace(params: list[float], log: float) -> float:
        return marginal(problem, groups.bundles, np.array(params), np.exp([log]), Quadrature(1)).value

    assert laplace(at, expected["laplace"][-1]) == pytest.approx(expected["laplace_llf"], abs=1e-3)
    for step in (-0.05, 0.05):
        assert laplace(at, expected["laplace"][-1] + step) < expected["laplace_llf"]


@pytest.mark.shared
def test_order_effects_of_real_judges(shared: Path) -> None:
    """R's glmer with 25 nodes, one normal order effect for each judge."""
    expected = json.loads((shared / "reference" / "models" / "trdel_order_by_judge_glmer_agq25.json").read_text())
    res = llbt.fit("object + order", _study(shared, "trdel", "CL", order=True), reference="CL")
    assert res.llf == pytest.approx(expected["fixed"]["logLik"], abs=1e-6)
    found = _maximum(res, "g", ("order",))
    assert found.value == pytest.approx(expected["logLik"], abs=1e-3)
    assert found.scales[0] == pytest.approx(expected["sigma"], abs=1e-3)
    names = {f"object[{name}]": value for name, value in expected["coefficients"].items()}
    names["order"] = names.pop("object[first]")
    np.testing.assert_allclose(found.params, [names[term] for term in res.names], atol=1e-3)
    errors = np.sqrt(np.diag(found.covariance))[:-1]
    theirs = {f"object[{name}]": value for name, value in expected["se"].items()}
    theirs["order"] = theirs.pop("object[first]")
    np.testing.assert_allclose(errors, [theirs[term] for term in res.names], atol=1e-3)
