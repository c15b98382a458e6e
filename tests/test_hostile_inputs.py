"""Inputs that once ended in errors of other libraries, or were misread silently: refused in words, or answered."""

from __future__ import annotations

import gzip
import os
import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest
from support.calls import counts, fitted, graded
from support.shell import answered

import llbt
from llbt.errors import DesignError, FormulaError, JudgmentError, OptionError

AGES = np.arange(30) / 10


def by_age() -> llbt.Comparisons:
    rng = np.random.default_rng(1)
    first = rng.integers(0, 4, 600)
    second = (first + rng.integers(1, 4, 600)) % 4
    frame = pd.DataFrame({"object_i": first, "object_j": second, "outcome": rng.choice(["i", "j"], 600)})
    return llbt.from_judgments(frame.assign(x=rng.choice(AGES, 600)), covariates="x", numeric="x")


@pytest.mark.parametrize("rest", ["<x", "& age", "%x", "== 3", "^ x", "(& age)", "<"])
def test_a_sign_in_place_of_a_term_is_marked(rest):
    with pytest.raises(FormulaError, match="a sign stands where a term should be") as caught:
        llbt.fit(f"object + {rest}", counts())
    *_, text, caret = str(caught.value).split("\n")
    assert text[caret.index("^")] == rest.strip("(")[0]


@pytest.mark.parametrize("method", ["auto", "eliminate", "glm"])
def test_a_spline_with_more_columns_than_values_is_refused(method):
    with pytest.raises(DesignError, match=r"df=4|method='eliminate'"):
        llbt.fit("object * cr(x, df=99)", by_age(), method=method)
    assert llbt.fit("object * cr(x, df=4)", by_age(), method="eliminate").solution.converged  # what the message says


@pytest.mark.parametrize("statistic", [3, lambda res: "x", lambda res: object()])
def test_a_statistic_that_is_none(statistic):
    with pytest.raises(
        OptionError, match=r"expected a function, or None|expected a number, a Series, a mapping or an array of numbers"
    ):
        llbt.bootstrap(fitted(), statistic, n=2, rng=1)
    assert llbt.bootstrap(fitted(), lambda res: res.params, n=2, rng=1).replicates.shape[0] == 2


def test_a_graded_model_says_nothing_of_judges_and_the_remedy_does():
    res = graded()
    table = llbt.from_judgments(
        pd.DataFrame({"object_i": list("ABC"), "object_j": list("BCA"), "outcome": list("iji"), "judge": 1}),
        clusters="judge",
    )
    with pytest.raises(DesignError, match="expected a model of wins, losses and ties") as caught:
        llbt.judges.summary(table, model=res)
    pasted = str(caught.value).split("model=")[1].split(", where")[0]
    model = eval(pasted, {"llbt": llbt, "res": res})
    assert llbt.judges.summary(table, model=model).to_frame()["model_agreement"].notna().all()


@pytest.mark.parametrize("name", ["deep.json", "deep.jsonl"])
def test_json_that_is_nested_too_deeply(name, tmp_path):
    file = tmp_path / name
    file.write_text('{"object_i": ' + "[" * 100_000 + "]" * 100_000 + "}", encoding="utf-8")
    with pytest.raises(JudgmentError, match="nested too deeply for a record"):
        llbt.from_judgments(file)


