"""Checks of rankings and best-worst sets, the counterpart of the checks of pairs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..base.table import counted, format_count, format_percent
from ..core.columns import Coded, FloatArray, IntArray, Label, groups
from ..errors import braced, listed
from ..kernel.list_units import compare_list_units, list_dependence
from .coverage import ACROSS, MOST_OBJECTS, separated, weakest_cut
from .finding import NAMED, SIGNIFICANT, Finding, and_more, leaving_out, p_text, unlike_all
from .labels import variants
from .lists import ListEvidence
from .outlier_checks import dominant
from .row_checks import commonest, similar_labels

_FEW = (
    10  # lists of an object; of 20 in lists of five, 3, 5, 8 and 10 of each leave 80, 29, 9 and 4 % of files infinite
)
_ALWAYS = 5  # lists from which an object that is always first, or a judge who ties all, is named


def run_on_lists(e: ListEvidence) -> tuple[Finding, ...]:
    """Return the findings of all checks, in the order of `LIST_CHECKS`."""
    return tuple(_one(name, needs, check, e) for name, (needs, check) in LIST_CHECKS.items())


def _one(name: str, needs: str, check: Callable[[ListEvidence], Finding], e: ListEvidence) -> Finding:
    why = next((why for need in needs.split() if (why := _lacking(need, e))), "")
    return Finding(name, "unchecked", why) if why else check(e)


def _lacking(need: str, e: ListEvidence) -> str:
    """Return why a check cannot run; empty if it can."""
    if need == "judge":
        return "" if e.judge is not None else "no column names the judge: judge=…"
    if need == "key":
        return "" if e.judge is not None or e.prompt is not None else "no column names judge or prompt: judge=…"
    if need == "together":
        return "" if e.units else "no column groups the lists: judge=…, prompt=…"
    return e.inexpectable


# -- what the lists are ----------------------------------------------------------------------------------------


def check_labels(e: ListEvidence) -> Finding:
    """Check for labels that differ only in case, spaces or forms of Unicode."""
    lists = dict(zip(e.rankings.objects, e.by_object.tolist(), strict=True))
    given = {} if e.judge is None else dict(zip(e.judge.levels.tolist(), e.by_judge.tolist(), strict=True))
    alike = [(what, group, n) for what, n in (("object", lists), ("judge", given)) for group in variants(n)]
    if not alike:
        return Finding("labels", "ok", "no labels differ only in case, spaces or forms of Unicode")
    lines = [
        f"{what} {' = '.join(f'{label!r} ({format_count(n[label])})' for label in group[:NAMED])}"
        for what, group, n in alike
    ]
    return Finding(
        "labels",
        "warning",
        and_more(lines),
        "an object (or judge) with two names has two worths, each from part of its lists",
        "before from_rankings, join the columns of one object (wide frame), or rename labels (long frame): "
        + _replacing(commonest(variants(lists), lists), e.names[0], commonest(variants(given), given)),
        {"groups": float(len(alike))},
    )


def _replacing(objects: dict[Label, Label], column: str = "", judges: dict[Label, Label] | None = None) -> str:
    """Return the call that gives one name to labels of a long frame that mean the same object or judge."""
    names = ({"object": objects} if objects else {}) | ({column: judges} if judges else {})
    return f"frame.replace({names})"


def check_similar_labels(e: ListEvidence) -> Finding:
    """Check for labels that differ by a letter or two."""
    often = dict(zip(e.rankings.objects, e.by_object.tolist(), strict=True))
    way = ", join its columns (wide frame), or rename it before from_rankings (long frame): "
    return similar_labels(e.rankings.objects, "lists", lambda near: way + _replacing(commonest(near, often)))


def check_unranked(e: ListEvidence) -> Finding:
    """Check how many of the shown objects have no place."""
    r = e.rankings
    times = r.counts[r.lists]
    without = float(times[r.places == 0].sum())
    figures = {"entries": without, "share": without / float(times.sum())}
    if r.kind == "best_worst":
        return Finding("unranked", "ok", "every set names its best and its worst object", figures=figures)
    if not without:
        return Finding("unranked", "ok", "every object shown has a place", figures=figures)
    partial = float(r.counts[np.bincount(r.lists, r.places == 0) > 0].sum())
    return Finding(
        "unranked",
        "note",
        f"{format_count(partial)} of {counted(r.n_judgments, 'list')} end before all are ranked: "
        f"{format_percent(figures['share'])} of the objects shown have no place",
        "these objects are ranked below all others, which is wrong if they were not judged",
        "llbt.from_rankings(…, unranked='unknown') if objects without a rank were not judged",
        figures,
    )


def check_ties(e: ListEvidence) -> Finding:
    """Check how many places are shared, by how many objects, and whether judges differ in ties."""
    r = e.rankings
    if r.largest_tie == 1:
        return Finding("ties", "ok", "no two objects share a place: leave tie out", figures={"share": 0.0})
    of, size = _places(e)
    times = r.counts[of]
    orders, place = np.unique(size, return_inverse=True)
    number = np.bincount(place, times)
    figures = {"share": r.tied_share} | {f"of {d}": n for d, n in zip(orders.tolist(), number.tolist(), strict=True)}
    by_order = ", ".join(
        f"{d}: {format_count(n)}" for d, n in zip(orders[1:].tolist(), number[1:].tolist(), strict=True)
    )
    overall = f"{format_percent(r.tied_share)} of the places are shared (objects in one place: {by_order})"
    tied = np.bincount(of, size > 1, len(r)) > 0
    table = _by_unit(e.judge, np.column_stack([tied, ~tied]) * r.counts[:, None])
    if len(table) < 2:
        return Finding("ties", "ok", overall, figures=figures)
    extreme, adjusted = unlike_all(table)
    shares = table[:, 0] / table.sum(axis=1)
    by_judge = f"judges tie in {format_percent(shares.min())} to {format_percent(shares.max())} of their lists"
    if not extreme or e.judge is None:
        smallest = f"; none differs from the others, smallest {p_text(float(adjusted.min()))}"
        return Finding("ties", "ok", f"{overall}; {by_judge}{smallest}", figures=figures)
    named = [
        f"{e.judge.levels[k]!r}: in {format_count(table[k, 0])} of {format_count(table[k].sum())} "
        f"({p_text(float(adjusted[k]))})"
        for k in extreme
    ]
    return Finding(
        "ties",
        "warning",
        f"{overall}; {by_judge}; different from the others (Holm's adjusted p): {and_more(named)}",
        "each δ averages over judges who use ties differently",
        f"fit with and without them: {leaving_out(e.names[0], e.judge.levels[extreme].tolist())}; standard errors "
        f"that allow for correlation within judges: llbt.fit(…, cov_type='cluster', groups={e.names[0]!r})",
        figures | {"judges": float(len(extreme))},
    )


def _places(e: ListEvidence) -> tuple[IntArray, IntArray]:
    """Return the list of each place that is taken, and how many objects have this place."""
    r = e.rankings
    ranked = np.flatnonzero(r.places > 0)
    of = r.lists[ranked]
    first, place = groups([of, r.places[ranked]])
    return of[first], np.bincount(place)


def _by_unit(column: Coded | None, counts: FloatArray) -> FloatArray:
    """Return the counts of lists (L, k) by judge, shape (G, k); no rows if the judges are unknown."""
    if column is None:
        return np.zeros((0, counts.shape[1]))
    return np.column_stack([np.bincount(column.codes, part, len(column.levels)) for part in counts.T])


# -- what hangs together, and whether estimates exist ----------------------------------------------------------


def check_sparse(e: ListEvidence) -> Finding:
    """Check for objects in few lists."""
    n = e.by_object
    few = sorted(np.flatnonzero(n < _FEW), key=lambda k: (n[k], k))
    if not few:
        return Finding("sparse", "ok", f"every object is in {_FEW} lists or more", figures={"n": 0.0})
    named = [f"{e.rankings.objects[k]!r} ({format_count(n[k])})" for k in few]
    return Finding(
        "sparse",
        "warning",
        f"{len(few)} of {counted(len(n), 'object')} in fewer than {_FEW} lists: {and_more(named, 8)}",
        "their worths are imprecise, estimates are too far from 0, and normal intervals are rough",
        "leave them out before from_rankings; or llbt.fit(…, prior='jeffreys')",
        {"n": float(len(few))},
    )


def check_disconnected(e: ListEvidence) -> Finding:
    """Check whether lists connect all objects; otherwise name the groups that they do not connect."""
    parts = e.parts
    if len(parts) == 1:
        return Finding("disconnected", "ok", "all objects are connected by lists", figures={"groups": 1.0})
    return Finding(
        "disconnected",
        "error",
        f"{len(parts)} groups of objects that no list connects: {and_more([braced(g, 6) for g in parts], 6)}",
        "worths of different groups have no common scale, and llbt.fit refuses them",
        "fit each group by itself: from_rankings of the lists of each; or collect lists across groups",
        {"groups": float(len(parts))},
    )


def check_bridges(e: ListEvidence) -> Finding:
    """Check for two groups of objects with few lists between them."""
    c, r = e.pairs, e.rankings
    if len(r.objects) > MOST_OBJECTS:
        return Finding("bridges", "unchecked", f"not searched: more than {MOST_OBJECTS:,} objects")
    group, gap = weakest_cut(len(r.objects), c.pairs, c.totals)
    side = np.bincount(r.lists, group[r.items])
    across = float(r.counts[(side > 0) & (side < r.sizes)].sum())
    smaller = int(min(group.sum(), (~group).sum()))
    figures = {"across": across, "smaller": float(smaller), "gap": gap}
    if len(e.parts) > 1 or smaller < 2 or across >= ACROSS:
        text = "see disconnected" if len(e.parts) > 1 else "no two groups of objects are connected by only a few lists"
        return Finding("bridges", "ok", text, figures=figures)
    parts = [braced(tuple(r.objects[k] for k in np.flatnonzero(half)), 6) for half in (group, ~group)]
    return Finding(
        "bridges",
        "warning",
        f"only {counted(across, 'list')} connect{'s' if across == 1 else ''} {parts[0]} with {parts[1]}",
        "every difference between the two groups rests on these lists: intervals are wide, ranks are unreliable",
        "collect lists with objects of both groups; or rank each group by itself",
        figures,
    )


def check_ends(e: ListEvidence) -> Finding:
    """Check for objects that are always first, or always behind all others."""
    r = e.rankings
    rank = np.where(r.places == 0, np.iinfo(np.int64).max, r.places)
    if r.kind == "best_worst":
        rank = np.where(r.places == 0, 2, np.where(r.places == 2, 3, 1))
    best, worst = np.minimum.reduceat(rank, r.starts[:-1]), np.maximum.reduceat(rank, r.starts[:-1])
    alone = [np.bincount(r.lists, rank == end[r.lists]) == 1 for end in (best, worst)]
    n = np.bincount(r.items)
    enough = e.by_object >= _ALWAYS

    def holds(entries: IntArray) -> IntArray:
        return np.flatnonzero(enough & (np.bincount(r.items, entries, len(n)) == n))

    of = r.lists
    always = holds((rank == best[of]) & alone[0][of])
    last = holds((rank == worst[of]) & (alone[1][of] | (r.places == 0)))
    never = holds(rank != best[of])
    figures = {"always first": float(len(always)), "always last": float(len(last)), "never first": float(len(never))}
    names = [listed([r.objects[k] for k in some], NAMED) for some in (always, last, never)]
    always_first = [
        f"{name} {'is' if len(some) == 1 else 'are'} {what}"
        for some, name, what in zip(
            (always, last, never),
            names,
            ("first in all lists with it", "never placed above another", "never first"),
            strict=True,
        )
        if len(some)
    ]
    if not len(always) and not len(last):
        text = (
            always_first[0]
            if always_first
            else f"no object is always or never first (of those in {_ALWAYS} lists or more)"
        )
        return Finding("ends", "ok", text, figures=figures)
    return Finding(
        "ends",
        "note",
        "; ".join(always_first),
        "their worths are infinite: the lists cannot tell how much better (or worse) they are",
        "llbt.fit(…, prior='jeffreys'), or more lists with these objects; see separation",
        figures,
    )


def check_separation(e: ListEvidence) -> Finding:
    """Check whether the estimates of worths, and of ties, exist."""
    tables = [e.pairs] if len(e.parts) == 1 else [e.pairs.select(objects=part) for part in e.parts if len(part) > 1]
    formula, tied = "object", e.rankings.largest_tie > 1
    reason = next((cause for table in tables if (cause := separated("object", table)[0])), "")
    remedy = "leave the objects out, or llbt.fit(…, prior='jeffreys') or prior= a number"
    if not reason and tied and len(e.parts) == 1 and not e.inexpectable and e.expected.endless:
        formula = "object + tie"
        reason = f"the likelihood increases without bound along {e.expected.endless}"
        remedy = "leave tie out, or add lists: objects must be seen both tied and in places of their own"
    if not reason:
        return Finding("separation", "ok", f"estimates of {'object + tie' if tied else 'object'} are finite")
    effect = f"maximum likelihood estimates of {formula} (and of all larger models) are infinite; llbt.fit "
    return Finding("separation", "error", f"{formula}: {reason}", f"{effect}refuses them", remedy)


# -- who gave them -----------------------------------------------------------------------------------------------


def check_duplicates(e: ListEvidence) -> Finding:
    """Check for lists of the same objects by the same judge (and on the same prompt), and how many of them agree."""
    r = e.rankings
    key = [column.codes for column in (e.judge, e.prompt) if column is not None]
    same = " and ".join(name for name, c in zip(e.names, (e.judge, e.prompt), strict=True) if c is not None)
    repeats = pairs = agree = 0.0
    for size, some in r.of_size():
        entries = r.entries_of(some, size)
        order = np.argsort(r.items[entries], axis=1)
        items = np.take_along_axis(r.items[entries], order, axis=1)
        places = np.take_along_axis(r.places[entries], order, axis=1)
        about = [*(codes[some] for codes in key), *items.T]
        of_set, of_list = groups(about)[1], groups([*about, *places.T])[1]
        n, alike = np.bincount(of_set, r.counts[some]), np.bincount(of_list, r.counts[some])
        repeats += float(np.maximum(n - 1, 0).sum())
        pairs += float((np.maximum(n * (n - 1), 0) / 2).sum())
        agree += float((np.maximum(alike * (alike - 1), 0) / 2).sum())
    if not repeats:
        return Finding("duplicates", "ok", f"no two lists of the same {same} and objects", figures={"n": 0.0})
    share = agree / pairs if pairs else np.nan
    absent = "prompt" if e.prompt is None else "judge" if e.judge is None else ""
    caution = f"; no column names the {absent}, so the {absent}s may differ" if absent else ""
    return Finding(
        "duplicates",
        "note" if absent else "warning",
        f"{counted(repeats, 'list')} repeat{'s' if repeats == 1 else ''} an earlier one (same {same} and objects); "
        f"{format_percent(share)} of repeats are equal{caution}",
        "repeats count as independent lists, so standard errors are too small",
        f"if rows were copied: frame.drop_duplicates(); if lists were given twice: {_clustered(e)}",
        {"n": repeats, "agreement": share},
    )


def _clustered(e: ListEvidence) -> str:
    name = next(iter(e.units), "")
    if not name:
        return "one judge: variation between judges cannot be estimated"
    return f"llbt.fit(…, cov_type='cluster', groups='{name}')"


def check_judges(e: ListEvidence) -> Finding:
    """Check for judges who tie all objects in all their lists."""
    assert e.judge is not None  # the check needs it
    r = e.rankings
    flat = (np.minimum.reduceat(r.places, r.starts[:-1]) == 1) & (np.maximum.reduceat(r.places, r.starts[:-1]) == 1)
    table = _by_unit(e.judge, np.column_stack([flat, ~flat]) * r.counts[:, None])
    enough = table.sum(axis=1) >= _ALWAYS
    who = np.flatnonzero(enough & (table[:, 1] == 0))
    tested = counted(int(enough.sum()), "judge")
    if not len(who):
        text = f"none of {tested} with {_ALWAYS} or more lists ties all objects in each of them"
        return Finding("judges", "ok", text, figures={"n": 0.0})
    named = [f"{e.judge.levels[k]!r} ({format_count(table[k, 0])} lists)" for k in who]
    return Finding(
        "judges",
        "warning",
        f"{len(who)} of {tested} with {_ALWAYS} or more lists tie all objects in each of them: {and_more(named)}",
        "these judges may have answered without looking; this shrinks differences and raises δ",
        f"fit with and without them: {leaving_out(e.names[0], e.judge.levels[who].tolist())}",
        {"n": float(len(who))},
    )


def check_blocks(e: ListEvidence) -> Finding:
    """Check whether lists by the same judge, or on the same prompt, are correlated."""
    tests = {name: (column, list_dependence(e.expected.units(column))[1]) for name, column in e.units.items()}
    tests = {name: test for name, test in tests.items() if not np.isnan(test[1])}
    if not tests:
        return Finding("blocks", "ok", "no two lists share a unit")
    figures = {f"p_{name}": p for name, (_, p) in tests.items()}
    by_column = "; ".join(
        f"{name} ({counted(len(column.levels), 'cluster')}): {p_text(p)}" for name, (column, p) in tests.items()
    )
    alike = [name for name, (_, p) in tests.items() if p < SIGNIFICANT]
    if not alike:
        return Finding("blocks", "ok", f"lists in the same unit are not correlated: {by_column}", figures=figures)
    return Finding(
        "blocks",
        "warning",
        f"lists with the same {' or '.join(alike)} are correlated (score test of varying worths): {by_column}",
        "ignoring this makes standard errors and p-values too small",
        f"llbt.from_rankings(…, clusters='{alike[0]}'), then llbt.fit(…, cov_type='cluster', groups='{alike[0]}')",
        figures,
    )


def check_outlying(e: ListEvidence) -> Finding:
    """Check for judges whose lists differ from the lists of the others."""
    assert e.judge is not None  # the check needs it
    labels = e.judge.levels.tolist()
    if len(labels) < 2:
        return Finding("outlying_judges", "ok", "one judge: no other judge to compare with")
    x = e.expected
    tests = compare_list_units(x.units(e.judge), _choices(e), x.objects)
    tested = int((~np.isnan(tests.p_values)).sum())
    who = [int(k) for k in np.argsort(tests.p_adjusted, kind="stable") if tests.p_adjusted[k] < SIGNIFICANT]
    figures = {"n": float(len(who)), "tested": float(tested)}
    if not who:
        smallest = f" (smallest {p_text(float(np.nanmin(tests.p_adjusted)))})" if tested else ""
        text = f"none of {counted(tested, 'judge')} ranks differently from the others{smallest}"
        return Finding("outlying_judges", "ok", text, figures=figures)
    descriptions = []
    for k in who:
        p = p_text(float(tests.p_adjusted[k]))
        if tests.reason[k] == "object":
            label: Label = e.rankings.objects[tests.item[k]]
            z = float(tests.item_statistic[k])
            descriptions.append(f"{labels[k]!r} ranks {label!r} too {'high' if z > 0 else 'low'} (z = {z:.1f}), {p}")
        else:
            z = float(tests.statistics["agreement"][k])
            descriptions.append(
                f"{labels[k]!r} agrees {'too well' if z > 0 else 'too little'} with the overall worths (z = {z:.1f}), "
                f"{p}"
            )
    name = e.names[0]
    return Finding(
        "outlying_judges",
        "warning",
        f"{len(who)} of {counted(tested, 'judge')} rank{'s' if len(who) == 1 else ''} differently from the others "
        f"(score tests, Holm's adjusted p): {and_more(descriptions)}",
        "a judge who guesses, favours an object or reverses the scale distorts the worths",
        f"fit with and without them: {leaving_out(name, [labels[k] for k in who])}; to test whether judges differ: "
        f"llbt.from_rankings(…, covariates={name!r}), then llbt.anova(llbt.fit('object', …), "
        f"llbt.fit('object * {name}', …))",
        figures,
    )


def _choices(e: ListEvidence) -> FloatArray:
    """Return the number of choices of each judge: places given while more than one object was left."""
    r = e.rankings
    if r.kind == "best_worst":
        each = np.full(len(r), 2.0)
    else:
        of, _ = _places(e)
        last = np.maximum.reduceat(r.places, r.starts[:-1])
        at_last = np.bincount(r.lists, r.places == last[r.lists])
        unranked = np.bincount(r.lists, r.places == 0)
        each = np.bincount(of, minlength=len(r)) - ((at_last == 1) & (unranked == 0))
    assert e.judge is not None  # asked of judges alone
    return np.bincount(e.judge.codes, each * r.counts).astype(np.float64)


def check_dominant(e: ListEvidence) -> Finding:
    """Check for judges with far more lists than all others."""
    assert e.judge is not None  # the check needs it
    name = e.names[0]
    return dominant(
        *(e.judge.levels.tolist(), e.by_judge, "lists"),
        lambda judges: f"fit with and without them: {leaving_out(name, judges)}",
    )


LIST_CHECKS: dict[str, tuple[str, Callable[[ListEvidence], Finding]]] = {
    "labels": ("", check_labels),
    "similar_labels": ("", check_similar_labels),
    "disconnected": ("", check_disconnected),
    "bridges": ("", check_bridges),
    "separation": ("", check_separation),
    "ends": ("", check_ends),
    "sparse": ("", check_sparse),
    "unranked": ("", check_unranked),
    "duplicates": ("key", check_duplicates),
    "blocks": ("together expected", check_blocks),
    "ties": ("", check_ties),
    "judges": ("judge", check_judges),
    "outlying_judges": ("judge expected", check_outlying),
    "dominant_judge": ("judge", check_dominant),
}
