"""What is said of judges against explicit loops over judgments, hand-made cases and judges drawn from a model."""

import itertools
import math
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import llbt
from llbt import LLBTError

COLUMNS = [
    "judge", "judgments", "tie_rate", "first_rate", "conf_low", "conf_high", "p_value", "agreement",
    "agreement_pairs", "swapped", "flips", "model_agreement", "model_expected", "statistic",
]  # fmt: skip


def judgments(n=400, judges=6, seed=1):
    """Judgments of four objects drawn from a model with an order effect; judge 0 says anything."""
    rng = np.random.default_rng(seed)
    pairs = np.array(list(itertools.permutations(range(4), 2)))[rng.integers(0, 12, n)]
    judge = rng.integers(0, judges, n)
    lead = np.array([0.9, 0.4, 0.0, -0.5])[pairs]
    u = np.where(judge == 0, 0.0, lead[:, 0] - lead[:, 1] + 0.15)
    weights = np.exp(np.column_stack([u, np.full(n, -0.3), -u]))
    chance = weights / weights.sum(axis=1, keepdims=True)
    said = (rng.random((n, 1)) > chance.cumsum(axis=1)).sum(axis=1)
    return pd.DataFrame(
        {
            "object_i": np.array(list("abcd"))[pairs[:, 0]],
            "object_j": np.array(list("abcd"))[pairs[:, 1]],
            "outcome": np.array(["i", "tie", "j"])[said],
            "judge": np.array([f"J{k}" for k in range(judges)])[judge],
            "text": rng.integers(1, 6, n),
            "day": rng.choice(["Mo", "Tu"], n),
        }
    )


@pytest.fixture(scope="module")
def frame():
    return judgments()


@pytest.fixture(scope="module")
def model(frame):
    return llbt.fit("object + tie + order", llbt.from_judgments(frame, order=True))


def by_judge(found):
    return found.to_frame().set_index("judge")


def same_unit(a, b, unit):
    return {a.object_i, a.object_j} == {b.object_i, b.object_j} and all(getattr(a, u) == getattr(b, u) for u in unit)


def winner(row):
    return {"i": row.object_i, "j": row.object_j, "tie": None}[row.outcome]


def looped(frame, unit):
    """Agreement and flips of every judge, judgment by judgment."""
    rows = list(frame.itertuples())
    found = {name: dict.fromkeys(sorted(set(frame["judge"])), 0) for name in ("agreed", "pairs", "swapped", "flips")}
    for a, b in itertools.permutations(rows, 2):
        if not same_unit(a, b, unit):
            continue
        if a.judge != b.judge:
            found["pairs"][a.judge] += 1
            found["agreed"][a.judge] += winner(a) == winner(b)
        elif a.object_i == b.object_j and a.Index < b.Index:
            found["swapped"][a.judge] += 1
            found["flips"][a.judge] += a.outcome == b.outcome != "tie"
    return found


# -- two routes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [None, "text", ["text", "day"]])
def test_agreement_and_flips_are_those_of_a_loop_over_pairs_of_judgments(frame, unit):
    found = by_judge(llbt.judges.summary(frame, unit=unit))
    expected = looped(frame, [unit] if isinstance(unit, str) else unit or [])
    for judge in found.index:
        pairs = expected["pairs"][judge]
        assert found.loc[judge, "agreement_pairs"] == pairs
        assert found.loc[judge, "agreement"] == pytest.approx(expected["agreed"][judge] / pairs)
        assert found.loc[judge, "swapped"] == expected["swapped"][judge]
        assert found.loc[judge, "flips"] == expected["flips"][judge]
    assert found["flips"].sum() > 0


def test_rates_and_intervals_are_those_of_single_judges(frame):
    found = by_judge(llbt.judges.summary(frame, confidence=0.9))
    for judge, rows in frame.groupby("judge"):
        first, ties = int((rows["outcome"] == "i").sum()), int((rows["outcome"] == "tie").sum())
        decided = len(rows) - ties
        row = found.loc[judge]
        assert (row["judgments"], row["tie_rate"]) == (len(rows), ties / len(rows))
        assert row["first_rate"] == first / decided
        test = stats.binomtest(first, decided)
        assert row["p_value"] == pytest.approx(test.pvalue)
        interval = test.proportion_ci(0.9, method="wilson")
        assert (row["conf_low"], row["conf_high"]) == pytest.approx((interval.low, interval.high))


