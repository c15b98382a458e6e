"""A generator of bad inputs for every public function, and what came of each.

A case is what a caller hands in and, where there is one, an oracle: the same answer by a clean input. Without an
oracle the only right answer is a refusal that says what to do.
"""

import contextlib
import datetime
import decimal
import fractions
import math
import re
import resource
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from support.calls import CALLS, JUDGMENTS, RATINGS
from support.time_limits import TooLongError, time_limit

import llbt

REFUSED, RIGHT = "refused", "right"
WRONG, NO_REMEDY, RAW, TRAP = "silently wrong", "no remedy", "raw exception", "trap"
SECONDS, MEGABYTES = 10, 1_000
# What an error offers: what was expected, or what to do. Shorter than this nothing says where, what and what to do.
REMEDY = re.compile(
    r"expected|at least|joined by|maybe|such as|takes|simplest|has '|it has|needs?\b|may |must |ha(s|ve) to |can only"
    r"|cannot |\w=|\.\w+\("
    r"|\b(add|ask|call|choose|drop|fit|give|keep|leave|make|merge|name|pass|read|rename|save|see|set|take|try|use|write)\b",
    re.IGNORECASE,
)
SHORTEST = 30


@dataclass(frozen=True)
class Case:
    """One bad input: which function, what is bad about it, the call, and the clean call with the same answer."""

    function: str
    what: str
    ask: Callable[[], Any]
    oracle: Callable[[], Any] | None = None

    def __str__(self) -> str:
        return f"{self.function}: {self.what}"


def outcome(case: Case) -> tuple[str, str]:
    """Ask, and say what came of it: one of the outcomes above, and the message or the answer."""
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        with time_limit(SECONDS), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kind, text = _asked(case)
    except TooLongError:
        return TRAP, f"more than {SECONDS} s of CPU time"
    finally:
        plt.close("all")
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) / 1024
    return (TRAP, f"{grown:.0f} MB") if grown > MEGABYTES else (kind, text)


def _asked(case: Case) -> tuple[str, str]:
    try:
        answer = case.ask()
    except llbt.LLBTError as error:
        text = str(error)
        return (REFUSED if len(text) >= SHORTEST and REMEDY.search(text) else NO_REMEDY), text
    except Exception as error:
        return RAW, f"{type(error).__name__}: {error}"
    if case.oracle is None:
        return WRONG, repr(answer)[:200]
    try:
        expected = case.oracle()
    except llbt.LLBTError as error:
        return WRONG, f"answered {answer!r:.100}, though the clean input is refused: {error}"
    return (RIGHT, "") if same(answer, expected) else (WRONG, f"{answer!r:.200} is not {expected!r:.200}")


def same(a: Any, b: Any) -> bool:
    """Whether two answers say the same, to what a permutation of sums may change."""
    a, b = said(a), said(b)
    if isinstance(a, pd.DataFrame) and isinstance(b, pd.DataFrame):
        try:
            pd.testing.assert_frame_equal(a, b, check_dtype=False, rtol=1e-7, atol=1e-9)
        except AssertionError:
            return False
        return True
    if type(a) is not type(b) and not (isinstance(a, (int, float)) and isinstance(b, (int, float))):
        return False
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, np.ndarray):
        return np.shape(a) == np.shape(b) and bool(np.allclose(a, b, equal_nan=True))
    return bool(a == b) or (isinstance(a, float) and isinstance(b, float) and math.isclose(a, b, rel_tol=1e-9))


def said(answer: Any) -> Any:
    """What an answer says, in a form that can be compared."""
    if isinstance(answer, llbt.Comparisons):
        return answer.to_frame(clusters=bool(answer.clusters))
    if isinstance(answer, llbt.LLBTResults):
        return answer.params.to_frame(), answer.bse.to_frame()
    if isinstance(answer, pd.Series):
        return answer.to_numpy()
    if hasattr(answer, "to_frame") and not isinstance(answer, pd.DataFrame):
        return answer.to_frame()
    if isinstance(answer, dict):
        return tuple(answer), *map(said, answer.values())
    if isinstance(answer, (list, tuple)):
        return tuple(map(said, answer))
    return answer if isinstance(answer, (pd.DataFrame, np.ndarray, str, float, int)) else type(answer).__name__


