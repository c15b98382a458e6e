"""The questions that a user asks of a fit, a fit of each kind of model, and which kind answers which question."""

from __future__ import annotations

import csv
import tempfile
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from support.large import few_are_many

import llbt
from llbt.errors import LLBTError

OBJECTS = ("A", "B", "C", "D")
SKILL = pd.DataFrame({"object": list(OBJECTS), "skill": [3.0, 2.0, 1.5, 1.0]})
JUDGES = tuple(f"J{g:02d}" for g in range(16))
MATRIX = Path(__file__).parent.parent / "questions.csv"
_WORTHS = np.array([0.5, 0.2, -0.1, -0.6])
_TASTES = np.random.default_rng(7).normal(0, 0.4, (len(JUDGES), len(OBJECTS)))  # judges differ, in every table alike


@dataclass(frozen=True)
class Kind:
    """A kind of fit: how a fit is made of a formula and, of the same data, a smaller one."""

    whole: Callable[[], Any]
    smaller: Callable[[], Any]


def _judged() -> pd.DataFrame:
    """Sixteen judges, women and men, compare every pair of four objects twice in each of three weeks."""
    rng = np.random.default_rng(11)
    rows = []
    for g, judge in enumerate(JUDGES):
        lam = _WORTHS + _TASTES[g]
        for week in range(3):
            for i in range(4):
                for j in range(i + 1, 4):
                    p = np.exp([lam[i] - lam[j], -0.5, lam[j] - lam[i]])
                    rows.append((OBJECTS[i], OBJECTS[j], *rng.multinomial(2, p / p.sum()), judge, "fm"[g % 2], week))
    names = ["object_i", "object_j", "wins_i", "ties", "wins_j", "judge", "sex", "week"]
    return pd.DataFrame(rows, columns=names)


@cache
def judged() -> llbt.Comparisons:
    """The judgments, split by sex, with judges and weeks beside the counts."""
    return llbt.from_counts(_judged(), covariates="sex", clusters=["judge", "week"])


@cache
def by_judge() -> llbt.Comparisons:
    """The judgments, split by judge."""
    return llbt.from_counts(_judged(), covariates=["judge", "sex"], clusters="week")


