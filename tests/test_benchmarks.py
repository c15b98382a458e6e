"""A small part of `python -m benchmarks --quick`, in this process where that will do, and what the report says."""

import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from support.folders import REPOSITORY

from benchmarks import accuracy, compare, frames, promises, prototype, readers, report, running
from benchmarks.contestants import CONTESTANTS
from benchmarks.inputs import FULL, OUTCOMES, TASTE, TIES, TINY, make
from benchmarks.running import Measured

ROOT = REPOSITORY
ORDER = "Davidson ties, order effect"


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    return tmp_path_factory.mktemp("inputs")


def test_inputs_are_the_same_again_and_have_the_ties_they_should(work, tmp_path):
    first, second = (make(TINY[0], folder) for folder in (work, tmp_path))
    counts = frames.cube(first)
    np.testing.assert_array_equal(counts, frames.cube(second))
    assert counts.sum() == TINY[0].judgments
    assert counts[:, :, 1].sum() / counts.sum() == pytest.approx(TIES, abs=0.03)
    assert np.trace(counts.sum(axis=2)) == 0


def test_every_form_holds_the_same_judgments(work):
    folder = make(TINY[0], work)
    integers, words, categories = frames.integers(folder), frames.strings(folder), frames.categories(folder)
    assert words["outcome"].tolist() == [OUTCOMES[k] for k in integers["outcome"]]
    assert words["left"].tolist() == [f"object{k:04d}" for k in integers["left"]]
    assert (categories.astype(object) == words.astype(object)).all(axis=None)


@pytest.mark.slow
def test_readers_and_their_peers_find_the_same_totals(tmp_path):
    readers.write_files(tmp_path, readers.TINY)
    for one in readers.READERS.values():
        assert one.llbt(tmp_path / one.file) == one.peer(tmp_path / one.file), one.text


def test_the_ratio_of_a_reader_stands_in_its_row():
    row = report.readings([readers.Reading("csv", (3.0, 2.0), (40.0, 20.0), equal=False)]).splitlines()[-1]
    assert row.endswith("| 3 s | 2 s | 1.5× (totals differ) | 40 | 20 |")


@pytest.mark.parametrize("name", ["llbt-sparse", "prototype-sparse"])
def test_many_objects_agree_with_plain_scipy(work, name):
    contestant = CONTESTANTS[name]
    folder = make(next(wanted for wanted in TINY if wanted.kind == "sparse"), work)
    found = contestant.run(contestant.prepare(folder))
    off = accuracy.differences(contestant.rule, folder, found, {})
    assert off.keys() == {"log_odds", "tie"}
    assert max(off.values()) < accuracy.LIMIT


@pytest.mark.slow
def test_plain_scipy_agrees_with_sums_over_all_pairs(work):
    folder = make(next(wanted for wanted in TINY if wanted.kind == "sparse"), work)
    found, expected = accuracy.sparse_davidson(folder), accuracy.davidson(frames.cube(folder), order=False)
    assert found["tie"] == pytest.approx(expected["tie"], abs=accuracy.LIMIT)
    np.testing.assert_allclose(np.diff(found["log_odds"]), np.diff(expected["log_odds"]), atol=accuracy.LIMIT)


@pytest.mark.parametrize("name", ["llbt-integers", "llbt-strings", "llbt-judges", "llbt-sides", "prototype"])
def test_exact_contestants_are_exact(work, name):
    contestant = CONTESTANTS[name]
    folder = make(next(wanted for wanted in TINY if wanted.kind == contestant.kind), work)
    found = contestant.run(contestant.prepare(folder))
    off = accuracy.differences(contestant.rule, folder, found, {})
    assert {"log_odds", "se", "tie", "tie_se"} <= off.keys()
    assert max(off.values()) < accuracy.LIMIT


def test_lists_are_fitted_as_plain_numpy_does(work):
    contestant = CONTESTANTS["llbt-lists"]
    folder = make(next(wanted for wanted in TINY if wanted.kind == "lists"), work)
    found = contestant.run(contestant.prepare(folder))
    off = accuracy.differences(contestant.rule, folder, found, {})
    assert off.keys() == {"log_odds", "se"}
    assert max(off.values()) < accuracy.LIMIT


@pytest.mark.parametrize("name", ["llbt-count-duckdb", "llbt-count-polars"])
def test_parts_of_parquet_hold_the_counts_that_are_kept_of_them(work, name):
    folder = make(next(wanted for wanted in TINY if wanted.kind == "parts"), work)
    contestant = CONTESTANTS[name]
    found = contestant.run(contestant.prepare(folder))
    off = accuracy.differences(contestant.rule, folder, found, {})
    assert {"log_odds", "se", "tie", "order"} <= off.keys()
    assert max(off.values()) < accuracy.LIMIT


def test_what_ten_times_as_many_judgments_would_take_is_extrapolated(tmp_path):
    huge = next(wanted for wanted in FULL if wanted.name == report.HUGE)
    report.write(tmp_path, [Measured(CONTESTANTS["llbt-count-duckdb"], huge, [30.0], [], [158.0])], repeats=1)
    assert "| llbt-count-duckdb | 30 s | 3.3 | 158 | 5 min |" in (tmp_path / "RESULTS.md").read_text()


def test_effects_of_judges_are_found_as_they_were_drawn(work):
    contestant = CONTESTANTS["llbt-laplace"]
    folder = make(next(wanted for wanted in TINY if wanted.kind == contestant.kind), work)
    found = contestant.run(contestant.prepare(folder))
    assert found["converged"]
    assert found["sigma"] == pytest.approx(TASTE, abs=0.12)


