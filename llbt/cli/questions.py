"""Commands that ask a fit about pairs of objects: pairwise, contrasts, predict."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from .messages import working
from .options import (
    At,
    By,
    Confidence,
    Counting,
    File,
    Formula,
    Hypothesis,
    Lists,
    Margin,
    Mix,
    Model,
    Population,
    Printing,
    Reading,
    Scale,
    Text,
    column,
    option,
)
from .values import items, numbers, wrong

if TYPE_CHECKING:
    from ..base.table import Record

Adjusted = Literal["single-step", "holm", "bonferroni", "fdr_bh", "none"]


def pairwise(
    file: File,
    *,
    formula: Formula = None,
    only: Annotated[Text, option("--only", "Compare these objects alone.", "OBJECT,…")] = None,
    scale: Annotated[Scale, option("--scale", "The scale of the estimates.")] = "log_odds",
    adjust: Annotated[
        Adjusted,
        option("--adjust", "How p-values are adjusted for the number of pairs; with none, they stay as they are."),
    ] = "single-step",
    at: At = None,
    by: By = None,
    mix: Mix = None,
    hypothesis: Hypothesis = None,
    population: Population = False,
    margin: Margin = None,
    confidence: Confidence = 0.95,
    lists: Lists,
    reading: Reading,
    counting: Counting,
    model: Model,
    printing: Printing,
) -> None:
    """Compare every pair of objects: differences, simultaneous intervals, adjusted p-values.

    The options describe the layout of FILE and the model, as for llbt fit.
    """
    import llbt

    from .answers import rendered
    from .inputs import at_of, label_of, mixed
    from .list_inputs import data_of, fit_of, tell

    data = data_of(file, lists, reading, counting, model)
    tell(data)
    where, groups = at_of(at, data), None if by is None else items("by", by)
    res, ask = (
        fit_of(formula, data, model),
        cast("Callable[..., Record]", llbt.pairwise),
    )  # with by= it has another type
    with working("comparing"), mixed(mix) as weights:
        answer = ask(
            res,
            objects=None if only is None else [label_of(data.objects, word) for word in items("only", only)],
            scale=scale,
            adjust=None if adjust == "none" else adjust,
            at=where,
            by=groups,
            weights=weights,
            hypothesis=hypothesis,
            population=population,
            margin=margin,
            confidence=confidence,
        )
    typer.echo(rendered(answer, printing))


def contrasts(
    file: File,
    *,
    formula: Formula = None,
    contrast: Annotated[
        list[str],
        option(
            "--contrast",
            "The weights of objects, of sum 0: A=1,B=-0.5,C=-0.5. Repeat the option for several contrasts.",
            "OBJECT=WEIGHT,…",
        ),
    ],
    scale: Annotated[Scale, option("--scale", "The scale of the estimates.")] = "log_odds",
    at: At = None,
    by: By = None,
    mix: Mix = None,
    hypothesis: Hypothesis = None,
    margin: Margin = None,
    confidence: Confidence = 0.95,
    lists: Lists,
    reading: Reading,
    counting: Counting,
    model: Model,
    printing: Printing,
) -> None:
    """Estimate and test weighted sums of log-worths, such as one object against the mean of others.

    The options describe the layout of FILE and the model, as for llbt fit.
    """
    import llbt

    from .answers import rendered
    from .inputs import at_of, label_of, mixed
    from .list_inputs import data_of, fit_of, tell

    data = data_of(file, lists, reading, counting, model)
    tell(data)
    where, groups = at_of(at, data), None if by is None else items("by", by)
    named = {
        text: {label_of(data.objects, word): weight for word, weight in numbers("contrast", text).items()}
        for text in contrast
    }
    res = fit_of(formula, data, model)
    with mixed(mix) as weights:
        answer = llbt.contrasts(
            res,
            named,
            scale=scale,
            at=where,
            by=groups,
            weights=weights,
            hypothesis=hypothesis,
            margin=margin,
            confidence=confidence,
        )
    typer.echo(rendered(answer, printing))


def predict(
    file: File,
    *,
    formula: Formula = None,
    comparisons: Annotated[
        Text,
        column(
            "--comparisons",
            """A file of the comparisons to predict: columns object_i, object_j and the covariates of the formula.
            [default: the comparisons of FILE; with --at, --by or --mix all pairs]""",
            "FILE",
        ),
    ] = None,
    at: At = None,
    by: By = None,
    mix: Mix = None,
    hypothesis: Hypothesis = None,
    population: Population = False,
    confidence: Confidence = 0.95,
    lists: Lists,
    reading: Reading,
    counting: Counting,
    model: Model,
    printing: Printing,
) -> None:
    """Predict the probability of each outcome of comparisons: of the file's own, of others, or of all pairs.

    The options describe the layout of FILE and the model, as for llbt fit.
    """
    import llbt

    from ..formulas.brackets import has_brackets
    from .answers import rendered
    from .inputs import at_of, mixed
    from .list_inputs import data_of, fit_of, tell

    data = data_of(file, lists, reading, counting, model)
    tell(data)
    if not isinstance(data, llbt.Comparisons):
        raise wrong("file", "it holds lists, but only pairs of objects have outcomes; pass judgments of pairs.")
    if model.discrimination is not None:
        raise wrong("discrimination", "outcomes are predicted without it; leave it out.")
    if population and not has_brackets(formula or ""):
        raise wrong("population", "it is for judge effects; pass --formula 'object + tie + (object | judge)'.")
    where, groups = at_of(at, data), None if by is None else items("by", by)
    res: Any = fit_of(formula, data, model)
    of_judges = {"population": True} if population else {}
    with mixed(mix) as weights, mixed(comparisons) as frame:
        answer = res.predict(
            frame, at=where, by=groups, weights=weights, hypothesis=hypothesis, confidence=confidence, **of_judges
        )
    typer.echo(rendered(answer, printing))
