"""Small results in the shapes in which evaluation tools write theirs, made by hand."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def write(path: Path, *records: Any) -> Path:
    """Write one JSON record, or several as lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return path


def lm_eval(folder: Path, models: Sequence[str] = ("org/a", "org/b"), filters: Sequence[str] = ("none",)) -> Path:
    """lm-evaluation-harness 0.4.9: three documents of each of two tasks; model k has k + 1 right."""
    date = "2025-03-01T10-00-00.123456"
    for k, model in enumerate(models):
        own = folder / model.replace("/", "__")
        write(own / f"results_{date}.json", {"model_name": model, "results": {}})
        for task in ("arc_easy", "mmlu_law"):
            write(
                own / f"samples_{task}_{date}.jsonl",
                *(
                    {
                        "doc_id": doc, "doc": {"question": "?", "subject": f"s{doc % 2}"}, "target": "x",
                        "arguments": {}, "resps": [["x"]], "filtered_resps": ["x"], "filter": name,
                        "metrics": ["exact_match"], "doc_hash": f"{task}{doc}", "exact_match": float(doc <= k),
                    }
                    for name in filters
                    for doc in range(3)
                ),
            )  # fmt: skip
    return folder


def inspect_log(model: str, values: Sequence[Any], status: str = "success", epoch: int = 1, day: int = 1) -> Any:
    """Inspect 0.3, log version 2: a sample for each value; None is one that an error ended."""
    return {
        "version": 2,
        "status": status,
        "eval": {"task": "arc", "model": model, "created": f"2025-03-0{day}T10:00:00+00:00"},
        "samples": [
            {
                "id": k, "epoch": epoch, "metadata": {"subject": f"s{k % 2}"},
                "model_usage": {model: {"input_tokens": 5, "output_tokens": 5, "total_tokens": 10 * k}},
                **({"error": {"message": "timeout"}} if value is None else {"scores": {"choice": {"value": value}}}),
            }
            for k, value in enumerate(values, 1)
        ],
    }  # fmt: skip


