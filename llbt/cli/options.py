"""The options of the commands: what they are called, what they may be, and what completes them.

Commands share them in groups, each a record; a field of a record is an option of that name. Names are those of the
library's arguments, but for ``--input-format``, the library's ``format``. Nothing here imports the library, so help and
completion are there at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import typer

from .completion import after_columns, after_files, after_formats

Text = str | None
CovType = Literal["cautious", "nonrobust", "quasi", "cluster", "CR1", "HC0"]
Link = Literal["adjacent", "cumulative", "probit"]
Method = Literal["auto", "glm", "eliminate"]
Approximation = Literal["laplace"]
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


def option(name: str, text: str, metavar: str | None = None, completed: Callable[..., Any] | None = None) -> Any:
    """Return an option; one with a `metavar` says in its text what holds without it."""
    said = " ".join(text.split())
    return typer.Option(name, help=said, metavar=metavar, show_default=metavar is None, autocompletion=completed)


def column(name: str, text: str, metavar: str = "COLUMN") -> Any:
    """Return an option that names columns of FILE."""
    return option(name, text, metavar, after_columns)


def _argument(text: str) -> Any:
    said = " ".join(text.split())
    return typer.Argument(help=said, metavar="FILE", show_default=False, autocompletion=after_files)


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
Rng = Annotated[int | None, option("--rng", "A whole number that makes what is random repeatable.", "N")]
Jobs = Annotated[int, option("--n-jobs", "Processes; -1 for one per core.")]
At = Annotated[
    Text,
    column(
        "--at",
        """Where worths are asked for, such as judge=J3 or age=20,age=40, a mix with weights that sum to 1,
        language=de:0.3,language=en:0.7, or average. [default: every level of labels, the mean of numbers]""",
        "COVARIATE=VALUE[:WEIGHT],…|average",
    ),
]
By = Annotated[
    Text,
    column("--by", "Covariates that split the answer into groups, a block of rows for each level.", "COVARIATE,…"),
]
Hypothesis = Annotated[
    Literal["pairwise"] | None,
    option("--hypothesis", "With --by: differences between the groups, the first less the second.", "pairwise"),
]


Population = Annotated[
    bool,
    option("--population", "Of a fit with effects of judges: for a judge drawn from the population, not the average."),
]


@dataclass(frozen=True)
class Reading:
    """How a file of judgments is written."""

    objects: Annotated[
        Text,
        column(
            "--objects",
            "The two columns with the objects; that of object i first. [default: object_i,object_j]",
            "I,J",
        ),
    ] = None
    outcome: Annotated[
        Text,
        column(
            "--outcome",
            "Judgments: the column that says who won; several are what as many judges said. [default: outcome]",
            "COLUMN,…",
        ),
    ] = None
    outcomes: Annotated[
        Text,
        option(
            "--outcomes",
            """Judgments: what the labels of that column mean: each i, j, tie, bad (both are), or none to leave its rows
            out; an empty label stands for missing outcomes: 1=i,0=j,0.5=tie,=none. Grades are whole numbers, positive
            for object i: A>>B=2,A>B=1,A=B=0,A<B=-1,A<<B=-2. Or names (labels are the winners' names), or slots (they
            never are). Numbers always need it.""",
            "LABEL=i|j|tie|bad|none|GRADE,…",
        ),
    ] = None
    winner: Annotated[
        Text, column("--winner", "Judgments: the column with the object that won, beside --loser; no --objects then.")
    ] = None
    loser: Annotated[Text, column("--loser", "Judgments: the column with the object that lost.")] = None
    scores: Annotated[
        Text,
        column(
            "--scores",
            "Judgments: the two columns with the points of either object: who has more won, equal points are a tie.",
            "I,J",
        ),
    ] = None
    orders: Annotated[
        Literal["agree"] | None,
        option(
            "--orders",
            """Judgments: agree counts a pair that a judge saw in both orders on one prompt once, as a tie where the
            verdicts differ. [default: every judgment counts]""",
            "agree",
        ),
    ] = None
    weights: Annotated[
        Text, column("--weights", "Judgments: the column with the number of judgments that a row stands for.")
    ] = None
    ties_column: Annotated[
        Text,
        column(
            "--ties-column",
            """Judgments: the column that says yes where a judgment is a tie. Counts: the column with the ties; several
            are summed. [default: as names and values of the columns say]""",
            "COLUMN,…",
        ),
    ] = None
    ignore: Annotated[
        Text,
        column(
            "--ignore", "Columns that say nothing of the judgments, though their names may, such as count.", "COLUMN,…"
        ),
    ] = None
    where: Annotated[
        Text,
        option(
            "--where",
            "Rows to read: those in which a column says yes (anony), or has a value (language=English).",
            "COLUMN|COLUMN=VALUE,…",
        ),
    ] = None
    missing: Annotated[
        Text,
        option(
            "--missing",
            """drop leaves out rows with a missing value in a column that is read, counted. Rankings and ratings:
            numbers that mean none, such as -1. [default: missing values are refused, but for ranks and ratings]""",
            "drop|NUMBER,…",
        ),
    ] = None
    input_format: Annotated[
        Text,
        option(
            "--input-format",
            "How the judgments are written (llbt formats). [default: as the names of the columns say]",
            "NAME",
            after_formats,
        ),
    ] = None
    defaults: Annotated[
        Text,
        option(
            "--defaults",
            "What a field of the format says where FILE has no such field: baseline=gpt-4-0314.",
            "FIELD=VALUE,…",
        ),
    ] = None
    labels: Annotated[
        LabelType | None,
        option(
            "--labels",
            """What the labels of objects are: text (2 and 2.0 are two) or number (they are one). [default: numbers
            where all of them are written as numbers print]""",
            "text|number",
        ),
    ] = None
    max_dropped: Annotated[
        int,
        option(
            "--max-dropped",
            """How many judgments may be left out, counted, because nobody knows what their outcome says or they
            compare an object with itself.""",
            "N",
        ),
    ] = 0
    judge: Annotated[Text, column("--judge", "The column with the judge. [default: judge]")] = None
    prompt: Annotated[Text, column("--prompt", "The column with what was judged. [default: prompt]")] = None


@dataclass(frozen=True)
class Lists:
    """How a file of rankings, of best-worst choices or of ratings is written."""

    rankings: Annotated[
        Text,
        column(
            "--rankings",
            """Rankings, one a row: the columns of the ranks, one per object and named after it; or of the places, first
            to last, where cells name objects. With --object: the one column of ranks.""",
            "COLUMN,…",
        ),
    ] = None
    best: Annotated[
        Text,
        column(
            "--best",
            """Best-worst sets, one a row: the column that names the best of the set; its objects in --objects. With
            --design: a column for each set.""",
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
            """Best-worst sets, a row per judge: a file with the sets that every judge was shown, one a row, with a
            column for each object of a set.""",
            "FILE",
        ),
    ] = None
    ratings: Annotated[
        Text,
        column(
            "--ratings",
            "Ratings: the columns with them, one per object and named after it. With --object: the one column of them.",
            "COLUMN,…",
        ),
    ] = None
    object: Annotated[
        Text,
        column("--object", "Rankings or ratings with a row for each object: the column that names it."),
    ] = None
    block: Annotated[
        Text,
        column(
            "--block",
            """Beside --object: the columns that make a list, such as judge,prompt. [default: all others, or those
            called as judges and items]""",
            "COLUMN,…",
        ),
    ] = None
    unranked: Annotated[
        Literal["unknown", "below"] | None,
        option(
            "--unranked",
            """Rankings: what a missing rank says: nothing, or that the object was shown and stands below all others.
            [default: unknown]""",
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
            """Judgments: the column that says how much the winner is preferred, 1, 2, …, or a signed grade in place of
            the outcome; strength for formats that have one. Without it there are wins, ties and losses.""",
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
        column("--clusters", "Columns that are kept beside the counts; they split nothing.", "COLUMN,…"),
    ] = None
    numeric: Annotated[
        Text,
        column(
            "--numeric",
            "Covariates to read as numbers; by default decimals are, and all numbers of objects and sides.",
            "NAME,…",
        ),
    ] = None
    order: Annotated[
        bool,
        option(
            "--order", "Keep which object was shown first (object i); else both presentations of a pair are merged."
        ),
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
            "A file with one row per object: a column object, and one for each object covariate.",
            "FILE",
        ),
    ] = None
    judge_covariates: Annotated[
        Text,
        option(
            "--judge-covariates",
            "A file with one row per judge: a column judge (as that of FILE is called), and one for each covariate.",
            "FILE",
        ),
    ] = None
    pool: Annotated[
        Text,
        option("--pool", "Covariates to sum the table over before it is fitted, or all of them: all.", "NAME,…|all"),
    ] = None
    largest_component: Annotated[
        bool,
        option(
            "--largest-component", "Keep the largest group of objects that were compared; a note counts the others."
        ),
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
            """Standard errors: of independent judgments (nonrobust, HC0), of overdispersed ones (quasi), or by the
            clusters of --groups (cluster, CR1); cautious: by those of judge, prompt, block and --clusters that make
            them largest, if any is recorded.""",
        ),
    ] = "cautious"
    groups: Annotated[
        Text,
        column(
            "--groups",
            """The column, or two of them, within which judgments depend on each other, for --cov-type cluster and
            CR1.""",
            "COLUMN,…",
        ),
    ] = None
    prior: Annotated[
        Text,
        option(
            "--prior",
            """Where estimates are infinite: so many judgments per pair, shared equally by its outcomes, or jeffreys,
            Firth's bias reduction.""",
            "NUMBER|jeffreys",
            lambda incomplete: [word for word in ("jeffreys",) if word.startswith(incomplete)],
        ),
    ] = None
    link: Annotated[
        Link,
        option(
            "--link",
            """What makes probabilities of log-worths: adjacent is the log-linear model, cumulative Rao and Kupper's
            and Agresti's, probit Thurstone's and Glenn and David's.""",
        ),
    ] = "adjacent"
    discrimination: Annotated[
        Text,
        column(
            "--discrimination",
            "The column of judges who tell objects apart more or less sharply, by a factor of each.",
        ),
    ] = None
    approximation: Annotated[
        Approximation | None,
        option(
            "--approximation",
            """How effects of judges, (object | judge) in the formula, are integrated: laplace is fast, and finds them
            too small where judges have few judgments. [default: as exactly as it takes]""",
            "laplace",
        ),
    ] = None
    fixed: Annotated[Text, option("--fixed", "Parameters to hold at a value: tie=-0.5.", "NAME=NUMBER,…")] = None
    method: Annotated[
        Method,
        option(
            "--method",
            """The solver: glm is statsmodels' Poisson GLM, eliminate never calls statsmodels, auto eliminates and has
            small tables checked by the GLM; the results agree.""",
        ),
    ] = "auto"


