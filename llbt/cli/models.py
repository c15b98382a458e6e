"""Commands that fit models: fit, leaderboard, worth, anova, report."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import printable
from .messages import watched, working
from .options import (
    At,
    By,
    Confidence,
    Counting,
    File,
    Formula,
    Hypothesis,
    Jobs,
    Lists,
    Mix,
    Model,
    Part,
    Population,
    Printing,
    Reading,
    Rng,
    Scale,
    Test,
    Text,
    column,
    option,
)
from .values import items, wrong


def fit(
    file: File,
    *,
    formula: Formula = None,
    lists: Lists,
    reading: Reading,
    counting: Counting,
    model: Model,
    printing: Printing,
) -> None:
    """Fit a log-linear Bradley-Terry model to a table of judgments or counts.

    A table of counts has one row per pair, with the wins of either object. FILE is read as counts if --wins or
    --ties-column is given, or if it has columns wins_i and wins_j and no option describes outcomes. Otherwise every row
    is a judgment.

    Rankings and best-worst sets are recognized by their columns, and a note names them; or use --rankings and --best
    (with --objects), and --ratings for ratings. Rankings and sets are fitted as lists (Plackett-Luce), ratings as the
    comparisons that they imply.

    In lists, a name with a comma is quoted: '"a,b",c'.
    """
    from .answers import rendered
    from .list_inputs import data_of, fit_of

    typer.echo(rendered(fit_of(formula, data_of(file, lists, reading, counting, model), model), printing))


def leaderboard(
    file: File,
    *,
    formula: Formula = None,
    scale: Annotated[Scale, option("--scale", "The scale of the estimates.")] = "log_odds",
    anchor: Annotated[
        Text,
        column(
            "--anchor",
            "The object at 0 of the scale (1000 for elo), or an object with its value: D=1000.",
            "OBJECT[=NUMBER]",
        ),
    ] = None,
    at: At = None,
    by: By = None,
    mix: Mix = None,
    hypothesis: Hypothesis = None,
    population: Population = False,
    style: Annotated[
        Text,
        column(
            "--style",
            """Print the leaderboard at equal style beside the usual one: NAME reads the columns NAME_a and NAME_b, or
            the columns that --side-covariates names.""",
            "NAME,…",
        ),
    ] = None,
    beside: Annotated[
        Text, option("--beside", "Another model; its ranks are printed beside the ranks of --formula.", "FORMULA")
    ] = None,
    confidence: Confidence = 0.95,
    lists: Lists,
    reading: Reading,
    counting: Counting,
    model: Model,
    printing: Printing,
) -> None:
    """Rank the objects, with intervals of estimates and ranks, and counts.

    The options describe the layout of FILE and the model, as for llbt fit. --format html writes one page that
    loads nothing; its columns sort, and its rows are filtered by name.
    """
    import llbt

    from ..report.board_page import board_page
    from .answers import rendered
    from .inputs import anchor_of, at_of, mixed
    from .list_inputs import data_of, fit_of, tell

    styles = [] if style is None else items("style", style)
    if styles:
        from .style import style_control, with_style

        counting = with_style(counting, styles)
    data = data_of(file, lists, reading, counting, model)
    tell(data)
    where, origin = at_of(at, data), anchor_of(anchor, data)
    if styles:
        lacking = {"anchor": anchor, "by": by, "hypothesis": hypothesis, "population": population, "beside": beside}
        both = style_control(
            data, styles, formula, model, at=where, scale=scale, confidence=confidence, lacking=lacking
        )
        typer.echo(rendered(both, printing, board_page))
        return
    groups = None if by is None else items("by", by)
    res = fit_of(formula, data, model)
    other: Any = None if beside is None else fit_of(beside, data, model)
    with working("ranking"), mixed(mix) as weights:
        ranked = llbt.leaderboard(
            res,
            scale=scale,
            anchor=origin,
            at=where,
            by=groups,
            weights=weights,
            hypothesis=hypothesis,
            population=population,
            beside=other,
            confidence=confidence,
        )
    typer.echo(rendered(ranked, printing, board_page))


def worth(
    file: File,
    *,
    formula: Formula = None,
    scale: Annotated[Scale, option("--scale", "The scale of the estimates.")] = "probability",
    at: At = None,
    by: By = None,
    mix: Mix = None,
    hypothesis: Hypothesis = None,
    population: Population = False,
    part: Annotated[
        Part,
        option("--part", "For fits with (1 | object): the predicted worths, or the part explained by covariates."),
    ] = "all",
    confidence: Confidence = 0.95,
    lists: Lists,
    reading: Reading,
    counting: Counting,
    model: Model,
    printing: Printing,
) -> None:
    """Print the worth of every object with its interval, by judge or other covariates of the formula.

    The options for the layout of FILE and for the model are those of llbt fit.
    """
    import llbt

    from .answers import rendered
    from .inputs import at_of, mixed
    from .list_inputs import data_of, fit_of, tell

    data = data_of(file, lists, reading, counting, model)
    tell(data)
    where = at_of(at, data)
    groups = None if by is None else items("by", by)
    res = fit_of(formula, data, model)
    with mixed(mix) as weights:
        answer = llbt.worth(
            res,
            where,
            scale,
            by=groups,
            weights=weights,
            hypothesis=hypothesis,
            population=population,
            part=part,
            confidence=confidence,
        )
    typer.echo(rendered(answer, printing))


def anova(
    file: File,
    *,
    formula: Annotated[
        list[str] | None,
        option(
            "--formula",
            """A model. Repeat the option to compare models, the smallest first. With one model, its terms are tested in
            sequence. [default: the model of llbt fit]""",
            "FORMULA",
        ),
    ] = None,
    test: Annotated[
        Test | None,
        option(
            "--test",
            "[default: chi2; F with quasi, score with clusters]",
            "chi2|F|wald|score|cluster",
        ),
    ] = None,
    n: Annotated[int, option("--n", "The number of simulated tables for tests of judge effects.")] = 0,
    rng: Rng = None,
    n_jobs: Jobs = 1,
    lists: Lists,
    reading: Reading,
    counting: Counting,
    model: Model,
    printing: Printing,
) -> None:
    """Compare nested models, or test the terms of one in turn: an analysis of deviance.

    The options for the layout of FILE and for the models are those of llbt fit.
    """
    import llbt

    from .answers import rendered
    from .list_inputs import data_of, fit_of, tell, two_models

    data = data_of(file, lists, reading, counting, model)
    tell(data)
    if isinstance(data, llbt.Rankings) and len(formula or ()) < 2:
        raise wrong("formula", f"for lists, give two models to compare. Pass {two_models(data)}.")
    results = [fit_of(each, data, model) for each in formula or (None,)]
    compared = llbt.anova(*results, test=test, n=n, rng=rng, progress=watched() and n > 0, n_jobs=n_jobs)
    typer.echo(rendered(compared, printing))


def report(
    file: File,
    *,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="The file to write, or - for standard output; an existing file is replaced.",
            metavar="FILE",
        ),
    ] = Path("report.html"),
    formula: Formula = None,
    title: Annotated[Text, option("--title", "The heading of the page. [default: the name of FILE]", "TEXT")] = None,
    confidence: Confidence = 0.95,
    lists: Lists,
    reading: Reading,
    counting: Counting,
    model: Model,
) -> None:
    """Write one HTML page: audit, leaderboard, pairs, model and fit, with pictures.

    The page is one file that loads nothing; send it as it is. The options for the layout of FILE are those of llbt fit;
    --judge and --prompt name columns for the audit and for standard errors.
    """
    import llbt

    from ..report.safe_write import checked_target
    from .inputs import refuse_standard_input
    from .list_inputs import audited_fit

    refuse_standard_input(output, file, counting)
    target = (
        None
        if str(output) == "-"
        else checked_target(output, (file, counting.object_covariates, counting.judge_covariates))
    )
    res, checks = audited_fit(file, formula, lists, reading, counting, model)
    heading = title or ("Preference judgments" if file == "-" else Path(file).stem)
    with tempfile.TemporaryDirectory() as folder, working("writing"):
        place = target or Path(folder, "report.html")
        page = llbt.write_report(res, place, title=heading, audit=checks, confidence=confidence)
        text = "" if target else page.read_text(encoding="utf-8")
    typer.echo(f"written: {printable(page)}" if target else text, nl=target is not None)