def chances(p, row):
    """Outcome probabilities of a judgment from the printed parameters."""
    u = p.get(f"object[{row.object_i}]", 0.0) - p.get(f"object[{row.object_j}]", 0.0) + p.get("order", 0.0)
    weights = {"i": math.exp(u), "tie": math.exp(p.get("tie", -math.inf)), "j": math.exp(-u)}
    return {outcome: w / sum(weights.values()) for outcome, w in weights.items() if w}


def derivatives(p, row, step=1e-6):
    """d log probability of each outcome by each parameter, by central differences."""
    found = {outcome: [] for outcome in chances(p, row)}
    for name in p:
        high, low = (chances({**p, name: p[name] + sign * step}, row) for sign in (1, -1))
        for outcome, slopes in found.items():
            slopes.append((math.log(high[outcome]) - math.log(low[outcome])) / (2 * step))
    return found


def looped_model(model, rows, own=True):
    """Mean P(said), its expectation, and z of some judgments, one by one; slopes by finite differences."""
    params = model.params.to_dict()
    said, expected, excess, variance, third, pulled = [], [], 0.0, 0.0, 0.0, np.zeros(len(params))
    for row in rows.itertuples():
        p = chances(params, row)
        said.append(p[row.outcome])
        expected.append(sum(x**2 for x in p.values()))
        e = sum(x * math.log(x) for x in p.values())
        excess += math.log(p[row.outcome]) - e
        variance += sum(x * (math.log(x) - e) ** 2 for x in p.values())
        third += sum(x * (math.log(x) - e) ** 3 for x in p.values())
        slopes = derivatives(params, row)
        pulled += sum(x * (math.log(x) - e) * np.array(slopes[outcome]) for outcome, x in p.items())
    share = pulled @ model.cov_params().to_numpy() @ pulled / variance
    left, rest = (1 - share, 1 - 2 * share) if own else (1 + share, 1 - share)
    z, skewness = excess / math.sqrt(left * variance), third * left * rest / (left * variance) ** 1.5
    hall = z - skewness / 6 * z**2 + skewness**2 / 108 * z**3 + skewness / 6
    return np.mean(said), np.mean(expected), hall


def test_agreement_with_a_model_is_that_of_a_loop_over_judgments(frame, model):
    found = by_judge(llbt.judges.summary(frame, model=model))
    for judge, rows in frame.groupby("judge"):
        columns = ["model_agreement", "model_expected", "statistic"]
        assert found.loc[judge, columns].tolist() == pytest.approx(looped_model(model, rows), rel=1e-5)


def test_judgments_that_the_fit_has_not_seen_carry_its_error(frame, model):
    """One judgment more of some pair than the fit has, and the judgments are others."""
    others = judgments(seed=2)
    summary = llbt.judges.summary(others, model=model)
    for judge, rows in others.groupby("judge"):
        z = by_judge(summary).loc[judge, "statistic"]
        assert z == pytest.approx(looped_model(model, rows, own=False)[2], rel=1e-5)
    assert any("does not include these judgments" in note for note in summary.notes)
    part = llbt.judges.summary(frame[frame["judge"] == "J1"], model=model)
    assert any("assumes that the fit includes" in note for note in part.notes)
    whole = by_judge(llbt.judges.summary(frame, model=model))
    assert by_judge(part).loc["J1", "statistic"] == pytest.approx(whole.loc["J1", "statistic"])


def test_a_model_without_ties_is_held_against_the_decided_judgments(frame):
    decided = frame[frame["outcome"] != "tie"]
    model = llbt.fit("object", llbt.from_judgments(decided))
    summary = llbt.judges.summary(frame, model=model)
    found = by_judge(summary)
    for judge, rows in decided.groupby("judge"):
        columns = ["model_agreement", "model_expected", "statistic"]
        assert found.loc[judge, columns].tolist() == pytest.approx(looped_model(model, rows), rel=1e-5)
    ties = (frame["outcome"] == "tie").sum()
    assert f"agreement with the model: {ties} ties left out, as the model has no ties" in summary.notes


@pytest.mark.parametrize("kept", ["covariates", "clusters"])
def test_counts_say_the_same_as_the_judgments_as_far_as_they_go(frame, model, kept):
    c = llbt.from_judgments(frame, order=True, **{kept: "judge"})
    summary = llbt.judges.summary(c, model=model)
    found, whole = by_judge(summary), by_judge(llbt.judges.summary(frame, model=model))
    gone = ["agreement", "agreement_pairs", "swapped", "flips"]
    assert found[gone].isna().all(axis=None)
    pd.testing.assert_frame_equal(found.drop(columns=gone), whole.drop(columns=gone))
    assert any("Counts have no units" in note for note in summary.notes)