def test_a_wrong_estimate_is_noticed(work):
    folder = make(TINY[0], work)
    found = prototype.fit(frames.cube(folder))
    found["log_odds"] = found["log_odds"] + np.arange(TINY[0].objects) * 1e-7
    m = Measured(CONTESTANTS["prototype"], TINY[0], cold=[1.0])
    m.off = accuracy.differences(ORDER, folder, found, {})
    assert m.failed
    assert not Measured(CONTESTANTS["choix"], TINY[0], cold=[1.0], off={"log_odds": 1e-3}).failed
    assert Measured(CONTESTANTS["prototype"], TINY[0], cold=[1.0], off={"log_odds": math.nan}).failed


def test_resampling_by_the_prototype_spreads_as_the_standard_errors_say(work):
    counts = frames.cube(make(TINY[0], work))
    spread = prototype.bootstrap(counts, 400).std(axis=0)
    found = prototype.fit(counts)
    np.testing.assert_allclose(spread, [*found["se"], found["tie_se"], found["order_se"]], rtol=0.2)


@pytest.mark.slow
def test_a_worker_answers_and_the_report_says_who_did_not_run(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--quick", "--only", "llbt-strings", "--peers-dir", tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "1 contestants, 0 wrong" in done.stdout
    small = next(wanted for wanted in TINY if wanted.kind == "plain")
    ran = Measured(CONTESTANTS["llbt-integers"], small, [2.0], [0.5], [3.0])
    absent = Measured(CONTESTANTS["choix"], small, reason="not installable: no wheel")
    report.write(tmp_path, [ran, absent], repeats=1)
    text = (tmp_path / "RESULTS.md").read_text()
    assert "| choix | tiny | not installable: no wheel |" in text
    assert "500 ms" in text


def test_what_has_run_for_long_is_not_repeated(monkeypatch, work):
    names = {"llbt-cluster": running.ENOUGH, "llbt-bootstrap": running.ENOUGH / 2, "loop-bootstrap": 0.0}

    def run_once(m, *_):
        m.spent += names[m.contestant.name]
        m.cold.append(1.0)
        m.extra_mb.append(1.0)
        return m

    monkeypatch.setattr(running, "_run_once", run_once)
    found = running.measure_all([(replace(CONTESTANTS[name], rule=None), TINY[0]) for name in names], 3, work, work)
    assert [len(m.cold) for m in found] == [1, 2, 3]


def test_promises_are_kept_broken_or_not_measured():
    large = {"llbt": 0.1, "choix": 0.5}
    names = {"llbt": "llbt-integers", "choix": "choix"}
    where = TINY[0]
    found = {(name, where.name): Measured(CONTESTANTS[name], where, [1.0], [large[k]]) for k, name in names.items()}
    context = promises.Context(found)
    assert promises.times(["llbt-integers"], ["choix"], ["tiny"], 4)(context) == ("tiny 5× choix", True)
    assert promises.times(["llbt-integers"], ["choix"], ["tiny"], 6)(context)[1] is False
    assert promises.times(["llbt-integers"], ["evalica-codes"], ["tiny"], 4)(context) == ("not measured", None)
    found["choix", "tiny"] = Measured(CONTESTANTS["choix"], where, reason="stopped after 120 s", timed_out=True)
    assert promises.times(["llbt-integers"], ["choix"], ["tiny"], 4)(context) == ("tiny > 1,200× choix", True)


def test_a_promise_says_why_it_was_not_held_or_is_retired(tmp_path):
    known = {promise for promise, _ in promises.PROMISES}
    assert (promises.WHY.keys() | promises.RETIRED.keys()) <= known
    assert not promises.WHY.keys() & promises.RETIRED.keys()
    large = next(wanted for wanted in FULL if wanted.name == "L")
    report.write(tmp_path, [Measured(CONTESTANTS["llbt-integers"], large, [1.0], [0.1], [60.0])], repeats=1)
    memory = "L in ≤ 50 MB beyond the input"
    written = (tmp_path / "RESULTS.md").read_text().splitlines()
    line = next(row for row in written if row.startswith(f"| {memory}"))
    assert line.endswith(f"| 60 MB | retired: {promises.RETIRED[memory]} |")
    style = "Style control, M: ≥ 8× arena-rank"
    unheld = report._promises([promises._verdict(style, "6×", False)])
    assert f"| **no**: {promises.WHY[style]} |" in unheld
    assert "| yes |" in report._promises([promises._verdict(style, "9×", True)])


def test_what_became_slower_or_larger_by_more_than_noise_is_told():
    then = {f"llbt-{k}@S": {"warm": [1.0, 1.02, 0.99], "extra_mb": [50.0, 50.0, 51.0]} for k in "abc"}
    noisy = {"llbt-d@S": {"warm": [1.0, 2.0, 0.6], "extra_mb": [1.0, 1.0, 1.0]}}
    then |= noisy | {"choix@S": {"warm": [1.0], "extra_mb": [1.0]}}
    assert compare.worse(then, then) == []
    now = then | {
        "llbt-a@S": {"warm": [1.5, 1.52, 1.49], "extra_mb": [50.0, 50.0, 51.0]},
        "llbt-b@S": {"warm": [1.0, 1.02, 0.99], "extra_mb": [80.0, 81.0, 80.0]},
        "llbt-d@S": {"warm": [1.4, 2.6, 0.9], "extra_mb": [4.0, 4.0, 4.0]},
        "choix@S": {"warm": [9.0], "extra_mb": [1.0]},
    }
    assert compare.worse(then, now) == ["llbt-a@S: 1 → 1.5 s (1.50×)", "llbt-b@S: 50 → 80 MB (1.60×)"]
