"""The audit of graded judgments: the checks that others have too, asked with grades, and those of grades alone."""

from html import unescape

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency
from support import shell

import llbt
from llbt.auditing.grade_checks import _along, _larger
from llbt.base.table import format_percent
from llbt.core.response import graded

GRADES = {2: 2, 1: 1, 0: 0, -1: -1, -2: -2}
FORMAT = llbt.formats.columns(outcome="grade", outcomes=GRADES)
FIVE = graded(2, middle=True)


def drawn(rng: np.random.Generator, n: int, delta: float = 0.0, spread: float = 0.35) -> pd.DataFrame:
    """Return n judgments of eight objects by ten judges, in five grades: the model of docs/decisions/005."""
    worth = rng.normal(0, spread, 8)
    i = rng.integers(0, 8, n)
    j = (i + rng.integers(1, 8, n)) % 8
    lead = worth[i] - worth[j] + delta
    p, _ = FIVE.probabilities(np.array([lead, np.full(n, 0.2), np.full(n, -0.6)]))
    said = (rng.random(n)[:, None] > p.T.cumsum(axis=1)[:, :-1]).sum(axis=1)
    names = np.array(list("abcdefgh"))
    columns = {"object_i": names[i], "object_j": names[j], "grade": 2 - said, "judge": rng.integers(0, 10, n)}
    return pd.DataFrame(columns | {"prompt": np.arange(n)})


def table(frame: pd.DataFrame, **options) -> llbt.Comparisons:
    return llbt.from_judgments(frame, outcome="grade", outcomes=GRADES, **options)


@pytest.fixture(scope="module")
def clean() -> pd.DataFrame:
    return drawn(np.random.default_rng(1), 3000)


def test_a_table_and_its_judgments_are_held_against_the_same_fit(clean):
    judged = llbt.audit(clean, format=FORMAT)
    counted = llbt.audit(table(clean, clusters=("judge", "prompt"), order=True))
    for name in ("ties", "position", "outlying_judges", "blocks", "separation", "disconnected"):
        one, other = judged.finding(name), counted.finding(name)
        assert (one.level, one.found) == (other.level, other.found)
        assert one.figures == pytest.approx(other.figures, rel=1e-6)
    assert judged.failed("warning") == ()


def test_the_position_is_tested_with_the_grades(clean):
    """By Wald's test of the graded fit, by the unit that makes its error largest."""
    finding = llbt.audit(clean, format=FORMAT).finding("position")
    c = table(clean, order=True, clusters="prompt")
    res = llbt.fit("object + tie + grade + order", c, cov_type="cluster", groups="prompt")
    assert finding.figures["p_given"] == pytest.approx(res.pvalues["order"], rel=1e-6)
    biased = llbt.audit(drawn(np.random.default_rng(2), 3000, delta=0.1), format=FORMAT)
    assert biased.finding("position").level == "warning"


def test_the_existence_of_estimates_is_asked_with_the_grades():
    """The tie of three outcomes may be finite where a grade that nobody uses is not."""
    rows = [("a", "b", 7, 0, 6, 0, 5), ("b", "c", 4, 0, 5, 0, 6), ("a", "c", 5, 0, 4, 0, 6)]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", *(names := ("++", "+", "=", "-", "--"))])
    c = llbt.from_counts(frame, grades=names)
    with pytest.raises(llbt.errors.SeparationError):
        llbt.fit("object + tie + grade", c)
    finding = llbt.audit(c).finding("separation")
    assert finding.level == "error"
    assert finding.found.startswith("object + tie")
    assert llbt.audit(c.collapse()).finding("separation").level == "ok"


def test_sizes_that_are_no_grades_are_left_aside():
    rng = np.random.default_rng(3)
    frame = llbt.read_judgments(drawn(rng, 500), format=FORMAT).to_frame()
    assert llbt.audit(frame).finding("separation").found.endswith("grade are finite")
    for strength in (frame["strength"] * 0.3, frame["strength"].where(frame.index > 20), frame["strength"] * 0 + 1):
        assert llbt.audit(frame.assign(strength=strength)).finding("separation").found.endswith("tie are finite")


def test_a_table_with_both_bad_is_audited_as_if_they_were_ties():
    rng = np.random.default_rng(4)
    frame = llbt.read_judgments(drawn(rng, 400), format=FORMAT).to_frame()[["object_i", "object_j", "outcome", "judge"]]
    bad = frame.assign(outcome=frame["outcome"].mask(rng.random(400) < 0.1, "bad"))
    c = llbt.from_judgments(bad, outcomes={"bad": "bad"}, clusters="judge")
    assert llbt.audit(c).to_frame().equals(llbt.audit(c.collapse()).to_frame())


# -- the checks of grades ---------------------------------------------------------------------------------------


def test_without_grades_nothing_is_asked_of_them(clean):
    found = llbt.audit(table(clean, clusters="judge").collapse())
    for name in ("grades", "turned_scale"):
        assert found.finding(name).level == "unchecked"
        assert found.finding(name).found == "judgments say who is preferred, not by how much"


