"""The issue's list of promises, each with its measurement; a ratio is peer / llbt."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .running import Measured

ABSENT = "not measured"
Found = dict[tuple[str, str], Measured]  # contestant and input


@dataclass(frozen=True)
class Verdict:
    promise: str
    measured: str
    held: bool | None  # None: not measured in this run
    why: str = ""  # it was not held
    retired: str = ""  # why it no longer makes sense


@dataclass(frozen=True)
class Context:
    """All results of one run."""

    found: Found
    startup: dict[str, float] | None = None

    def get(self, contestant: str, where: str) -> Measured | None:
        return self.found.get((contestant, where))


Check = Callable[[Context], tuple[str, bool | None]]


def times(ours: Sequence[str], theirs: Sequence[str], inputs: Sequence[str], least: float, what: str = "warm") -> Check:
    """Every peer needs at least this multiple of each of ours; a peer stopped at its limit gives a bound."""

    def check(context: Context) -> tuple[str, bool | None]:
        found = [_slowest(context, ours, peer, where, least, what) for where in inputs for peer in theirs]
        said = [f"{where} {text} {peer}" for (where, peer), (text, _) in zip(_each(inputs, theirs), found, strict=True)]
        if all(text == ABSENT for text, _ in found):
            return ABSENT, None
        return "; ".join(said), _all([held for _, held in found])

    return check


def _each(inputs: Sequence[str], theirs: Sequence[str]) -> list[tuple[str, str]]:
    return [(where, peer) for where in inputs for peer in theirs]


def _slowest(
    context: Context, ours: Sequence[str], peer: str, where: str, least: float, what: str
) -> tuple[str, bool | None]:
    """Return the smallest ratio of what of ours takes part, as text, and whether it is enough."""
    other = context.get(peer, where)
    mine = [m for name in ours if (m := context.get(name, where)) is not None]
    if other is None or not mine:
        return ABSENT, None
    if failed := [m for m in mine if not m.ran]:
        return f"{failed[0].contestant.name}: {failed[0].reason};", False
    largest = max(max(m.median(what), 1e-9) for m in mine)
    if other.timed_out:
        bound = other.contestant.limit / largest
        return f"> {bound:,.0f}×", True if bound >= least else None
    if not other.ran:
        return f"({other.reason})", None
    ratio = other.median(what) / largest
    return f"{ratio:,.3g}×" if ratio < 1000 else f"{ratio:,.0f}×", ratio >= least


def _all(held: Sequence[bool | None]) -> bool | None:
    if False in held:
        return False
    return None if None in held or not held else True


def at_most(contestant: str, where: str, most: float, what: str = "warm") -> Check:
    """A median of seconds or of megabytes."""
    unit = " MB" if what == "extra_mb" else " s"

    def check(context: Context) -> tuple[str, bool | None]:
        m = context.get(contestant, where)
        if m is None:
            return ABSENT, None
        if not m.ran:
            return m.reason, False
        return f"{m.median(what):.3g}{unit}", m.median(what) <= most

    return check


def exact(context: Context) -> tuple[str, bool | None]:
    checked = [m for m in context.found.values() if m.contestant.package == "llbt" and m.contestant.rule and m.ran]
    own = [m for m in checked if m.contestant.name.startswith("llbt")]
    if not own:
        return ABSENT, None
    worst = max(own, key=lambda m: m.largest)
    gradient = max(float(m.result.get("gradient", 0.0)) for m in own)
    text = f"≤ {worst.largest:.1e} ({worst.contestant.name}, {worst.input.name}); gradient norm ≤ {gradient:.1e}"
    return text, not any(m.failed for m in own)


def published(context: Context) -> tuple[str, bool | None]:
    own = [m for m in context.found.values() if m.contestant.expect and m.ran]
    if not own:
        return ABSENT, None
    return "; ".join(f"{m.result['deviance']:.5f}" for m in own), not any(m.failed for m in own)


def started(context: Context) -> tuple[str, bool | None]:
    if context.startup is None:
        return ABSENT, None
    return f"{context.startup['ratio']:.2f}×", context.startup["ratio"] <= 1.1


def helped(context: Context) -> tuple[str, bool | None]:
    if context.startup is None:
        return ABSENT, None
    ratio = context.startup["help"] / context.startup["base"]
    return f"{ratio:.2f}×", ratio <= 0.3


CODES = ("llbt-integers", "llbt-categories")
EVALICA_CODES = ("evalica-codes", "newman-codes")
EVALICA_STRINGS = ("evalica-strings", "newman-strings")

INTEGERS, STRINGS, BOOTSTRAP = ("llbt-integers",), ("llbt-strings",), ("llbt-bootstrap",)
COUNTS = ("llbt-counts",)  # as pyfixest and statsmodels read them
PROTOTYPE, LOOPS = ("prototype-bootstrap",), ("loop-bootstrap", "scipy-bt-bootstrap")
SUBJECTS, JUDGES = ("llbt-agg100-subj", "agg100"), ("llbt-judges", "M-judges")
THREE = ("llbt-three",)
KUPPER_ARENA = ("llbt-rao-kupper-arena",), ("leaderbot-rao-kupper-arena",), ("arena",)
SIZES = ("S", "M", "L", "XL")
ANY = float("inf")

PROMISES: tuple[tuple[str, Check], ...] = (
    ("Codes: M and L ≥ 4× choix (its matrix by np.add.at)", times(CODES, ("choix",), ("M", "L"), 4)),
    ("Codes: M and L ≥ 4× choix (its matrix by bincount)", times(CODES, ("choix-bincount",), ("M", "L"), 4)),
    ("Codes: XL ≥ 10× evalica", times(CODES, EVALICA_CODES, ("XL",), 10)),
    ("Codes: XL with ≤ 1/5 of evalica's extra memory", times(CODES, EVALICA_CODES, ("XL",), 5, "extra_mb")),
    ("Codes: XL no slower than choix", times(CODES, ("choix", "choix-bincount"), ("XL",), 1)),
    ("Strings: M and L ≥ 8× evalica", times(STRINGS, EVALICA_STRINGS, ("M", "L"), 8)),
    ("Strings: M and L ≥ 20× arena-rank, warm", times(STRINGS, ("arena-rank",), ("M", "L"), 20)),
    ("M ≥ 50× arena-rank and leaderbot, cold", times(STRINGS, ("arena-rank", "leaderbot"), ("M",), 50, "cold")),
    ("The same LLBT model, from counts: M ≥ 30× pyfixest", times(COUNTS, ("pyfixest",), ("M",), 30)),
    ("The same LLBT model, from counts: L ≥ 1,000× pyfixest", times(COUNTS, ("pyfixest",), ("L",), 1_000)),
    ("The same LLBT model, from counts: M ≥ 10,000× statsmodels' GLM", times(COUNTS, ("statsmodels",), ("M",), 10_000)),
    ("L in ≤ 50 MB beyond the input", at_most("llbt-integers", "L", 50, "extra_mb")),
    ("1,000 refits, M: at most 1/0.6 of the prototype's time", times(BOOTSTRAP, PROTOTYPE, ("M",), 0.6)),
    ("1,000 refits, L: at most 12/8.6 of the prototype's time", times(BOOTSTRAP, PROTOTYPE, ("L",), 8.6 / 12)),
    ("1,000 refits, M: ≤ 1 s (on the issue's machine)", at_most("llbt-bootstrap", "M", 1)),
    ("1,000 refits, L: ≤ 12 s (on the issue's machine)", at_most("llbt-bootstrap", "L", 12)),
    ("1,000 refits beside plain loops (to be reported)", times(BOOTSTRAP, LOOPS, ("M", "L"), 1)),
    ("Style control, M: ≥ 8× arena-rank", times(("llbt-sides",), ("arena-rank-sides",), ("M-sides",), 8)),
    (
        "Style control, both leaderboards, M: ≥ 2× arena-rank",
        times(("llbt-style",), ("arena-rank-sides",), ("M-sides",), 2),
    ),
    ("100 objects: deviances 9831.42168 and 41382.46799", published),
    ("100 objects, 4 levels: fit, errors and summary under 1 s", at_most(*SUBJECTS, 1)),
    ("100 objects, 4 levels: under 300 MB", at_most(*SUBJECTS, 300, "extra_mb")),
    ("50 objects × 100 judges, all by judge: ≤ 1.5 s", at_most(*JUDGES, 1.5)),
    ("50 objects × 100 judges, all by judge: ≤ 150 MB", at_most(*JUDGES, 150, "extra_mb")),
    ("50 objects × 10,000 judges, effects of judges by Laplace: under 120 s", at_most("llbt-laplace", "judged", 120)),
    ("50 objects × 10,000 judges: under 2 GB", at_most("llbt-laplace", "judged", 2_000, "extra_mb")),
    ("Covariance by judge: ≤ 3× the plain fit", times(("llbt-cluster",), ("llbt-plain",), ("M-judges",), 1 / 3)),
    ("Arena judgments beside leaderbot's Davidson", times(("llbt-arena",), ("leaderbot-arena",), ("arena",), 1)),
    ("Rao-Kupper, L: ≥ 20× leaderbot", times(("llbt-rao-kupper",), ("leaderbot-rao-kupper",), ("L",), 20)),
    ("Rao-Kupper, arena judgments: ≥ 20× leaderbot", times(*KUPPER_ARENA, 20)),
    (
        "Five grades, L, from strings: ≤ 2.5× three outcomes",
        times(("llbt-graded",), ("llbt-three",), ("L-graded",), 0.4),
    ),
    ("10⁵ lists of 10 out of 1,000 objects: under 10 s", at_most("llbt-lists", "lists", 10)),
    ("Lists beside choix's ilsr_rankings (to be reported)", times(("llbt-lists",), ("choix-lists",), ("lists",), 1)),
    ("Arena judgments: leaderboard, simultaneous ranks", at_most("llbt-arena-leaderboard", "arena", ANY)),
    ("Arena judgments: 1,000 resamples", at_most("llbt-arena-bootstrap", "arena", ANY)),
    *(
        (
            f"Metrics: {least}× nlpstats at {level} level, {name}",
            times((f"llbt-{level}-{name}",), (f"nlpstats-{level}-{name}",), ("metrics",), least),
        )
        for level, least in (("input", 50), ("system", 5))
        for name in ("pearson", "kendall")
    ),
    ("2,000 objects, 60,000 judgments: ≤ .5 s without the covariance", at_most("llbt-sparse", "sparse-2e3", 0.5)),
    ("2,000 objects, 60,000 judgments: ≤ 5 s with it", at_most("llbt-sparse-errors", "sparse-2e3", 5)),
    *(
        (
            f"10⁵ objects, 10⁶ judgments, {graph}: estimates and leaderboard ≤ {most} s",
            at_most("llbt-large-leaderboard", f"sparse-1e5-{graph}", most),
        )
        for graph, most in (("random", 30), ("power-law", 30), ("matchmade", 120))
    ),
    ("10⁵ objects, matchmade: ≤ 1.5 GB", at_most("llbt-large-leaderboard", "sparse-1e5-matchmade", 1_500, "extra_mb")),
    ("10⁶ objects, 10⁷ judgments: estimates ≤ 300 s", at_most("llbt-large-million", "sparse-1e6", 300)),
    ("10⁶ objects, 10⁷ judgments: ≤ 6 GB", at_most("llbt-large-million", "sparse-1e6", 6_000, "extra_mb")),
    ("Estimates and standard errors within 1e-8 at every size", exact),
    ("import llbt; llbt.fit ≤ 1.1× pandas, scipy.stats and patsy", started),
    ("llbt --help ≤ 0.3× pandas, scipy.stats and patsy", helped),
    ("Integers: every size ≤ 2× the numpy prototype", times(INTEGERS, ("prototype",), SIZES, 0.5)),
    ("Strings: every size ≤ 2× the numpy prototype", times(STRINGS, ("prototype-strings",), SIZES, 0.5)),
)

_BINCOUNT = "the prototype, which checks nothing, is itself slower than choix where it counts by bincount"
_CALL = "a call takes 5 ms at any size, for reading, the design, checks and notes; fitting is the smaller part"
_MODULES = "modules are loaded when a name is first used, within the first call: 53 MB of its memory, most of its time"
# Promises that no longer make sense, each with its reason.
RETIRED: Mapping[str, str] = {
    "Codes: M and L ≥ 4× choix (its matrix by np.add.at)": _CALL,
    "Codes: M and L ≥ 4× choix (its matrix by bincount)": _BINCOUNT,
    "Codes: XL ≥ 10× evalica": "the prototype, which checks nothing, reaches 3 to 5",
    "Codes: XL with ≤ 1/5 of evalica's extra memory": _MODULES,
    "Codes: XL no slower than choix": _BINCOUNT,
    "Strings: M and L ≥ 8× evalica": "the prototype, which checks nothing, reaches 5 on M",
    "M ≥ 50× arena-rank and leaderbot, cold": _MODULES,
    "The same LLBT model, from counts: M ≥ 30× pyfixest": _CALL,
    "The same LLBT model, from counts: L ≥ 1,000× pyfixest": "pyfixest takes 5 s, and 5 ms do not hold a call on L",
    "L in ≤ 50 MB beyond the input": _MODULES,
    "Covariance by judge: ≤ 3× the plain fit": "it is CR3 now, which leaves out each judge in turn",
    "Integers: every size ≤ 2× the numpy prototype": _CALL,
    "Strings: every size ≤ 2× the numpy prototype": _CALL,
}
WHY: Mapping[str, str] = {  # of promises that were not held, where the reason was measured
    "Style control, M: ≥ 8× arena-rank": "7.7 by CPU time, one thread each: half of ours reads ten numbers a row",
}


def verdicts(context: Context) -> list[Verdict]:
    return [_verdict(promise, *check(context)) for promise, check in PROMISES]


def _verdict(promise: str, measured: str, held: bool | None) -> Verdict:
    why = WHY.get(promise, "") if held is False else ""
    return Verdict(promise, measured, held, why, RETIRED.get(promise, ""))
