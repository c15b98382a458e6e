"""Commands about scores: aggregate, the leaderboard, and the metrics against humans."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from .messages import watched, working
from .options import (
    Adjust,
    BoardReading,
    BoardTest,
    Confidence,
    Correlation,
    Grouping,
    IntervalMethod,
    Jobs,
    Level,
    Mechanism,
    Printing,
    Results,
    Rng,
    ScoreReading,
    Scores,
    Statistic,
    TestMethod,
    Text,
    column,
    option,
)

MetricColumns = Annotated[Text, column("--metrics", "The columns of metrics. [default: all other numbers]", "COLUMN,…")]
Human = Annotated[str, column("--human", "The column of human scores.", "COLUMN")]
System = Annotated[str, column("--system", "The column with the scored system.", "COLUMN")]
Input = Annotated[Text, column("--input", "The column with the input. [default: input, if it is there]")]
Rater = Annotated[Text, column("--rater", "The column with the rater; scores are averaged over raters.")]
Ignored = Annotated[Text, column("--ignore", "Columns to leave out.", "COLUMN,…")]
Of = Annotated[Level, option("--level", "What to correlate: systems' means, systems within inputs, or all scores.")]
By = Annotated[Correlation, option("--coefficient", "The correlation.")]
N = Annotated[int, option("--n", "Resamples.")]
Macro = Annotated[
    Text,
    column("--macro", "The column whose values (tasks, domains) have equal weight: means are averages of their means."),
]
Groups = Annotated[
    Grouping,
    option(
        "--groups",
        """How to show the tests: clusters with every system above better than every one below, letters shared
        by systems that do not differ, or which systems lead which.""",
    ),
]
GroupsOfItems = Annotated[
    str,
    option(
        "--by",
        """The fact by which items are clustered, such as repository or document. auto uses the fact that the results
        name, if there is one; item treats items as independent.""",
        "auto|item|FACT",
    ),
]
Draws = Annotated[
    int | None, option("--n", "The number of random permutations of the test. [default: as many as are needed]", "N")
]


def aggregate(
    file: Scores,
    *,
    method: Annotated[Mechanism, option("--method", "How several scores are combined into one.")] = "mean",
    reading: ScoreReading,
    n: Annotated[int, option("--n", "The number of resamples for intervals, such as 1000; 0 gives no intervals.")] = 0,
    confidence: Confidence = 0.95,
    rng: Rng = None,
    n_jobs: Jobs = 1,
    printing: Printing,
) -> None:
    """Combine each system's scores on many instances into one score, by means, medians, Bradley-Terry or ratings.

    FILE has a row for each system and item, a column for each system, or a row for each system. The roles of columns
    follow from their names and values, and notes name them.
    """
    import llbt

    from .answers import rendered
    from .inputs import scored

    with working("reading"):
        scores = scored(file, reading)
    answer = llbt.scores.aggregate(
        scores, method=method, n=n, confidence=confidence, rng=rng, progress=watched() and n > 0, n_jobs=n_jobs
    )
    typer.echo(rendered(answer, printing))


def leaderboard(
    file: Scores,
    *,
    test: Annotated[
        BoardTest, option("--test", "The test of each pair; mcnemar is for scores of 0 and 1.")
    ] = "wilcoxon",
    groups: Groups = "clusters",
    by: Annotated[Text, column("--by", "The column with the document or task: instances are clustered by it.")] = None,
    macro: Macro = None,
    adjust: Annotated[Adjust, option("--adjust", "How p-values are adjusted for the number of pairs.")] = "holm",
    reading: ScoreReading,
    n: Draws = None,
    confidence: Confidence = 0.95,
    rng: Rng = None,
    n_jobs: Jobs = 1,
    printing: Printing,
) -> None:
    """Rank systems by their mean scores, with rank ranges and groups from tests of all pairs.

    FILE has a row for each system and item, a column for each system, or a row for each system. The roles of columns
    follow from their names and values, and notes name them. --format html writes one page that loads nothing; its
    columns sort, and its rows are filtered by name.
    """
    import llbt

    from ..report.board_page import board_page
    from .answers import rendered
    from .inputs import scored

    with working("reading"):
        scores = scored(file, reading, tuple(dict.fromkeys(name for name in (by, macro) if name is not None)))
    answer = llbt.scores.leaderboard(
        scores,
        test=test,
        groups=groups,
        by=by,
        macro=macro,
        adjust=None if adjust == "none" else adjust,
        confidence=confidence,
        n=n,
        rng=rng,
        progress=watched() and test == "permutation",
        n_jobs=n_jobs,
    )
    typer.echo(rendered(answer, printing, board_page))


def board(
    file: Results,
    *,
    reading: BoardReading,
    test: Annotated[
        BoardTest | None,
        option("--test", "The test of each pair. [default: mcnemar for scores of 0 and 1, else t]"),
    ] = None,
    by: GroupsOfItems = "auto",
    macro: Macro = None,
    groups: Groups = "clusters",
    adjust: Annotated[Adjust, option("--adjust", "How p-values are adjusted for the number of pairs.")] = "holm",
    n: Draws = None,
    confidence: Confidence = 0.95,
    rng: Rng = None,
    n_jobs: Jobs = 1,
    printing: Printing,
) -> None:
    """Put systems into tiers by the results of an evaluation tool: means, rank ranges, clusters, the best.

    FILE is the folder of results of lm-evaluation-harness, Inspect, HELM, SWE-bench, Every Eval Ever, promptfoo,
    LiveCodeBench, Appraise, mt-metrics-eval or sacrerouge, one of their files, or a table of scores. --format html
    writes one page that loads nothing; its columns sort, and its rows are filtered by name.
    """
    from ..report.board_page import board_page
    from .answers import rendered
    from .inputs import board_of

    with working("reading"):
        read = board_of(file, reading)
    answer = read.leaderboard(
        test=test,
        by=by,
        macro=macro,
        groups=groups,
        adjust=None if adjust == "none" else adjust,
        confidence=confidence,
        n=n,
        rng=rng,
        progress=watched() and test == "permutation",
        n_jobs=n_jobs,
    )
    typer.echo(rendered(answer, printing, board_page))


def difficulty(
    file: Results,
    *,
    reading: BoardReading,
    table: Annotated[
        Literal["systems", "items", "pairs"],
        option("--table", "What to print: effects of systems, difficulties and fit of items, or pairs of systems."),
    ] = "systems",
    by: GroupsOfItems = "auto",
    confidence: Confidence = 0.95,
    rng: Rng = None,
    printing: Printing,
) -> None:
    """Compare systems at equal items: score ~ system + item, with the difficulty of each item.

    FILE is read as by llbt board. Scores of 0 and 1 follow the Rasch model, other scores an additive model.
    """
    import llbt

    from ..report.board_page import board_page
    from .answers import rendered
    from .inputs import board_of

    with working("reading"):
        read = board_of(file, reading)
    answer = llbt.scores.difficulty(read, by=by, confidence=confidence)
    if table == "pairs":
        shown = answer.pair_table(rng=0 if rng is None else rng)
    else:
        shown = answer.item_table() if table == "items" else answer.table()
    typer.echo(rendered(shown, printing, board_page))


def frontier(
    file: Results,
    *,
    reading: BoardReading,
    by: GroupsOfItems = "auto",
    n: Annotated[int, option("--n", "Resamples of items.")] = 1000,
    rng: Rng = None,
    printing: Printing,
) -> None:
    """Print which systems no other system beats in score at the same cost or less, and how certain this is.

    FILE is read as by llbt board; the tool wrote the costs, or --cost names their column.
    """
    from ..report.board_page import board_page
    from .answers import rendered
    from .inputs import board_of

    with working("reading"):
        read = board_of(file, reading)
    typer.echo(rendered(read.frontier(by=by, n=n, rng=0 if rng is None else rng), printing, board_page))


def interval(
    file: Scores,
    *,
    metrics: MetricColumns = None,
    human: Human = "human",
    system: System = "system",
    input: Input = None,
    rater: Rater = None,
    ignore: Ignored = None,
    level: Of = "system",
    coefficient: By = "pearson",
    method: Annotated[
        IntervalMethod, option("--method", "How intervals are made: by resampling, or by Fisher's transformation.")
    ] = "boot-both",
    n: N = 1000,
    confidence: Confidence = 0.95,
    rng: Rng = None,
    n_jobs: Jobs = 1,
    printing: Printing,
) -> None:
    """Print how far each metric agrees with humans, with intervals."""
    import llbt

    from .answers import one_below_another, rendered
    from .inputs import metric_scores

    with working("reading"):
        scores = metric_scores(file, metrics, human=human, system=system, input=input, rater=rater, ignore=ignore)
    answers = {
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
    typer.echo(rendered(one_below_another(answers, "metric", scores.notes), printing))


def compare_all(
    file: Scores,
    *,
    metrics: MetricColumns = None,
    human: Human = "human",
    system: System = "system",
    input: Input = None,
    rater: Rater = None,
    ignore: Ignored = None,
    statistic: Annotated[
        Statistic, option("--statistic", "The measure of agreement: a correlation, or an accuracy on pairs.")
    ] = "correlation",
    tasks: Annotated[
        Text,
        column(
            "--tasks", "The column with the task of a row, such as its language pair; tests are of means over tasks."
        ),
    ] = None,
    level: Of = "system",
    coefficient: By = "pearson",
    method: Annotated[TestMethod, option("--method", "The test of each pair.")] = "perm-systems",
    adjust: Annotated[Adjust, option("--adjust", "How p-values are adjusted for the number of tests.")] = "holm",
    family: Annotated[
        Literal["row", "table"],
        option("--family", "The tests that are adjusted together: those of each metric, or all."),
    ] = "row",
    n: Annotated[int | None, option("--n", "Resamples; by default enough for the adjustment.")] = None,
    draws: Annotated[
        int, option("--draws", "Permutations for each p-value of two systems in soft pairwise accuracy.")
    ] = 1000,
    clusters: Annotated[
        bool, option("--clusters", "Print metrics in clusters as in WMT, the best first, instead of all pairs.")
    ] = False,
    rng: Rng = None,
    n_jobs: Jobs = 1,
    printing: Printing,
) -> None:
    """Test for every pair of metrics whether one agrees with humans better than the other."""
    import llbt

    from .answers import rendered
    from .inputs import metric_scores, task_scores

    scores: llbt.metrics.MetricScores | dict[Any, llbt.metrics.MetricScores]
    with working("reading"):
        if tasks is None:
            scores = metric_scores(file, metrics, human=human, system=system, input=input, rater=rater, ignore=ignore)
        else:
            scores = task_scores(
                file, metrics, human=human, system=system, input=input, rater=rater, ignore=ignore, tasks=tasks
            )
    answer = llbt.metrics.compare_all(
        scores,
        statistic=statistic,
        level=level,
        coefficient=coefficient,
        method=method,
        adjust=None if adjust == "none" else adjust,
        family=family,
        n=n,
        draws=draws,
        rng=rng,
        progress=watched() and method != "williams",
        n_jobs=n_jobs,
    )
    typer.echo(rendered(answer.clusters() if clusters else answer, printing))