def _ranks(times: int) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    said = np.concatenate([_WORTHS + _TASTES + rng.gumbel(size=_TASTES.shape) / 2 for _ in range(times)])
    ranks = pd.DataFrame(np.argsort(np.argsort(-said, axis=1), axis=1) + 1, columns=list(OBJECTS))
    number = np.arange(len(ranks))
    return ranks.assign(judge=[JUDGES[k % 16] for k in number], sex=["fm"[k % 2] for k in number], week=number // 16)


@cache
def ranked() -> llbt.Rankings:
    """Three rankings of four objects by each judge."""
    return llbt.from_rankings(
        _ranks(3), objects=list(OBJECTS), covariates="sex", clusters=["judge", "week"], object_covariates=SKILL
    )


@cache
def answered() -> llbt.Patterns:
    """What 200 judges say of each of three pairs."""
    rng = np.random.default_rng(8)
    pairs = (("A", "B"), ("A", "C"), ("B", "C"))
    lam = dict(zip(OBJECTS, _WORTHS, strict=True))
    rows = {f"{i}{j}": _answers(rng, lam[i] - lam[j], 200) for i, j in pairs}
    frame = pd.DataFrame(rows).assign(sex=["fm"[k % 2] for k in range(200)])
    return llbt.from_patterns(frame, "comparisons", objects=list("ABC"), columns=list(rows), covariates="sex")


def _answers(rng: np.random.Generator, difference: float, number: int) -> np.ndarray:
    p = np.exp([difference, -0.5, -difference])
    return rng.choice([1, 0, -1], number, p=p / p.sum())


@cache
def judgments() -> pd.DataFrame:
    """The judgments of people, and of a machine that errs, one of each prompt."""
    rng = np.random.default_rng(3)
    rows = []
    for prompt in range(240):
        i, j = rng.choice(4, 2, replace=False)
        p = np.exp([_WORTHS[i] - _WORTHS[j], -0.5, _WORTHS[j] - _WORTHS[i]])
        said = rng.choice(3, p=p / p.sum())
        machine = said if rng.random() < 0.8 else rng.choice(3)
        rows.append((OBJECTS[i], OBJECTS[j], prompt, ("i", "tie", "j")[said], ("i", "tie", "j")[machine]))
    return pd.DataFrame(rows, columns=["object_i", "object_j", "prompt", "people", "machine"])


def _calibrated(formula: str) -> Any:
    frame = judgments()
    human = frame.rename(columns={"people": "outcome"}).drop(columns="machine")[:120]
    machine = frame.rename(columns={"machine": "outcome"}).drop(columns="people").assign(judge="m")
    return llbt.judges.calibrate(human, machine, formula=formula, unit="prompt")


def _large(formula: str) -> Any:
    with few_are_many(2):
        return llbt.fit(formula, judged())


def _classes(formula: str) -> Any:
    return llbt.judges.classes(formula, judged(), k=[2], starts=5, rng=1)[2]


@cache
def _graded() -> Any:
    rows = [("A", "B", 9, 8, 7, 5, 2), ("A", "C", 9, 9, 6, 3, 1), ("B", "C", 7, 8, 9, 6, 4)]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", *(names := ("++", "+", "=", "-", "--"))])
    return llbt.fit("object + tie + grade", llbt.from_counts(frame, grades=names))


KINDS: Mapping[str, Kind] = {
    "plain": Kind(lambda: llbt.fit("object + tie", judged()), lambda: llbt.fit("object", judged())),
    "mixed": Kind(
        lambda: llbt.fit("object + tie + (object | judge)", judged()),
        lambda: llbt.fit("object + tie", judged()),
    ),
    "discrimination": Kind(
        lambda: llbt.fit("object + tie", by_judge(), discrimination="judge"),
        lambda: llbt.fit("object + tie", by_judge()),
    ),
    "rankings": Kind(lambda: llbt.fit("object", ranked()), lambda: llbt.fit("skill", ranked())),
    "patterns": Kind(
        lambda: llbt.fit("object + tie + dependence", answered()),
        lambda: llbt.fit("object + tie", answered()),
    ),
    "large": Kind(lambda: _large("object + tie"), lambda: _large("object")),
    "classes": Kind(lambda: _classes("object + tie"), lambda: _classes("object")),
    "calibrated": Kind(lambda: _calibrated("object + tie"), lambda: _calibrated("object")),
}


@cache
def fit_of(kind: str) -> Any:
    """Return the fit of a kind that all questions are asked of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return KINDS[kind].whole()


@cache
def smaller(kind: str) -> Any:
    """Return a fit of a smaller model to the same data."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return KINDS[kind].smaller()


def _report(res: Any) -> str:
    with tempfile.TemporaryDirectory() as folder:
        return Path(llbt.write_report(res, Path(folder) / "report.html")).read_text()


def _drawn(kind: str) -> dict[str, Any]:
    """Return how few tables are drawn from a fit that is tested by drawn tables."""
    few = {"mixed": 18, "discrimination": 66, "rankings": 12, "patterns": 21}
    return {"n": few[kind], "rng": 1} if kind in few else {}


QUESTIONS: Mapping[str, Callable[[str], Any]] = {
    "worth": lambda kind: llbt.worth(fit_of(kind)),
    "leaderboard": lambda kind: llbt.leaderboard(fit_of(kind)),
    "pairwise": lambda kind: llbt.pairwise(fit_of(kind), **({"objects": ["A", "B", "C"]} if kind == "large" else {})),
    "contrasts": lambda kind: llbt.contrasts(fit_of(kind), {"A": {"A": 1, "B": -1}}),
    "quasi_variances": lambda kind: llbt.quasi_variances(fit_of(kind)),
    "anova": lambda kind: llbt.anova(smaller(kind), fit_of(kind)),
    "drop1": lambda kind: llbt.drop1(fit_of(kind)),
    # worths of two groups of judges have a scale each, which discriminations of these judges absorb
    "add1": lambda kind: llbt.add1(fit_of(kind), "tie:sex" if kind == "discrimination" else "object:sex"),
    "goodness_of_fit": lambda kind: llbt.goodness_of_fit(fit_of(kind), **_drawn(kind)),
    "residuals": lambda kind: llbt.residuals(fit_of(kind), **_drawn(kind)),
    "influence": lambda kind: llbt.influence(fit_of(kind)),
    "held_out": lambda kind: llbt.held_out(fit_of(kind), folds=3, rng=1),
    "bootstrap": lambda kind: llbt.bootstrap(fit_of(kind), n=3, rng=1),
    "simulate": lambda kind: llbt.simulate(fit_of(kind), rng=1),
    "predict": lambda kind: fit_of(kind).predict(),
    "conf_int(profile)": lambda kind: fit_of(kind).conf_int(method="profile"),
    "sensitivity": lambda kind: llbt.sensitivity(fit_of(kind)),
    "fragility": lambda kind: llbt.fragility(fit_of(kind)),
    "intransitivity": lambda kind: llbt.intransitivity(fit_of(kind)),
    "level_tests": lambda kind: llbt.level_tests(fit_of(kind), by="sex"),
    "judges.summary": lambda kind: llbt.judges.summary(_table(kind), model=fit_of(kind)),
    "drift": lambda kind: llbt.drift(fit_of(kind), time="week"),
    "next_pairs": lambda kind: llbt.planning.next_pairs(fit_of(kind), n=3),
    "interpret": lambda kind: llbt.interpret(fit_of(kind)),
    "model_table": lambda kind: llbt.model_table([fit_of(kind)]),
    "write_report": lambda kind: _report(fit_of(kind)),
    "tie_tests": lambda kind: llbt.tie_tests(fit_of(kind)),
    "grade_tests": lambda kind: llbt.grade_tests(_graded() if kind == "plain" else fit_of(kind)),
}


def _table(kind: str) -> Any:
    return ranked() if kind == "rankings" else answered() if kind == "patterns" else judged()


def has_a_number(found: Any) -> bool:
    """Return whether an answer has a finite number, or at least one row of text; nothing and all NA are no answer."""
    if isinstance(found, str):
        return any(letter.isdigit() for letter in found)
    if isinstance(found, tuple):
        return bool(found) and all(has_a_number(part) for part in found)
    frame = found if isinstance(found, pd.DataFrame) else found.to_frame()
    numbers = frame.select_dtypes("number").to_numpy(dtype=float)
    return bool(np.isfinite(numbers).any()) if numbers.size else len(frame) > 0


def ask(kind: str, question: str) -> Exception | None:
    """Ask a question of a fit of a kind; return why it has no answer, None where it has."""
    res = fit_of(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = QUESTIONS[question](kind)
        except (LLBTError, AttributeError) as error:
            return error
    assert has_a_number(found), f"{question} of {type(res).__name__} returns without a number"
    return None


def written() -> dict[tuple[str, str], bool]:
    """Return whether each question is answered by each kind, as it is written down."""
    with MATRIX.open() as file:
        rows = list(csv.DictReader(file))
    return {(kind, row["question"]): row[kind] == "y" for row in rows for kind in KINDS}


if __name__ == "__main__":  # prints the matrix as it is, to be written down
    print("question," + ",".join(KINDS))
    for asked in QUESTIONS:
        print(asked + "," + ",".join("y" if ask(kind, asked) is None else "" for kind in KINDS))
