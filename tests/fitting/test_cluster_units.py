"""The unit of dependence: the one, or two, that make the standard errors of objects largest, and what is said of it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import special
from support.clusters import close, judged, quietly

import llbt
from llbt.base.notes import qualifying
from llbt.fitting.cluster_units import DependenceUnit
from llbt.fitting.cluster_units import unit_of as choice_of
from llbt.kernel import robust


def unit_of(res: llbt.LLBTResults, *names: str) -> DependenceUnit | None:
    return choice_of(res, names or None).unit


def crossing(seed: int = 1) -> pd.DataFrame:
    """15 judges × 40 items, both with worths of their own."""
    rng = np.random.default_rng(seed)
    judge, item = rng.integers(0, 15, 900), rng.integers(0, 40, 900)
    taste, own = rng.normal(0, 0.5, (15, 4)), rng.normal(0, 0.5, (40, 4))
    pairs = np.array([rng.choice(4, 2, replace=False) for _ in judge])
    lead = (taste[judge] + own[item])[np.arange(900)[:, None], pairs]
    first = rng.random(900) < special.expit(2 * (lead[:, 0] - lead[:, 1]))
    columns = {"object_i": pairs[:, 0], "object_j": pairs[:, 1], "outcome": np.where(first, "i", "j")}
    return pd.DataFrame(columns | {"judge": judge, "item": item, "age": 20.0 + judge})


@pytest.fixture(scope="module")
def two_way() -> llbt.LLBTResults:
    return quietly("object", llbt.from_judgments(crossing(), clusters=["item", "judge"]))


@pytest.fixture(scope="module")
def fitted() -> llbt.LLBTResults:
    return quietly("object + tie", judged(15, 40, 900, clusters=["item", "judge"]))


def ratios(robust: llbt.LLBTResults, plain: llbt.LLBTResults) -> tuple[float, list[float]]:
    """Return q of all pairs of objects, and of the pairs of each object, from the tables of all pairs."""
    wide, narrow = (
        llbt.pairwise(res, scale="log_worth").to_frame().set_index(["object_i", "object_j"])["std_error"] ** 2
        for res in (robust, plain)
    )
    each = []
    for label in plain.comparisons.objects:
        mine = [label in pair for pair in wide.index]
        each.append(float(np.sqrt(wide[mine].sum() / narrow[mine].sum())))
    return float(np.sqrt(wide.sum() / narrow.sum())), each


@pytest.mark.parametrize("formula", ["object", "object + order", "object * age"])
@pytest.mark.parametrize("groups", [["judge"], ["item", "judge"]])
def test_the_ratio_is_that_of_the_variances_of_all_differences(formula: str, groups: list[str]) -> None:
    """Against the tables of all pairs of a clustered and a plain fit, at the mean of the covariate."""
    c = llbt.from_judgments(crossing(), clusters=["item", "judge"], covariates="age", order=True)
    plain = quietly(formula, c)
    found = unit_of(plain, *groups)
    assert sorted(found.names) == groups
    of_all, each = ratios(quietly(formula, c, cov_type="cluster", groups=groups), plain)
    close([found.ratio, found.lowest, found.highest], [of_all, min(each), max(each)], rtol=1e-6)
    assert (found.clusters, found.estimator) == (15, "CR3")
    assert 10 < found.effective <= 15


def test_two_units_that_matter_are_taken_two_way_whatever_the_order(two_way: llbt.LLBTResults) -> None:
    found = choice_of(two_way)
    assert found == choice_of(two_way, ["judge", "item"])
    assert found.unit.names == tuple(unit.name for unit in found.measured)
    one, other = found.measured
    assert found.unit.ratio > one.ratio == unit_of(two_way, one.name).ratio >= other.ratio > 1.05


def test_a_unit_inside_another_is_not_taken_beside_it() -> None:
    res = quietly("object + tie", judged(15, 40, 900, clusters=["both", "judge"]))
    assert unit_of(res).names == ("judge",)


def by_five_judges(spread: float, seed: int) -> llbt.Comparisons:
    """Equal objects, judged 480 times by five judges whose log-worths have this standard deviation, on 60 items."""
    rng = np.random.default_rng((3, seed))
    i, judge = rng.integers(0, 4, 480), rng.integers(0, 5, 480)
    j = (i + rng.integers(1, 4, 480)) % 4
    own = rng.normal(0, spread, (5, 4))
    won = rng.random(480) < special.expit(2 * (own[judge, i] - own[judge, j]))
    sides = {"left": np.array(list("ABCD"))[i], "right": np.array(list("ABCD"))[j]}
    frame = pd.DataFrame(sides | {"winner": np.where(won, "left", "right"), "judge": judge})
    frame["item"] = np.repeat(np.arange(60), 8)
    return llbt.from_judgments(frame, objects=("left", "right"), outcome="winner", clusters=["judge", "item"])


def test_few_clusters_give_way_to_many_unless_their_dependence_is_plain() -> None:
    apart = [unit_of(quietly("object", by_five_judges(0.0, seed))).names for seed in range(10)]
    assert apart.count(("item",)) >= 9  # the rule takes five judges by chance in 1 % of tables
    found = choice_of(quietly("object", by_five_judges(0.4, 0)))
    assert "judge" in found.unit.names
    assert found.unit.ratio > 2


@pytest.mark.slow
def test_errors_by_five_judges_who_differ_hold() -> None:
    """By items 95 % intervals held .57 of 60 tables, for five judges gave way to 60 items whatever they did."""
    held = []
    for seed in range(25):
        found = quietly("object", by_five_judges(0.4, seed), cov_type="cautious").conf_int()
        held += ((found["conf_low"] <= 0) & (found["conf_high"] >= 0)).tolist()
    assert np.mean(held) > 0.85


def test_many_clusters_are_summed_in_turn(fitted: llbt.LLBTResults, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = quietly("object + tie", fitted.comparisons, cov_type="CR1", groups="item")
    monkeypatch.setattr(robust, "_ENTRIES", 30.0)
    in_turn = quietly("object + tie", fitted.comparisons, cov_type="CR1", groups="item")
    close(in_turn.cov_params(), whole.cov_params(), rtol=1e-10)


def test_cautious_standard_errors_are_those_of_that_unit(fitted: llbt.LLBTResults, two_way: llbt.LLBTResults) -> None:
    for plain, groups in ((fitted, "judge"), (two_way, ["item", "judge"])):
        formula = plain.specification.formula
        res = quietly(formula, plain.comparisons, cov_type="cautious")
        by = quietly(formula, plain.comparisons, cov_type="cluster", groups=groups)
        close(res.cov_params(), by.cov_params(), rtol=1e-8)
        assert sorted(res.specification.groups) == sorted(by.specification.groups)
        assert f"{choice_of(plain).clustered}." in res.covariance.notes
    plain = quietly("object + tie", judged(), cov_type="cautious")
    assert plain.as_text() == quietly("object + tie", judged()).as_text()


def test_two_judges_are_no_unit() -> None:
    res = quietly("object + tie", judged(2, clusters="judge"), cov_type="cautious")
    assert res.specification.cov_type == "nonrobust"
    why = "Clustered standard errors need G* of 2.5 or more, and the table has judge (G = 2, "
    assert any(
        note.startswith(f"Judgments are taken as independent. {why}") for note in qualifying(res.summary().notes)
    )
    assert unit_of(res) is None


def test_units_are_kept_where_they_are_there() -> None:
    frame = judged(6).to_frame().assign(judge="J", prompt=["p", None] * 3)
    c = llbt.from_counts(frame.iloc[:6], units=("judge", "prompt", "block"))
    assert c.clusters == ("judge",)
    assert any("prompt is not kept" in note for note in c.notes)
    split = llbt.from_counts(frame.iloc[:6], covariates="judge", units=("judge", "block"))
    assert (split.covariates, split.clusters) == (("judge",), ())


def test_nothing_to_choose() -> None:
    assert unit_of(quietly("object + tie", judged())) is None
    alone = judged(clusters="judge").select(where={"judge": "J03"})
    assert unit_of(quietly("object + tie", alone, prior=1.0)) is None
    assert unit_of(quietly("tie", judged(clusters="judge"))) is None


def test_the_printout_says_what_the_clusters_would_change(fitted: llbt.LLBTResults) -> None:
    found = choice_of(fitted)
    call = f"cov_type='cluster', groups={found.unit.groups!r}"
    above = f"Judgments are taken as independent. {found.if_clustered}. To cluster: {call}."
    assert above in qualifying(fitted.summary().notes)
    assert found.if_clustered.startswith("Clustered by judge, standard errors would be 2.10 × unclustered (")
    for options in ({"cov_type": "cluster", "groups": "judge"}, {"cov_type": "HC0"}, {"cov_type": "quasi"}):
        assert "taken as independent" not in quietly("object + tie", fitted.comparisons, **options).as_text()
    lost = quietly("object + tie", judged()).as_text()
    assert "Judgments are taken as independent, and judge was not kept." in lost
    counts = llbt.from_counts(fitted.comparisons.pool().to_frame())
    assert "taken as independent" not in quietly("object + tie", counts).as_text()


def test_a_block_of_copies_counts_once() -> None:
    """Every judgment four times, in a block of its own: errors by block are twice as large, but for G/(G − 1)."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"object_i": "A", "object_j": "B", "outcome": rng.choice(["i", "tie", "j"], 200)})
    frame["block"] = np.arange(200)
    c = llbt.from_judgments(pd.concat([frame] * 4), clusters="block")
    unit = unit_of(quietly("object + tie", c))
    close(unit.ratio, 2 * np.sqrt(200 / 199), rtol=1e-6)


