"""The options of the commands: their names, allowed values and completions.

Commands share them in groups, each a record; a field of a record is an option of that name. Options have the names of
the library's arguments, except ``--input-format``, which is the library's ``format``. Nothing here imports the library,
so help and completion start at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import typer

from .completion import after_columns, after_files, after_formats, after_formula, after_objects, after_values, files

Text = str | None
CovType = Literal["cautious", "nonrobust", "quasi", "cluster", "CR1", "HC0"]
Link = Literal["adjacent", "cumulative", "probit"]
Method = Literal["auto", "glm", "eliminate"]
Approximation = Literal["laplace", "ep"]
Part = Literal["all", "covariates"]
Scale = Literal["probability", "log_worth", "log_odds", "odds_ratio", "elo"]
Test = Literal["chi2", "F", "wald", "score", "cluster"]
Among = Literal["inter", "intra"]
Resample = Literal["units", "judges", "both"]
Mechanism = Literal["mean", "median", "bt", "llbt", "elo", "trueskill"]
Level = Literal["system", "input", "global"]
Correlation = Literal["pearson", "spearman", "kendall"]
IntervalMethod = Literal["boot-systems", "boot-inputs", "boot-both", "fisher"]
Statistic = Literal["correlation", "pairwise_accuracy", "soft_pairwise_accuracy", "tie_calibrated_accuracy"]
TestMethod = Literal["perm-systems", "perm-inputs", "perm-both", "perm-pairs", "boot", "williams"]
BoardTest = Literal["wilcoxon", "t", "mcnemar", "permutation"]
Grouping = Literal["clusters", "letters", "leader"]
Adjust = Literal["holm", "bonferroni", "fdr_bh", "none"]
LabelType = Literal["text", "number"]
Size = Literal["normalsize", "small", "footnotesize", "scriptsize"]
Format = Literal["text", "markdown", "latex", "html", "json", "csv"]


_OF_OBJECTS = ("OBJECT,…", "OBJECT,…|any", "consensus|mean|OBJECT,…", "OBJECT[=NUMBER]", "1|I,J")


def option(name: str, text: str, metavar: str | None = None, completed: Callable[..., Any] | None = None) -> Any:
    """Return an option; the text of an option with a `metavar` states its default."""
    help_text = " ".join(text.split())
    by_metavar: dict[str | None, Callable[..., Any]] = {"FILE": files, "FORMULA": after_formula}
    by_metavar.update({name: after_objects for name in _OF_OBJECTS})
    by_metavar["COLUMN=VALUE,…"] = after_values
    completed = by_metavar.get(metavar, completed)
    return typer.Option(name, help=help_text, metavar=metavar, show_default=metavar is None, autocompletion=completed)


def column(name: str, text: str, metavar: str = "COLUMN") -> Any:
    """Return an option that names columns of FILE."""
    return option(name, text, metavar, after_columns)


def _argument(text: str) -> Any:
    help_text = " ".join(text.split())
    return typer.Argument(help=help_text, metavar="FILE", show_default=False, autocompletion=after_files)


File = Annotated[
    str,
    _argument(
        """A csv, tsv, json, jsonl or parquet file (gzipped or not), several with a quoted pattern such as
        'a/*.parquet', - for standard input or, where there is no such file, the name of a bundled data set (llbt
        datasets)."""
    ),
]
OtherFile = Annotated[
    str,
    typer.Argument(
        help="The file that FILE is compared with, written in the same way: the later week, the other release.",
        metavar="OTHER",
        show_default=False,
        autocompletion=after_files,
    ),
]
Scores = Annotated[
    str,
    _argument("A csv, tsv, json, jsonl or parquet file (gzipped or not), or - for standard input."),
]
Results = Annotated[
    str,
    _argument("A folder of results, one file of them or a table of scores, or - for a table on standard input."),
]
Formula = Annotated[
    Text,
    option(
        "--formula",
        """The model, such as "object * judge + tie". [default: object, with + tie where there are ties and + order
        where the order is kept]""",
        "FORMULA",
    ),
]
Confidence = Annotated[float, option("--confidence", "The level of the intervals.")]
Rng = Annotated[
    int | None, option("--rng", "The seed of the random numbers: the same whole number repeats the result.", "N")
]
Jobs = Annotated[int, option("--n-jobs", "How many processes to use; -1 uses one per core.")]
At = Annotated[
    Text,
    column(
        "--at",
        """The covariate values at which worths are printed, such as judge=J3 or age=20,age=40; a mix with weights that
        sum to 1, language=de:0.3,language=en:0.7; or average. [default: every level of a label, the mean of a
        number]""",
        "COVARIATE=VALUE[:WEIGHT],…|average",
    ),
]
By = Annotated[
    Text,
    column("--by", "Covariates that split the answer into groups, a block of rows for each level.", "COVARIATE,…"),
]
Mix = Annotated[
    Text,
    option(
        "--mix",
        """A file with the target mix: columns of covariates and a column weight of sum 1. Answers are averaged over its
        rows.""",
        "FILE",
    ),
]
Hypothesis = Annotated[
    Literal["pairwise"] | None,
    option("--hypothesis", "With --by: differences between the groups, the first minus the second.", "pairwise"),
]


Margin = Annotated[
    float | None,
    option(
        "--margin",
        """The largest difference that does not matter, on --scale. Claims that objects are no worse, no better or
        equivalent are then tested.""",
        "NUMBER",
    ),
]
Population = Annotated[
    bool,
    option("--population", "For fits with judge effects: answer for a new judge, not for the average judge."),
]


@dataclass(frozen=True)
class Reading:
    """How a file of judgments is written."""

    objects: Annotated[
        Text,
        column(
            "--objects",
            "The two columns that name object i and object j. [default: object_i,object_j]",
            "I,J",
        ),
    ] = None
    outcome: Annotated[
        Text,
        column(
            "--outcome",
            "Judgments: the column with the outcome, or one such column per judge. [default: outcome]",
            "COLUMN,…",
        ),
    ] = None
    outcomes: Annotated[
        Text,
        option(
            "--outcomes",
            """Judgments: the meaning of each label in the outcome column: i, j, tie, bad (both are bad), or none (leave
            the row out). An empty label stands for a missing outcome: 1=i,0=j,0.5=tie,=none. Grades are whole
            numbers, positive for object i: A>>B=2,A>B=1,A=B=0,A<B=-1,A<<B=-2. Write names if labels are the winners'
            names, slots if they never are. Required if the outcomes are numbers.""",
            "LABEL=i|j|tie|bad|none|GRADE,…",
        ),
    ] = None
    winner: Annotated[
        Text, column("--winner", "Judgments: the column that names the winner. Use it with --loser, without --objects.")
    ] = None
    loser: Annotated[Text, column("--loser", "Judgments: the column that names the loser.")] = None
    scores: Annotated[
        Text,
        column(
            "--scores",
            "Judgments: the two columns with the scores. The higher score wins; equal scores are a tie.",
            "I,J",
        ),
    ] = None
    orders: Annotated[
        Literal["agree"] | None,
        option(
            "--orders",
            """Judgments: with agree, a pair that a judge saw in both orders on one prompt counts once, and as a tie if
            the verdicts differ. [default: every judgment counts]""",
            "agree",
        ),
    ] = None
    weights: Annotated[Text, column("--weights", "Judgments: the column with the number of judgments in each row.")] = (
        None
    )
    ties_column: Annotated[
        Text,
        column(
            "--ties-column",
            """Judgments: the column that says yes if the judgment is a tie. Counts: the column with the number of ties;
            several are summed. [default: found by name and values]""",
            "COLUMN,…",
        ),
    ] = None
    ignore: Annotated[
        Text,
        column(
            "--ignore",
            "Columns that are not part of the judgments, whatever their names suggest, such as count.",
            "COLUMN,…",
        ),
    ] = None
    where: Annotated[
        Text,
        column(
            "--where",
            "Read only rows in which a column says yes (anony) or has a value (language=English).",
            "COLUMN|COLUMN=VALUE,…",
        ),
    ] = None
    exclude: Annotated[
        Text,
        column("--exclude", "Leave out rows with a value, such as judge=J3,judge=J7.", "COLUMN=VALUE,…"),
    ] = None
    drop: Annotated[
        Text,
        option(
            "--drop",
            "Leave out copies of an earlier row (copies), or rows that compare an object with itself (self).",
            "copies|self,…",
        ),
    ] = None
    missing: Annotated[
        Text,
        option(
            "--missing",
            """drop leaves out rows with a missing value, and a note counts them. Rankings and ratings: the numbers that
            stand for a missing value, such as -1. [default: missing values are refused, except ranks and ratings]""",
            "drop|NUMBER,…",
        ),
    ] = None
    input_format: Annotated[
        Text,
        option(
            "--input-format",
            "The format of the file (llbt formats lists them). [default: found by the column names]",
            "NAME",
            after_formats,
        ),
    ] = None
    defaults: Annotated[
        Text,
        option(
            "--defaults",
            "Values of fields that FILE does not have: baseline=gpt-4-0314.",
            "FIELD=VALUE,…",
        ),
    ] = None
    labels: Annotated[
        LabelType | None,
        option(
            "--labels",
            """How to read the labels of objects: as text (2 and 2.0 differ) or as numbers (they are the same).
            [default: numbers if all labels are written in the standard form of numbers]""",
            "text|number",
        ),
    ] = None
    max_dropped: Annotated[
        int,
        option(
            "--max-dropped",
            """How many judgments may be left out because their outcome is unknown or they compare an object with
            itself. A note counts them.""",
            "N",
        ),
    ] = 0
    judge: Annotated[Text, column("--judge", "The column with the judge. [default: judge]")] = None
    prompt: Annotated[
        Text, column("--prompt", "The column with the prompt or other input that was judged. [default: prompt]")
    ] = None


@dataclass(frozen=True)
class Lists:
    """How a file of rankings, of best-worst choices or of ratings is written."""

    rankings: Annotated[
        Text,
        column(
            "--rankings",
            """Rankings, one per row: the rank columns, one per object, named after it; or the place columns, first to
            last, whose cells name objects. With --object: the single rank column.""",
            "COLUMN,…",
        ),
    ] = None
    best: Annotated[
        Text,
        column(
            "--best",
            """Best-worst sets, one per row: the column that names the best object; --objects names the columns of the
            set. With --design: one column for each set.""",
            "COLUMN,…",
        ),
    ] = None
    worst: Annotated[
        Text, column("--worst", "Best-worst sets: the column that names the worst, or one for each set.", "COLUMN,…")
    ] = None
    design: Annotated[
        Text,
        option(
            "--design",
            """Best-worst sets, one row per judge: a file with the sets that every judge was shown. It has one row per
            set and one column per object.""",
            "FILE",
        ),
    ] = None
    ratings: Annotated[
        Text,
        column(
            "--ratings",
            "Ratings: the rating columns, one per object, named after it. With --object: the single rating column.",
            "COLUMN,…",
        ),
    ] = None
    object: Annotated[
        Text,
        column("--object", "Rankings or ratings with one row per object: the column that names the object."),
    ] = None
    block: Annotated[
        Text,
        column(
            "--block",
            """With --object: the columns that identify a list, such as judge,prompt. [default: the columns named like
            judges and items, or else all others]""",
            "COLUMN,…",
        ),
    ] = None
    unranked: Annotated[
        Literal["unknown", "below"] | None,
        option(
            "--unranked",
            """Rankings: the meaning of a missing rank. unknown: the object was not judged; below: it was shown and
            ranked below all others. [default: unknown]""",
            "unknown|below",
        ),
    ] = None


@dataclass(frozen=True)
class Counting:
    """How judgments are counted, or a table of counts is written."""

    strength: Annotated[
        Text,
        column(
            "--strength",
            """Judgments: the column with the strength of preference, 1, 2, …, or with a signed grade that replaces the
            outcome; write strength for formats that have this field. Without it there are wins, ties and losses.""",
        ),
    ] = None
    wins: Annotated[
        Text,
        column(
            "--wins",
            "Counts: the two columns with the wins of object i and of object j. [default: wins_i,wins_j]",
            "I,J",
        ),
    ] = None
    covariates: Annotated[
        Text,
        column("--covariates", "Columns that split the table, such as judge,age; a formula may name them.", "COLUMN,…"),
    ] = None
    clusters: Annotated[
        Text,
        column("--clusters", "Columns that are kept for clustering; they do not split the table.", "COLUMN,…"),
    ] = None
    numeric: Annotated[
        Text,
        column(
            "--numeric",
            "Covariates to read as numbers. [default: decimals, and all numeric object and side covariates]",
            "NAME,…",
        ),
    ] = None
    order: Annotated[
        bool,
        option("--order", "Keep which object was shown first (object i). Otherwise both orders of a pair are merged."),
    ] = False
    side_covariates: Annotated[
        Text,
        column(
            "--side-covariates",
            "Covariates with a value for each side, and their two columns: length=length_a:length_b.",
            "NAME=I:J,…",
        ),
    ] = None
    object_covariates: Annotated[
        Text,
        option(
            "--object-covariates",
            "A file with one row per object: a column object and one column per covariate.",
            "FILE",
        ),
    ] = None
    judge_covariates: Annotated[
        Text,
        option(
            "--judge-covariates",
            "A file with one row per judge: the judge column, named as in FILE, and one column per covariate.",
            "FILE",
        ),
    ] = None
    pool: Annotated[
        Text,
        column("--pool", "Covariates to sum the table over before fitting; all means every covariate.", "NAME,…|all"),
    ] = None
    largest_component: Annotated[
        bool,
        option("--largest-component", "Keep only the largest group of connected objects; a note counts the others."),
    ] = False


@dataclass(frozen=True)
class Model:
    """How a model is fitted."""

    reference: Annotated[
        Text,
        option(
            "--reference",
            """The object with log-worth 0 [default: the last], or levels with which others are compared:
            object=B,judge=J2.""",
            "OBJECT|NAME=LEVEL,…",
        ),
    ] = None
    cov_type: Annotated[
        CovType,
        option(
            "--cov-type",
            """Standard errors. nonrobust and HC0 assume independent judgments, quasi allows for overdispersion, cluster
            and CR1 use the clusters of --groups. cautious uses the clusters (judge, prompt, block or --clusters)
            that give the largest standard errors, if any is recorded.""",
        ),
    ] = "cautious"
    groups: Annotated[
        Text,
        column(
            "--groups",
            """The cluster column, or two of them, for --cov-type cluster and CR1.""",
            "COLUMN,…",
        ),
    ] = None
    prior: Annotated[
        Text,
        option(
            "--prior",
            """Makes infinite estimates finite: a number of prior judgments per pair, shared equally by its outcomes, or
            jeffreys, Firth's bias reduction.""",
            "NUMBER|jeffreys",
            lambda incomplete: [word for word in ("jeffreys",) if word.startswith(incomplete)],
        ),
    ] = None
    penalty: Annotated[
        Text,
        option(
            "--penalty",
            """Shrinks slopes of objects, object:length in the formula, toward their mean: by this strength, or by the
            one that predicts held-out judgments best (ridge).""",
            "NUMBER|ridge",
            lambda incomplete: [word for word in ("ridge",) if word.startswith(incomplete)],
        ),
    ] = None
    link: Annotated[
        Link,
        option(
            "--link",
            """The link function: adjacent is the log-linear model, cumulative the model of Rao and Kupper and of
            Agresti, probit the model of Thurstone and of Glenn and David.""",
        ),
    ] = "adjacent"
    discrimination: Annotated[
        Text,
        column(
            "--discrimination",
            "The judge column: each judge gets a discrimination, a factor on the log-worths.",
        ),
    ] = None
    approximation: Annotated[
        Approximation | None,
        option(
            "--approximation",
            """How judge effects, (object | judge) in the formula, are integrated. laplace is fast, but estimates them
            too small if judges have few judgments. ep (expectation propagation) is for two crossed groupings. [default:
            quadrature or sampling; ep for two crossed groupings]""",
            "laplace|ep",
        ),
    ] = None
    fixed: Annotated[Text, option("--fixed", "Parameters to fix at a value: tie=-0.5.", "NAME=NUMBER,…")] = None
    method: Annotated[
        Method,
        option(
            "--method",
            """The solver. glm is statsmodels' Poisson GLM, eliminate never calls statsmodels, auto uses eliminate and
            checks small tables with the GLM. The results agree.""",
        ),
    ] = "auto"


