"""Labels that probably mean the same object: variants in case and spaces, and near duplicates."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ..core.columns import Label

_MOST_LABELS = 2_000  # among which near duplicates are looked for
_MOST_CANDIDATES = 20_000  # pairs of labels that are compared letter by letter
_NEAR = 0.9  # difflib's ratio
_SHORT = 5  # letters below which one other letter makes another name


def folded(label: object) -> str:
    """Return a label in lower case, without spaces and invisible characters, in one form of Unicode."""
    text = unicodedata.normalize("NFKC", str(label)).casefold()
    return "".join(c for c in text if not c.isspace() and unicodedata.category(c) != "Cf")


def variants(labels: Iterable[Label]) -> list[list[Label]]:
    """Return the groups of labels that differ only in case, spaces, invisible characters and forms of Unicode."""
    alike: dict[str, list[Label]] = {}
    for label in labels:
        alike.setdefault(folded(label), []).append(label)
    return [group for group in alike.values() if len(group) > 1]


def near_duplicates(labels: Sequence[Label]) -> tuple[list[tuple[Label, Label]], str]:
    """Return pairs of labels that differ by a letter or two, and the reason if they were not searched.

    Labels that differ in numbers, versions or single letters (gpt-3 and gpt-4, System A and System B) are different
    on purpose; variants in case and spaces count as one.
    """
    by_form = {folded(label): label for label in labels}
    forms = sorted(form for form in by_form if form)
    if len(forms) > _MOST_LABELS:
        return [], f"not searched: more than {_MOST_LABELS:,} labels"
    near: list[tuple[Label, Label]] = []
    skeletons = {form: _skeleton(by_form[form]) for form in forms}
    for number, (a, b) in enumerate(_candidates(forms, skeletons)):
        if number == _MOST_CANDIDATES:
            return [], "not searched: too many labels have the same letters"
        if _is_near(a, b):
            near.append((by_form[a], by_form[b]))
    return near, ""


def _skeleton(label: object) -> str:
    """Return a label with # in place of numbers, versions and single letters (gpt-3, v1.5, System A)."""
    numbered = re.sub(r"\d+(\.\d+)*", "#", str(label).casefold())
    return re.sub(r"(?<![^\W_])[^\W_](?![^\W_])", "#", numbered)


def _candidates(forms: list[str], skeletons: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield pairs with so many common letters that they may be near: the bound of difflib's ``quick_ratio``."""
    letters = {c: k for k, c in enumerate(sorted(set("".join(forms))))}
    bags = np.zeros((len(forms), len(letters)), dtype=np.int16)
    for k, form in enumerate(forms):
        np.add.at(bags[k], [letters[c] for c in form], 1)
    size = bags.sum(axis=1)
    for k, form in enumerate(forms):
        common = np.minimum(bags[k], bags[k + 1 :]).sum(axis=1)
        longer, both = np.maximum(size[k + 1 :], size[k]), size[k + 1 :] + size[k]
        for m in np.flatnonzero((2 * common >= _NEAR * both) | ((longer - common <= 1) & (longer >= _SHORT))):
            other = forms[k + 1 + int(m)]
            if skeletons[form] != skeletons[other]:
                yield form, other


def _is_near(a: str, b: str) -> bool:
    if min(len(a), len(b)) >= _SHORT and _is_one_edit(a, b):
        return True
    return difflib.SequenceMatcher(None, a, b, autojunk=False).ratio() >= _NEAR


def _is_one_edit(a: str, b: str) -> bool:
    """Whether adding, removing or exchanging one letter makes two texts equal."""
    a, b = sorted((a, b), key=len)
    at = next((k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(a))
    return a[at:] == b[at + 1 :] or a[at + 1 :] == b[at + 1 :]
