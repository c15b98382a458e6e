"""Results of evaluation harnesses of language models: lm-evaluation-harness, Inspect, HELM, Every Eval Ever."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from ..base.table import counted
from ..errors import JudgmentError, listed
from .board_files import ScoreFile, facts_of, number_of
from .board_rows import ScoreRows, framed

_TIME = r"\d{4}-\d\d-\d\dT[\d.:+-]+"
SAMPLES = re.compile(rf"samples_(?P<task>.+)_(?P<time>{_TIME})\.jsonl")
_RESULTS = re.compile(rf"results_(?P<time>{_TIME})\.json")
_NO_METRICS = frozenset(
    {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"}
    | {"doc_hash", "prompt_hash", "target_hash"}
)
_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0}
_NO_SCORES = re.compile(
    r"num_|n_|inference_|finish_reason_|logprob|max_prob|batch_size|training_|prompt_|predicted_index|"
    r"estimated_|sampled_|perplexity|bits_per_|.*_tokens$"
)  # figures of a run, not of an answer


def lm_eval_rows(files: Sequence[ScoreFile]) -> ScoreRows:
    """Return the rows of lm-evaluation-harness: a file for each model and task, a record for each document and filter.

    The model's name is in ``results_<date>.json`` next to the samples, or else it is the name of the folder.
    """
    models = _lm_eval_models(files)
    rows, lists = [], set()
    for file in files:
        name = SAMPLES.fullmatch(file.name)
        if name is None:
            continue
        folder = file.path.parent
        system = models.get((folder, name["time"])) or models.get((folder, "")) or file.folder.replace("__", "/")
        for record in file.records():
            metrics = record.get("metrics") or [key for key in record if key not in _NO_METRICS]
            beside = {
                "system": system,
                "task": name["task"],
                "item": record["doc_id"],
                "hash": record.get("doc_hash"),
                "time": name["time"],
                **facts_of(record.get("doc"), ("task",)),
            }
            for metric in metrics:
                value = record.get(metric)
                if isinstance(value, (list, dict, str)):
                    lists.add(metric)
                    continue
                filtered = record.get("filter", "none")
                label = metric if filtered == "none" else f"{metric},{filtered}"
                rows.append({**beside, "metric": label, "score": number_of(value, f"{file.name}, {metric}")})
    notes = [f"metrics that are not numbers left out: {listed(sorted(lists))}"] if lists else []
    return ScoreRows(framed(rows, files), tuple(notes))


def _lm_eval_models(files: Sequence[ScoreFile]) -> dict[tuple[Any, str], str]:
    """Return names of models by folder and date; if all dates of a folder have one name, also under an empty date."""
    models: dict[tuple[Any, str], str] = {}
    for file in files:
        name = _RESULTS.fullmatch(file.name)
        if name is not None:
            record = file.record()
            model = record.get("model_name") or (record.get("config") or {}).get("model_name")
            if isinstance(model, str) and model:
                models[file.path.parent, name["time"]] = model
    for folder in {folder for folder, _ in models}:
        names = {model for (where, _), model in models.items() if where == folder}
        if len(names) == 1:
            models[folder, ""] = names.pop()
    return models


def inspect_rows(files: Sequence[ScoreFile]) -> ScoreRows:
    """Return the rows of logs of Inspect, json or eval (zip): a log for each model and task, samples in epochs."""
    rows: list[dict[str, Any]] = []
    failed, unsuccessful = 0, 0
    for file in files:
        log, samples = _inspect_log(file)
        about = log.get("eval") or {}
        success = log.get("status") == "success"
        unsuccessful += not success
        for sample in samples:
            beside = {
                "system": about.get("model"),
                "task": about.get("task"),
                "item": sample.get("id"),
                "run": sample.get("epoch", 1),
                "time": f"{int(success)} {about.get('created', '')} {file.name}",
                "cost": _tokens(sample),
                **facts_of(sample.get("metadata"), ("task",)),
            }
            scores = {} if sample.get("error") else sample.get("scores") or {}
            failed += not scores
            rows += [{**beside, **part} for part in _inspect_scores(scores, file)] or [{**beside, "score": None}]
    notes = []
    if failed:
        notes.append(f"{counted(failed, 'sample')} without a score: an error ended them, or they were not scored")
    if unsuccessful:
        notes.append(f"{counted(unsuccessful, 'log')} whose status is not success; a successful log takes precedence")
    frame = framed(rows, files)
    if frame["run"].nunique() < 2:
        frame = frame.drop(columns="run")
    return ScoreRows(frame, tuple(notes), "tokens")


def _inspect_log(file: ScoreFile) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    if not file.name.endswith(".eval"):
        log = file.record()
        return log, log.get("samples") or []
    header: dict[str, Any] = {}
    samples = []
    for name, record in file.members():
        if name == "header.json":
            header = record
        elif name.startswith("samples/"):
            samples.append(record)
    if not header:
        raise JudgmentError(f"{str(file.path)!r} has no header.json", expected="a log that was finished")
    return header, samples


def _inspect_scores(scores: dict[str, Any], file: ScoreFile) -> Iterator[dict[str, Any]]:
    for scorer, score in scores.items():
        value = score.get("value") if isinstance(score, dict) else score
        parts = value if isinstance(value, dict) else {"": value}
        for key, part in parts.items():
            metric = f"{scorer}.{key}" if key else scorer
            known = _LETTERS.get(part) if isinstance(part, str) else part
            if isinstance(part, str) and known is None:
                raise JudgmentError(
                    f"{file.name}: the scorer {metric!r} says {part!r:.60}", expected="a number, or C, I, P or N"
                )
            yield {"metric": metric, "score": number_of(known, f"{file.name}, {metric}")}


def _tokens(sample: dict[str, Any]) -> float | None:
    usage = sample.get("model_usage") or {}
    totals = [used["total_tokens"] for used in usage.values() if isinstance(used.get("total_tokens"), int)]
    return float(sum(totals)) if totals else None


def helm_rows(files: Sequence[ScoreFile]) -> ScoreRows:
    """Return the rows of HELM: a folder for each scenario and model, statistics of each instance."""
    rows, perturbed = [], 0
    for file in files:
        if file.name != "per_instance_stats.json":
            continue
        spec = _helm_spec(file, files)
        args = (spec.get("scenario_spec") or {}).get("args") or {}
        system = (spec.get("adapter_spec") or {}).get("model") or _helm_model(file)
        task = re.sub(r"[,:]?model=[^,]*", "", file.folder).strip(",:")
        for record in file.records():
            if record.get("perturbation"):
                perturbed += 1
                continue
            beside = {
                "system": system,
                "task": task,
                "item": record["instance_id"],
                "run": record.get("train_trial_index", 0),
                **facts_of(args, ("task",)),
            }
            for stat in record["stats"]:
                name = stat["name"]
                if name.get("perturbation"):
                    perturbed += 1
                elif not _NO_SCORES.match(name["name"]):
                    mean = stat.get("mean") if stat.get("count") else None
                    rows.append({**beside, "metric": name["name"], "score": number_of(mean, name["name"])})
    notes = [f"{counted(perturbed, 'record')} of perturbed instances left out"] if perturbed else []
    frame = framed(rows, files)
    if frame["run"].nunique() < 2:
        frame = frame.drop(columns="run")
    return ScoreRows(frame, tuple(notes))


def _helm_spec(file: ScoreFile, files: Sequence[ScoreFile]) -> dict[str, Any]:
    beside = file.path.with_name("run_spec.json")
    return next((other.record() for other in files if other.path == beside), {})


def _helm_model(file: ScoreFile) -> str:
    named = re.search(r"model=([^,]+)", file.folder)
    if named is None:
        raise JudgmentError(
            f"{str(file.path)!r} has no run_spec.json beside it, and its folder names no model",
            expected="the whole folder of a run",
        )
    return named[1].replace("_", "/", 1)


def every_eval_rows(files: Sequence[ScoreFile]) -> ScoreRows:
    """Return the rows of Every Eval Ever: a record for each sample and evaluation, of one model in each file."""
    rows = []
    for file in files:
        for record in file.records():
            evaluation = record.get("evaluation") or {}
            score = evaluation.get("score", evaluation.get("is_correct"))
            usage = record.get("token_usage") or {}
            rows.append(
                {
                    "system": record.get("model_id"),
                    "task": record.get("evaluation_name"),
                    "item": record.get("sample_hash") or record.get("sample_id"),
                    "run": record.get("evaluation_id"),
                    "result": record.get("evaluation_result_id"),
                    "cost": number_of(usage.get("total_tokens"), f"{file.name}, total_tokens"),
                    "score": number_of(score, file.name),
                    **facts_of(record.get("metadata"), ("task",)),
                }
            )
    frame = framed(rows, files)
    again = frame.duplicated(["system", "task", "item", "run"], keep=False)
    if again.any():
        frame = frame.assign(metric=frame["result"].astype(object))
    frame = frame.drop(columns="result")
    # evaluation_id names the model, too: runs are numbered within models
    run = frame.groupby(["system", "task"], sort=False)["run"].transform(lambda ids: pd.factorize(ids)[0])
    frame = frame.drop(columns="run") if run.max() < 1 else frame.assign(run=run)
    return ScoreRows(frame, (), "tokens")


def sacrerouge_rows(files: Sequence[ScoreFile]) -> ScoreRows:
    """Return the rows of sacrerouge: a record for each summary, with metrics within metrics."""
    rows, references = [], 0
    for file in files:
        for record in file.records():
            if record.get("summarizer_type") == "reference":
                references += 1
                continue
            beside = {"system": record["summarizer_id"], "item": record["instance_id"]}
            rows += [{**beside, "metric": name, "score": score} for name, score in _leaves(record["metrics"], "")]
    notes = [f"{counted(references, 'record')} of reference summaries left out"] if references else []
    return ScoreRows(framed(rows, files), tuple(notes))


def _leaves(value: Any, name: str) -> Iterator[tuple[str, float]]:
    """Yield the names, joined by dots, and the numbers of metrics within metrics; lists are averaged."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _leaves(part, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list):
        numbers = [number_of(part, name) for part in value]
        yield name, sum(numbers) / len(numbers) if numbers else float("nan")
    else:
        yield name, number_of(value, name)