# -- what is no subject at all -----------------------------------------------------------------------------------


class Nothing:
    """An object that is nothing that a function could ask about."""


# Made anew for every case: a generator is empty the second time.
NO_SUBJECT: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "a number": lambda: 3,
    "NaN": lambda: math.nan,
    "a complex number": lambda: 1j,
    "True": lambda: True,
    "text": lambda: "no such thing",
    "empty text": lambda: "",
    "a zero byte": lambda: "a\0b",
    "a lone surrogate": lambda: "\ud800",
    "bytes": lambda: b"abc",
    "a list": list,
    "a list of None": lambda: [None, None],
    "a list of lists": lambda: [[]],
    "a dict": dict,
    "a dict of None": lambda: {"A": None},
    "a set": lambda: {1, 2},
    "a generator": lambda: (k for k in (1, 2)),
    "a function": lambda: len,
    "a class": lambda: dict,
    "an object": Nothing,
    "an exception": lambda: ValueError("x"),
    "an empty array": lambda: np.zeros((0, 0)),
    "an array without dimensions": lambda: np.array(1.0),
    "an array of three dimensions": lambda: np.zeros((2, 2, 2)),
    "complex numbers": lambda: np.full((3, 3), 1j),
    "masked numbers": lambda: np.ma.masked_all((3, 3)),
    "dates": lambda: np.full((3, 3), np.datetime64("2020-01-01")),
    "an empty frame": pd.DataFrame,
    "a frame of other columns": lambda: pd.DataFrame({"other": ["x"]}),
    "a frame without rows": lambda: pd.DataFrame({"object_i": [], "object_j": [], "outcome": []}),
    "a series": lambda: pd.Series(["x", "y"]),
    "a frame with two names per column": lambda: pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])),
}
# A function says no to all of these but the ones named here, which mean something to it.
MEANT: dict[str, set[str]] = {
    "williams": {"NaN", "a number"},  # a correlation may be undefined, and three systems have no test
    "outliers": {"a list"},  # no numbers, no outliers
    "sequential": {"a series"},  # labels of objects
    "columns": {"text", "empty text", "a zero byte", "a lone surrogate", "a series"},  # names of columns
}


def subjects() -> Iterator[Case]:
    """Every public function with each of its first arguments replaced by something else."""
    for function, call in CALLS.items():
        args, _ = call()
        first = 1 if "." in function.__qualname__ else 0  # a method's own object is no input
        for place in range(first, len(args)):
            for what, make in NO_SUBJECT.items():
                if what in MEANT.get(function.__name__, ()):
                    continue
                name = f"{function.__module__}.{function.__qualname__}"  # several rooms have a leaderboard
                yield Case(name, f"argument {place} is {what}", replaced(function, call, place, make))


def replaced(function: Callable[..., Any], call: Any, place: int, make: Callable[[], Any]) -> Callable[[], Any]:
    def ask() -> Any:
        args, options = call()
        return function(*args[:place], make(), *args[place + 1 :], **options)

    return ask


# -- bad cells in the frames of the doors ------------------------------------------------------------------------