def inspect_zip(path: Path, log: Any) -> Path:
    """The same as an .eval file."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps({name: log[name] for name in log if name != "samples"}))
        for sample in log["samples"]:
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
    return path


def helm(folder: Path) -> Path:
    """HELM 0.5: two models on one subject; a statistic that is no score, one without a mean, and a perturbed copy."""

    def stat(name: str, mean: float | None, **beside: Any) -> dict[str, Any]:
        values = {"count": 0} if mean is None else {"count": 1, "sum": mean, "mean": mean}
        return {"name": {"name": name, "split": "test", **beside}, **values}

    for model, right in (("org_a", (1.0, 0.0, None)), ("org_b", (1.0, 1.0, 1.0))):
        run = folder / f"mmlu:subject=anatomy,method=multiple_choice_joint,model={model}"
        spec = {
            "adapter_spec": {"model": model.replace("_", "/", 1)},
            "scenario_spec": {"class_name": "MMLUScenario", "args": {"subject": "anatomy"}},
        }
        write(run / "run_spec.json", spec)
        records = [
            {
                "instance_id": f"id{k}", "train_trial_index": 0,
                "stats": [stat("num_prompt_tokens", 300.0), stat("exact_match", value),
                          stat("exact_match", 0.0, perturbation={"name": "typos"})],
            }
            for k, value in enumerate(right)
        ]  # fmt: skip
        write(run / "per_instance_stats.json", records)
    return folder


def swe_lists(folder: Path, solved: dict[str, Sequence[str]]) -> Path:
    """SWE-bench experiments: a folder for each system with lists of solved items."""
    for system, ids in solved.items():
        record = {"resolved": list(ids), "no_generation": ["p__p-9"], "no_logs": []}
        write(folder / system / "results" / "results.json", record)
    return folder


def every_eval(folder: Path, models: Sequence[str] = ("o/a", "o/b"), hashes: bool = True) -> Path:
    """Every Eval Ever 0.3: a file for each model; numbers of samples differ between sources, hashes do not."""
    for m, model in enumerate(models):
        rows = [
            {
                "schema_version": "0.3.0", "evaluation_id": f"arc/{model}/1", "model_id": model,
                "evaluation_name": "arc", "evaluation_result_id": f"arc/{model}/1#acc", "sample_id": f"{m}-{k}",
                **({"sample_hash": f"h{k}"} if hashes else {}), "interaction_type": "single_turn",
                "evaluation": {"score": float(k <= m), "is_correct": k <= m},
                "token_usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2},
            }
            for k in range(3)
        ]  # fmt: skip
        write(folder / "arc" / model / f"{m}_samples.jsonl", *rows)
    return folder


APPRAISE = """\
engdeu01,SysA,12,TGT,eng,deu,78,doc1,False,[],1.0,2.0
engdeu01,SysA,13,BAD,eng,deu,11,doc1#bad,False,[],2.0,3.0
engdeu01,SysB,12,TGT,eng,deu,66,doc1,False,[],3.0,4.0
engdeu01,SysB,12,TGT,eng,deu,60,doc1,False,[],5.0,6.0
engdeu02,SysA,12,TGT,eng,deu,70,doc1,False,[],5.0,6.0
engdeu02,SysA,12,TGT,eng,deu,50,doc2,False,[],5.0,6.0
engdeu02,SysA,12,TGT,eng,deu,1,doc2#incomplete,False,[],5.0,6.0
engdeu02,SysB,12,CHK,eng,deu,55,doc2,False,[],7.0,8.0
"""  # Appraise of WMT24, ESA: user, system, segment, type, languages, score, document, complete, spans, start, end


def mt_metrics(folder: Path) -> Path:
    """mt-metrics-eval 2: scores of three segments in two documents, by humans and by a metric."""
    texts = {
        "human-scores/en-de.esa.seg.score": "sysA 50\nsysA None\nsysA 70\nrefA 90\nrefA 80\nrefA 60\n",
        "human-scores/en-de.esa.sys.score": "sysA 60\nrefA 76\n",
        "metric-scores/en-de/BLEU-refA.seg.score": "sysA 5\nsysA 6\nsysA 7\nrefA 9\nrefA 9\nrefA 9\n",
        "documents/en-de.docs": "news\td1\nnews\td1\nspeech\td2\n",
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def sacrerouge(path: Path) -> Path:
    """sacrerouge 0.2: two systems and a reference on two documents; metrics within metrics, one with a list."""
    rows = [
        {
            "instance_id": str(item), "summarizer_id": who, "summarizer_type": "reference" if who == "R" else "peer",
            "metrics": {"rouge-1": {"recall": 50.0, "f1": f1}, "responsiveness": [1, 2]},
        }
        for who, f1s in (("7", (53.3, 10.0)), ("8", (40.0, 20.0)), ("R", (99.0, 99.0)))
        for item, f1 in enumerate(f1s)
    ]  # fmt: skip
    return write(path, *rows)


def promptfoo(path: Path, prompts: Sequence[str] = ("short",)) -> Path:
    """promptfoo, version 3: two providers on three tests; the second provider fails the last test by an error."""
    results = [
        {
            "promptIdx": p, "testIdx": k, "provider": {"id": f"openai:{who}", "label": who},
            "prompt": {"raw": f"{prompt}: {{{{q}}}}", "label": prompt}, "vars": {"q": str(k)},
            "namedScores": {"Tone": 0.5}, "cost": 0.25 * (k + 1),
            **({"score": 0, "success": False, "failureReason": 2, "error": "timeout"} if (who, k) == ("b", 2) else
               {"score": float(k <= n), "success": k <= n, "failureReason": int(k > n)}),
        }
        for p, prompt in enumerate(prompts)
        for n, who in enumerate("ab")
        for k in range(3)
    ]  # fmt: skip
    return write(path, {"evalId": "eval-1", "results": {"version": 3, "results": results}, "config": {}})


def livecodebench(folder: Path) -> Path:
    """LiveCodeBench: ten problems with two samples each; model k solves k + 1 of them twice."""
    for k, model in enumerate(("model-a", "model-b")):
        records = [
            {
                "question_title": f"q{n}", "question_content": "?", "platform": ("leetcode", "atcoder")[n % 2],
                "question_id": str(n), "contest_id": "c", "contest_date": "2024-01-01T00:00:00", "difficulty": "easy",
                "code_list": ["", ""], "graded_list": [n <= k, n <= k], "pass@1": float(n <= k),
            }
            for n in range(10)
        ]  # fmt: skip
        file = folder / model / "Scenario.codegeneration_2_0.2_eval_all.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(records), encoding="utf-8")
    return folder