def test_a_covariate_of_the_model_is_read_from_the_judgments(frame):
    c = llbt.from_judgments(frame, covariates=["judge", "day"])
    model = llbt.fit("object * judge + tie:day", c)
    from_counts = by_judge(llbt.judges.summary(c, model=model))
    columns = ["model_agreement", "model_expected", "statistic"]
    pd.testing.assert_frame_equal(by_judge(llbt.judges.summary(frame, model=model))[columns], from_counts[columns])
    rows = model.predict(frame[["object_i", "object_j", "judge", "day"]]).to_frame()
    said = rows["outcome"].to_numpy().reshape(-1, 3) == frame["outcome"].to_numpy()[:, None]
    p = pd.Series(rows["estimate"].to_numpy().reshape(-1, 3)[said], index=frame["judge"])
    assert from_counts["model_agreement"].tolist() == pytest.approx(p.groupby(level=0).mean().tolist())


def test_the_shares_of_the_printed_table_of_dras():
    """Dras (2015), Table 1: ties of J1 … J4 summed over the six pairs, by select."""
    c = llbt.load_dataset("dras_table1")
    found = by_judge(llbt.judges.summary(c))
    for judge in found.index:
        own = c.select(where={"judge": judge})
        assert found.loc[judge, "tie_rate"] == own.n_ties / own.n_judgments
    assert found["first_rate"].isna().all()


# -- cases by hand -----------------------------------------------------------------------------------------------


def rows_of(*rows):
    return pd.DataFrame(rows, columns=["object_i", "object_j", "outcome", "judge", "text"])


def test_a_swapped_repeat_that_names_the_same_position_is_a_flip():
    frame = rows_of(
        ("a", "b", "i", "first", 1), ("b", "a", "i", "first", 1),  # flips
        ("a", "b", "i", "first", 2), ("b", "a", "j", "first", 2),  # stands
        ("a", "b", "tie", "first", 3), ("b", "a", "tie", "first", 3),  # neither object nor position
        ("a", "b", "j", "first", 4), ("a", "b", "j", "first", 4),  # the same order twice
        ("a", "b", "j", "other", 1), ("b", "a", "j", "third", 1),  # two judges
    )  # fmt: skip
    found = by_judge(llbt.judges.summary(frame, unit="text"))
    assert found[["swapped", "flips"]].values.tolist() == [[3, 1], [0, 0], [0, 0]]
    # 'other' prefers b; of three others' judgments of text 1, 'first' said a, b and 'third' a
    assert found.loc["other", ["agreement", "agreement_pairs"]].tolist() == pytest.approx([1 / 3, 3])
    assert found.loc["first", ["agreement", "agreement_pairs"]].tolist() == pytest.approx([2 / 4, 4])


def test_agreement_does_not_depend_on_the_display_order():
    frame = rows_of(("a", "b", "i", "u", 1), ("b", "a", "j", "v", 1), ("b", "a", "i", "w", 1))
    found = by_judge(llbt.judges.summary(frame, unit="text"))
    assert found["agreement"].tolist() == [0.5, 0.5, 0]


# -- statistical claims ------------------------------------------------------------------------------------------


def test_the_statistic_is_standard_normal_for_judges_of_the_model():
    frame = judgments(n=60_000, judges=600, seed=3)
    true = frame[frame["judge"] != "J0"]
    model = llbt.fit("object + tie + order", llbt.from_judgments(true, order=True))
    z = by_judge(llbt.judges.summary(true, model=model))["statistic"]
    assert len(z) == 599
    assert abs(z.mean()) < 4 / math.sqrt(len(z))
    assert z.std() == pytest.approx(1, abs=4 / math.sqrt(2 * len(z)))
    assert 0.03 < (z.abs() > 1.96).mean() < 0.08


@pytest.mark.slow
@pytest.mark.parametrize(("judges", "each", "n"), [(2, 100, 120), (3, 60, 100), (12, 20, 30)])
def test_the_statistic_is_standard_normal_though_the_model_follows_the_judges(judges, each, n):
    """l_z has standard deviations of .71, .80 and .94 here; two judges of one model mirror each other."""
    z = []
    for seed in range(n):
        true = judgments(n=judges * each, judges=judges + 1, seed=seed)
        true = true[true["judge"] != "J0"]
        model = llbt.fit("object + tie + order", llbt.from_judgments(true, order=True))
        z.append(by_judge(llbt.judges.summary(true, model=model))["statistic"].to_numpy())
    if judges == 2:
        assert np.array(z)[:, 0] == pytest.approx(-np.array(z)[:, 1], rel=0.1, abs=0.1)
    z = np.concatenate(z)
    assert z.std() == pytest.approx(1, abs=4 / math.sqrt(2 * len(z)))
    assert abs(stats.skew(z)) < 4 * math.sqrt(6 / len(z))
    assert (np.abs(z) > 1.96).mean() < 0.05 + 4 * math.sqrt(0.05 * 0.95 / (len(z) / 2))