def test_how_much_there_is_of_each_grade(clean):
    shares = (clean["grade"].value_counts() / len(clean) * 100).to_dict()
    said = llbt.audit(clean, format=FORMAT).sizes[2]
    expected = zip(FIVE.outcomes, (2, 1, 0, -1, -2), strict=True)
    assert said == "of these " + ", ".join(f"{name} {format_percent(shares[grade] / 100)}" for name, grade in expected)


def test_a_grade_that_nobody_gives_is_named(clean):
    seven = clean.assign(grade=clean["grade"] + np.sign(clean["grade"]) * (clean["grade"].abs() == 2))
    said = llbt.formats.columns(outcome="grade", outcomes={k: k for k in range(-3, 4)})
    counted = llbt.from_judgments(seven, outcome="grade", outcomes={k: k for k in range(-3, 4)})
    for found in (llbt.audit(seven, format=said), llbt.audit(counted)):
        finding = found.finding("grades")
        assert finding.level == "note"
        assert finding.found.startswith("no judge used the grade i+ or j+; of 2,")
        assert finding.figures["share_i+ or j+"] == 0
        assert finding.figures["unused"] == 1


def test_judges_with_the_ends_alone_and_without_them_are_named_by_an_exact_test(clean):
    odd = clean.copy()
    odd.loc[odd["judge"] == 3, "grade"] = 2 * np.sign(odd["grade"])
    odd.loc[odd["judge"] == 5, "grade"] = np.sign(odd["grade"])
    finding = llbt.audit(odd, format=FORMAT).finding("grades")
    assert finding.level == "warning"
    n = odd.query("grade != 0").groupby("judge").size()
    assert f"3: only i+ or j+ in {n[3]} preferences" in finding.found
    assert f"5: never i+ or j+ in {n[5]} preferences" in finding.found
    decided = odd.query("grade != 0")
    ends = (decided["grade"].abs() == 2).groupby(decided["judge"]).agg(["sum", "size"])
    contingency = np.column_stack([ends["sum"], ends["size"] - ends["sum"]])
    assert finding.figures["p_value"] == pytest.approx(chi2_contingency(contingency, correction=False).pvalue)


def test_a_judge_whose_scale_is_turned_is_named(clean):
    odd = clean.assign(grade=np.where(clean["judge"] == 4, -clean["grade"], clean["grade"]))
    found = llbt.audit(odd, format=FORMAT)
    assert found.finding("turned_scale").level == "warning"
    assert "4 decides against the overall worths (z = −" in found.finding("turned_scale").found.replace("-", "−")
    assert found.finding("turned_scale").figures["n"] == 1
    assert (
        llbt.audit(table(odd, clusters="judge")).finding("turned_scale").figures
        == found.finding("turned_scale").figures
    )


def test_a_file_with_turned_sizes_is_named(clean):
    """Where 1 is much better and 2 a little better, as many forms have it."""
    odd = clean.assign(grade=3 * np.sign(clean["grade"]) - clean["grade"])
    finding = llbt.audit(odd, format=FORMAT).finding("turned_scale")
    assert finding.level == "warning"
    assert "the whole gives larger grades to similar objects" in finding.found


def test_the_tests_of_directions_are_those_by_exchange():
    """z of verdicts turned by lot, and of sizes shuffled, by ten thousand draws."""
    rng = np.random.default_rng(5)
    lead, score, size = rng.normal(size=60), rng.choice([-2, -1, 1, 2], 60), rng.choice([1.0, 2.0], 60)
    times = np.ones(60)
    turned = (lead * score * rng.choice([-1, 1], (10_000, 60))).sum(axis=1)
    assert _along(lead * score, times) == pytest.approx((lead * score).sum() / turned.std(), rel=0.03)
    shuffled = np.array([(lead * rng.permutation(size)).sum() for _ in range(10_000)])
    observed = ((lead * size).sum() - shuffled.mean()) / shuffled.std()
    assert _larger(lead, size, times) == pytest.approx(observed, abs=0.05)
    twice = np.repeat(np.arange(60), 2)
    assert _along((lead * score), times * 2) == pytest.approx(_along((lead * score)[twice], np.ones(120)))
    assert _larger(lead, size, times * 2) == pytest.approx(_larger(lead[twice], size[twice], np.ones(120)))


@pytest.mark.parametrize("kind", ["signed", "beside"])
@pytest.mark.usefixtures("unpictured")
@pytest.mark.slow
def test_a_page_of_graded_judgments_audits_their_grades(clean, tmp_path, kind):
    """From the shell: grades in a column of their own, or sizes beside the outcome."""
    path, out = tmp_path / "rows.csv", tmp_path / "page.html"
    said = np.where(clean["grade"] > 0, "i", np.where(clean["grade"] < 0, "j", "tie"))
    beside = clean.assign(outcome=said, size=clean["grade"].abs()).drop(columns="grade")
    (clean if kind == "signed" else beside).to_csv(path, index=False)
    named = {
        "signed": ["--objects", "object_i,object_j", "--outcome", "grade", "--strength", "grade"],
        "beside": ["--strength", "size"],
    }
    result = shell.run("report", str(path), "-o", str(out), *named[kind])
    assert result.exit_code == 0, result.output
    assert llbt.audit(clean, format=FORMAT).finding("grades").found in unescape(out.read_text(encoding="utf-8"))