@dataclass(frozen=True)
class ScoreReading:
    """How a file of scores of systems is written, and which score is the better one."""

    system: Annotated[Text, column("--system", "The column with the system. [default: by name and values]")] = None
    item: Annotated[
        Text, column("--item", "The columns that name what was scored. [default: by name, or the row]", "COLUMN,…")
    ] = None
    instance: Annotated[Text, column("--instance", "The same as --item, for one column.")] = None
    score: Annotated[
        Text, column("--score", "The column of scores, or several. [default: by name and values]", "COLUMN,…")
    ] = None
    rater: Annotated[Text, column("--rater", "The column of raters, for errors by rater. [default: averaged]")] = None
    ignore: Annotated[Text, column("--ignore", "Columns to leave out.", "COLUMN,…")] = None
    systems: Annotated[
        Text, column("--systems", "Wide: the columns with the systems' scores. [default: all numbers]", "COLUMN,…")
    ] = None
    others: Annotated[Text, column("--others", "Wide: columns of numbers that are no systems.", "COLUMN,…")] = None
    higher_is_better: Annotated[
        bool, typer.Option("--higher-is-better/--lower-is-better", help="Whether the higher score wins.")
    ] = True
    tie_threshold: Annotated[float, option("--tie-threshold", "Scores that differ by at most so much are tied.")] = 0.0
    relative: Annotated[bool, option("--relative", "The threshold is a share of the larger score.")] = False


@dataclass(frozen=True)
class Printing:
    """How an answer is printed."""

    format: Annotated[Format, option("--format", "How to print the answer; json and csv are unrounded.")] = "text"
    columns: Annotated[
        Text,
        option("--columns", "Which columns, in which order, by their names in csv; stars, too.", "NAME,…"),
    ] = None
    rename: Annotated[
        Text,
        option("--rename", "What is printed in place of labels and headings: gpt-4-0613=GPT-4.", "NAME=TEXT,…"),
    ] = None
    digits: Annotated[
        int | None, option("--digits", "Significant digits of the smallest estimate. [default: 4]", "N")
    ] = None
    decimals: Annotated[int | None, option("--decimals", "Decimals of all estimates, in place of --digits.", "N")] = (
        None
    )
    caption: Annotated[Text, option("--caption", "What stands in place of the title.", "TEXT")] = None
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
            "LaTeX and HTML: the size of the letters. [default: the largest that fits the page, and that of the page]",
            "normalsize|small|footnotesize|scriptsize",
        ),
    ] = None