def test_a_judge_with_parameters_of_his_own_cannot_be_held_to_them(frame):
    c = llbt.from_judgments(frame, covariates="judge")
    summary = llbt.judges.summary(c, model=llbt.fit("object * judge + tie * judge", c))
    assert by_judge(summary)["statistic"].isna().all()
    assert any("z is NA for 6 judges with own parameters in the model ('J0'" in x for x in summary.notes)


def test_a_judge_who_says_anything_stands_out():
    found = by_judge(llbt.judges.summary(f := judgments(3000), model=llbt.fit("object + tie", llbt.from_judgments(f))))
    assert found.loc["J0", "statistic"] < -4
    assert (found.drop(index="J0")["statistic"] > -2).all()
    assert found.loc["J0", "model_agreement"] < found.loc["J0", "model_expected"] - 0.03


# -- what is unknown, and said -----------------------------------------------------------------------------------


def test_a_judge_who_shares_no_unit_has_no_agreement():
    frame = rows_of(("a", "b", "i", "u", 1), ("a", "b", "i", "v", 1), ("a", "c", "i", "w", 1))
    summary = llbt.judges.summary(frame)
    assert by_judge(summary)["agreement"].isna().tolist() == [False, False, True]
    assert "agreement is NA for 1 judge who shared no unit: 'w'" in summary.notes


def test_a_judge_with_ties_alone_has_no_position():
    frame = rows_of(("a", "b", "tie", "u", 1), ("a", "b", "i", "v", 1))
    summary = llbt.judges.summary(frame)
    unknown = by_judge(summary)[["first_rate", "conf_low", "conf_high", "p_value"]]
    assert unknown.isna().all(axis=1).tolist() == [True, False]
    assert "the share of first wins is NA for 1 judge with ties alone: 'u'" in summary.notes


def test_judges_with_few_judgments_are_named_and_kept(frame):
    few = pd.concat([frame, frame.head(3).assign(judge="new")])
    summary = llbt.judges.summary(few)
    assert "rates are imprecise for 1 judge with fewer than 20 judgments: 'new'" in summary.notes
    assert by_judge(summary).loc["new", "judgments"] == 3
    assert not any("fewer than" in note for note in llbt.judges.summary(few, min_judgments=3).notes)


def test_without_a_display_order_positions_are_unknown(frame):
    summary = llbt.judges.summary(replace(llbt.read_judgments(frame), shown=False))
    unknown = by_judge(summary)[["first_rate", "p_value", "swapped", "flips"]]
    assert unknown.isna().all(axis=None)
    assert "the data do not record which object was shown first: positions and flips are NA" in summary.notes
    pd.testing.assert_series_equal(by_judge(summary)["agreement"], by_judge(llbt.judges.summary(frame))["agreement"])


def test_a_model_that_expects_all_answers_alike_has_no_statistic():
    frame = rows_of(*[("a", "b", o, "u", 1) for o in ("i", "tie", "j")])
    summary = llbt.judges.summary(frame, model=llbt.fit("object + tie", llbt.from_judgments(frame)))
    row = by_judge(summary).loc["u"]
    assert row[["model_agreement", "model_expected"]].tolist() == pytest.approx([1 / 3, 1 / 3])
    assert math.isnan(row["statistic"])
    assert "z is NA for 1 judge with equally likely answers in the model: 'u'" in summary.notes


def test_judgments_that_the_model_does_not_determine_are_left_out(frame):
    """On Tuesdays the model saw nothing of d, so that object[d]:day[Tu] is aliased."""
    seen = frame[(frame["day"] == "Mo") | ~frame[["object_i", "object_j"]].eq("d").any(axis=1)]
    model = llbt.fit("object * day + tie", llbt.from_judgments(seen, covariates="day"), reference="a")
    assert model.aliased == ("object[d]:day[Tu]",)
    summary = llbt.judges.summary(frame, model=model)
    out = len(frame) - len(seen)
    assert f"agreement with the model: {out} judgments left out, which the model does not determine" in summary.notes
    columns = ["model_agreement", "model_expected", "statistic"]
    pd.testing.assert_frame_equal(by_judge(summary)[columns], by_judge(llbt.judges.summary(seen, model=model))[columns])