@dataclass(frozen=True)
class ScoreReading:
    """How a file of scores of systems is written, and which score is the better one."""

    system: Annotated[Text, column("--system", "The column with the system. [default: by name and values]")] = None
    item: Annotated[
        Text,
        column("--item", "The columns that identify the scored instance. [default: by name, or the row]", "COLUMN,…"),
    ] = None
    instance: Annotated[Text, column("--instance", "The same as --item, for one column.")] = None
    score: Annotated[
        Text, column("--score", "The column of scores, or several. [default: by name and values]", "COLUMN,…")
    ] = None
    rater: Annotated[
        Text, column("--rater", "The column of raters, for standard errors by rater. [default: scores are averaged]")
    ] = None
    ignore: Annotated[Text, column("--ignore", "Columns to leave out.", "COLUMN,…")] = None
    systems: Annotated[
        Text,
        column(
            "--systems",
            "Wide tables: the columns with the systems' scores. [default: all columns of numbers]",
            "COLUMN,…",
        ),
    ] = None
    others: Annotated[Text, column("--others", "Wide tables: columns of numbers that are not systems.", "COLUMN,…")] = (
        None
    )
    higher_is_better: Annotated[
        bool, typer.Option("--higher-is-better/--lower-is-better", help="Whether the higher score wins.")
    ] = True
    tie_threshold: Annotated[float, option("--tie-threshold", "Scores that differ by at most this much are tied.")] = (
        0.0
    )
    relative: Annotated[bool, option("--relative", "Read --tie-threshold as a share of the larger score.")] = False