# -- published layouts and designs ---------------------------------------------------------------------------------


def in_both_orders(seed: int = 1) -> pd.DataFrame:
    """24 judges with a position bias × 240 prompts with worths of their own, every judgment in both orders."""
    rng = np.random.default_rng(seed)
    judges, prompts, objects = 24, 240, np.array(list("ABCDEF"))
    bias, own = rng.normal(0, 0.7, judges), rng.normal(0, 0.35, (prompts, 6))
    prompt = np.repeat(np.arange(prompts), 4)
    judge = rng.integers(0, judges, len(prompt))
    pairs = np.array([rng.choice(6, 2, replace=False) for _ in prompt])
    prompt, judge = np.tile(prompt, 2), np.tile(judge, 2)
    pairs = np.concatenate([pairs, pairs[:, ::-1]])
    lead = own[prompt, pairs[:, 0]] - own[prompt, pairs[:, 1]] + bias[judge]
    first = rng.random(len(lead)) < special.expit(2 * lead)
    columns = {"object_i": objects[pairs[:, 0]], "object_j": objects[pairs[:, 1]], "outcome": np.where(first, "i", "j")}
    return pd.DataFrame(columns | {"judge": judge, "prompt": prompt})


@pytest.mark.parametrize("formula", ["object", "object + order"])
def test_position_bias_does_not_decide_the_unit(formula: str) -> None:
    """With the order in the formula or not it is the prompt, though judges make errors of the order much larger."""
    c = llbt.from_judgments(in_both_orders(), clusters=["judge", "prompt"], order=True)
    res = quietly(formula, c)
    assert unit_of(res).names[0] == "prompt"
    if formula == "object + order":
        by = {g: quietly(formula, c, cov_type="cluster", groups=g).bse["order"] for g in ("judge", "prompt")}
        assert by["judge"] > 1.5 * by["prompt"]


