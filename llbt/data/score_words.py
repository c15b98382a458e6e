"""The words that columns of scores go by: systems, items, scores, raters, runs, and what is never a system."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

SYSTEM_WORDS = (
    *("system", "model", "agent", "method", "submission", "approach", "participant", "team", "sys", "summarizer"),
    *("llm", "checkpoint", "chatbot", "assistant", "engine", "run"),
)
ITEM_WORDS = (
    *("instance", "item", "question", "prompt", "doc", "document", "qid", "sample", "example", "task", "problem"),
    *("segment", "seg", "sentence", "query", "input", "case", "idx", "index", "id", "uid", "passage", "topic"),
)
RATER_WORDS = (
    *("rater", "annotator", "judge", "worker", "assessor", "evaluator", "grader", "coder", "scorer", "reviewer"),
    *("labeler", "user"),
)
RUN_WORDS = ("seed", "epoch", "run", "trial", "rep", "repeat", "repetition", "replicate", "fold", "attempt")
SCORE_WORDS = ("score", "accuracy", "acc", "rating", "correct", "iscorrect", "exactmatch", "value", "reward", "grade")
TOTAL_WORDS = ("average", "avg", "mean", "overall", "total", "macroavg", "microavg", "rank", "place")
_BESIDE_WORDS = (
    *("turn", "round", "length", "len", "ntokens", "numtokens", "tokens", "time", "timestamp", "tstamp", "date"),
    *("duration", "cost", "price", "temperature", "params", "nparams", "parameters", "year", "order", "position"),
)
_BESIDE = re.compile(r"^latency|_ms$", re.IGNORECASE)
_ROW_NUMBER = re.compile(r"(^|[_\s.-])(id|idx|index)$|^unnamed: \d+$", re.IGNORECASE)
_SUFFIXES = ("", "id", "idx", "name", "no", "number", "nr", "hash", "key")


def spelled(name: object) -> str:
    """Return a name without case, blanks and signs: ``Model ID`` and ``model_id`` are one."""
    return re.sub(r"[\s_.-]", "", str(name)).casefold()


def is_called(name: object, words: Collection[str]) -> bool:
    """Whether a column goes by one of the words, alone or as an id or a name."""
    return any(spelled(name) == word + suffix for word in words for suffix in _SUFFIXES)


def called(names: Iterable[str], words: Collection[str]) -> list[str]:
    """Return the columns that go by one of the words, in the order of the words."""
    known = list(names)
    found = [name for word in words for name in known if is_called(name, (word,))]
    return list(dict.fromkeys(found))


def is_beside(name: object) -> bool:
    """Whether a column's name is one of what stands beside scores: an item, a rater, a run, a length, a time."""
    words = (*ITEM_WORDS, *RATER_WORDS, *RUN_WORDS, *_BESIDE_WORDS)
    return is_called(name, words) or bool(_BESIDE.search(str(name))) or numbers_rows(name)


def numbers_rows(name: object) -> bool:
    """Whether a column is called as numbers of rows are: id, idx, index, …_id."""
    return bool(_ROW_NUMBER.search(str(name)))