@dataclass(frozen=True)
class BoardReading:
    """How the results of an evaluation tool are read, and which score is the better one."""

    input_format: Annotated[
        str,
        option("--input-format", "Which tool wrote the results. [default: by names and beginnings of files]", "NAME"),
    ] = "auto"
    score: Annotated[
        Text, column("--score", "The score to use if a tool writes several; for a table, its columns of scores.")
    ] = None
    task: Annotated[Text, option("--task", "The tasks to keep. [default: all]", "TASK,…")] = None
    items: Annotated[
        Text,
        option(
            "--items",
            """The file that lists all items of the benchmark, for results that list solved items only; listed takes the
            items that some system solved.""",
            "FILE|listed",
        ),
    ] = None
    system: Annotated[Text, column("--system", "Tables: the column with the system.", "COLUMN")] = None
    item: Annotated[Text, column("--item", "Tables: the columns that identify the items.", "COLUMN,…")] = None
    cost: Annotated[Text, column("--cost", "Tables: the column of costs; name --system and --item too.")] = None
    without: Annotated[
        Text, option("--without", "Systems to leave out, such as reference translations.", "SYSTEM,…")
    ] = None
    higher_is_better: Annotated[
        bool, typer.Option("--higher-is-better/--lower-is-better", help="Whether the higher score wins.")
    ] = True


