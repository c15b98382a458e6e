"""Groups of judges on the report page: latent classes, and trees by covariates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.table import Field, Table, counted, format_percent
from ..judges.class_protocol import ClassesLike
from ..judges.classes import ClassModels
from ..judges.tree import JudgeTree
from ..plot.classes import classes as classes_plot
from ..plot.classes import posteriors as posteriors_plot
from ..plot.tree import tree as tree_plot
from .class_words import SURE
from .interpret import interpret
from .page_parts import complete, folded, monospaced, paragraph, picture, table
from .report_inputs import Study


def groups_of(s: Study) -> dict[str, tuple[str, Callable[[Study], list[str]]]]:
    """Return the section on groups of judges, if the report has groups."""
    if s.groups is None:
        return {}
    if isinstance(s.groups, JudgeTree):
        return {"tree": ("Tree of judges", _tree)}
    return {"classes": ("Classes of judges", _classes)}


def call_of(s: Study) -> tuple[str, ...]:
    """Return the call that found the groups."""
    if s.groups is None:
        return ()
    if isinstance(s.groups, JudgeTree):
        return (f"llbt.judges.tree({s.groups.growth.formula!r}, comparisons, by={s.groups.data.by!r})",)
    fits = s.groups.fits if isinstance(s.groups, ClassModels) else (s.groups,)
    formula, by, k = fits[0].pooled.specification.formula, fits[0].by_judge.name, [one.k for one in fits]
    return (f"llbt.judges.classes({formula!r}, comparisons, by={by!r}, k={k})",)


# -- latent classes --------------------------------------------------------------------------------------------


def _classes(s: Study) -> list[str]:
    parts = []
    if isinstance(s.groups, ClassModels):
        classes: Any = s.groups.best
        parts += [
            table(complete(s.groups)),
            paragraph(f"This section describes {_sentence(classes)}, with the smallest BIC."),
        ]
    else:
        classes = s.groups
    parts.append(paragraph(interpret(classes, confidence=s.confidence).text))
    level = f"{100 * s.confidence:.4g} % intervals"
    return [
        *parts,
        table(_placed(classes)),
        picture(
            "classes", f"Log-worths by class, with {level}", lambda: classes_plot(classes, confidence=s.confidence)
        ),
        table(complete(classes.worths(at=s.at, confidence=s.confidence))),
        folded("Parameters by class", table(complete(classes.summary(confidence=s.confidence)))),
        picture("posteriors", "Probability of each class for each judge", lambda: posteriors_plot(classes)),
        folded(f"Probabilities of each {classes.by_judge.name}", table(_posteriors(classes))),
    ]


def _sentence(classes: ClassesLike) -> str:
    return f"{classes.k} {'class' if classes.k == 1 else 'classes'}"


def _placed(classes: ClassesLike) -> Table:
    """Return the share of each class, and how surely judges belong to it."""
    posterior = classes.posterior.to_numpy()
    modal, most = posterior.argmax(axis=1), posterior.max(axis=1)
    here = [most[modal == k] for k in range(classes.k)]
    return Table(
        (
            Field("class", "class", list(classes.labels), "count"),
            Field("share", "share", classes.shares.tolist(), "estimate"),
            Field("std_error", "std_error", classes.share_errors.tolist(), "estimate"),
            Field("judges", "most probable for", [len(one) for one in here], "count"),
            Field("sure", f"of these p ≥ {SURE:g}", [int((one >= SURE).sum()) for one in here], "count"),
            Field("mean", "mean p of these", [float(one.mean()) if len(one) else np.nan for one in here], "estimate"),
        ),
        title=f"Shares of the {counted(len(posterior), classes.by_judge.name)}, and how surely they belong to classes",
        notes=(
            f"{format_percent(float(np.mean(most >= SURE)))} of judges belong to a class with p ≥ {SURE:g}; "
            f"entropy {classes.entropy:.3f} (1: all are certain)",
            "Groups made of most probable classes differ less than the classes do.",
        ),
    )


def _posteriors(classes: ClassesLike) -> Table:
    posterior = classes.posterior
    return Table(
        (
            Field(classes.by_judge.name, classes.by_judge.name, list(posterior.index)),
            *(Field(f"class_{k}", f"class {k}", posterior[k].tolist(), "estimate") for k in classes.labels),
        ),
        title="Probability of each class, given all judgments",
    )


# -- trees -----------------------------------------------------------------------------------------------------


def _tree(s: Study) -> list[str]:
    assert isinstance(s.groups, JudgeTree)
    return tree_sentences(s.groups, s.confidence)


def tree_sentences(tree: JudgeTree, confidence: float) -> list[str]:
    """Return the splits, their tests and the leaves."""
    whose = (
        "The leaves are estimated from judges who were not used to grow the tree, so their standard errors are valid."
        if tree.honest
        else "Errors are conditional on the tree: the same judges were used to grow it and to estimate "
        "its leaves, so standard errors may be too small."
    )
    leaves = complete(tree)
    return [
        monospaced(leaves.head),
        paragraph(whose),
        picture("tree", "Splits, and log-worths in the leaves", lambda: tree_plot(tree, confidence=confidence)),
        table(complete(tree.tests())),
        table(Table(leaves.fields, title="Leaves", foot=leaves.foot, notes=leaves.notes)),
    ]
