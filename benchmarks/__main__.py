"""`python -m benchmarks`, from the root of the repository."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from . import compare, growth, readers, report, startup
from .contestants import CONTESTANTS, HERE, OWN, PACKAGES, PEERS, Contestant
from .inputs import FULL, TINY, Input
from .running import Measured, install, measure_all, python_of

QUICK = [
    "llbt-integers",
    "llbt-categories",
    "llbt-strings",
    "llbt-duckdb",
    "llbt-count-duckdb",
    "llbt-count-polars",
    "llbt-judges",
    "llbt-sides",
    "llbt-lists",
    "llbt-sparse",
    "llbt-plain",
    "llbt-cluster",
    "llbt-bootstrap",
    "llbt-agg100",
    "llbt-agg100-subj",
    "prototype",
    "prototype-sparse",
    "prototype-strings",
    "prototype-bootstrap",
    "scipy-bt",
]
EXTRA = ("startup", "growth", "readers")  # measured beside the contestants


def arguments(line: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("what", nargs="?", choices=["run", "peers"], default="run", help="peers: install them and stop")
    parser.add_argument("--quick", action="store_true", help="tiny inputs, correctness only; writes nothing")
    parser.add_argument(
        "--only",
        default="",
        metavar="NAME,…",
        help="contestants, packages (of one input: NAME@INPUT), startup, growth, readers",
    )
    parser.add_argument("--inputs", default="", metavar="NAME,…", help="inputs; all by default")
    parser.add_argument(
        "--compare", type=Path, metavar="RESULTS.md", help="tell what became worse since; 1 if anything, writes nothing"
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peers-dir", type=Path, default=Path(tempfile.gettempdir()) / "llbt-peers", metavar="DIR")
    parser.add_argument("--work", type=Path, metavar="DIR", help="keep inputs here; by default a temporary folder")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, metavar="DIR", help="where RESULTS.md goes")
    return parser.parse_args(line)


def main(line: Sequence[str] | None = None) -> int:
    asked = arguments(line)
    asked.peers_dir = asked.peers_dir.absolute()
    only = [name for name in asked.only.split(",") if name]
    unknown = (
        {name.split("@")[0] for name in only}
        - set(CONTESTANTS)
        - set(EXTRA)
        - {c.package for c in CONTESTANTS.values()}
    )
    if unknown:
        print(f"no contestant {', '.join(sorted(unknown))}; there are {', '.join(CONTESTANTS)}", file=sys.stderr)
        return 2
    if asked.what == "peers":
        install(asked.peers_dir, [name for name in only if name in PACKAGES])
        return 0
    if asked.compare and not asked.compare.with_name("results.json").exists():
        print(f"no results.json beside {asked.compare}: python -m benchmarks writes both", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="llbt-benchmarks-") as temporary:
        work = (asked.work or Path(temporary)).absolute()
        return quick(only, work, asked.peers_dir) if asked.quick else full(asked, only, work)


def chosen(contestants: Sequence[Contestant], only: Sequence[str], where: str = "") -> list[Contestant]:
    return [
        c
        for c in contestants
        if not only or {c.name, c.package, f"{c.name}@{where}", f"{c.package}@{where}"} & set(only)
    ]


def quick(only: Sequence[str], work: Path, peers: Path) -> int:
    """Run what is installed on tiny inputs and compare it with the tight solutions; 1 if an exact one is off."""
    able = [c for c in (*OWN, *PEERS) if c.name in QUICK or (c.package not in HERE and c.kind != "arena")]
    pairs = [(c, tiny(c)) for c in chosen(able, only) if python_of(c, peers)]
    found = measure_all(pairs, 1, work, peers, calls=0, side_by_side=os.cpu_count() or 1)
    for m in found:
        print(f"{m.contestant.name:22} {m.input.name:12} {said(m)}")
    read = readers.measure(1, work, readers.TINY) if not only or "readers" in only else []
    for one in read:
        print(f"{one.name:22} {'a file':12} {'ran' if one.equal else 'TOTALS DIFFER'}")
    wrong = [m for m in found if m.failed or (m.reason and m.contestant.package == "llbt")]
    unlike = [one for one in read if not one.equal]
    print(
        f"{len(found)} contestants, {len(wrong)} wrong"
        + (f"; {len(read)} readers, {len(unlike)} wrong" if read else "")
    )
    return 1 if wrong or unlike or not (found or read) else 0


def tiny(contestant: Contestant) -> Input:
    own = {wanted.kind: wanted for wanted in (*FULL, *TINY)}
    return own[contestant.kind]


def said(m: Measured) -> str:
    if m.reason:
        return m.reason
    off = ", ".join(f"{name} {value:.0e}" for name, value in m.off.items())
    return (off or "ran") + (" TOO FAR" if m.failed else "")


def full(asked: argparse.Namespace, only: Sequence[str], work: Path) -> int:
    inputs = {wanted.name: wanted for wanted in FULL}
    names = [name for name in asked.inputs.split(",") if name] or list(inputs)
    every = (*OWN, *PEERS)
    pairs = [
        (c, inputs[name]) for name in inputs if name in names for c in chosen(every, only, name) if name in c.inputs
    ]
    found = measure_all(pairs, asked.repeats, work, asked.peers_dir)
    if asked.compare:
        return compared(asked.compare, found)
    beside = {name: name in only or not (only or asked.inputs) for name in EXTRA}
    times = startup.measure(max(5, asked.repeats)) if beside["startup"] else None
    series = growth.measure(asked.repeats, work, asked.peers_dir) if beside["growth"] else []
    read = readers.measure(asked.repeats, work) if beside["readers"] else []
    asked.out.mkdir(parents=True, exist_ok=True)
    report.write(asked.out, found, repeats=asked.repeats, startup=times, growth=series, readers=read)
    print(f"written: {asked.out / 'RESULTS.md'}")
    return 1 if any(m.failed for m in found) else 0


def compared(results: Path, found: Sequence[Measured]) -> int:
    """Print what became worse since an earlier run; 1 if anything did or is wrong, 2 if nothing is in both."""
    then, now = compare.read(results), compare.kept(found)
    lines = compare.worse(then, now)
    lines += [f"{m.contestant.name}@{m.input.name}: too far from the tight solution" for m in found if m.failed]
    gone = [f"{m.contestant.name}@{m.input.name}" for m in found if not m.ran]
    lines += [f"{name}: does not run any more" for name in gone if name in then and name.startswith("llbt")]
    both = then.keys() & {*now, *gone}
    print("\n".join([*lines, f"{len(both)} compared, {len(lines)} worse"]))
    return 2 if not both else 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