@pytest.mark.shared
@pytest.mark.parametrize("formula", ["object", "object + order"])
def test_both_orders_that_agree_are_worth_one(formula: str, shared: Path) -> None:
    """60 prompts in both orders, always alike: √2, but for G/(G − 1) and one step."""
    path = shared / "layouts" / "r21_both_orders_agree.csv"
    c = llbt.from_judgments(path, clusters=["judge", "prompt"], order=True)
    found = unit_of(quietly(formula, c))
    close(found.ratio, 1.426, atol=5e-4)
    res = quietly(formula, c, cov_type="cautious")
    said = "Clustered by prompt: standard errors 1.43 × unclustered"
    assert said in res.as_text()
    assert said in llbt.audit(path).finding("blocks").found


@pytest.mark.shared
def test_five_prompts_are_a_unit_where_there_is_no_other(shared: Path) -> None:
    path = shared / "layouts" / "r35_both_orders_flip.csv"
    c = llbt.from_judgments(path, clusters=["judge", "question_id"], order=True)
    res = quietly("object + tie", c, cov_type="cautious")
    assert res.specification.groups == ("question_id",)
    assert res.df_inference == 4


@pytest.mark.shared
@pytest.mark.parametrize("formula", ["object + tie", "object + tie + order"])
def test_workers_and_prompts_of_llmfao_are_taken_two_way(formula: str, shared: Path) -> None:
    """By CR3 1.23 and 2.17, two-way 2.31, whether the order is in the formula or not; the audit says the same."""
    path = shared / "data" / "llmfao.csv"
    c = llbt.from_judgments(path, clusters=["worker", "prompt"], order=True)
    found = choice_of(quietly(formula, c))
    assert found.unit.names == ("prompt", "worker")
    close([found.unit.ratio, *(unit.ratio for unit in found.measured)], [2.31, 2.17, 1.23], atol=0.005)
    said = "Clustered by prompt and worker: standard errors 2.31 × unclustered (1.7"
    assert found.clustered.startswith(said)
    assert found.clustered.endswith(" by object); by prompt 2.17 ×; by worker 1.23 ×")
    assert said in llbt.audit(path, judge="worker").finding("blocks").found


def three_judges(judges: str) -> llbt.Comparisons:
    """Judges who differ, of nearly equal size, and 60 prompts that do not matter."""
    rng = np.random.default_rng(1)
    worths, n = rng.normal(scale=0.4, size=(3, 4)), 480
    judge, prompt = rng.integers(3, size=n), rng.integers(60, size=n)
    shown = np.array([rng.choice(4, 2, replace=False) for _ in range(n)])
    first = 1 / (1 + np.exp(-2 * (worths[judge, shown[:, 0]] - worths[judge, shown[:, 1]])))
    names = np.array(list("ABCD"))[shown]
    frame = pd.DataFrame({"object_i": names[:, 0], "object_j": names[:, 1], "prompt": prompt})
    frame = frame.assign(outcome=np.where(rng.random(n) < first, "i", "j"), judge=np.array(list("xyz"))[judge])
    return llbt.from_judgments(frame[frame["judge"].isin(list(judges))], clusters=["judge", "prompt"])


def test_three_judges_of_nearly_one_size_are_a_unit_and_two_are_named():
    notes = llbt.fit("object", three_judges("xyz"), cov_type="cautious").covariance.notes
    assert notes[-1].startswith("Clustered by judge: standard errors 2.79 × unclustered")
    notes = llbt.fit("object", three_judges("xy"), cov_type="cautious").covariance.notes
    assert notes[-1].endswith("not by judge: too few clusters.")