def test_units_and_the_missing_model_are_said(frame):
    notes = llbt.judges.summary(frame).notes
    assert "no model= was given: agreement with a model is NA" in notes
    assert "units are the two objects alone" in notes
    prompts = frame.rename(columns={"text": "prompt"})
    assert (
        "units are the two objects and the prompt; unit=[] leaves the prompt out" in llbt.judges.summary(prompts).notes
    )
    by_prompt = by_judge(llbt.judges.summary(prompts))
    pd.testing.assert_frame_equal(by_prompt, by_judge(llbt.judges.summary(frame, unit="text")))
    pd.testing.assert_frame_equal(by_judge(llbt.judges.summary(prompts, unit=[])), by_judge(llbt.judges.summary(frame)))
    prompts.loc[0, "prompt"] = None
    assert "units are the two objects alone: prompt has no value in 1 of 400 rows" in llbt.judges.summary(prompts).notes
    assert "units are the two objects and text, day" in llbt.judges.summary(frame, unit=["text", "day"]).notes


# -- doors and the record ----------------------------------------------------------------------------------------


def test_any_column_may_be_the_judge(frame):
    named = by_judge(llbt.judges.summary(frame.rename(columns={"judge": "worker"}), judge="worker"))
    pd.testing.assert_frame_equal(named, by_judge(llbt.judges.summary(frame)))
    days = by_judge(llbt.judges.summary(llbt.read_judgments(frame), judge="day"))
    assert days["judgments"].to_dict() == frame["day"].value_counts().sort_index().to_dict()
    records = frame.to_dict("records")
    pd.testing.assert_frame_equal(by_judge(llbt.judges.summary(records)), by_judge(llbt.judges.summary(frame)))


def test_the_order_of_rows_and_the_callers_frame_do_not_matter(frame, model):
    before = frame.copy()
    found = llbt.judges.summary(frame, unit="text", model=model)
    turned = llbt.judges.summary(frame.sample(frac=1, random_state=1), unit="text", model=model)
    pd.testing.assert_frame_equal(found.to_frame(), turned.to_frame())
    pd.testing.assert_frame_equal(frame, before)


def test_the_record_prints_one_row_per_judge(frame, model):
    found = llbt.judges.summary(frame, unit="text", model=model)
    assert list(found.to_frame()) == COLUMNS
    text = found.as_text()
    assert text.startswith("Summary of 6 judges\nAll: 400 judgments; ")
    rate = (frame["outcome"] == "i").sum() / (frame["outcome"] != "tie").sum()
    assert f"the object shown first wins {100 * rate:.1f}".removesuffix(".0") in text
    assert "mean probability under the model" in " ".join(text.split())
    again = pickle.loads(pickle.dumps(found))
    pd.testing.assert_frame_equal(again.to_frame(), found.to_frame())
    assert again.as_html() == found.as_html()


def test_many_judges_are_printed_in_part():
    found = llbt.judges.summary(judgments(500, judges=30))
    assert "… 10 more judges: .to_frame()" in found.as_text()
    assert len(found.to_frame()) == 30


FRAME = judgments(40, judges=2)
COUNTS = llbt.from_judgments(FRAME, clusters="judge")
BY_NAME = llbt.fit("object + tie", llbt.from_judgments(judgments(400)))
ORDERED = llbt.fit("object + tie + order", llbt.from_judgments(judgments(400), order=True))
WITH_TEXT = llbt.fit("object + tie:day", llbt.from_judgments(judgments(400), covariates="day"))

