"""Size and power of joint tests of clustered judgments, by simulation: flips of clusters' scores against Wald's test.

Many tables at a time, in arrays of their own; a table of each is tested by `llbt.anova` too.
"""

import json
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats
from support.folders import SIMULATIONS

import llbt
from llbt.kernel.cluster_tests import Scores, flipped, hotelling_p

HYPOTHESES = ("object", "object:group")
DRAWS = 999
JUDGE_SD = 1.0  # of the log-odds of a pair over judges
PER_PAIR = 4  # judgments of a pair by a judge, on average
SPREAD = {"object": 0.6, "object:group": 1.0}  # of the log-worths (or of their difference) where the null is false


@dataclass(frozen=True)
class Setting:
    """G judges of q + 1 objects, with judgments alike or as 1, 1/2, 1/3, …; every second one is in group y."""

    hypothesis: str
    judges: int
    equal: bool
    q: int

    @property
    def sizes(self):
        weight = np.ones(self.judges) if self.equal else 1 / np.arange(1, self.judges + 1)
        return np.maximum(1, np.round(PER_PAIR * self.judges * weight / weight.sum())).astype(int)

    @property
    def effective(self):
        return float(self.sizes.sum() ** 2 / (self.sizes**2).sum())

    def rows(self):
        """Signed and tie rows by judge, (G, S, p), the tested parameters last."""
        i, j = np.triu_indices(self.q + 1, 1)
        d = (np.eye(self.q + 1)[i] - np.eye(self.q + 1)[j])[:, :-1]
        tie = np.ones((len(d), 1))
        if self.hypothesis == "object":
            blocks = [(tie * 0, d)] * self.judges
        else:
            blocks = [(tie * 0, d, d * (g % 2)) for g in range(self.judges)]
        signed = np.stack([np.column_stack(block) for block in blocks])
        ties = np.zeros_like(signed)
        ties[..., 0] = 1
        return signed, ties

    def counts(self, runs, spread, rng):
        """Tables by judge, (B, G, S, 3): worths of judges are normal about those of their group; 30 % ties."""
        objects, gamma = self.q + 1, np.log(2 * 0.3 / 0.7)
        line = np.linspace(0.5, -0.5, objects)
        worth = JUDGE_SD / np.sqrt(8) * rng.standard_normal((runs, self.judges, objects))
        if self.hypothesis == "object":
            worth += spread * line
        else:
            worth += 0.6 * line[::-1] + spread * line * (np.arange(self.judges)[:, None] % 2 - 0.5)
        i, j = np.triu_indices(objects, 1)
        lead = worth[..., i] - worth[..., j]
        p = special.softmax(np.stack([lead, np.full_like(lead, gamma), -lead], axis=-1), axis=-1)
        return rng.multinomial(np.broadcast_to(self.sizes[:, None], p.shape[:-1]), p).astype(float)


@dataclass
class Moments:
    """Scores (B, G, p) and informations (B, G, p, p) of clusters at some parameters."""

    scores: np.ndarray
    informations: np.ndarray


def moments(rows, counts, params):
    signed, ties = rows
    u, w = (np.einsum("gsp,bp->bgs", x, params, optimize=True) for x in (signed, ties))
    p = special.softmax(np.stack([u, w, -u], axis=-1), axis=-1)
    n = counts.sum(axis=-1)
    excess = counts - n[..., None] * p
    scores = np.einsum("bgs,gsp->bgp", excess[..., 0] - excess[..., 2], signed, optimize=True)
    scores += np.einsum("bgs,gsp->bgp", excess[..., 1], ties, optimize=True)
    lead, decided, tie = p[..., 0] - p[..., 2], p[..., 0] + p[..., 2], p[..., 1]

    def product(weights, left, right):
        return np.einsum("bgs,gspq->bgpq", weights, left[..., :, None] * right[..., None, :], optimize=True)

    mixed = product(-n * lead * tie, signed, ties)
    found = product(n * (decided - lead**2), signed, signed) + product(n * tie * decided, ties, ties)
    return Moments(scores, found + mixed + mixed.transpose(0, 1, 3, 2))


def estimates(rows, counts, size):
    """Maximum likelihood in the first `size` parameters, the others 0, shape (B, p)."""
    params = np.zeros((len(counts), rows[0].shape[-1]))
    for _ in range(25):
        at = moments(rows, counts, params)
        score, matrix = at.scores.sum(axis=1)[:, :size], at.informations.sum(axis=1)[:, :size, :size]
        step = np.linalg.solve(matrix, score[..., None])[..., 0]
        params[:, :size] += np.clip(step, -1, 1)
        if np.abs(step).max() < 1e-9:
            break
    return params


def inverse_root(matrices):
    """L with L Lᵀ the inverse of each matrix."""
    return np.linalg.cholesky(np.linalg.inv(matrices))


def flip_p_values(rows, counts, q):
    """P-values of the flips, shape (B,)."""
    rest = rows[0].shape[-1] - q
    at = moments(rows, counts, estimates(rows, counts, rest))
    whole = at.informations.sum(axis=1)
    inverse = np.linalg.inv(whole)
    own = inverse[:, :, rest:] @ inverse_root(inverse[:, rest:, rest:])
    other = inverse_root(whole[:, :rest, :rest])
    scores = at.scores @ own
    shared = np.einsum("bpq,bgpr,brm->bgqm", own, at.informations[..., :rest], other, optimize=True)
    nothing = np.empty((0, q))
    return np.array([flipped(Scores(*one, nothing), q, DRAWS).p_value for one in zip(scores, shared, strict=True)])


