"""Every kind of answer that prints, with names of its objects as long as a page has to take."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from support.calls import AGREE, DIFFERENCES, TESTS, graded, mixed, tasted

import llbt
from llbt.base.table import Record

LONG = [  # as models are called
    "claude-3-5-sonnet-20241022-thinking",
    "Nous-Hermes-2-Mixtral-8x7B-DPO-v0.1",
    "nvidia/nemotron-4-340b-instruct-b16",
    "abcdefghijklmnopqrstuvwxyzabcdefghi",
]


def names(letters: int, size: int) -> list[str]:
    """Names of so many letters, all different."""
    return [f"{k:02}{LONG[k % len(LONG)]}"[:letters].ljust(letters, "x") for k in range(size)]


def table_of(objects: Sequence[str], n: int = 40) -> pd.DataFrame:
    """Counts of every pair of objects."""
    rng = np.random.default_rng(len(objects))
    worth = np.linspace(1.5, -1.5, len(objects))
    rows = []
    for i, j in itertools.combinations(range(len(objects)), 2):
        p = 1 / (1 + np.exp(worth[j] - worth[i]))
        rows.append((objects[i], objects[j], *rng.multinomial(n, [0.9 * p, 0.1, 0.9 * (1 - p)])))
    return pd.DataFrame(rows, columns=["object_i", "object_j", "wins_i", "ties", "wins_j"])


def judgments_of(objects: Sequence[str], judges: Sequence[str]) -> pd.DataFrame:
    """Judgments by judges, of prompts and blocks."""
    rng = np.random.default_rng(1)
    pairs = list(itertools.permutations(objects, 2))
    population_notes = rng.integers(0, len(judges), 240)
    rows = [(*pairs[k % len(pairs)], judges[population_notes[k]], k // 6 % 8, k // 3) for k in range(240)]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "judge", "prompt", "block"])
    return frame.assign(outcome=rng.choice(["i", "j", "tie"], len(frame)))


def fits_of(objects: Sequence[str]) -> list[llbt.LLBTResults]:
    """A fit of counts, and one by judge."""
    judges = [name[::-1] for name in objects[:3]]
    frame = pd.concat([table_of(objects).assign(judge=judge) for judge in judges])
    c = llbt.from_counts(frame, covariates="judge")
    return [llbt.fit(formula, c) for formula in ("object + tie", "object * judge + tie")]


def of_fits(objects: Sequence[str]) -> Iterator[tuple[str, Record]]:
    """What fits are asked."""
    res, by_judge = fits_of(objects)
    pairs = llbt.pairwise(res)
    yield from {
        "fit": res,
        "fit by judge": by_judge,
        "worth": llbt.worth(res),
        "worth by judge": llbt.worth(by_judge),
        "leaderboard": llbt.leaderboard(res),
        "leaderboard, Elo": llbt.leaderboard(res, scale="elo"),
        "pairwise": pairs,
        "letters": pairs.letters(),
        "clusters": pairs.clusters(),
        "ranks": pairs.ranks(),
        "contrasts": llbt.contrasts(res, {"first": {objects[0]: 1, objects[1]: -1}}),
        "level tests": llbt.level_tests(res),
        "quasi-variances": llbt.quasi_variances(res),
        "residuals": llbt.residuals(res),
        "residuals of pairs": llbt.residuals(res, of="pairs"),
        "influence": llbt.influence(res),
        "influence of judges": llbt.influence(res, by="judge"),
        "anova": llbt.anova(res, by_judge),
        "anova of terms": llbt.anova(by_judge),
        "drop1": llbt.drop1(by_judge),
        "add1": llbt.add1(res, "judge:object"),
        "goodness of fit": llbt.goodness_of_fit(res),
        "held out": llbt.held_out([res, by_judge], folds=3, rng=1),
        "bootstrap": llbt.bootstrap(res, n=5, rng=1),
        "bootstrap ranks": llbt.bootstrap(res, n=5, rng=1).ranks(),
        "model_table": llbt.model_table([res, by_judge]),
        "model_table, intervals": llbt.model_table([res, by_judge], below="conf_int"),
        "interpret": llbt.interpret(res),
        "predict": res.predict(),
        "t_test": res.t_test(f"object[{objects[0]}] = 0") if objects[0].isalnum() else res.t_test("tie"),
        "wald_test": res.wald_test("tie"),
        "comparisons": res.comparisons,
    }.items()


def of_judgments(objects: Sequence[str]) -> Iterator[tuple[str, Record]]:
    """What judgments are asked without a model."""
    judges = [name[::-1] for name in objects[:3]]
    frame = judgments_of(objects, judges)
    c = llbt.from_judgments(frame, covariates="judge", order=True)
    yield from {
        "judgments": llbt.read_judgments(frame),
        "audit": llbt.audit(frame),
        "agreement": llbt.judges.agreement(frame, unit="prompt"),
        "judges": llbt.judges.summary(frame, model=llbt.fit("object + tie", llbt.from_judgments(frame))),
        "head to head": llbt.classical.head_to_head(c),
        "model test": llbt.classical.model_test(c.pool()),
        "sign test": llbt.classical.sign_test(c),
        "feedback order": llbt.classical.feedback_order(c),
        "ranking scores": llbt.classical.ranking_scores(frame),
        "shown with": llbt.classical.shown_with(frame, reference=objects[0]),
    }.items()


def of_scores(objects: Sequence[str]) -> Iterator[tuple[str, Record]]:
    """What scores of systems and metrics are asked."""
    rng = np.random.default_rng(3)
    scores = pd.DataFrame(rng.normal(size=(30, len(objects))), columns=list(objects))
    human = rng.normal(size=(len(objects), 12))
    metrics = {name: human + rng.normal(size=human.shape) for name in objects[:3]}
    x = metrics[objects[0]]
    y = metrics[objects[1]]
    found = llbt.metrics.MetricScores.from_matrices(metrics, human)
    of_pairs = llbt.scores.pairwise(scores)
    decisions = llbt.metrics.decisions(x, human)
    yield from {
        "aggregate": llbt.scores.aggregate(scores),
        "compared methods": llbt.scores.compare([scores.T.iloc[:, :4], -scores.T.iloc[:, :4]]),
        "score pairs": of_pairs,
        "score leaderboard": llbt.scores.leaderboard(scores, groups="leader"),
        "metric scores": found,
        "normality": found.normality(),
        "compare all": llbt.metrics.compare_all(found, n=5, rng=1),
        "compare": llbt.metrics.compare(x, y, human, n=5, rng=1),
        "compare by task": llbt.metrics.compare(x, y, human, tasks=["a", "b"] * 6, n=5, rng=1).by_task(),
        "clusters of metrics": llbt.metrics.compare_all(found, tasks=["a", "b"] * 6, n=5, rng=1).clusters(),
        "correlate": llbt.metrics.correlate(x, human),
        "interval": llbt.metrics.interval(x, human, n=5, rng=1),
        "decisions": decisions,
        "decisions from tests": llbt.metrics.decisions_from_tests(*TESTS),
        "difference curve": llbt.metrics.difference_curve(DIFFERENCES, AGREE, bins=3),
        "coverage": llbt.metrics.coverage(x, human, methods=["boot-both"], n=3, n_trials=2, rng=1),
        "metric power": llbt.metrics.power(x, human, methods=["boot"], degraded=[0.5], n=3, n_trials=2, rng=1),
        "accuracy": llbt.metrics.pairwise_accuracy(x.mean(axis=1), human.mean(axis=1)),
        "subsets": llbt.metrics.subset_correlations(x[:, 0], human[:, 0], subsets="sampled", n=3, rng=1),
        "soft accuracy": llbt.metrics.soft_pairwise_accuracy(x, human, n=3, rng=1),
        "tie calibration": llbt.metrics.tie_calibrated_accuracy(x[:, 0], human[:, 0]),
        "williams": llbt.metrics.williams(0.5, 0.4, 0.3, 20),
        "simulated scores": llbt.scores.simulate(n_systems=3, n_instances=20, rng=1),
    }.items()


def of_no_names() -> Iterator[tuple[str, Record]]:
    """Answers that no names of objects stand in, and those of fixed examples."""
    yield from {
        "mixed": mixed(),
        "judge dimension": llbt.judges.dimension(tasted()),
        "judge effects": llbt.judge_effects(mixed()),
        "graded": graded(),
        "grade tests": llbt.grade_tests(graded()),
        "power": llbt.power(llbt.Scenario(), judgments=[20, 40], n=3, rng=1),
        "data sets": llbt.list_datasets(),
        "formats": llbt.formats.table(),
        "mcnemar": llbt.classical.mcnemar_test([[101, 121], [59, 33]]),
    }.items()


def views(name: str, record: Any) -> Iterator[tuple[str, Record]]:
    """An answer, and the tables that its methods without parameters return."""
    yield name, record
    for method in dir(type(record)):
        function = getattr(type(record), method)
        if method.startswith("_") or not callable(function) or method in ("table", "reset", "pool", "summary", "first"):
            continue
        hint = str(getattr(function, "__annotations__", {}).get("return", ""))
        if hint.endswith("Table") and "Model" not in hint:
            with contextlib.suppress(TypeError, llbt.errors.LLBTError):  # it needs an argument, or another fit
                yield f"{name}.{method}", getattr(record, method)()


def in_full(objects: Sequence[str]) -> Iterator[tuple[str, Record]]:
    """Long tables: many objects."""
    c = llbt.from_counts(table_of(objects))
    res = llbt.fit("object + tie", c)
    yield from {
        "fit": res,
        "leaderboard": llbt.leaderboard(res),
        "pairwise": llbt.pairwise(res),
        "letters": llbt.pairwise(res).letters(),
        "worth": llbt.worth(res),
        "model_table": llbt.model_table([res, llbt.fit("object", c)]),
    }.items()


def all_answers(letters: int) -> Iterator[tuple[str, Record]]:
    """Every kind of answer with names of so many letters: of 4 objects, and the long ones of 59 and of 75."""
    few = names(letters, 4)
    for found in (of_fits(few), of_judgments(few), of_scores(few), of_no_names()):
        for name, record in found:
            yield from views(name, record)
    size = 59 if letters == 20 else 75
    for name, record in in_full(names(letters, size)):
        if name != "pairwise" or size == 59:
            yield f"{size}: {name}", record