@pytest.mark.parametrize("name", ["a\ud800.html", "a\0.html", "a" * 300 + ".html"])
def test_a_report_under_a_name_that_no_file_can_have(name, tmp_path):
    with pytest.raises(OptionError, match="no file can be named"):
        llbt.write_report(fitted(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_correlations_that_no_data_have():
    with pytest.raises(OptionError, match="no data have the three correlations"):
        llbt.metrics.williams(-1, 0.4, 0.3, 20)
    matrix = np.array([[1, -1, 0.4], [-1, 1, 0.3], [0.4, 0.3, 1]])  # of data, no eigenvalue is negative
    assert np.linalg.eigvalsh(matrix).min() < 0
    x = np.random.default_rng(1).normal(size=(3, 9))
    x[1] = x[0] + x[2]  # on the boundary: the determinant is 0 to rounding
    r = np.corrcoef(x)
    llbt.metrics.williams(r[0, 2], r[1, 2], r[0, 1], 9)


ROWS = pd.DataFrame({"object_i": list("abca"), "object_j": list("bcac"), "outcome": list("ijij")})
HALF = "\ud800"  # half a character


def piped(raw: bytes, place) -> str:
    """A named pipe with these bytes, which can be read once."""
    os.mkfifo(place)
    threading.Thread(target=place.write_bytes, args=(raw,), daemon=True).start()
    return str(place)


def test_a_pipe_is_read_once(tmp_path):
    raw = ROWS.to_csv(index=False).encode()
    expected = llbt.from_judgments(ROWS).to_frame()
    for name, content in [("a", raw), ("b.csv", raw), ("c", gzip.compress(raw))]:
        pd.testing.assert_frame_equal(llbt.from_judgments(piped(content, tmp_path / name)).to_frame(), expected)
    assert llbt.audit(piped(raw, tmp_path / "d")).sizes == llbt.audit(ROWS).sizes
    answered("audit", piped(raw, tmp_path / "f"))


@pytest.mark.usefixtures("unpictured")
@pytest.mark.slow
def test_a_report_of_a_pipe(tmp_path):
    llbt.write_report(piped(ROWS.to_csv(index=False).encode(), tmp_path / "a"), tmp_path / "r.html")


def test_an_infinite_number_is_no_label(tmp_path):
    (tmp_path / "a.json").write_text('[{"object_i": Infinity, "object_j": "a", "outcome": "i"}]', encoding="utf-8")
    for source in (tmp_path / "a.json", [{"object_i": -np.inf, "object_j": "a", "outcome": "i"}]):
        with pytest.raises(JudgmentError, match="column 'object_i' holds an infinite number"):
            llbt.from_judgments(source)
    with pytest.raises(JudgmentError, match="column 'day' holds an infinite number"):
        llbt.from_judgments(ROWS.assign(day=[1.0, 2.0, 3.0, np.inf]), clusters="day")


def test_bytes_are_the_text_that_they_are(tmp_path):
    binary = ROWS.assign(object_i=[label.encode() for label in ROWS["object_i"]])
    binary.to_parquet(tmp_path / "a.parquet")
    for source in (binary, tmp_path / "a.parquet"):
        assert llbt.from_judgments(source).objects == ("a", "b", "c")
    with pytest.raises(JudgmentError, match="is not UTF-8"):
        llbt.from_judgments(ROWS.assign(object_i=[b"\xff", b"b", b"c", b"a"]))


@pytest.mark.parametrize("kind", [">f2", ">f4", ">i8", ">u2"])
def test_numbers_of_the_other_byte_order(kind):
    """Files of big-endian machines hold the same numbers."""
    ratings = pd.DataFrame({"judge": [1, 1, 2, 2], "object": list("abab"), "rating": [1, 2, 2, 1]})
    other = ratings.assign(**{name: ratings[name].to_numpy().astype(kind) for name in ("judge", "rating")})
    expected = llbt.from_ratings(ratings).to_frame()
    pd.testing.assert_frame_equal(llbt.from_ratings(other).to_frame(), expected)
    assert other["rating"].dtype == np.dtype(kind)  # the caller's frame stays
    table = llbt.from_judgments(ROWS.assign(judge=np.array([1, 2, 3, 4], kind)), clusters="judge")
    assert table.cluster_counts.columns[0].levels.tolist() == [1, 2, 3, 4]


def half(**columns):
    frame = pd.DataFrame(dict(enumerate(columns.values())))
    return frame.set_axis(pd.Index([HALF if name == "half" else name for name in columns], dtype=object), axis=1)


HALVES = {
    "from_rankings": lambda: llbt.from_rankings(half(half=[1, 2], B=[2, 1]), objects=[HALF, "B"]),
    "from_scores": lambda: llbt.from_scores(half(half=[0.1, 0.2], B=[0.2, 0.1])),
    "leaderboard": lambda: llbt.scores.leaderboard(half(half=[0.1, 0.2], B=[0.2, 0.1])),
    "from_ratings": lambda: llbt.from_ratings(
        pd.DataFrame({"judge": [1, 1], "object": pd.Series([HALF, "b"], dtype=object), "rating": [1, 2]})
    ),
    "from_long": lambda: llbt.scores.SystemScores.from_long(
        pd.DataFrame({"system": pd.Series([HALF, "b"], dtype=object), "instance": 1, "score": [1.0, 2.0]})
    ),
    "metrics": lambda: llbt.metrics.MetricScores.from_matrices({"x": np.eye(2)}, np.eye(2), systems=[HALF, "b"]),
    "sequential": lambda: llbt.planning.sequential([HALF, "b"]),
}


@pytest.mark.parametrize("door", HALVES)
def test_half_a_character_is_refused_at_every_door(door):
    with pytest.raises(JudgmentError, match="has half a character"):
        HALVES[door]()


def test_parquet_whose_text_is_damaged(tmp_path):
    file = tmp_path / "a.parquet"
    ROWS.assign(object_i=["aaaaaaaa", "b", "c", "aaaaaaaa"]).to_parquet(file, compression=None)
    file.write_bytes(file.read_bytes().replace(b"aaaaaaaa", b"aaaa\xff\xfeaa"))
    with pytest.raises(JudgmentError, match="cannot be read as parquet"):
        llbt.from_judgments(file)


def test_ties_are_not_drawn_at_what_is_no_covariate():
    with pytest.raises(OptionError, match="'zz' is not a covariate of the formula"):
        llbt.plot.ties(fitted(), at={"zz": 1})


def test_periods_and_rates_beyond_what_numbers_hold():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"object_i": "a", "object_j": "b", "outcome": rng.choice(["i", "j"], 90)})
    res = llbt.fit("object", llbt.from_judgments(frame.assign(day=np.arange(90) // 30), clusters="day"))
    with pytest.raises(OptionError, match="expected at most 1,000,000 periods"):
        llbt.drift(res, time="day", periods=2**62)
    with pytest.raises(OptionError, match="expected at most 1e"):
        llbt.drift(res, time="day", sigma=1e308)
    assert np.isfinite(llbt.drift(res, time="day", sigma=1e3).estimate).all()


def test_a_judge_has_one_score_whether_text_or_number():
    def judged(judge):
        return llbt.from_judgments(ROWS.assign(judge=judge), clusters="judge")

    monitor = llbt.planning.sequential(list("abc"), by="judge").update(judged(1))
    with pytest.raises(JudgmentError, match="judges with a score from an earlier update: '1'"):
        monitor.update(judged("1"))


@pytest.mark.parametrize("objects", [[np.nan, "a"], [["a"], "b"]])
def test_what_is_no_object_of_a_sequence(objects):
    with pytest.raises(OptionError, match="expected a list of labels"):
        llbt.planning.sequential(objects)


def test_tasks_without_a_hash():
    x, y, z = np.random.default_rng(1).normal(size=(3, 6, 4))
    with pytest.raises(OptionError, match="expected a list of labels"):
        llbt.metrics.compare(x, y, z, tasks=[[1]] * 4, n=9, rng=1)


@pytest.mark.parametrize("test", ["t", "wilcoxon", "permutation"])
def test_tests_of_scores_do_not_depend_on_their_unit(test):
    """Scores times 2^-660, about 1e-199, whose squares are 0 to a computer: exactly the same tests."""
    scores = pd.DataFrame(np.random.default_rng(1).normal(size=(12, 3)), columns=list("ABC"))
    small = scores * 2.0**-660
    p, expected = (llbt.scores.leaderboard(s, test=test, n=99, rng=1).p_value for s in (small, scores))
    np.testing.assert_array_equal(p, expected)
    mean, sd = llbt.scores.pairwise(small).to_frame(), llbt.scores.pairwise(scores).to_frame()
    np.testing.assert_array_equal(mean["p_t"], sd["p_t"])
    np.testing.assert_array_equal(mean["conf_low"], sd["conf_low"] * 2.0**-660)


def test_columns_with_odd_names_may_stand_beside_those_that_are_read():
    expected = llbt.from_judgments(ROWS).to_frame()
    numbered = ROWS.assign(extra=1).rename(columns={"extra": 0})
    twice = ROWS.assign(z=1, y=2).rename(columns={"y": "z"})
    for frame, name in ((numbered, "0"), (twice, "z")):
        table = llbt.from_judgments(frame)
        pd.testing.assert_frame_equal(table.to_frame(), expected)
        assert f"columns not used: '{name}'" in table.notes
        llbt.audit(frame)
    with pytest.raises(JudgmentError, match="a column named 0, of type int") as caught:
        llbt.from_judgments(numbered, covariates="0")
    frame = numbered.copy()
    exec(str(caught.value).split("text: ")[1].rstrip("."), {"frame": frame})
    assert llbt.from_judgments(frame, covariates="0").covariates
    with pytest.raises(JudgmentError, match="several columns named 'z'"):
        llbt.from_judgments(twice, covariates="z")
    with pytest.raises(JudgmentError, match="several columns named 'count'"):  # which may say how often rows count
        llbt.from_judgments(twice.rename(columns={"z": "count"}))


def test_names_of_judges_that_make_many_machines():
    rng = np.random.default_rng(4)
    units = pd.DataFrame({"object_i": "a", "object_j": "b", "prompt": range(60), "outcome": rng.choice(["i", "j"], 60)})
    human = units.head(30).assign(judge=[f"person {k % 3}" for k in range(30)])
    machine = units.assign(judge=[f"run {k % 5}" for k in range(60)])
    with pytest.raises(
        JudgmentError, match=r"makes 5 machines \('run 0', .* no unit has a verdict of every machine"
    ) as caught:
        llbt.judges.calibrate(human, machine, formula="object")
    pasted = str(caught.value).split("name: ")[1].rstrip(".")
    one = eval(pasted, {"machine": machine})
    assert llbt.judges.calibrate(human, one, formula="object").omega.index.tolist() == ["machine"]


@pytest.mark.parametrize("n", [10**11, 10**18])
def test_more_resamples_than_memory_holds(n):
    with pytest.raises(DesignError, match=r"table of estimates of 1e\+1\d resamples takes .* GiB, and there are"):
        llbt.bootstrap(fitted(), n=n)


def test_numbers_that_no_array_holds_are_refused():
    for call in (lambda: llbt.bootstrap(fitted(), n=10**400), lambda: llbt.drift(fitted(), time="day", periods=2**63)):
        with pytest.raises(OptionError, match=r"(n|periods) is a number beyond 2\*\*63; expected a smaller one"):
            call()
    llbt.bootstrap(fitted(), n=2, rng=10**400)  # a seed has any length


def test_a_matrix_of_structs_or_lists():
    for column in (pl.Series("all", [{"a": 0, "b": 1}, {"a": 2, "b": 0}]), pl.Series("all", [[0, 1], [2, 0]])):
        with pytest.raises(JudgmentError, match="wins= has lists or structs in 'all'; expected columns of numbers"):
            llbt.from_matrix(pl.DataFrame([column]))
    wins = pl.DataFrame({"row": ["a", "b"], "a": [0, 2], "b": [1, 0]})
    assert llbt.from_matrix(wins).objects == ("a", "b")