@dataclass(frozen=True)
class Printing:
    """How an answer is printed."""

    format: Annotated[Format, option("--format", "How to print the answer; json and csv are not rounded.")] = "text"
    columns: Annotated[
        Text,
        option(
            "--columns", "The columns to print, in this order, by their csv names; stars is also allowed.", "NAME,…"
        ),
    ] = None
    rename: Annotated[
        Text,
        option("--rename", "Text to print instead of labels and headings: gpt-4-0613=GPT-4.", "NAME=TEXT,…"),
    ] = None
    digits: Annotated[
        int | None, option("--digits", "Significant digits of the smallest estimate. [default: 4]", "N")
    ] = None
    decimals: Annotated[int | None, option("--decimals", "Decimals of all estimates, in place of --digits.", "N")] = (
        None
    )
    caption: Annotated[Text, option("--caption", "The title to print instead of the default.", "TEXT")] = None
    notes: Annotated[
        Literal["few", "all"] | None,
        option(
            "--notes", "Text: five lines of notes, or all of them; other formats have all. [default: few]", "few|all"
        ),
    ] = None
    size: Annotated[
        Size | None,
        option(
            "--size",
            "LaTeX and HTML: the font size. [default: LaTeX the largest that fits the page, HTML the page's]",
            "normalsize|small|footnotesize|scriptsize",
        ),
    ] = None
