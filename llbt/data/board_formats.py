"""Formats of results of systems on items: which tool wrote the files below a folder, and their rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from ..base.table import counted
from ..errors import JudgmentError, OptionError, listed
from .application_formats import livecodebench_rows, promptfoo_rows
from .board_files import ScoreFile
from .board_rows import ScoreRows
from .harness_formats import every_eval_rows, helm_rows, inspect_rows, lm_eval_rows, sacrerouge_rows
from .solved_formats import swe_bench_rows
from .translation_formats import appraise_rows, mt_metrics_rows

TABLE = "table"


@dataclass(frozen=True)
class BoardFormat:
    """How a tool writes the results of systems on items.

    Attributes
    ----------
    name : str
    tool : str
        The tool, and the version whose output was read.
    files : str
        Regular expression that the path of a file of scores ends with.
    rows : callable
        Returns the rows of all files of the tool, including files beside the scores.
    marks : str
        Regular expression that the beginning of a file of scores holds.
    beside : str
        Regular expression that the path of a file beside the scores ends with.
    """

    name: str
    tool: str
    files: str
    rows: Callable[[Sequence[ScoreFile]], ScoreRows]
    marks: str = ""
    beside: str = r"(?!)"

    def knows(self, file: ScoreFile) -> bool:
        """Whether a file is one of scores in this format."""
        if not re.search(f"(?:^|/)(?:{self.files})$", file.path.as_posix().removesuffix(".gz")):
            return False
        return not self.marks or bool(re.search(self.marks, file.head()))

    def is_beside(self, file: ScoreFile) -> bool:
        """Whether a file belongs to the scores."""
        return bool(re.search(f"(?:^|/)(?:{self.beside})$", file.path.as_posix()))


BOARD_FORMATS: Mapping[str, BoardFormat] = MappingProxyType(
    {
        known.name: known
        for known in (
            BoardFormat(
                "lm_eval",
                "lm-evaluation-harness 0.4.9: --log_samples",
                r"samples_.+_\d{4}-\d\d-\d\dT[^/]*\.jsonl",
                lm_eval_rows,
                beside=r"results_[^/]*\.json",
            ),
            BoardFormat(
                "inspect",
                "Inspect 0.3 (log version 2)",
                r"[^/]*\.eval|[^/]*\.json",
                inspect_rows,
                marks=r'\APK|"status"\s*:[\s\S]*"eval"\s*:\s*\{',
            ),
            BoardFormat(
                "helm",
                "HELM 0.5: per_instance_stats.json",
                r"per_instance_stats\.json",
                helm_rows,
                beside=r"run_spec\.json",
            ),
            BoardFormat(
                "swe_bench",
                "SWE-bench 4: results.json, per_instance_details.json, reports of runs",
                r"results\.json|per_instance_details\.json|[^/]+\.[^/]+\.json",
                swe_bench_rows,
                marks=r'"resolved(_ids)?"\s*:',
            ),
            BoardFormat(
                "every_eval_ever",
                "Every Eval Ever 0.3: instances",
                r"[^/]*\.jsonl",
                every_eval_rows,
                marks=r'"evaluation_name"\s*:[\s\S]*"sample_id"\s*:|"sample_id"\s*:[\s\S]*"evaluation_name"\s*:',
            ),
            BoardFormat("sacrerouge", "sacrerouge 0.2", r"[^/]*\.jsonl", sacrerouge_rows, marks=r'"summarizer_id"\s*:'),
            BoardFormat(
                "appraise",
                "Appraise: DA, SQM and ESA of WMT22 to WMT25",
                r"[^/]*\.csv",
                appraise_rows,
                marks=r"^[^,\n]*,[^,\n]*,[^,\n]*,(TGT|BAD|CHK|REF),",
            ),
            BoardFormat(
                "mt_metrics_eval",
                "mt-metrics-eval 2",
                r"human-scores/[^/]*\.score|metric-scores/[^/]*/[^/]*\.score",
                mt_metrics_rows,
                beside=r"documents/[^/]*\.docs",
            ),
            BoardFormat(
                "promptfoo",
                "promptfoo: eval --output results.json (version 3)",
                r"[^/]*\.json",
                promptfoo_rows,
                marks=r'"(evalId|promptIdx|testIdx)"\s*:',
            ),
            BoardFormat(
                "livecodebench",
                "LiveCodeBench: …_eval_all.json",
                r"[^/]*_eval_all\.json",
                livecodebench_rows,
                marks=r'"question_id"\s*:|"graded_list"\s*:|"question_title"\s*:',
            ),
        )
    }
)
_TABLES = re.compile(r"\.(csv|tsv|txt|json|jsonl|ndjson|parquet|pq)(\.gz)?$")


def format_of(files: Sequence[ScoreFile], asked: str) -> tuple[BoardFormat | None, tuple[ScoreFile, ...]]:
    """Return the format of files and the files that have it; no format for one table of scores.

    Raises
    ------
    OptionError
        For an unknown format, and for files of no known format or of several formats.
    """
    if asked not in ("auto", TABLE, *BOARD_FORMATS):
        raise OptionError(f"format={asked!r}", expected=f"'auto', {listed([TABLE, *BOARD_FORMATS], 20)}")
    if asked == TABLE:
        return None, tuple(files)
    candidates = list(BOARD_FORMATS.values()) if asked == "auto" else [BOARD_FORMATS[asked]]
    by_format = {known: own for known in candidates if (own := [file for file in files if known.knows(file)])}
    if len(by_format) > 1:
        names = [known.name for known in by_format]
        raise OptionError(f"the files are of {len(names)} formats, {listed(names)}", f"Pass format={names[0]!r}.")
    for known, own in by_format.items():
        return known, tuple(file for file in files if file in own or known.is_beside(file))
    tables = [file for file in files if _TABLES.search(file.path.name)]
    if asked == "auto" and len(tables) == 1:
        return None, tuple(tables)
    where = str(files[0].root if len(files) > 1 else files[0].path)
    wanted = [f"{known.name} ({known.tool})" for known in candidates]
    raise JudgmentError(
        f"{where!r}: {counted(len(files), 'file')}, none with results on items; the first is {files[0].path.name!r}",
        expected=f"a table of scores, or results of {'; '.join(wanted)}",
    )
