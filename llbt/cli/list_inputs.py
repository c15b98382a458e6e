"""FILE and its options → rankings, best-worst sets and ratings, and fits of lists."""

from __future__ import annotations

from typing import Any, cast

import llbt

from ..errors import listed
from ..fitting.ranking_model import RankingCov
from .inputs import frame_of
from .messages import working
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


def rated(file: str, lists: Lists, counting: Counting) -> llbt.Comparisons:
    """Return the comparisons that the ratings of a file imply."""
    kept: dict[str, Any] = {name: items(name, text) for name, text in given(counting).items() if name in _OF_LISTS}
    _refuse(given(counting), _OF_LISTS, "ratings")
    with working("reading"):
        return llbt.from_ratings(frame_of(file), objects=items("ratings", lists.ratings or ""), **kept)


def fitted_lists(
    file: str, formula: str | None, lists: Lists, reading: Reading, counting: Counting, model: Model
) -> llbt.RankingResults:
    """Return the fit of the rankings or best-worst sets of a file."""
    kind = list_kind(lists)
    asked = {**given(reading), **given(counting)}
    _refuse(asked, _OF_LISTS if kind == "best" else _OF_LISTS[1:], kind)
    said = {name: value for name, value in given(model).items() if not (name == "cov_type" and value == "cautious")}
    _refuse({name: value for name, value in said.items() if value not in ("auto", "adjacent")}, _OF_FITS, kind)
    kept: dict[str, Any] = {name: items(name, asked[name]) for name in _OF_LISTS[1:] if name in asked}
    groups = model.groups or ""
    if groups and groups not in (*kept.get("covariates", ()), *kept.get("clusters", ())):
        kept["clusters"] = [*kept.get("clusters", ()), groups]
    with working("reading"):
        data = _sets(file, lists, asked, kept) if kind == "best" else _rankings(file, lists, kept)
    cov_type = "cluster" if groups and model.cov_type == "cautious" else said.get("cov_type", "nonrobust")
    formula = formula or ("object + tie" if data.largest_tie > 1 else "object")
    prior: Any = None if model.prior is None else number_or("prior", model.prior, "jeffreys")
    with working("fitting"):
        return llbt.fit_rankings(
            formula,
            data,
            reference=model.reference,
            cov_type=cast(RankingCov, cov_type),
            groups=groups,
            prior=prior,
        )


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
