"""What one question or one report works out is worked out once: calls are counted, and answers stay the same."""

import collections
import gc
import pickle
import threading
import weakref
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.errors import OptionError
from llbt.fitting import prediction
from llbt.formulas import design
from llbt.inference import bootstrap, bootstrap_record, pair_tests, simultaneous, unit_influences

TABLE = llbt.load_dataset("dras_table1").pool()


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> collections.Counter:
    """How often formulas were coded (by table), max |z| simulated, and tables refitted without one unit."""
    found: collections.Counter = collections.Counter()
    alive = []  # so that no two tables have one id

    def counted(module, name, key) -> None:
        original = getattr(module, name)

        def counting(*args, **kwargs):
            alive.append(args)
            found[key(args)] += 1
            return original(*args, **kwargs)

        monkeypatch.setattr(module, name, counting)

    counted(design, "code_formula", lambda args: ("coding", args[0], id(args[1])))
    counted(simultaneous, "max_z", lambda args: "max z")
    counted(bootstrap_record, "statistic_influences", lambda args: "leave one out")
    for module in (bootstrap, unit_influences):
        counted(module, "statistic_of", lambda args: "refit")
    return found


def codings(counts: collections.Counter) -> dict:
    return {key: n for key, n in counts.items() if key[0] == "coding"}


@pytest.mark.parametrize("confidence", [0.95, 0.9])
@pytest.mark.parametrize("formula", ["object + tie", "object * SEX + tie"])
@pytest.mark.slow
def test_a_report_codes_a_formula_once_and_simulates_once(counts, tmp_path: Path, formula: str, confidence) -> None:
    cems = llbt.load_dataset("cems").pool("ENG")
    llbt.write_report(cems, formula=formula, confidence=confidence, path=tmp_path / "page.html")
    coded, simulated = dict(codings(counts)), counts["max z"]
    assert set(coded.values()) == {1}, counts
    found = llbt.sensitivity(llbt.fit(formula, cems), confidence=confidence)  # its other tables have fits of their own
    others = found.to_frame().query("choice != 'as fitted'")
    # the audit's own table, the fit's, and one for each refit
    assert sum(n for key, n in coded.items() if key[1] == formula) <= 2 + others["refits"].sum()
    assert simulated == 1 + others["rank_set"].notna().sum()


def test_a_picture_of_intervals_simulates_once(counts) -> None:
    res = llbt.fit("object + tie", TABLE)
    ax = llbt.plot.intervals(res)
    assert (counts["max z"], sum(codings(counts).values())) == (1, 1)
    ax.clear()
    llbt.plot.intervals(res, scale="elo")
    llbt.pairwise(res, adjust="holm", confidence=0.8).letters()
    assert (counts["max z"], sum(codings(counts).values())) == (1, 1)


def test_other_seeds_places_and_generators_are_simulated_anew(counts) -> None:
    res = llbt.fit("object * SEX + tie", llbt.load_dataset("cems").pool("ENG"))
    levels = llbt.load_dataset("cems").pool("ENG").columns[0].levels.tolist()
    for level in levels:
        llbt.pairwise(res, at={"SEX": level})
    assert counts["max z"] == len(levels)
    llbt.pairwise(res, at={"SEX": levels[0]}, rng=1)
    assert counts["max z"] == len(levels) + 1
    rng = np.random.default_rng(0)
    drawn = [llbt.pairwise(res, at="average", rng=rng).critical for _ in range(2)]
    assert counts["max z"] == len(levels) + 3
    assert drawn[0] != drawn[1]


@pytest.mark.slow
def test_answers_are_those_of_a_fit_that_was_asked_nothing_else() -> None:
    """Second route: each answer from a fit of its own, and from a pickled one, which has lost its codings."""
    cems = llbt.load_dataset("cems").pool("ENG")
    asked = llbt.fit("object * SEX + tie", cems)
    levels = cems.columns[0].levels.tolist()
    questions = [
        lambda res, at=at, adjust=adjust, c=c: llbt.pairwise(res, at=at, adjust=adjust, confidence=c)
        for at in ("average", *({"SEX": level} for level in levels))
        for adjust in ("single-step", "holm", None)
        for c in (0.95, 0.8)
    ]
    questions += [
        llbt.worth,
        lambda res: res.predict(at={"SEX": levels[0]}),
        lambda res: llbt.leaderboard(res, at="average"),
    ]
    for question in questions:
        alone, pickled = llbt.fit("object * SEX + tie", cems), pickle.loads(pickle.dumps(asked))
        for other in (alone, pickled):
            pd.testing.assert_frame_equal(question(asked).to_frame(), question(other).to_frame())


def test_what_is_shared_cannot_be_overwritten() -> None:
    pairs = llbt.pairwise(llbt.fit("object + tie", TABLE))
    for name in ("pairs", "std_error", "p_value", "p_adjusted"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(pairs, name)[0] = 0
    frame = pairs.to_frame()
    frame.loc[0, "p_value"] = 0.5  # a frame is the caller's own


def test_what_is_kept_goes_with_the_fit() -> None:
    res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
    llbt.leaderboard(res)
    gone = [weakref.ref(x) for x in (res, res.design, res.comparisons, prediction.codings_of(res))]
    gc.collect()  # fits of other tests that only cycles of references keep
    before = len(design._CODINGS), len(pair_tests._TESTS)
    del res
    gc.collect()
    assert [ref() for ref in gone] == [None] * 4
    assert (len(design._CODINGS), len(pair_tests._TESTS)) == (before[0] - 1, before[1] - 1)


def test_threads_that_ask_one_fit_get_one_answer() -> None:
    res = pickle.loads(pickle.dumps(llbt.fit("object + tie", TABLE)))
    frames: list = [None] * 8

    def ask(k: int) -> None:
        frames[k] = llbt.leaderboard(res, scale="elo").to_frame()

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(len(frames))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for frame in frames:
        pd.testing.assert_frame_equal(frame, frames[0])


def first_worth(res: llbt.LLBTResults) -> float:
    return float(res.params.iloc[0])


def test_nothing_is_left_out_before_bca_is_asked_for(counts) -> None:
    res = llbt.fit("object + tie", TABLE)
    boot = llbt.bootstrap(res, first_worth, n=20, rng=1)
    boot.as_text()
    boot.conf_int()
    boot.conf_int(method="basic")
    assert (counts["refit"], counts["leave one out"]) == (20, 0)
    first = boot.conf_int(method="bca")
    cells = int((res.counts >= 1).sum())
    assert (counts["refit"], counts["leave one out"]) == (20 + cells, 1)
    pd.testing.assert_frame_equal(boot.conf_int(method="bca"), first)
    assert counts["leave one out"] == 1
    kept = pickle.loads(pickle.dumps(boot))
    pd.testing.assert_frame_equal(kept.conf_int(method="bca"), first)


def test_a_pickle_says_that_it_lacks_the_statistic() -> None:
    boot = llbt.bootstrap(llbt.fit("object + tie", TABLE), lambda res: first_worth(res), n=10, rng=1)
    kept = pickle.loads(pickle.dumps(boot))
    pd.testing.assert_frame_equal(kept.conf_int(), boot.conf_int())
    with pytest.raises(OptionError, match="needs the statistic"):
        kept.conf_int(method="bca")