COUNTS = pd.DataFrame(
    [
        ("A", "B", "J1", 2.0, 0.5, 7, 3, 4), ("A", "C", "J1", 2.0, 0.7, 9, 2, 5), ("B", "C", "J1", 2.0, 0.2, 5, 5, 5),
        ("A", "B", "J2", 3.5, 0.1, 4, 1, 9), ("A", "C", "J2", 3.5, 0.9, 6, 2, 2), ("B", "C", "J2", 3.5, 0.4, 9, 1, 3),
    ],
    columns=["object_i", "object_j", "judge", "age", "length", "wins_i", "ties", "wins_j"],
)  # fmt: skip
BLOCKS = RATINGS.assign(rank=[1, 2, 2, 1])
LONG_SCORES = pd.DataFrame({"system": list("ABC") * 4, "instance": [k // 3 for k in range(12)], "score": range(12)})
BY_COUNTS = {"covariates": ("judge", "age"), "numeric": "age"}
# name → (door, clean frame, options, columns of labels, columns of numbers at least 0, columns of any number)
FRAMES: dict[str, tuple[Callable[..., Any], pd.DataFrame, dict[str, Any], list[str], list[str], list[str]]] = {
    "from_counts": (
        llbt.from_counts, COUNTS, BY_COUNTS, ["object_i", "object_j", "judge"], ["wins_i", "ties", "wins_j"], ["age"]
    ),
    "from_judgments": (
        llbt.from_judgments,
        JUDGMENTS.assign(n=2.0, age=JUDGMENTS["judge"].map({"J1": 20.5, "J2": 31.5})),
        {**BY_COUNTS, "weights": "n", "clusters": "prompt"},
        ["object_i", "object_j", "judge"], ["n"], ["age"],
    ),
    "from_rankings": (llbt.from_rankings, BLOCKS, {"judge": "judge"}, ["object", "judge"], [], ["rank"]),
    "from_ratings": (llbt.from_ratings, RATINGS, {}, ["object", "judge"], [], ["rating"]),
    "from_scores": (llbt.from_scores, LONG_SCORES, {}, ["system"], [], ["score"]),
    "aggregate": (llbt.scores.aggregate, LONG_SCORES, {}, ["system"], [], ["score"]),
    "agreement": (llbt.judges.agreement, JUDGMENTS, {"unit": "prompt"}, [], [], []),  # joins labels that have parts
    "audit": (llbt.audit, JUDGMENTS, {"judge": "judge"}, ["object_i", "object_j", "judge"], [], []),
}  # fmt: skip

NO_LABEL: dict[str, Any] = {
    "a list": [1],
    "a dict": {"a": 1},
    "a set": {1},
    "an array": np.zeros(2),
    "a frame": pd.DataFrame(),
    "an object": Nothing(),
    "a function": len,
}
# label → what it is like: a label that nothing else is
ODD_LABELS: dict[str, Any] = {
    "an escape": "\x1b[31mA",
    "a zero byte": "A\0",
    "blanks": "   ",
    "a line end": "a\nb",
    "turned writing": "\u202eabc",
    "no width": "A\u200b",
    "brackets": "object[T.A]",
    "a formula": "A + B:C",
    "mathematics": "$x_1^{2}$",
    "markup": "<script>alert(1)</script>",
    "a format": "{0} %s",
    "10,000 letters": "x" * 10_000,
    "an emoji": "👩‍👩‍👧",
}
NO_NUMBER: dict[str, Any] = {
    "NaN": math.nan,
    "None": None,
    "NA": pd.NA,
    "NaT": pd.NaT,
    "infinite": math.inf,
    "minus infinite": -math.inf,
    "text": "many",
    "empty text": "",
    "bytes": b"many",
    "complex": 1j,
    "a list": [3],
    "a dict": {},
    "a date": datetime.date(2020, 1, 1),
    "a decimal NaN": decimal.Decimal("NaN"),
    "a masked value": np.ma.masked,
    "a signalling NaN": decimal.Decimal("sNaN"),
    "10^400": 10**400,
    "an object": Nothing(),
}
NO_COUNT: dict[str, Any] = {"below 0": -1, "below 0 by little": -1e-9, "2^64": 2**64, "1e300": 1e300}
# Other ways to write 3.
THREE: dict[str, Any] = {
    "an integer": 3,
    "float32": np.float32(3),
    "a decimal": decimal.Decimal(3),
    "a fraction": fractions.Fraction(3),
    "text of digits": "3",
    "bytes of digits": b"3",
    "an array without dimensions": np.array(3.0),
}


def planted(frame: pd.DataFrame, column: str, value: Any, row: int = 1) -> pd.DataFrame:
    """A copy of a frame with one cell replaced; a column that cannot hold the value becomes one of objects."""
    cells = [frame[column].iloc[k] for k in range(len(frame))]
    cells[row] = value
    found = np.empty(len(cells), dtype=object)
    found[:] = [None] * len(cells)
    for k, cell in enumerate(cells):
        found[k] = cell
    return frame.assign(**{column: pd.Series(found, index=frame.index, dtype=object)})


_MISSING = {"NaN", "None", "NA", "NaT", "a decimal NaN", "a masked value"}
LEAVES_OUT = {"from_rankings", "from_ratings", "from_scores", "aggregate"}  # missing numbers are left out, and noted

BLOCKS_ONLY = {"from_rankings", "from_ratings"}  # whose judges only tell blocks apart, and are never written


def cells() -> Iterator[Case]:
    """One cell of a column of labels or numbers replaced, at every door that takes a frame."""
    for name, (door, frame, options, labels, counts, numbers) in FRAMES.items():
        for column in labels:
            for what, value in NO_LABEL.items():
                if column == "judge" and name in BLOCKS_ONLY and what in ("an object", "a function"):
                    continue
                yield Case(name, f"{column} has {what}", _call(door, planted(frame, column, value), options))
        for column in (*counts, *numbers):
            for what, value in {**NO_NUMBER, **(NO_COUNT if column in counts else {})}.items():
                oracle = None
                if name in LEAVES_OUT and what in _MISSING:
                    oracle = _call(door, planted(frame, column, math.nan), options)
                yield Case(name, f"{column} has {what}", _call(door, planted(frame, column, value), options), oracle)
            for what, value in THREE.items():
                bad, plain = planted(frame, column, value), planted(frame, column, 3.0).infer_objects()
                yield Case(name, f"{column} has {what}", _call(door, bad, options), _call(door, plain, options))


def labelled() -> Iterator[Case]:
    """Labels that are like nothing else: the table is that of a plain label."""
    for name in ("from_counts", "from_judgments", "from_rankings", "from_ratings", "from_scores"):
        door, frame, options, labels, *_ = FRAMES[name]
        for what, value in ODD_LABELS.items():
            for columns, old in ((labels[:-1] if "judge" in labels else labels, "B"), (["judge"], "J2")):
                if set(columns) <= set(frame):
                    odd, plain = (frame.replace({c: {old: v} for c in columns}) for v in (value, "plain"))
                    ask = [_wins(_call(door, f, options), v) for f, v in ((odd, value), (plain, "plain"))]
                    yield Case(name, f"a label of {' and '.join(columns)} is {what}", *ask)


def _call(door: Callable[..., Any], frame: Any, options: dict[str, Any]) -> Callable[[], Any]:
    return lambda: door(frame, **options)


def _wins(ask: Callable[[], llbt.Comparisons | llbt.Rankings], value: Any) -> Callable[[], Any]:
    """Who won how often over whom by which judge, in an order that no label decides."""

    def counts() -> tuple[Any, ...]:
        read = ask()
        pairs = read.to_comparisons() if isinstance(read, llbt.Rankings) else read
        frame = pairs.to_frame().replace({value: "plain"})
        by = [c for c in frame if c not in ("object_i", "object_j", "wins_i", "wins_j", "ties")]
        turned = frame.rename(columns=lambda c: {"i": "j", "j": "i"}[c[-1]].join((c[:-1], "")) if c[-2] == "_" else c)
        both = pd.concat([frame, turned])[["object_i", "object_j", *by, "wins_i"]]
        return tuple(map(repr, sorted(both.itertuples(index=False, name=None), key=repr)))

    return counts


# -- the shape of the frame --------------------------------------------------------------------------------------

BROKEN_FRAMES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "no rows": lambda frame: frame.head(0),
    "no columns": lambda frame: frame[[]],
    "every column twice": lambda frame: pd.concat([frame, frame], axis=1),
    "only missing values": lambda frame: frame.assign(**dict.fromkeys(frame, None)),
    "lists in every cell": lambda frame: frame.map(lambda cell: [cell]),
    "complex numbers": lambda frame: pd.DataFrame(1 + 1j, index=frame.index, columns=frame.columns),
    "columns called by numbers": lambda frame: frame.set_axis(range(frame.shape[1]), axis=1),
    "columns of two names": lambda frame: frame.set_axis(pd.MultiIndex.from_product([["a"], frame]), axis=1),
    "turned on its side": lambda frame: frame.T,
    "an array": lambda frame: frame.to_numpy(),
    "a masked array": lambda frame: np.ma.array(frame.to_numpy(), mask=True),
    "an array of records": lambda frame: frame.to_records(),
    "its text": lambda frame: frame.to_csv(),
    "one column": lambda frame: frame.iloc[:, 0],
    "groups": lambda frame: frame.groupby(frame.columns[0]),
    "structs of polars": lambda frame: pl.from_pandas(frame).select(pl.struct(pl.all()).alias("all")),
    "lists of polars": lambda frame: pl.from_pandas(frame).select(pl.all().implode()),
}
MEANT_FRAMES = {
    ("from_counts", "without ties"),  # none were seen
    ("audit", "only missing values"),  # which is a finding
    ("agreement", "lists in every cell"),  # labels of one part each
    ("aggregate", "columns called by numbers"),  # systems 1 and 2; a note says that the texts of 0 are not used
    ("from_scores", "columns called by numbers"),  # the same
}
SAME_FRAMES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "another index": lambda frame: frame.set_axis([7] * len(frame)),
    "an index of two names": lambda frame: frame.set_axis(pd.MultiIndex.from_product([["a"], range(len(frame))])),
    "objects": lambda frame: frame.astype(object),
    "types that know missing values": lambda frame: frame.convert_dtypes(),
    "types of arrow": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "categories": lambda frame: frame.astype({c: "category" for c in frame if frame[c].dtype.kind not in "iuf"}),
    "columns the other way round": lambda frame: frame[frame.columns[::-1]],
    "a column more": lambda frame: frame.assign(more=[[1]] * len(frame)),
    "arrays that cannot be written": lambda frame: _read_only(frame),
    "dicts": lambda frame: frame.to_dict("records"),
    "polars": pl.from_pandas,
    "pyarrow": pa.Table.from_pandas,
}


def _read_only(frame: pd.DataFrame) -> pd.DataFrame:
    found = frame.copy()
    for name in found:
        with contextlib.suppress(AttributeError, ValueError):
            found[name].to_numpy().flags.writeable = False
    return found


def frames() -> Iterator[Case]:
    """The whole frame broken, or written another way, at every door that takes one."""
    for name, (door, frame, options, *_) in FRAMES.items():
        for what, broken in BROKEN_FRAMES.items():
            if (name, what) in MEANT_FRAMES:
                continue
            yield Case(name, f"a frame of {what}", lambda d=door, f=frame, o=options, b=broken: d(b(f), **o))
        for what, written in SAME_FRAMES.items():
            ask = lambda d=door, f=frame, o=options, w=written: d(w(f), **o)  # noqa: E731
            yield Case(name, f"a frame with {what}", ask, _call(door, frame, options))
        for column in frame:
            if column in (*FRAMES[name][3], *FRAMES[name][4], *FRAMES[name][5]):
                if (name, f"without {column}") not in MEANT_FRAMES:
                    yield Case(name, f"a frame without {column}", _call(door, frame.drop(columns=column), options))
                both = pd.concat([frame, frame[[column]]], axis=1)
                yield Case(name, f"a frame with {column} twice", _call(door, both, options))


# -- arrays of numbers -------------------------------------------------------------------------------------------

ARRAYS = {
    llbt.from_matrix, llbt.classical.mcnemar_test, llbt.metrics.compare, llbt.metrics.correlate, llbt.metrics.interval,
    llbt.metrics.decisions, llbt.metrics.decisions_from_tests,
    llbt.metrics.difference_curve, llbt.metrics.coverage, llbt.metrics.power, llbt.metrics.outliers,
    llbt.metrics.pairwise_accuracy, llbt.metrics.subset_correlations, llbt.metrics.soft_pairwise_accuracy,
    llbt.metrics.tie_calibrated_accuracy,
}  # fmt: skip
BROKEN_ARRAYS: dict[str, Callable[[np.ndarray], Any]] = {
    "complex numbers": lambda a: a + 1j,
    "an infinite number": lambda a: _with(a, math.inf),
    "text": lambda a: _with(a, "x"),
    "a list in a cell": lambda a: _with(a, [1]),
    "a complex number in a cell": lambda a: _with(a, 1j),
    "10^400": lambda a: _with(a, 10**400),
    "bytes": lambda a: a.astype("S"),
    "dates": lambda a: a.astype("M8[D]"),
    "two dimensions more": lambda a: a[None, None],
    "nothing": lambda a: a[:0],
    "one row": lambda a: a[:1],
    "a row less": lambda a: a[:-1],
    "lists of several lengths": lambda a: [[1.0], [1.0, 2.0], *a.tolist()[2:]],
    "a sparse matrix": lambda a: __import__("scipy.sparse").sparse.coo_array(np.atleast_2d(a)),
}
SAME_ARRAYS: dict[str, Callable[[np.ndarray], Any]] = {
    "lists": lambda a: a.tolist(),
    "objects": lambda a: a.astype(object),
    "columns first": np.asfortranarray,
    "every second of a longer one": lambda a: np.repeat(a, 2, axis=0)[::2],
    "other bytes first": lambda a: a.astype(">f8"),
    "nothing masked": lambda a: np.ma.array(a),
    "a frame": lambda a: pd.DataFrame(a) if a.ndim == 2 else pd.Series(a),
}


def _with(a: np.ndarray, value: Any) -> np.ndarray:
    found = a.astype(object)
    found.flat[a.size - 2] = value
    return found


def _masked(a: np.ndarray) -> np.ma.MaskedArray:
    mask = np.zeros(a.shape, dtype=bool)
    mask.flat[a.size - 2] = True
    return np.ma.array(a, mask=mask)


def arrays() -> Iterator[Case]:
    """Every array of every question about numbers broken, masked, or written another way."""
    for function in ARRAYS:
        args, _ = CALLS[function]()
        for place, arg in enumerate(args):
            array, name, call = np.asarray(arg, dtype=float), function.__qualname__, CALLS[function]
            plain = replaced(function, call, place, lambda a=array: a)
            for what, broken in BROKEN_ARRAYS.items():
                if (function, what) not in MEANT_ARRAYS:
                    yield Case(
                        name,
                        f"array {place} has {what}",
                        replaced(function, call, place, lambda a=array, b=broken: b(a)),
                    )
            for what, written in SAME_ARRAYS.items():
                ask = replaced(function, call, place, lambda a=array, w=written: w(a))
                yield Case(name, f"array {place} as {what}", ask, plain)
            missing = replaced(function, call, place, lambda a=array: np.ma.filled(_masked(a), math.nan))
            ask = replaced(function, call, place, lambda a=array: _masked(a))
            yield Case(name, f"array {place} is masked", ask, missing)


# Any numbers are a series; humans may have judged some systems more often than others.
MEANT_ARRAYS = {(llbt.metrics.outliers, what) for what in ("a row less", "one row", "nothing")} | {
    (llbt.metrics.decisions, "lists of several lengths")
}


def every_case() -> list[Case]:
    """All cases, in the order of the generators."""
    return [*subjects(), *cells(), *labelled(), *frames(), *arrays()]
