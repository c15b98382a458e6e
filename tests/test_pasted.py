"""What refused questions tell to type: every call of every table of refusals is pasted, and runs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.calls import JUDGMENTS, counts_of_judges
from support.large import few_are_many
from support.mixed import judged_frame
from support.pasting import arguments, to_type

import llbt
from llbt.base.arguments import filled as filled_in
from llbt.fitting import unsupported_questions

TABLES: dict[str, Mapping[str, tuple[str, str]]] = {
    name: value for name, value in vars(unsupported_questions).items() if name.startswith("OF_")
}


@cache
def graded_by_judges() -> llbt.MixedResults:
    rng = np.random.default_rng(1)
    pairs = np.array([(i, j) for i in range(3) for j in range(i + 1, 3)] * 32)
    own = np.array([0.4, 0.0, -0.2]) + rng.normal(0, 0.6, (8, 3))
    judge = np.repeat(np.arange(8), 12)
    lead = own[judge, pairs[:, 0]] - own[judge, pairs[:, 1]] + rng.logistic(0, 0.5, len(judge))
    outcome = np.select([lead > 0.8, lead > 0.2, lead > -0.2, lead > -0.8], ["i+", "i", "tie", "j"], "j+")
    frame = pd.DataFrame({"object_i": pairs[:, 0], "object_j": pairs[:, 1], "outcome": outcome, "judge": judge})
    grades = {"i+": 2, "i": 1, "tie": 0, "j": -1, "j+": -2}
    c = llbt.from_judgments(frame, outcomes=grades, clusters="judge")
    return llbt.fit("object + tie + grade + (object | judge)", c)  # type: ignore[return-value]


def judged() -> llbt.MixedResults:
    c = llbt.from_counts(judged_frame(8, 0.8, seed=3), clusters="judge")
    return llbt.fit("object + tie + (object | judge)", c)  # type: ignore[return-value]


def places() -> pd.DataFrame:
    said = np.random.default_rng(3).gumbel(size=(60, 3)) + np.array([0.5, 0.2, 0.0])
    return pd.DataFrame((-said).argsort(axis=1).argsort(axis=1) + 1, columns=list("ABC"))


def lists() -> llbt.RankingResults:
    judged = places().assign(judge=[f"J{k % 6}" for k in range(60)])
    return llbt.fit("object", llbt.from_rankings(judged, objects=list("ABC"), covariates="judge"))


def patterns() -> llbt.PatternResults:
    return llbt.fit("object", llbt.from_patterns(places(), "rankings", objects=list("ABC")))


def large() -> llbt.LargeResults:
    with few_are_many(2):
        return llbt.fit("object + tie", llbt.from_judgments(JUDGMENTS))  # type: ignore[return-value]


KINDS: dict[str, Any] = {
    "OF_EFFECTS": lambda: {"res": judged()},
    "OF_LARGE": lambda: {"res": large()},
    "OF_LISTS": lambda: {"res": lists()},
    "OF_CALIBRATED": lambda: {"human": JUDGMENTS},
    "OF_CLASSES": lambda: {
        "classes": llbt.judges.classes("object + tie", counts_of_judges(), k=2, starts=3, prior=1, rng=1)
    },
}


SLOW = re.compile(r"plot\.|sensitivity|influence|bootstrap|write_report")  # what refits, draws or writes


def test_every_table_is_pasted() -> None:
    assert set(TABLES) == set(KINDS)
    assert to_type("Ask res.aic, or res = llbt.fit('a', res.b), (llbt.x(f(1)).y)") == [
        "res.aic",
        "llbt.fit('a', res.b)",
        "llbt.x(f(1))",
    ]


def filled(table: str, name: str) -> str:
    return filled_in(TABLES[table][name][1], asked_of(table, name)["res"])


@cache
def made(table: str) -> dict[str, Any]:
    found = KINDS[table]()
    return {"res": None} | found


def asked_of(table: str, text: str) -> dict[str, Any]:
    return {"res": graded_by_judges()} if (table, "grade_tests" in text) == ("OF_EFFECTS", True) else made(table)


@pytest.mark.parametrize("table", KINDS)
def test_what_to_type_has_no_gaps(table: str) -> None:
    for name in TABLES[table]:
        text = filled(table, name)
        assert "…" not in text, name
        assert not re.search(r"res\.(average|without|beside)", text), name
        assert to_type(text), name


@pytest.mark.parametrize("slow", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("table", KINDS)
def test_what_to_type_runs(table: str, slow: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a report is written
    calls = {call for name in TABLES[table] for call in to_type(filled(table, name))}
    for call in sorted(call for call in calls if bool(SLOW.search(call)) is slow):
        pasted = call.replace("'parametric'", "'parametric', n=2, rng=1")
        assert eval(pasted, {"llbt": llbt} | asked_of(table, call)) is not None, call


REFUSED = [
    ("llbt.judges.report(scored, human='human', machine='machine', length=('words', 'words'))", []),
    ("llbt.judges.agreement(judgments, unit='prompt', by='language', bins=2)", []),
    ("llbt.anova(res, n=9)", ["llbt.anova(res)"]),
    ("llbt.anova(m0, m1, n=9)", ["llbt.anova(m0, m1)"]),
    ("llbt.drop1(mixed, test='cluster')", []),
    ("llbt.goodness_of_fit(clustered, n=9)", ["llbt.goodness_of_fit(res)"]),
    ("llbt.goodness_of_fit(res, of='triples')", []),
    ("llbt.worth(res, part='covariates')", ["llbt.worth(res)", "llbt.fit('price + (1 | object)', c)"]),
    (
        "llbt.fit('object + tie', c, discrimination='judge', prior=1)",
        ["llbt.fit('object + tie', c, discrimination='judge')"],
    ),
    ("llbt.fit('object + tie', one, discrimination='judge')", ["llbt.fit('object + tie', c)"]),
    ("llbt.fit('object + tie + (object | judge)', c, prior=1)", ["llbt.fit('object + tie + (object | judge)', c)"]),
    ("llbt.fit('object + dependence + persistence', patterns)", ["llbt.fit('object + dependence', patterns)"]),
    ("llbt.fit('object + dependence * sex', patterns)", ["llbt.fit('object + dependence', patterns)"]),
    ("llbt.fit('object + tie', c, discrimination='judge', cov_type='quasi')", []),
]


@cache
def at_hand() -> dict[str, Any]:
    """Data and fits under the names that messages use; beside them those that a refusal needs."""
    c = llbt.load_dataset("dras_table1")
    first = next(column for column in c.columns if column.name == "judge").levels[0]
    res, m1 = llbt.fit("object + tie", c), llbt.fit("object * judge + tie", c)
    pairs = ["AB", "AC", "BC"]
    answers = pd.DataFrame(np.random.default_rng(4).choice([-1, 1], (60, 3)), columns=pairs).assign(sex="f")
    frame = pd.DataFrame({"object_i": list("ABC") * 8, "object_j": list("BCA") * 8, "words": 5, "language": "de"})
    verdicts = {"human": list("ij") * 12, "machine": list("iij") * 8}
    return {
        **{"llbt": llbt, "c": c, "res": res, "m0": res, "m1": m1, "one": c.select(where={"judge": [first]})},
        "mixed": llbt.fit("object + tie + (object | judge)", c),
        "clustered": llbt.fit("object + tie", c, cov_type="cluster", groups="judge"),
        "patterns": llbt.from_patterns(answers, "comparisons", objects=list("ABC"), columns=pairs, covariates="sex"),
        "scored": frame.assign(**verdicts),
        "judgments": pd.concat([frame.assign(outcome=list("ij") * 12, judge=k, prompt=range(24)) for k in (1, 2)]),
    }


@pytest.mark.parametrize(("refused", "proposed"), REFUSED)
def test_a_call_without_the_refused_argument_runs(refused: str, proposed: list[str]) -> None:
    with pytest.raises(llbt.LLBTError) as error:
        eval(refused, at_hand())
    remedy = error.value.remedy
    assert to_type(remedy) == proposed
    for call in proposed:
        if "price" not in call:  # an example of a covariate
            assert eval(call, at_hand()) is not None
    for name, value in next(iter(arguments(remedy)), {}).items():  # in place of the refused value
        pasted = re.sub(rf"{name}='\w+'", f"{name}={value!r}", refused)
        assert pasted == refused or eval(pasted, at_hand()) is not None
    for left_out in re.findall(r"Leave (\w+)= out", remedy):
        assert eval(re.sub(rf", {left_out}=(?:\([^)]*\)|[^,)]+)", "", refused), at_hand()) is not None