def wald_p_values(rows, counts, q, effective):
    """P-values of Wald's test: F(q, G − 1) with CR1, and Hotelling's form on G* with CR3; 1 without an answer."""
    judges, p = counts.shape[1], rows[0].shape[-1]
    params = estimates(rows, counts, p)
    at = moments(rows, counts, params)
    whole = at.informations.sum(axis=1)
    plain = np.ones(len(counts))
    hotelling = np.ones(len(counts))

    def statistic(moved, factor):
        cov = factor * np.swapaxes(moved, 1, 2) @ moved
        return np.einsum("bq,bq->b", params[:, -q:], np.linalg.solve(cov, params[:, -q:, None])[..., 0])

    if q < judges:
        moved = (at.scores @ np.linalg.inv(whole))[..., -q:]
        plain = stats.f.sf(statistic(moved, judges / (judges - 1)) / q, q, judges - 1)
    if q < effective:
        without = whole[:, None] - at.informations
        moved = np.linalg.solve(without, at.scores[..., None])[..., -q:, 0]
        found = statistic(moved, (judges - 1) / judges)
        hotelling = np.array([hotelling_p(value, q, effective - 1)[2] for value in found])
    return plain, hotelling


def rejected(setting, runs, spread, seed):
    """Share of tables that each test rejects at level .05; None for a test without an answer."""
    rng = np.random.default_rng(seed)
    rows, block = setting.rows(), 100
    found = []
    for start in range(0, runs, block):
        counts = setting.counts(min(block, runs - start), spread, rng)
        found.append(
            [flip_p_values(rows, counts, setting.q), *wald_p_values(rows, counts, setting.q, setting.effective)]
        )
    shares = np.mean(np.concatenate(found, axis=1) <= 0.05, axis=1).round(4).tolist()
    answers = (True, setting.q < setting.judges, setting.q < setting.effective)
    names = ("flips", "F(q, G - 1)", "Hotelling on G*")
    return {name: share if answer else None for name, share, answer in zip(names, shares, answers, strict=True)}


def simulated(hypothesis, runs, power_runs, seed):
    found = []
    for judges in (8, 12, 30):
        for equal in (True, False):
            for q in (3, 5, 9):
                setting = Setting(hypothesis, judges, equal, q)
                found.append(
                    {
                        "judges": judges,
                        "judgments": "equal" if equal else "1, 1/2, 1/3, ...",
                        "effective": round(setting.effective, 1),
                        "q": q,
                        "size": rejected(setting, runs, 0.0, seed),
                        "power": rejected(setting, power_runs, SPREAD[hypothesis], seed + 1),
                    }
                )
    return found


def recorded(hypothesis):
    name = f"cluster_size_{hypothesis.replace(':', '_')}.json"
    return json.loads((SIMULATIONS / name).read_text(encoding="utf-8"))


@pytest.mark.exhaustive
@pytest.mark.parametrize("hypothesis", HYPOTHESES)
def test_size_and_power_again(hypothesis):
    expected = recorded(hypothesis)
    found = simulated(hypothesis, expected["runs"], expected["runs of the power"], expected["seed"])
    for one, other in zip(found, expected["settings"], strict=True):
        assert (one["judges"], one["q"], one["effective"]) == (other["judges"], other["q"], other["effective"])
        for figure in ("size", "power"):  # a p-value may be .05 but for rounding
            assert one[figure] == pytest.approx(other[figure], abs=0.01)


@pytest.mark.parametrize("hypothesis", HYPOTHESES)
def test_the_chosen_test_holds_its_size_and_has_the_power(hypothesis):
    """The standard error of a size of .05 in 1,000 tables is .007."""
    settings = recorded(hypothesis)["settings"]
    sizes = [setting["size"]["flips"] for setting in settings]
    assert len(sizes) == 18
    assert max(sizes) < 0.09
    assert np.mean(sizes) < 0.06
    assert max(setting["size"]["F(q, G - 1)"] or 0 for setting in settings) > 0.5
    for setting in settings:
        other = setting["power"]["Hotelling on G*"]
        assert other is None or setting["power"]["flips"] > other - 0.02


@pytest.mark.parametrize("hypothesis", HYPOTHESES)
def test_the_simulated_test_is_that_of_anova(hypothesis):
    setting = Setting(hypothesis, 9, False, 3)
    counts = setting.counts(2, 0.5, np.random.default_rng(4))
    found = flip_p_values(setting.rows(), counts, 3)
    labels = np.array(list("abcd"))
    i, j = np.triu_indices(4, 1)
    for p_value, one in zip(found, counts, strict=True):
        parts = [
            pd.DataFrame({"object_i": labels[i], "object_j": labels[j], "judge": f"J{g}", "group": "xy"[g % 2]}).assign(
                wins_i=cells[:, 0], ties=cells[:, 1], wins_j=cells[:, 2]
            )
            for g, cells in enumerate(one)
        ]
        c = llbt.from_counts(pd.concat(parts), covariates="group", clusters="judge")
        formulas = ("tie", "object + tie") if hypothesis == "object" else ("object + tie", "object * group + tie")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", llbt.errors.LLBTWarning)
            small = llbt.fit(formulas[0], c)
            large = llbt.fit(formulas[1], c, cov_type="cluster", groups="judge")
        assert llbt.anova(small, large).to_frame()["p_value"][1] == p_value


@pytest.mark.slow
@pytest.mark.parametrize("hypothesis", HYPOTHESES)
def test_size_of_twelve_unequal_clusters(hypothesis):
    found = rejected(Setting(hypothesis, 12, False, 5), 300, 0.0, 9)
    assert found["flips"] < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)
    assert found["F(q, G - 1)"] > 0.3
