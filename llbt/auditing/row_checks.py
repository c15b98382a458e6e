"""Checks of rows and labels: rows that cannot be compared, and labels that probably mean the same object."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ..base.table import counted, format_count
from ..core.columns import Label
from ..errors import listed
from .evidence import Evidence
from .finding import NAMED, Finding, and_more
from .labels import folded, near_duplicates, variants


def check_missing(e: Evidence) -> Finding:
    """Check for rows without an object, an outcome, a judge or a prompt."""
    figures = {name: float(n) for name, n in (e.missing | e.unlabelled).items()}
    lacking = [f"{counted(n, 'row')} without {name}" for name, n in (e.missing | e.unlabelled).items()]
    if e.skipped:
        lacking, figures = (
            [*lacking, f"{counted(e.skipped, 'row')} left out by outcomes="],
            figures | {"skipped": e.skipped},
        )
    if not lacking:
        return Finding("missing", "ok", "every row has its objects and its outcome")
    if e.missing:
        left_out = (
            "; to leave out only rows without an outcome: llbt.from_judgments(…, outcomes={None: None})"
            if set(e.missing) - set(e.sides)
            else ""
        )
        return Finding(
            "missing",
            "error",
            ", ".join(lacking),
            "from_judgments refuses rows without an object or an outcome; here they are left out",
            f"frame.dropna(subset={list(e.missing)}){left_out}",
            figures,
        )
    effect = "these judgments count, but have no judge or prompt" if e.unlabelled else ""
    names = dict.fromkeys(e.unlabelled, "unknown")
    filled = f"frame.astype({dict.fromkeys(names, 'object')}).fillna({names})"  # columns of numbers, too
    remedy = f"fill the gaps before using the column as cluster or covariate: {filled}" if e.unlabelled else ""
    return Finding("missing", "note", ", ".join(lacking), effect, remedy, figures)


def check_outcomes(e: Evidence) -> Finding:
    """Check whether outcomes can be read."""
    if not e.unread and not e.dropped:
        return Finding("outcomes", "ok", "every outcome can be read")
    left = f"{counted(e.dropped, 'judgment')} with an outcome that the format does not define"
    return Finding(
        "outcomes",
        "error",
        e.unread or left,
        "from_judgments refuses these outcomes"
        + (", so checks of who won are skipped" if e.unread else "; here they are left out"),
        ("follow the message" if e.unread else "state their meaning with outcomes=")
        + ", both in llbt.audit and in llbt.from_judgments",
    )


def check_self_comparisons(e: Evidence) -> Finding:
    """Check for objects compared with themselves."""
    rows = sum(e.selves.values())
    if not rows:
        return Finding("self_comparisons", "ok", "no object is compared with itself")
    i, j = e.sides
    only = [label for label in e.selves if label not in e.judgments.objects]
    lost = f"; {listed(only, NAMED)} {'is' if len(only) == 1 else 'are'} compared with nothing else" if only else ""
    return Finding(
        "self_comparisons",
        "error",
        f"{counted(rows, 'row')} with an object compared with itself: {listed(list(e.selves), NAMED)}{lost}",
        "these rows do not affect the worths, but from_judgments refuses them; the audit leaves them out",
        f"frame[frame[{i!r}] != frame[{j!r}]]; their verdicts show position bias or noise",
        {"rows": float(rows)},
    )


# -- labels -------------------------------------------------------------------------------------------------


def check_labels(e: Evidence) -> Finding:
    """Check for labels that differ only in case, spaces or forms of Unicode."""
    judges = e.judge
    rows = {} if judges is None else dict(zip(judges.labels, e.by_judge().sum(axis=1).tolist(), strict=True))
    objects, people = variants(e.seen), variants(rows)
    blank = [label for label in e.seen if not folded(label)]
    lines = [_variants("object", group, e.seen) for group in objects] + [
        _variants("judge", group, rows) for group in people
    ]
    lines += [f"the blank label {blank[0]!r}"] if blank else []
    if not lines:
        return Finding("labels", "ok", "no labels differ only in case, spaces or forms of Unicode")
    clash = any(len({str(label) for label in group}) < len(group) for group in objects)
    return Finding(
        "labels",
        "error" if clash else "warning",
        and_more(lines),
        "an object (or judge) with two names has two worths, each from part of its judgments; labels that read "
        "alike, such as 1 and '1', are refused",
        _renaming(e, objects, people, rows),
        {"objects": float(len(objects)), "judges": float(len(people))},
    )


def _variants(what: str, group: list[Label], rows: Mapping[Label, float]) -> str:
    return f"{what} {' = '.join(f'{label!r} ({format_count(rows[label])})' for label in group[:NAMED])}"


def _renaming(e: Evidence, objects: list[list[Label]], judges: list[list[Label]], rows: dict[Label, float]) -> str:
    """Return the line of code that replaces variants by the most frequent label."""
    lines = []
    for columns, groups, often in ((list(e.sides), objects, e.seen), ([e.names[0]], judges, rows)):
        names = commonest(groups, often)
        lines += [_replacing(columns, names)] if names else []
    return "; ".join(lines) or "give blank labels a name, or leave their rows out"


def commonest(groups: Iterable[Sequence[Label]], often: Mapping[Label, float]) -> dict[Label, Label]:
    """Return, for each label of a group but the most frequent one, the most frequent label."""
    best = [(group, max(group, key=often.__getitem__)) for group in groups]
    return {label: to for group, to in best for label in group if label != to}


def _replacing(columns: list[str], names: dict[Label, Label]) -> str:
    return f"frame[{columns}] = frame[{columns}].replace({names})"


def check_similar_labels(e: Evidence) -> Finding:
    """Check for labels that differ by a letter or two."""
    return similar_labels(
        tuple(e.seen), "judgments", lambda near: f": {_replacing(list(e.sides), commonest(near, e.seen))}"
    )


def similar_labels(labels: Sequence[Label], judged: str, remedy: Callable[[list[tuple[Label, Label]]], str]) -> Finding:
    """Return the finding on labels that differ by a letter or two; `judged` is judgments or lists."""
    near, why = near_duplicates(labels)
    if why:
        return Finding("similar_labels", "unchecked", why)
    if not near:
        return Finding("similar_labels", "ok", "no labels differ by a letter or two")
    return Finding(
        "similar_labels",
        "note",
        f"{counted(len(near), 'pair')} of nearly identical labels: {and_more([f'{a!r}, {b!r}' for a, b in near])}",
        f"if one is a typing error, the object has two worths, each from part of its {judged}",
        f"check the labels; if two are the same object{remedy(near)}",
        {"pairs": float(len(near))},
    )
