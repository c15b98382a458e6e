"""The command that compares two files: compare."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ..errors import listed
from .messages import working
from .options import (
    At,
    Confidence,
    Counting,
    File,
    Formula,
    Margin,
    OtherFile,
    Printing,
    Reading,
    Rng,
    Text,
    column,
    option,
)
from .values import items, prior_of, wrong

ChangeScale = Literal["log_worth", "log_odds", "elo"]


def compare(
    file: File,
    other: OtherFile,
    *,
    formula: Formula = None,
    fail_if_worse: Annotated[
        Text,
        option(
            "--fail-if-worse",
            """Exit with 1 if this object got worse: a one-sided test at 1 − --confidence. Name it before you look.
            Several objects are tested by Holm's method. With the word any, all objects are tested, by simultaneous
            intervals.""",
            "OBJECT,…|any",
        ),
    ] = None,
    by: Annotated[
        float, option("--by", "Exit with 1 only if an object got worse by more than this, in units of --scale.")
    ] = 0.0,
    anchor: Annotated[
        str,
        option(
            "--anchor",
            """The reference of the changes: consensus, the objects whose changes agree; mean, all objects; or
            objects that you know have not changed.""",
            "consensus|mean|OBJECT,…",
        ),
    ] = "consensus",
    common: Annotated[
        Text, option("--common", "Terms that are the same in both files: tie, order, bad, grade.", "TERM,…")
    ] = None,
    groups: Annotated[
        Text,
        column(
            "--groups",
            """The cluster columns. [default: judge, prompt or block, whichever
            makes standard errors largest]""",
            "COLUMN,…",
        ),
    ] = None,
    prior: Annotated[
        Text,
        option("--prior", "Makes infinite estimates finite: prior judgments per pair, or jeffreys.", "NUMBER|jeffreys"),
    ] = None,
    at: At = None,
    scale: Annotated[ChangeScale, option("--scale", "The scale of the changes.")] = "elo",
    margin: Margin = None,
    confidence: Confidence = 0.95,
    rng: Rng = None,
    reading: Reading,
    counting: Counting,
    printing: Printing,
) -> None:
    """Print which objects got better or worse from FILE to OTHER, and stop a release that got worse.

    The options describe the layout of both files. Exit codes: 0: no object named in --fail-if-worse got worse; 1: at
    least one did; 2: an error, also if the files do not tell which objects changed.
    """
    import llbt

    from .answers import rendered
    from .inputs import at_of, counted, in_groups, opened

    by_clusters = [] if groups is None else items("groups", groups)
    if by and fail_if_worse is None:
        raise wrong("by", "it is for --fail-if-worse; pass that, too.")
    a, b = (counted(opened(name, reading, counting), counting, by_clusters) for name in (file, other))
    shared = [label for label in a.objects if label in b.objects]
    anchors = anchor if anchor in ("consensus", "mean") else _objects("anchor", anchor, shared)
    watched = None if fail_if_worse in (None, "any") else _objects("fail_if_worse", fail_if_worse or "", shared)
    with working("comparing"), in_groups(a):
        changes = llbt.compare(
            a,
            b,
            formula,
            names=_names(file, other),
            anchor=anchors,
            common=[] if common is None else items("common", common),
            at=at_of(at, a),
            scale=scale,
            margin=margin,
            cov_type="cluster" if by_clusters else "cautious",
            groups=by_clusters,
            prior=prior_of(prior),
            confidence=confidence,
            rng=0 if rng is None else rng,
        )
    typer.echo(rendered(changes, printing))
    if fail_if_worse is None:
        return
    gate = changes.gate(watched or "any", by=by)
    for line in gate.table().head:
        typer.echo(line, err=True)
    if gate.failed.any():
        raise typer.Exit(1)


def _objects(name: str, text: str, shared: Sequence[Any]) -> list[Any]:
    """Return the objects that an option names; refuse objects that are not in both files."""
    from .inputs import label_of

    objects = [label_of(shared, word) for word in items(name, text)]
    unknown = [label for label in objects if label not in shared]
    if unknown:
        both = f"the objects of both are {listed(shared, 20)}"
        raise wrong(name, f"{listed(unknown)} is not an object of both files; {both}.")
    return objects


def _names(file: str, other: str) -> tuple[str, str]:
    """Return the names of the two files: without endings, if these names differ."""
    a, b = Path(file).stem, Path(other).stem
    return (a, b) if a and b and a != b else ("a", "b")