BAD = [
    (FRAME, {"judge": "worker"}, llbt.errors.JudgmentError, "'worker'"),
    (FRAME, {"unit": "size"}, llbt.errors.JudgmentError, "judges.summary: the judgments have no column 'size' (unit=)"),
    (
        FRAME.drop(columns="judge"),
        {},
        llbt.errors.JudgmentError,
        "any of 40 rows; expected one for each judgment. Name another column: judge='text', judge='day'",
    ),
    (
        FRAME.assign(judge=[None, *FRAME["judge"][1:]]),
        {},
        llbt.errors.JudgmentError,
        "has no value in 1 of 40 rows, first at row 0",
    ),
    (FRAME.assign(object_j=FRAME["object_i"]), {}, llbt.errors.JudgmentError, "with itself (40 rows)"),
    (FRAME.iloc[:0], {}, llbt.errors.JudgmentError, "no"),
    (COUNTS, {"unit": "text"}, llbt.errors.OptionError, "unit='text', but a table of counts does not record"),
    (
        COUNTS,
        {"judge": "worker"},
        llbt.errors.OptionError,
        "no cluster or labelled covariate 'worker' (judge=); it keeps 'judge'. Name the judge column, such as "
        "judge='judge'",
    ),
    (
        llbt.from_judgments(FRAME.rename(columns={"judge": "rater"}), clusters="rater"),
        {},
        llbt.errors.OptionError,
        "it keeps 'rater'. Name the judge column, such as judge='rater', or keep it when the table is made",
    ),
    (
        llbt.from_judgments(FRAME),
        {},
        llbt.errors.OptionError,
        "it keeps none. Keep it when the table is made: from_judgments(…, ",
    ),
    (
        COUNTS,
        {"model": ORDERED},
        llbt.errors.DesignError,
        "has an order effect, but these data do not record which object was shown",
    ),
    (
        COUNTS,
        {"model": WITH_TEXT},
        llbt.errors.JudgmentError,
        "needs 'day', which these data do not have; they have 'object_i'",
    ),
    (FRAME.replace("a", "z"), {"model": BY_NAME}, llbt.errors.JudgmentError, "the model does not know the objects 'z'"),
    (
        FRAME.replace("a", 1),
        {"model": BY_NAME},
        llbt.errors.JudgmentError,
        "does not know the objects 1; it has 'a', 'b'",
    ),
    (
        FRAME.assign(day=None),
        {"model": WITH_TEXT},
        llbt.errors.JudgmentError,
        "column 'day', which the model uses, has missing",
    ),
    (
        FRAME,
        {"model": "object + tie"},
        llbt.errors.OptionError,
        "judges.summary: model='object + tie'; expected LLBTResults",
    ),
    (FRAME, {"min_judgments": -1}, llbt.errors.OptionError, "min_judgments=-1; expected an integer of at least 0"),
    (FRAME, {"confidence": 95}, llbt.errors.OptionError, "judges.summary: confidence=95"),
]


@pytest.mark.parametrize(("data", "options", "error", "fragment"), BAD, ids=[fragment[:40] for *_, fragment in BAD])
def test_bad_input(data, options, error, fragment):
    with pytest.raises(LLBTError) as caught:
        llbt.judges.summary(data, **options)
    assert type(caught.value) is error
    assert fragment in str(caught.value)


@pytest.mark.shared
def test_the_crowd_of_llmfao(shared):
    """124 workers on 59 models; agreement by joining the frame with itself on prompt and pair."""
    source = llbt.read_judgments(shared / "data" / "llmfao.csv")
    found = by_judge(llbt.judges.summary(source, unit="prompt"))
    assert found["judgments"].sum() == 8931
    assert float((found["tie_rate"] * found["judgments"]).sum()) == pytest.approx(
        (source.to_frame()["outcome"] == "tie").sum()
    )
    frame = source.to_frame()
    frame["won"] = np.select(
        [frame["outcome"] == "i", frame["outcome"] == "j"], [frame["object_i"], frame["object_j"]], ""
    )
    frame["pair"] = ["|".join(sorted(pair)) for pair in zip(frame["object_i"], frame["object_j"], strict=True)]
    both = frame.merge(frame, on=["pair", "prompt"])
    both = both[both["judge_x"] != both["judge_y"]]
    expected = (both["won_x"] == both["won_y"]).groupby(both["judge_x"]).agg(["mean", "size"])
    assert found["agreement"].tolist() == pytest.approx(expected["mean"].tolist())
    assert found["agreement_pairs"].tolist() == expected["size"].tolist()


def test_the_worst_judge_prints_first_without_empty_columns(frame, model):
    found = llbt.judges.summary(frame, model=model)
    lines = found.as_text().split("\n\n")[1].split("\n")
    worst = found.by_judge.judge[np.nanargmin(found.by_judge.statistic)]
    assert lines[1].startswith(str(worst))
    counts = llbt.judges.summary(llbt.from_judgments(frame, clusters="judge"))
    head = counts.as_text().split("\n\n")[1].split("\n")[0]
    assert "Flips" not in head
    assert {"flips", "agreement"} <= set(counts.to_frame())
    assert counts.to_frame()["judge"].tolist() == sorted(counts.to_frame()["judge"])
