"""Results of tools that test applications and code of language models: promptfoo and LiveCodeBench."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base.table import counted
from ..errors import JudgmentError
from .board_files import ScoreFile, number_of
from .board_rows import ScoreRows, framed

_ERROR = 2  # promptfoo's failureReason of a test without an answer
_OF_PROBLEM = ("platform", "difficulty", "contest_id")


def promptfoo_rows(files: Sequence[ScoreFile]) -> ScoreRows:
    """Return the rows of promptfoo: a file for each evaluation, a result for each provider, prompt and test.

    A system is a provider, with the label of the prompt where an evaluation has several. Scores are ``score`` (the
    weighted mean of the assertions) and the named scores. A test that ended in an error has no score.
    """
    rows: list[dict[str, Any]] = []
    failed = 0
    for file in files:
        results = _results(file)
        several = len({result.get("promptIdx", 0) for result in results}) > 1
        for result in results:
            about = {
                "system": _system(result, several),
                "item": result.get("testIdx"),
                "cost": number_of(result.get("cost"), f"{file.name}, cost"),
                "time": file.name,
            }
            error = result.get("failureReason") == _ERROR
            failed += error
            scores = {"score": result.get("score"), **(result.get("namedScores") or {})}
            for metric, score in scores.items():
                value = None if error else number_of(score, f"{file.name}, test {about['item']}")
                rows.append({**about, "metric": metric, "score": value})
    notes = [f"{counted(failed, 'test')} without a score because an error ended them"] if failed else []
    return ScoreRows(framed(rows, files), tuple(notes), "dollars")


def livecodebench_rows(files: Sequence[ScoreFile]) -> ScoreRows:
    """Return the rows of LiveCodeBench: a file for each model, a record for each problem with a grade of each sample.

    The model is the folder of the file.
    """
    rows = [
        {
            "system": file.folder,
            "item": record.get("question_id"),
            "run": run,
            "score": number_of(grade, f"{file.name}, {record.get('question_id')}"),
            **{name: record[name] for name in _OF_PROBLEM if record.get(name) is not None},
        }
        for file in files
        for record in file.records()
        for run, grade in enumerate(record.get("graded_list") or [], 1)
    ]
    return ScoreRows(framed(rows, files))


def _results(file: ScoreFile) -> list[dict[str, Any]]:
    results = file.record().get("results")
    results = results.get("results") if isinstance(results, dict) else results
    if not isinstance(results, list) or not all(isinstance(result, dict) for result in results):
        raise JudgmentError(
            f"{str(file.path)!r} has no list of results",
            "Write one: promptfoo eval --output results.json.",
            expected="promptfoo's results in results.results",
        )
    return results


def _system(result: dict[str, Any], several: bool) -> str:
    """Return the name of a provider, with the label of its prompt if there are several prompts."""
    provider = result.get("provider")
    name = (provider.get("label") or provider.get("id")) if isinstance(provider, dict) else provider
    prompt = result.get("prompt") or {}
    label = prompt.get("label") or prompt.get("raw") if isinstance(prompt, dict) else prompt
    return f"{name}, {label}" if several else str(name)
