"""RESULTS.md and its picture."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from . import compare, machine
from .contestants import OWN
from .growth import Series
from .inputs import PART
from .promises import Context, Verdict, verdicts
from .readers import FULL as READ
from .readers import READERS, Reading
from .running import ENOUGH, Measured

HELD = {True: "yes", False: "**no**", None: "not measured"}
BASE = {
    "strings": "llbt-strings",
    "counts": "llbt-counts",
    "Comparisons": "llbt-counts",
    "parquet file": "llbt-duckdb",
    "fit": "llbt-bootstrap",
}
BASE_BY_KIND = {
    "judges": "llbt-judges",
    "sides": "llbt-sides",
    "arena": "llbt-arena",
    "agg100": "llbt-agg100",
    "metrics": "llbt-input-pearson",
    "sparse": "llbt-sparse",
    "large": "llbt-large",
    "parts": "llbt-count-duckdb",
    "lists": "llbt-lists",
}
PICTURED = ("S", "M", "L", "XL")
HUGE = "L-huge"


def write(
    folder: Path,
    found: Sequence[Measured],
    *,
    repeats: int,
    startup: dict[str, float] | None = None,
    growth: Sequence[Series] = (),
    readers: Sequence[Reading] = (),
) -> None:
    context = Context({(m.contestant.name, m.input.name): m for m in found}, startup)
    parts = [
        _head(repeats),
        _machine(found),
        _promises(verdicts(context)),
        _picture(folder / "results.svg", found),
        *_tables(context),
        _startup(startup),
        _growth(growth),
        readings(readers),
        _huge(context),
        _absent(found),
    ]
    (folder / "results.json").write_text(json.dumps(compare.kept(found), indent=1) + "\n")
    (folder / "RESULTS.md").write_text("\n\n".join(part for part in parts if part) + "\n")


def table(header: Sequence[str], rows: Iterable[Sequence[str]], right: str = "") -> str:
    """Return a Markdown table; `right` has a letter r where a column holds numbers."""
    rules = ["--:" if right[k : k + 1] == "r" else "---" for k in range(len(header))]
    lines = [header, rules, *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def seconds(value: float) -> str:
    if math.isnan(value):
        return ""
    return f"{value * 1e3:.3g} ms" if value < 1 else f"{value:,.3g} s" if value < 1000 else f"{value:,.0f} s"


def times(value: float) -> str:
    return f"{value:,.2g}×" if value < 10 else f"{value:,.0f}×"


def _head(repeats: int) -> str:
    return (
        "# Benchmarks\n\nWritten by `python -m benchmarks`; do not edit.\n\n"
        "Every contestant runs in a process of its own with one BLAS and OpenMP thread; the contestants take turns "
        f"within a repeat (repeats: {repeats}; no more where a contestant has run for {ENOUGH:g} s). *Cold* is the "
        "first call after the imports, *warm* the median of later calls (in each process, and over the processes); "
        "*memory* is the peak beyond what the process held once its input was loaded. llbt's time is that of the "
        "whole public call: `from_judgments`, `fit`, all standard errors and the deviance; llbt-counts begins at "
        "the table of counts, as the peers that read counts do. Peers are given their input in the form they read "
        "fastest, made before the clock starts: codes, and the table of counts for leaderbot, pyfixest, glum and "
        "statsmodels. *Off* is the largest difference from a tight Newton solution of the same tie rule, in "
        "log-odds, other parameters and, for llbt, standard errors."
    )


def _machine(found: Sequence[Measured]) -> str:
    rows = [[name, value] for name, value in machine.described().items()]
    versions: dict[str, dict[str, str]] = {}
    for m in found:
        versions.setdefault(m.contestant.package, {}).update(m.versions)
    lines = []
    for package, has in versions.items():
        if has:
            beside = ", ".join(f"{name} {number}" for name, number in has.items() if name != package)
            lines.append([package, has.get(package, "?"), beside])
    versions_table = table(("contestant", "version", "with"), sorted(lines))
    return f"## Machine and versions\n\n{table(('', ''), rows)}\n\n{versions_table}"


def _promises(found: Sequence[Verdict]) -> str:
    rows = [[v.promise, v.measured, _held(v)] for v in found]
    return "## Promises\n\nRatios are peer / llbt, in this run.\n\n" + table(("promise", "measured", "held?"), rows)


def _held(verdict: Verdict) -> str:
    if verdict.retired:
        return f"retired: {verdict.retired}"
    return HELD[verdict.held] + (f": {verdict.why}" if verdict.why else "")


def _tables(context: Context) -> list[str]:
    inputs = list(dict.fromkeys(m.input for m in context.found.values()))
    return [_one_input(context, [m for m in context.found.values() if m.input == wanted]) for wanted in inputs]


def _one_input(context: Context, found: Sequence[Measured]) -> str:
    wanted = found[0].input
    rows = [_row(context, m) for m in sorted(found, key=lambda m: (not m.ran, m.median("warm") if m.ran else 0))]
    header = ("contestant", "reads", "fits", "cold", "warm", "× llbt", "memory", "off")
    return f"## {wanted.name}: {wanted.text}\n\n" + table(header, rows, "lllrrrrr")


def _row(context: Context, m: Measured) -> list[str]:
    about = [m.contestant.name, m.contestant.reads, m.contestant.fits]
    if not m.ran:
        return [*about, "", m.reason, "", "", ""]
    off = "" if math.isnan(m.largest) else f"{m.largest:.0e}" + (" **too far**" if m.failed else "")
    base = context.get(base_of(m), m.input.name)
    ratio = times(m.median("warm") / base.median("warm")) if base and base.ran else ""
    cold, warm = seconds(m.median("cold")), seconds(m.median("warm")) if m.warm else ""
    return [*about, cold, warm, ratio, f"{m.median('extra_mb'):,.0f} MB", off]


def base_of(m: Measured) -> str:
    """Return what of llbt a contestant is compared with: the same kind of input, the same work."""
    if "bootstrap" in m.contestant.name:
        return "llbt-arena-bootstrap" if m.input.kind == "arena" else "llbt-bootstrap"
    if m.contestant.name in ("llbt-plain", "llbt-cluster"):
        return "llbt-plain"
    if m.input.kind == "metrics":
        return "llbt-" + m.contestant.name.split("-", 1)[1]
    return BASE_BY_KIND.get(m.input.kind) or BASE.get(m.contestant.reads, "llbt-integers")


def _startup(found: dict[str, float] | None) -> str:
    if found is None:
        return ""
    lines = (
        ("import llbt; llbt.fit", found["llbt"]),
        ("import pandas, scipy.stats, patsy", found["base"]),
        ("llbt --help", found["help"]),
    )
    rows = [[line, seconds(value)] for line, value in (*lines, ("the interpreter alone", found["nothing"]))]
    return (
        f"## Start-up\n\n{table(('fresh interpreter', 'seconds'), rows, 'lr')}\n\n"
        f"`import llbt; llbt.fit` costs {found['ratio']:.2f}× the other imports (without the interpreter's own start)."
    )


def _growth(series: Sequence[Series]) -> str:
    if not series:
        return ""
    rows, absent = [], []
    for s in series:
        time, memory = s.exponents if len(s.sizes) > 1 else (math.nan, math.nan)
        sizes = ", ".join(f"{n:,}" for n in s.sizes)
        spent = ", ".join(map(seconds, s.seconds))
        held = ", ".join(f"{x:,.0f}" for x in s.megabytes)
        rows.append([s.dimension, sizes, spent, held, f"{time:.2f}", f"{memory:.2f}"])
        absent += s.reasons
    header = ("in", "sizes", "warm", "MB", "exponent of time", "of memory")
    notes = "".join(f"\n* not measured: {reason}" for reason in absent)
    return (
        "## Growth\n\nSlopes on log scales over the larger half of each series (judgments: 50 objects; objects: 10⁶ "
        "judgments; judges: 20 objects, 4,000 judgments of each, `object * judge + tie * judge`; covariates: 50 "
        f"objects, 10⁵ judgments, side covariates).\n\n{table(header, rows, 'lrrrrr')}"
        + ("\n" + notes if notes else "")
    )


def readings(found: Sequence[Reading]) -> str:
    """Return what reading files takes beside pandas, as a ratio in the same run."""
    if not found:
        return ""
    rows = []
    for one in found:
        reader, times, held = READERS[one.name], one.seconds, one.megabytes
        ratio = f"{times[0] / times[1]:.1f}×" + ("" if one.equal else " (totals differ)")
        rows.append([reader.text, reader.peer_text, *map(seconds, times), ratio, *(f"{x:,.0f}" for x in held)])
    header = ("llbt", "peer", "llbt, warm", "peer, warm", "llbt / peer", "llbt, MB", "peer, MB")
    return (
        f"## Reading files\n\n{READ:,} judgments of 50 objects by 200 judges, and {READ // 10:,} rankings of six and "
        "items of ten scores, each read in a process of its own, in turns with pandas, which reads the same file and "
        "finds the same totals but checks nothing. An audit has no peer: the one here only counts outcomes by pair and "
        f"by judge, and repeats.\n\n{table(header, rows, '  rrrrr')}"
    )


def _huge(context: Context) -> str:
    found = [context.get(one.name, HUGE) for one in OWN if HUGE in one.inputs]
    ran = [m for m in found if m is not None and m.ran]
    if not ran:
        return ""
    rows = []
    for m in ran:
        rate = m.input.judgments / m.median("cold")
        memory = f"{m.median('extra_mb'):,.0f}" + (" (and a JVM)" if "spark" in m.contestant.name else "")
        rows.append([m.contestant.name, seconds(m.median("cold")), f"{rate / 1e6:,.1f}", memory, minutes(1e9 / rate)])
    header = ("contestant", "cold", "million judgments a second", "MB more in Python", "10⁹ judgments")
    return (
        "## 10⁸ judgments, and 10⁹\n\n"
        f"{HUGE} lies in {ran[0].input.judgments // PART} parts of parquet. The engine counts them, and only counts of "
        "ordered pairs come to Python, at most J(J − 1) rows of three, which are fitted. The last column is "
        "extrapolated, not measured: ten times as much on these two cores, where a cluster would divide it.\n\n"
        + table(header, rows, "lrrrr")
    )


def minutes(value: float) -> str:
    return seconds(value) if value < 120 else f"{value / 60:,.0f} min"


def _absent(found: Sequence[Measured]) -> str:
    rows = [[m.contestant.name, m.input.name, m.reason] for m in found if not m.ran]
    return "## Did not run\n\n" + table(("contestant", "input", "why"), rows) if rows else ""


def _picture(target: Path, found: Sequence[Measured]) -> str:
    shown = [m for m in found if m.ran and m.input.name in PICTURED and "bootstrap" not in m.contestant.name]
    if not shown:
        return ""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams |= {"svg.hashsalt": "llbt", "svg.fonttype": "none"}  # small, and the same from the same figures
    from matplotlib import pyplot as plt

    names = list(dict.fromkeys(m.contestant.name for m in shown))
    fig, ax = plt.subplots(figsize=(8, 0.5 + 0.24 * len(names)))
    for k, where in enumerate(PICTURED):
        own = [m for m in shown if m.input.name == where]
        ax.scatter(
            [m.median("warm") for m in own],
            [names.index(m.contestant.name) for m in own],
            s=22,
            color=f"C{k}",
            label=where,
        )
    ax.set(xscale="log", xlabel="seconds, warm", yticks=range(len(names)), yticklabels=names)
    ax.invert_yaxis()
    ax.xaxis.set_minor_formatter("")  # between powers of ten numbers would lie on each other
    ax.grid(axis="x", alpha=0.3)
    ax.legend(title="input", fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
    fig.savefig(target, bbox_inches="tight", metadata={"Date": None})
    plt.close(fig)
    return f"![Seconds of every contestant, on a log scale]({target.name})"
