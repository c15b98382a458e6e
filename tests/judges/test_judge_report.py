"""The report on an LLM judge: figures by logistic regressions of statsmodels, by counting, and by planted biases."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from support.machine_judge import verdicts

import llbt
from llbt.errors import JudgmentError, OptionError

OBJECTS = [f"m{k}" for k in range(4)]
LENGTHS = ("length_a", "length_b")


@pytest.fixture(scope="module")
def frame():
    return verdicts(np.random.default_rng(2), rows=700, labels=300, order=0.3, length=0.3, own=0.5)


@pytest.fixture(scope="module")
def found(frame):
    return llbt.judges.report(frame, human="human", machine="machine", family=["m0"], length=LENGTHS, n=99)


def columns(frame):
    """Differences of dummies of the objects (the last is the reference), an intercept and the length, by hand."""
    dummies = [(frame["model_a"] == o).astype(float) - (frame["model_b"] == o).astype(float) for o in OBJECTS[:-1]]
    return np.column_stack([*dummies, np.ones(len(frame)), relative(frame)])


def relative(frame):
    a, b = frame["length_a"], frame["length_b"]
    return (a - b) / (a + b)


def test_position_is_the_intercept_of_a_logistic_regression_of_all_rows(frame, found):
    fit = sm.Logit((frame["machine"] == "model_a").astype(float), columns(frame)).fit(disp=0)
    bias = found.biases[0]
    assert bias.name == "position"
    assert bias.estimate == pytest.approx(fit.params.iloc[3], abs=1e-5)
    assert bias.p_value == pytest.approx(fit.pvalues.iloc[3], rel=0.3, abs=1e-3)


def test_length_and_self_preference_are_interactions_of_a_logistic_regression(frame, found):
    """Rows of people and machine below each other, all columns by source; clustered by row as statsmodels has it."""
    scale = np.sqrt(np.mean(relative(frame) ** 2))
    part = frame[frame["human"].notna()]
    x = columns(part)
    x[:, -1] /= scale
    both = np.block([[x, np.zeros_like(x)], [x, x]])
    said = pd.concat([part["human"], part["machine"]]).to_numpy() == "model_a"
    fit = sm.Logit(said.astype(float), both).fit(
        disp=0, cov_type="cluster", cov_kwds={"groups": np.tile(np.arange(len(part)), 2)}
    )
    length, own = found.biases[1:3]
    weights = np.zeros(10)
    weights[9] = 1.0
    for bias, row in ((length, weights), (own, np.array([0] * 5 + [1, -1 / 3, -1 / 3, 0, 0]))):
        error = np.sqrt(row @ fit.cov_params() @ row)
        assert bias.estimate == pytest.approx(row @ fit.params, abs=1e-5)
        assert (bias.conf_high - bias.conf_low) / 2 == pytest.approx(1.96 * error, rel=0.06)
    assert own.people == pytest.approx(fit.params[0] - fit.params[1:3].sum() / 3, abs=1e-5)


def test_agreement_and_labels_are_counted(frame, found):
    part = frame[frame["human"].notna()]
    percent = (part["human"] == part["machine"]).mean()
    row = found.agreement.to_frame().set_index("term").loc["percent"]
    assert (found.labels, found.rows) == (300, 700)
    assert row["estimate"] == pytest.approx(percent)
    assert row["conf_low"] < percent < row["conf_high"]


def test_leaderboards_are_those_of_calibrate_and_of_plain_fits(frame, found):
    board = found.to_frame().set_index("object").loc[OBJECTS]
    for column, said in (("people", "human"), ("machine", "machine")):
        c = llbt.from_judgments(frame[frame[said].notna()], objects=("model_a", "model_b"), outcome=said)
        worth = llbt.worth(llbt.fit("object", c), scale="log_worth").to_frame().set_index("object")["estimate"]
        assert board[column].to_numpy() == pytest.approx((worth - worth.mean())[OBJECTS].to_numpy(), abs=1e-5)
        assert board[f"{column}_rank"].to_numpy() == pytest.approx(worth.rank(ascending=False)[OBJECTS].to_numpy())
    assert found.trial_worth == found.calibration.effective_labels > 300


@pytest.mark.slow
def test_the_first_line_answers():
    good = llbt.judges.report(
        verdicts(np.random.default_rng(4), rows=900, labels=200), human="human", machine="machine", n=9
    )
    assert good.answer.startswith(
        "This judge is usable: no bias was found (length bias and self-preference not tested)"
    )
    guessing = verdicts(np.random.default_rng(4), rows=600, labels=200)
    guessing["machine"] = np.random.default_rng(1).choice(["model_a", "model_b"], 600)
    assert "hardly usable" in llbt.judges.report(guessing, human="human", machine="machine", n=9).answer


def test_biases_are_told_where_labels_and_verdicts_cannot_be_combined():
    always_first = verdicts(np.random.default_rng(4), rows=120, labels=120).assign(machine="model_a")
    report = llbt.judges.report(always_first, human="human", machine="machine", n=9)
    answer = replace(report, trial_worth=np.nan).answer
    assert answer.startswith("Whether this judge is usable when calibrated cannot be determined")
    assert answer.endswith("It is not usable alone: position bias.")


def test_planted_biases_are_named(found):
    assert found.answer.startswith("This judge is usable when calibrated, but not alone: position bias")
    text = str(found)
    assert max(map(len, text.splitlines())) <= 88
    assert text.splitlines()[1].startswith("This judge is usable when calibrated")
    assert found.bias_table().to_frame()["bias"].tolist() == ["position", "length", "self-preference", "leaderboard"]


def test_what_the_file_does_not_tell_is_named(frame):
    found = llbt.judges.report(frame, human="human", machine="machine", order=False, n=9)
    assert set(found.unanswered) == {"position", "length", "self-preference"}
    text = " ".join(str(found).split())
    for what in ("Position bias", "Length bias", "Self-preference"):
        assert f"{what}: not answered; " in text


def test_labels_in_every_row_are_judged_by_half_of_them(frame):
    part = frame[frame["human"].notna()]
    found = llbt.judges.report(part, human="human", machine="machine", n=9)
    assert (found.trial_labels, found.labels) == (150, 300)
    assert found.trial_worth > 150
    assert "150 of them with the verdicts are worth" in str(found)


def test_rows_of_one_group_are_clustered_and_the_interval_that_is_not_is_noted(frame):
    """A file that is there twice, the copies of a row in one group, has the errors of the file."""
    twice = pd.concat([frame.assign(prompt=frame.index)] * 2, ignore_index=True)
    found = llbt.judges.report(twice, human="human", machine="machine", groups="prompt", n=9)
    once = llbt.judges.report(frame, human="human", machine="machine", n=9)
    for one, other in zip(found.biases, once.biases, strict=True):
        assert one.p_value == pytest.approx(other.p_value, rel=0.05, abs=2e-4)
    assert "Intervals of agreement take rows of one prompt as independent." in found.notes
    alone = llbt.judges.report(twice, human="human", machine="machine", n=9)
    assert any("use groups='prompt'" in note for note in alone.notes)
    assert not any("groups=" in note for note in once.notes)  # no column of prompts


def test_rows_without_a_verdict_are_left_out_and_counted(frame):
    some = frame.assign(machine=frame["machine"].where(frame.index >= 5))
    found = llbt.judges.report(some, human="human", machine="machine", n=9)
    assert "5 rows left out: no verdict in 'machine'." in found.notes


def test_an_empty_field_is_a_row_without_a_label(frame, found):
    """By the same file with None in place of the empty texts."""
    empty = llbt.judges.report(
        frame.assign(human=frame["human"].fillna("")), human="human", machine="machine", family=["m0"], length=LENGTHS,
        n=99,
    )  # fmt: skip
    assert str(empty) == str(found)


def test_verdicts_that_outcomes_leaves_out_are_counted_and_errors_count_rows_of_the_file(frame):
    """Rows 0 to 299 have labels. The machine has no verdict in row 2, so that a copy without it counts differently."""
    some = frame.assign(machine=frame["machine"].where(frame.index != 2))
    some.loc[[7, 350], "machine"] = "refused"
    some.loc[9, "human"] = "unsure"
    with pytest.raises(JudgmentError, match=r"'refused' \(2 rows, first at row 7\)"):
        llbt.judges.report(some, human="human", machine="machine", n=9)
    found = llbt.judges.report(some, human="human", machine="machine", outcomes={"refused": None, "unsure": None}, n=9)
    assert (found.labels, found.rows) == (297, 697)
    assert found.notes[:3] == (
        "1 row left out: no verdict in 'machine'.",
        "2 verdicts in 'machine' not used: left out by outcomes=.",
        "1 verdict in 'human' not used: left out by outcomes=.",
    )


@pytest.mark.parametrize("name", ["model_a", "prompt"])
def test_a_missing_object_or_group_is_refused_with_its_row(frame, name):
    holed = frame.assign(prompt=[f"p{k // 4}" for k in frame.index])
    holed.loc[7, name] = None
    with pytest.raises(JudgmentError, match=f"column '{name}': 1 missing value, the first at row 7"):
        llbt.judges.report(holed, human="human", machine="machine", groups="prompt", n=9)


@pytest.mark.parametrize(("verdict", "words"), [("model_a", "the first object"), ("tie", "a tie")])
def test_a_machine_with_one_verdict_adds_no_labels(frame, verdict, words):
    found = llbt.judges.report(frame.assign(machine=verdict), human="human", machine="machine", n=9)
    assert found.answer == "This judge is hardly usable: its verdicts are worth 0 additional labels (300 are given)."
    assert f"verdict is {words} in every row" in found.unanswered["calibrated leaderboard"]


def test_a_machine_that_equals_people_makes_labels_worth_a_label_for_each_row_at_most(frame):
    """Half of the labels with the verdicts of all rows are as precise as all labels; the estimate was above them."""
    part = frame[frame["human"].notna()]
    found = llbt.judges.report(part.assign(machine=part["human"]), human="human", machine="machine", n=9)
    assert 270 < found.trial_worth <= 300
    assert found.unanswered["leaderboard"] == "the machine's verdicts equal the human labels in every labelled row"


def test_a_leaderboard_that_rests_on_one_labelled_row_is_not_compared(frame):
    """m3 has one labelled row, so that without this row its worths have no estimate."""
    has = (frame["model_a"] == "m3") | (frame["model_b"] == "m3")
    kept = frame["human"].notna() & (~has | (frame.index == frame.index[has][0]))
    found = llbt.judges.report(frame.assign(human=frame["human"].where(kept)), human="human", machine="machine", n=9)
    assert found.unanswered["leaderboard"] == "an estimate rests on a single labelled row; label more rows"


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"human": "humans"}, JudgmentError, "did you mean 'human'"),
        ({"family": ["gpt"]}, OptionError, "family: no object 'gpt'"),
        ({"family": OBJECTS}, OptionError, "family has all objects"),
        ({"objects": ["model_a"]}, OptionError, "two columns"),
        ({"length": ["length_a"]}, OptionError, "two columns"),
        ({"machine": "human"}, OptionError, "human='human' and machine='human' are the same column"),
        ({"length": ("human", "length_b")}, JudgmentError, "without two lengths"),
    ],
)
def test_bad_input_is_refused(frame, change, error, said):
    with pytest.raises(error, match=said):
        llbt.judges.report(frame, **({"human": "human", "machine": "machine"} | change))


def test_a_machine_that_always_names_the_first_has_each_note_once(frame):
    report = llbt.judges.report(frame.assign(machine="model_a"), human="human", machine="machine", n=9)
    assert len(set(report.notes)) == len(report.notes)
    assert any("Firth" in note for note in report.notes)


def test_few_labels_are_refused(frame):
    few = frame.assign(human=frame["human"].where(frame.index < 5))
    with pytest.raises(JudgmentError, match="5 rows of 700 with both verdicts"):
        llbt.judges.report(few, human="human", machine="machine")
    with pytest.raises(JudgmentError, match=r"objects=\('left', 'right'\)"):
        llbt.judges.report(frame.rename(columns={"model_a": "left"}), human="human", machine="machine")


@pytest.mark.slow
def test_the_page_has_the_answer_and_every_section(found, tmp_path):
    page = llbt.write_report(found, tmp_path / "judge.html").read_text(encoding="utf-8")
    assert "usable when calibrated" in page
    for heading in ("Leaderboards", "Agreement with people", "Biases", "How this was made"):
        assert f"<h2>{heading}</h2>" in page


def test_position_is_not_told_from_worth_where_objects_keep_their_sides() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"model_a": rng.choice(["x", "y"], 200), "model_b": "z"})
    frame["llm"] = np.where(rng.random(200) < 0.6, "model_a", "model_b")
    frame["people"] = np.where(rng.random(200) < 0.8, frame["llm"], "model_b")
    frame.loc[100:, "people"] = None
    found = llbt.judges.report(frame, human="people", machine="llm", n=20, rng=1)
    assert found.unanswered["position"].endswith("shown on one side, so position cannot be separated from worth")


@pytest.mark.parametrize(
    ("cell", "fault"), [([1], "holds a list; expected one word or number"), ("\ud800", "half a character")]
)
def test_cells_that_are_no_words_are_refused_if_they_are_used(frame, cell, fault):
    odd = frame.astype(object)
    odd.at[5, "machine"] = cell
    with pytest.raises(JudgmentError, match=fault):
        llbt.judges.report(odd, human="human", machine="machine", n=9)
    unused = frame.assign(machine=frame["machine"], talk=[["Hello"]] * len(frame))
    assert llbt.judges.report(unused, human="human", machine="machine", n=9).rows == len(frame)
