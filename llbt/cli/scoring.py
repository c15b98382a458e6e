"""Commands about scores: aggregate, and the metrics against humans."""

from __future__ import annotations

from typing import Annotated

import typer

from .messages import watched, working
from .options import (
    Confidence,
    Correlation,
    IntervalMethod,
    Jobs,
    Level,
    Mechanism,
    Printing,
    Rng,
    Scores,
    TestMethod,
    Text,
    column,
    option,
)
from .values import items

MetricColumns = Annotated[Text, column("--metrics", "The columns of metrics. [default: all other numbers]", "COLUMN,…")]
Human = Annotated[str, column("--human", "The column of human scores.", "COLUMN")]
System = Annotated[str, column("--system", "The column that says whose output was scored.", "COLUMN")]
Input = Annotated[Text, column("--input", "The column that says on which input. [default: input, if it is there]")]
Of = Annotated[Level, option("--level", "What is correlated: systems' means, systems within inputs, or all scores.")]
By = Annotated[Correlation, option("--coefficient", "The correlation.")]
N = Annotated[int, option("--n", "Resamples.")]


def aggregate(
    file: Scores,
    *,
    method: Annotated[Mechanism, option("--method", "What makes one score of many.")] = "mean",
    system: Annotated[Text, column("--system", "Long: the column with the system. [default: system]")] = None,
    instance: Annotated[
        Text, column("--instance", "The column with the instance. [default: instance, or the number of the row]")
    ] = None,
    score: Annotated[Text, column("--score", "Long: the column with the score. [default: score]")] = None,
    systems: Annotated[
        Text, column("--systems", "Wide: the columns with the systems' scores. [default: all numbers]", "COLUMN,…")
    ] = None,
    others: Annotated[Text, column("--others", "Wide: columns of numbers that are no systems.", "COLUMN,…")] = None,
    higher_is_better: Annotated[
        bool, typer.Option("--higher-is-better/--lower-is-better", help="Whether the higher score wins.")
    ] = True,
    tie_threshold: Annotated[float, option("--tie-threshold", "Scores that differ by at most so much are tied.")] = 0.0,
    relative: Annotated[bool, option("--relative", "The threshold is a share of the larger score.")] = False,
    n: Annotated[int, option("--n", "Resamples for intervals, 1000 say; 0 leaves them out.")] = 0,
    confidence: Confidence = 0.95,
    rng: Rng = None,
    n_jobs: Jobs = 1,
    printing: Printing,
) -> None:
    """Make one score of each system's scores on many instances, by means, medians, Bradley-Terry or ratings.

    FILE is wide, a row per instance and a column per system, or long, with columns system, instance and score: it is
    long if --system or --score is given, or if it has these columns.
    """
    import llbt

    from .answers import rendered
    from .inputs import scored

    with working("reading"):
        scores = scored(
            file,
            {"system": system, "instance": instance, "score": score},
            systems=None if systems is None else items("systems", systems),
            others=[] if others is None else items("others", others),
            rule={"higher_is_better": higher_is_better, "tie_threshold": tie_threshold, "relative": relative},
        )
    found = llbt.scores.aggregate(
        scores, method=method, n=n, confidence=confidence, rng=rng, progress=watched() and n > 0, n_jobs=n_jobs
    )
    typer.echo(rendered(found, printing))


def interval(
    file: Scores,
    *,
    metrics: MetricColumns = None,
    human: Human = "human",
    system: System = "system",
    input: Input = None,
    level: Of = "system",
    coefficient: By = "pearson",
    method: Annotated[
        IntervalMethod, option("--method", "What is resampled, or Fisher's transformation.")
    ] = "boot-both",
    n: N = 1000,
    confidence: Confidence = 0.95,
    rng: Rng = None,
    n_jobs: Jobs = 1,
    printing: Printing,
) -> None:
    """Say how far each metric agrees with humans, and how sure that is."""
    import llbt

    from .answers import one_below_another, rendered
    from .inputs import metric_scores

    with working("reading"):
        scores = metric_scores(file, metrics, human=human, system=system, input=input)
    found = {
        metric: llbt.metrics.interval(
            scores.matrix(metric),
            scores.human_matrix(),
            level=level,
            coefficient=coefficient,
            method=method,
            confidence=confidence,
            n=n,
            rng=rng,
            progress=watched() and method != "fisher",
            n_jobs=n_jobs,
        )
        for metric in scores.metrics
    }
    typer.echo(rendered(one_below_another(found, "metric", scores.notes), printing))


def compare_all(
    file: Scores,
    *,
    metrics: MetricColumns = None,
    human: Human = "human",
    system: System = "system",
    input: Input = None,
    level: Of = "system",
    coefficient: By = "pearson",
    method: Annotated[TestMethod, option("--method", "The test of each pair.")] = "perm-both",
    n: N = 1000,
    rng: Rng = None,
    n_jobs: Jobs = 1,
    printing: Printing,
) -> None:
    """Say which metrics agree with humans better than which, every pair tested."""
    import llbt

    from .answers import rendered
    from .inputs import metric_scores

    with working("reading"):
        scores = metric_scores(file, metrics, human=human, system=system, input=input)
    found = llbt.metrics.compare_all(
        scores,
        level=level,
        coefficient=coefficient,
        method=method,
        n=n,
        rng=rng,
        progress=watched() and method != "williams",
        n_jobs=n_jobs,
    )
    typer.echo(rendered(found, printing))
