"""FILE and its options → rankings, best-worst sets and ratings, and fits of lists."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import typer

import llbt

from ..data.files import open_source
from ..data.list_layouts import list_layout
from ..data.sources import in_memory
from ..errors import JudgmentError, listed
from ..fitting.fitted import AnyFit
from ..fitting.ranking_model import RankingCov
from .inputs import Opened, counted, fitted, frame_of, groups_of, opened
from .messages import answered, working
from .options import Counting, Lists, Model, Reading
from .signatures import given
from .values import items, number_or, option_of, wrong

_KINDS = ("rankings", "best", "ratings")
_OF_LISTS = ("objects", "covariates", "clusters")  # what lists are read with
_OF_FITS = ("reference", "cov_type", "groups", "prior")


def list_kind(lists: Lists) -> str:
    """Return which kind of lists the options name; empty for judgments and counts."""
    kinds = [name for name in _KINDS if getattr(lists, name) is not None]
    if len(kinds) > 1:
        raise wrong(kinds[1], f"{option_of(kinds[0])} names another kind of lists already.")
    if lists.worst is not None and lists.best is None:
        raise wrong("worst", "it stands beside --best.")
    return kinds[0] if kinds else ""


def data_of(
    file: str, lists: Lists, reading: Reading, counting: Counting, model: Model
) -> llbt.Comparisons | llbt.Rankings:
    """Return the judgments, counts or lists of a file: as the options say, else as its columns do."""
    kind = list_kind(lists)
    if kind == "ratings":
        return _rated(file, lists, counting)
    if kind:
        return _listed(file, kind, lists, {**given(reading), **given(counting)}, model)
    read = opened(file, reading, counting)
    try:
        return counted(read, counting, groups_of(model))
    except JudgmentError:
        found = (
            None if given(reading) or isinstance(read.source, llbt.Comparisons) else _recognized(read, counting, model)
        )
        if found is None:
            raise
        return found


def fit_of(formula: str | None, data: llbt.Comparisons | llbt.Rankings, model: Model) -> AnyFit:
    """Return the fit of a model to what a file holds, by default of the one that it asks for."""
    if isinstance(data, llbt.Comparisons):
        return fitted(formula, data, model)
    said = {name: value for name, value in given(model).items() if not (name == "cov_type" and value == "cautious")}
    _refuse({name: value for name, value in said.items() if value not in ("auto", "adjacent")}, _OF_FITS, "rankings")
    prior: Any = None if model.prior is None else number_or("prior", model.prior, "jeffreys")
    with working("fitting"):
        return llbt.fit_rankings(
            formula or ("object + tie" if data.largest_tie > 1 else "object"),
            data,
            reference=model.reference,
            cov_type=cast(RankingCov, said.get("cov_type", "cluster" if model.groups else "nonrobust")),
            groups=model.groups or "",
            prior=prior,
        )


def _recognized(read: Opened, counting: Counting, model: Model) -> llbt.Rankings | None:
    """Return the rankings or best-worst sets that a file holds by its columns; None where these say neither."""
    asked = given(counting)
    if set(asked) - set(_OF_LISTS[1:]):
        return None
    source = open_source(read.source)
    layout = list_layout(source)
    if layout is None:
        return None
    door = llbt.choices_from if layout.kind == "sets" else llbt.rankings_from
    with working("reading"):
        found: llbt.Rankings = door(in_memory(source), **layout.arguments, **_kept(asked, model))
    return replace(found, notes=(layout.note, *found.notes))


def tell(data: llbt.Comparisons | llbt.Rankings) -> None:
    """Write what was read of a file to standard error, where the answer does not say it."""
    for note in data.notes:
        typer.echo(f"note: {answered(note)}", err=True)


def _rated(file: str, lists: Lists, counting: Counting) -> llbt.Comparisons:
    """Return the comparisons that the ratings of a file imply."""
    kept: dict[str, Any] = {name: items(name, text) for name, text in given(counting).items() if name in _OF_LISTS}
    _refuse(given(counting), _OF_LISTS, "ratings")
    with working("reading"):
        return llbt.from_ratings(frame_of(file), objects=items("ratings", lists.ratings or ""), **kept)


def _listed(file: str, kind: str, lists: Lists, asked: dict[str, Any], model: Model) -> llbt.Rankings:
    """Return the rankings or best-worst sets of columns that the options name."""
    _refuse(asked, _OF_LISTS if kind == "best" else _OF_LISTS[1:], kind)
    kept = _kept(asked, model)
    with working("reading"):
        return _sets(file, lists, asked, kept) if kind == "best" else _rankings(file, lists, kept)


def _kept(asked: dict[str, Any], model: Model) -> dict[str, Any]:
    """Return the columns that are kept beside lists; those of groups are clusters."""
    kept: dict[str, Any] = {name: items(name, asked[name]) for name in _OF_LISTS[1:] if name in asked}
    groups = model.groups or ""
    if groups and groups not in (*kept.get("covariates", ()), *kept.get("clusters", ())):
        kept["clusters"] = [*kept.get("clusters", ()), groups]
    return kept


def _refuse(asked: dict[str, Any], known: tuple[str, ...], kind: str) -> None:
    other = [name for name in asked if name not in known]
    if other:
        raise wrong(other[0], f"it is not for {option_of(kind)}; known there: {listed([option_of(n) for n in known])}.")


def _sets(file: str, lists: Lists, asked: dict[str, Any], kept: dict[str, Any]) -> llbt.Rankings:
    if "objects" not in asked:
        raise wrong("best", "--objects names the columns with the objects of each set; pass it, too.")
    objects = items("objects", asked["objects"])
    return llbt.choices_from(frame_of(file), objects=objects, best=lists.best or "", worst=lists.worst, **kept)


def _rankings(file: str, lists: Lists, kept: dict[str, Any]) -> llbt.Rankings:
    """Return rankings of columns of ranks, or of places whose cells name objects."""
    names = items("rankings", lists.rankings or "")
    frame = frame_of(file)
    gone = [name for name in names if name not in frame]
    if gone:
        raise wrong("rankings", f"the file has no column {listed(gone)} but {listed(list(frame), 20)}.")
    return llbt.rankings_from(frame, objects=names, **kept)
