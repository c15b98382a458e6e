"""Damaged files of judgments: an error that says where, or the judgments that survived; never a wrong table.

What survived is read a second time from the damaged text by plain Python: `json`, `csv` and the rules of each format.
"""

import collections
import csv
import io
import itertools
import json
import re

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import llbt
from llbt import read_judgments

pytestmark = pytest.mark.slow

LEFT, BAD, FATAL = "left out", "bad", "fatal"  # what a judgment of a record can be beside (i, j, outcome)
NO_NUMBER = {"NA", "N/A", "NaN", "nan", "null", "NULL", "None", "#N/A"}


class DamagedError(Exception):
    """The text cannot be read as records at all."""


# -- the second reading ------------------------------------------------------------------------------------------


def csv_records(text):
    *rows, end = csv.reader(io.StringIO(f"{text}\nend", newline=""))
    rows = [row for row in rows if row and not (len(row) == 1 and not row[0].strip())]
    if end != ["end"]:  # it is part of a quoted field that nobody closed
        raise DamagedError
    if not rows or not any(rows[0]) or len(set(rows[0])) < len(rows[0]):
        raise DamagedError
    if re.search(r"[\x00-\x08\x0e-\x1f\x7f]", "".join(rows[0])):
        raise DamagedError  # no text
    if any(len(row) != len(rows[0]) and any(row) for row in rows[1:]):
        raise DamagedError
    return [{name: field or None for name, field in itertools.zip_longest(rows[0], row)} for row in rows[1:]]


def unique(pairs):
    if len({name for name, _ in pairs}) < len(pairs):
        raise DamagedError
    return dict(pairs)


def json_records(text):
    try:
        if text.lstrip().startswith("["):
            found = json.loads(text, object_pairs_hook=unique)
        else:
            found = [json.loads(line, object_pairs_hook=unique) for line in text.split("\n") if line.strip()]
    except ValueError:
        raise DamagedError from None
    if not found or not all(isinstance(record, dict) for record in found):
        raise DamagedError
    return found


def missing(value):
    return value is None or value != value or value in ([], {})


def number(value):
    """A number, None where it is missing, FATAL for anything else."""
    if missing(value) and value not in ([], {}):
        return None
    if isinstance(value, str) and ("_" in value or value.strip().lower().lstrip("+-") in ("nan", "inf", "infinity")):
        return FATAL
    try:
        return float(value)
    except (TypeError, ValueError):
        return FATAL


def by_label(i, j, label, words):
    if missing(i) or missing(j) or not isinstance(label, str):
        return BAD
    said = words.get(label) or {word.lower(): meaning for word, meaning in FOLDED.items()}.get(label.lower())
    return (i, j, said) if said else BAD


FOLDED = {"tie": "tie", "left": "i", "right": "j"}
ARENA_WORDS = {"model_a": "i", "model_b": "j", "leftvote": "i", "rightvote": "j"}
ARENA_WORDS |= dict.fromkeys(("tie (bothbad)", "both_bad", "bothbad_vote", "tievote", "tie (inconsistent)"), "tie")
HARD_WORDS = dict.fromkeys(("A>>B", "A>B", "B<A", "B<<A"), "i") | dict.fromkeys(("A=B", "B=A"), "tie")
HARD_WORDS |= dict.fromkeys(("A<<B", "A<B", "B>A", "B>>A"), "j")


def arena(r):
    return [by_label(r.get("model_a"), r.get("model_b"), r.get("winner"), ARENA_WORDS)]


def evalica(r):
    return [by_label(r.get("left"), r.get("right"), r.get("winner"), {"draw": "tie"})]


def arena_hard(r):
    model, baseline, games = r.get("model"), r.get("baseline"), r.get("games")
    found = []
    for k, (i, j) in enumerate(((baseline, model), (model, baseline))):
        game = games[k] if isinstance(games, list) and len(games) > k else None
        score = game.get("score") if isinstance(game, dict) else None
        left = missing(score) and not (missing(i) or missing(j)) and score != ""
        found.append(LEFT if left else by_label(i, j, score, HARD_WORDS))
    return found


def alpaca_eval(r):
    i, j, x = r.get("generator_1"), r.get("generator_2"), number(r.get("preference"))
    if isinstance(r.get("preference"), (list, dict)):  # no column of numbers, whatever else its record lacks
        return [FATAL]
    if missing(i) or missing(j):
        return [BAD]
    if x is None:
        return [LEFT]
    if x == FATAL:
        return [FATAL]
    if x != 0 and not 1 <= x <= 2:
        return [BAD]
    return [(i, j, "tie" if x == 0 or abs(x - 1.5) <= 1e-9 else "i" if x < 1.5 else "j")]


def wmt5(r):
    found = []
    for a, b in itertools.combinations(range(1, 6), 2):
        i, j = (r.get(f"system{k}Id") for k in (a, b))
        if missing(i) or missing(j):
            found.append(BAD)
        elif "blank" in (i, j):
            found.append(LEFT)
        else:
            ranks = [r.get(f"system{k}rank") for k in (a, b)]
            x, y = (None if rank in NO_NUMBER else number(rank) for rank in ranks)
            if FATAL in (x, y):
                found.append(FATAL)
            elif None in (x, y) or -1 in (x, y):
                found.append(LEFT)
            elif not (min(x, y) >= 1 and max(x, y) <= 5):
                found.append(BAD)
            else:
                said = "tie" if x == y else "i" if x < y else "j"
                found += [(p, q, said) for p in i.split("+") for q in j.split("+")]
    return found


def label_studio(r):
    annotations = r.get("annotations")
    if not isinstance(annotations, list) or not annotations:
        return [LEFT]
    data = r.get("data") if isinstance(r.get("data"), dict) else {}
    found = []
    for one in annotations:
        if not isinstance(one, dict):
            return [FATAL]
        if one.get("was_cancelled") not in (False, None, {}):  # an object without fields says nothing
            found.append(LEFT)
            continue
        i, j, selected = data.get("model_left"), data.get("model_right"), one.get("result")
        for step in (0, "value", "selected"):
            inside = isinstance(selected, list) and len(selected) > 0 if step == 0 else isinstance(selected, dict)
            selected = (selected[0] if step == 0 else selected.get(step)) if inside else None
        there = not (missing(i) or missing(j))
        found.append(LEFT if there and missing(selected) and selected != "" else by_label(i, j, selected, {}))
    return found


# -- valid files -------------------------------------------------------------------------------------------------

MODELS = ["gpt", "llama", "Claude 3", "mïxtral", "a,b"]


def pairs(n):
    return [(MODELS[k % 5], MODELS[(k + 1 + k // 5) % 5]) for k in range(n)]


def wmt_row(k):
    systems = [MODELS[(k + s) % 4] for s in range(4)] + ["blank" if k == 1 else "x+y" if k == 2 else "uedin"]
    ranks = [[1, 2, 3, 4, 5], [1, 1, 2, 2, -1], [2, 1, 2, 5, 3], [5, -1, 1, 1, 2]][k]
    both = {f"system{s + 1}{what}": v for s in range(5) for what, v in (("Id", systems[s]), ("rank", ranks[s]))}
    return {"srclang": "cs", "trglang": "en", "srcIndex": 10 + k, "judgeId": f"j{k % 2}", **both, "rankingID": k}


RECORDS = {
    "arena": [
        dict(question_id=k, model_a=a, model_b=b, winner=said, judge=f"J{k % 2}", text='“a\nb"')
        for k, ((a, b), said) in enumerate(
            zip(pairs(6), ["model_a", "model_b", "tie", "tie (bothbad)", "model_b", "model_a"], strict=True)
        )
    ],
    "arena_hard": [
        dict(uid=f"u{k}", model=a, baseline="base", judge="G", games=[{"score": x}, {"score": y, "answer": "…"}])
        for k, ((a, _), x, y) in enumerate(
            zip(pairs(4), ["A>B", "B>>A", None, "A=B"], ["B>A", "A>B", "A<<B", "A>>B"], strict=True)
        )
    ],
    "alpaca_eval": [
        dict(instruction=f"say {k}", generator_1=a, generator_2=b, preference=x, annotator="w")
        for k, ((a, b), x) in enumerate(zip(pairs(6), [1, 2.0, 1.5, None, 0, 1.9], strict=True))
    ],
    "wmt5": [wmt_row(k) for k in range(4)],
    "evalica": [
        dict(left=a, right=b, winner=said, worker=f"w{k % 2}", remark=remark)
        for k, ((a, b), said, remark) in enumerate(
            zip(
                pairs(6), ["left", "right", "tie", "draw", "left", "right"], ["", "x", "a\nb", "", "z", ""], strict=True
            )
        )
    ],
    "label_studio": [
        dict(
            id=k,
            data={"model_left": a, "model_right": b, "prompt": f"p{k}"},
            annotations=[
                dict(
                    id=10 * k + m,
                    completed_by={"id": m, "email": f"m{m}@x.org"},
                    was_cancelled=k == 2,
                    result=[{"type": "pairwise", "value": {"selected": side}}] if side else [],
                )
                for m, side in enumerate(sides)
            ],
        )
        for k, ((a, b), sides) in enumerate(
            zip(pairs(5), [["left"], ["right", "left"], ["left"], [], [None, "right"]], strict=True)
        )
    ],
}
SUFFIX = {"arena": "jsonl", "arena_hard": "jsonl", "alpaca_eval": "json", "wmt5": "csv", "evalica": "csv"}
SUFFIX |= {"label_studio": "json"}
RULES = {
    "arena": arena,
    "arena_hard": arena_hard,
    "alpaca_eval": alpaca_eval,
    "wmt5": wmt5,
    "evalica": evalica,
    "label_studio": label_studio,
}
FORMATS = {"alpaca_eval": "alpaca_eval"}  # by its name: a damaged preference may be a grade of version 2
every_format = pytest.mark.parametrize("name", RECORDS)


def written(name, records):
    """The text of records as its format writes them."""
    if SUFFIX[name] == "csv":
        out = io.StringIO()
        names = list(dict.fromkeys(key for record in records for key in record))
        rows = [["" if record.get(key) is None else record.get(key) for key in names] for record in records]
        csv.writer(out, lineterminator="\n").writerows([names, *rows])
        return out.getvalue()
    if SUFFIX[name] == "jsonl":
        return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    return json.dumps(records, ensure_ascii=False, indent=1)


def survivors(name, raw):
    """What plain Python finds in a damaged file: every judgment of its records."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DamagedError from None
    records = csv_records(text) if SUFFIX[name] == "csv" else json_records(text)
    missed = [mark for mark in llbt.formats.known[name].marks if not any(mark in record for record in records)]
    if missed:
        raise DamagedError
    return [found for record in records for found in RULES[name](record)]


def triples(frame):
    columns = (frame.to_frame()[column].tolist() for column in ("object_i", "object_j", "outcome"))
    return collections.Counter(zip(*columns, strict=True))


def left_out(notes):
    """How many judgments and records the notes leave out, less those that identical outputs add."""
    found = [re.match(r"([\d,]+) (?:judgment|record|row)s? .*?\b(left out|added)\b", note) for note in notes]
    return sum(int(m[1].replace(",", "")) * (1 if m[2] == "left out" else 0) for m in found if m)


def check(name, raw, folder, **options):
    """Read a file that may be damaged, and hold it against the second reading."""
    path = folder / f"damaged.{SUFFIX[name]}"
    path.write_bytes(raw)
    options = {"format": FORMATS.get(name, "auto"), **options}
    try:
        expected = survivors(name, raw)
    except DamagedError:
        with pytest.raises(llbt.errors.JudgmentError) as error:
            read_judgments(path, **options)
        assert path.name in str(error.value)
        return
    # an object against itself is kept for an audit, or left out as max_dropped allows
    kept = [
        found
        for found in expected
        if isinstance(found, tuple) and not (options.get("max_dropped") and found[0] == found[1])
    ]
    valid = collections.Counter(kept)
    allowed = BAD not in expected or "max_dropped" in options
    if FATAL in expected or not allowed or not valid:
        with pytest.raises(llbt.errors.JudgmentError):
            read_judgments(path, **options)
        return
    frame = read_judgments(path, **options)
    assert triples(frame) == valid
    assert len(frame.to_frame()) + left_out(frame.notes) == len(expected)
    selves = sum(isinstance(found, tuple) for found in expected) - len(kept)
    heading = rf"[\d,]+ records? read as '{name}': {len(frame.to_frame()) + selves:,} judgments?$"
    assert re.match(heading, frame.notes[0]), frame.notes


@pytest.fixture
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz")


VALID = {name: written(name, records).encode() for name, records in RECORDS.items()}
HELD = {"arena": 6, "arena_hard": 7, "alpaca_eval": 5, "wmt5": 36, "evalica": 6, "label_studio": 4}


@every_format
def test_the_files_are_valid(name, folder):
    check(name, VALID[name], folder)
    frame = read_judgments(folder / f"damaged.{SUFFIX[name]}", format=FORMATS.get(name, "auto"))
    assert len(frame.to_frame()) == HELD[name]
    assert llbt.from_judgments(frame).n_judgments == HELD[name]


# -- damage to bytes and lines -----------------------------------------------------------------------------------

OUTSIDE = [b"\xe9", b"\xff\xfe", b"\xc3", b"\x80", b"\x00", b'"', b",", b"\n", b"{", b"]", b"\\", b"\t", b"\x1a", b"+"]
# Inputs are short: what shrinking would save a reader, it costs every run of a failing test in minutes.
fuzzed = settings(max_examples=60, deadline=None, phases=(Phase.generate,), report_multiple_bugs=False)


@every_format
@fuzzed
@given(data=st.data())
def test_cut_anywhere(name, tmp_path_factory, data):
    raw = VALID[name]
    check(name, raw[: data.draw(st.integers(1, len(raw)))], tmp_path_factory.mktemp("f"))


@every_format
@fuzzed
@given(data=st.data())
def test_a_byte_replaced(name, tmp_path_factory, data):
    raw = VALID[name]
    at = data.draw(st.integers(0, len(raw) - 1))
    byte = data.draw(st.integers(32, 126) | st.integers(0, 255).filter(lambda b: b != 13))  # \r: below
    check(name, raw[:at] + bytes([byte]) + raw[at + 1 :], tmp_path_factory.mktemp("f"))


@every_format
@fuzzed
@given(data=st.data())
def test_bytes_inserted(name, tmp_path_factory, data):
    raw = VALID[name]
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(raw)))
        raw = raw[:at] + data.draw(st.sampled_from(OUTSIDE)) + raw[at:]
    check(name, raw, tmp_path_factory.mktemp("f"))


@every_format
@fuzzed
@given(data=st.data())
def test_a_carriage_return_inserted(name, tmp_path_factory, data):
    raw = VALID[name]
    at = data.draw(st.integers(0, len(raw)))
    check(name, raw[:at] + b"\r" + raw[at:], tmp_path_factory.mktemp("f"))


@every_format
@fuzzed
@given(data=st.data())
def test_lines_deleted_repeated_and_moved(name, tmp_path_factory, data):
    lines = VALID[name].split(b"\n")
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(lines) - 1))
        to = data.draw(st.integers(0, len(lines) - 1))
        match data.draw(st.sampled_from(["delete", "repeat", "move"])):
            case "delete":
                lines = lines[:at] + lines[at + 1 :] or [b""]
            case "repeat":
                lines.insert(to, lines[at])
            case _:
                lines.insert(to, lines.pop(at))
    check(name, b"\n".join(lines), tmp_path_factory.mktemp("f"))


# -- damage to fields --------------------------------------------------------------------------------------------

VALUES = [
    None,
    "",
    "model_c",
    "??",
    "gpt",
    0,
    0.5,
    0.999,
    2.001,
    3,
    6,
    -1,
    -2,
    1.5,
    2,
    "1.5",
    True,
    [],
    {},
    [1],
    float("nan"),
]
PATHS = {
    "arena": ["model_a", "model_b", "winner", "judge", "text"],
    "arena_hard": ["model", "baseline", "games", "games.0", "games.1", "games.0.score", "games.1.score", "judge"],
    "alpaca_eval": ["generator_1", "generator_2", "preference", "annotator"],
    "wmt5": [*(f"system{k}{what}" for k in range(1, 6) for what in ("Id", "rank")), "judgeId", "srcIndex"],
    "evalica": ["left", "right", "winner", "worker"],
    "label_studio": [
        *("data", "data.model_left", "data.model_right", "annotations", "annotations.0", "annotations.0.result"),
        *("annotations.0.was_cancelled", "annotations.0.result.0.value.selected", "annotations.1", "id"),
    ],
}
SIDES = ("model_a", "model_b", "model", "baseline", "generator_1", "generator_2", "left", "right", "model_left")


def changed(record, path, value, *, drop=False):
    """A deep copy of a record with one field changed or gone; the same record if it has no such field."""
    found = json.loads(json.dumps(record))
    *steps, last = path.split(".")
    inside = found
    for step in (*steps, None):
        if step is None:
            break
        key = int(step) if step.isdigit() else step
        if not (isinstance(inside, list) and isinstance(key, int) and key < len(inside)) and not (
            isinstance(inside, dict) and key in inside
        ):
            return found
        inside = inside[key]
    if not isinstance(inside, (dict, list)):
        return found
    key = int(last) if last.isdigit() else last
    if isinstance(inside, list) and not (isinstance(key, int) and key < len(inside)):
        return found
    if drop:
        inside.pop(key, None) if isinstance(inside, dict) else inside.pop(key)
    else:
        inside[key] = value
    return found


@pytest.mark.parametrize("dropping", [False, True])
@every_format
@fuzzed
@given(data=st.data())
def test_fields_damaged(name, dropping, tmp_path_factory, data):
    records = RECORDS[name]
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(records) - 1))
        path = data.draw(st.sampled_from(PATHS[name]))
        scalar = SUFFIX[name] == "csv" or path.rsplit(".")[-1] in (*SIDES, "model_right")
        value = data.draw(st.sampled_from([v for v in VALUES if not (scalar and isinstance(v, (list, dict, bool)))]))
        if path.rsplit(".")[-1] in (*SIDES, "model_right") or path.endswith("Id"):
            value = value if isinstance(value, str) else None  # labels of one type: numbers are another test's
        if path == "preference" and isinstance(value, bool):
            value = None  # True beside 1 is refused whatever it means: test_values
        value = None if SUFFIX[name] == "csv" and value != value else value
        new = changed(records[at], path, value, drop=data.draw(st.booleans()))
        records = [*records[:at], new, *records[at + 1 :]]
    extra = data.draw(st.sampled_from([None, None, "extra", "object_i", "weight", "block", "notes"]))
    records = [record | ({extra: k} if extra else {}) for k, record in enumerate(records)]
    raw = written(name, records).encode()
    options = {"ignore": "weight"} if extra == "weight" else {}  # numbers of such a name are asked about
    check(name, raw, tmp_path_factory.mktemp("f"), **options, **({"max_dropped": 1000} if dropping else {}))


@every_format
@fuzzed
@given(data=st.data())
def test_a_field_twice(name, tmp_path_factory, data):
    """A second heading in a csv, a second key in a record."""
    text = VALID[name].decode()
    if SUFFIX[name] == "csv":
        rows = list(csv.reader(io.StringIO(text, newline="")))
        k = data.draw(st.integers(0, len(rows[0]) - 1))
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([[*row, row[k]] for row in rows])
        raw, twice = out.getvalue(), rows[0][k]
    else:
        keys = list(re.finditer(r'"(\w+)": ("[^"\\]*"|null|[\d.]+)', text))
        key = data.draw(st.sampled_from(keys))
        raw, twice = text[: key.start()] + key[0] + ", " + text[key.start() :], key[1]
    folder = tmp_path_factory.mktemp("f")
    check(name, raw.encode(), folder)
    with pytest.raises(llbt.errors.JudgmentError, match=f"damaged.*'{twice}'"):
        read_judgments(folder / f"damaged.{SUFFIX[name]}")


# -- where a message says it is ------------------------------------------------------------------------------------

WRONG = {
    "arena, a label": ("arena", 3, "winner", "model_c", ["'winner'", "'model_c'"]),
    "arena, no label": ("arena", 3, "winner", None, ["'winner'", "missing"]),
    "arena, no object": ("arena", 3, "model_a", None, []),
    "arena_hard, a label": ("arena_hard", 2, "games.1.score", "A>>>B", ["games.1.score", "'A>>>B'"]),
    "arena_hard, no object": ("arena_hard", 2, "baseline", None, []),
    "alpaca_eval, a number": ("alpaca_eval", 3, "preference", 2.5, ["'preference'", "2.5", "from 1 to 2"]),
    "alpaca_eval, a word": ("alpaca_eval", 3, "preference", "first", ["'preference'", "'first'"]),
    "wmt5, a rank": ("wmt5", 3, "system3rank", 6, ["'system3rank'", "6", "from 1 to 5"]),
    "wmt5, rank 0": ("wmt5", 3, "system3rank", 0, ["'system3rank'", "0", "from 1 to 5"]),
    "wmt5, a word": ("wmt5", 3, "system3rank", "first", ["'system3rank'", "'first'"]),
    "wmt5, no system": ("wmt5", 3, "system3Id", None, []),
    "evalica, a label": ("evalica", 3, "winner", "??", ["'winner'", "'??'"]),
    "evalica, no label": ("evalica", 3, "winner", None, ["'winner'", "missing"]),
    "label_studio, a label": (
        "label_studio",
        3,
        "annotations",
        [{"result": [{"value": {"selected": "up"}}]}],
        ["'up'"],
    ),
    "label_studio, no object": ("label_studio", 4, "data.model_left", None, []),
}


@pytest.mark.parametrize("door", ["read_judgments", "from_judgments"])
@pytest.mark.parametrize("case", WRONG)
def test_a_message_says_which_record(case, door, folder):
    name, at, path, value, parts = WRONG[case]
    records = list(RECORDS[name])
    records[at] = changed(records[at], path, value)
    file = folder / f"damaged.{SUFFIX[name]}"
    file.write_text(written(name, records), encoding="utf-8")
    with pytest.raises(llbt.errors.JudgmentError) as error:
        getattr(llbt, door)(file)
    said = str(error.value)
    assert all(part in said for part in parts), said
    assert re.search(rf"(record|row|the first is|line)s? {at}\b", said), said


@pytest.mark.parametrize("door", ["read_judgments", "from_judgments"])
@pytest.mark.parametrize("case", WRONG)
def test_a_message_says_which_file(case, door, folder):
    name, at, path, value, _ = WRONG[case]
    records = list(RECORDS[name])
    records[at] = changed(records[at], path, value)
    file = folder / f"damaged.{SUFFIX[name]}"
    file.write_text(written(name, records), encoding="utf-8")
    with pytest.raises(llbt.errors.JudgmentError, match=file.name):
        getattr(llbt, door)(file)


LINES = {
    "arena": (b'"model_b"', b'"model_b'),
    "arena_hard": (b"[{", b"[["),
    "alpaca_eval": (b"generator_2", b'generator"2'),
    "wmt5": (b"j1,", b"j1,,"),
    "evalica": (b"right,", b"right,,"),
    "label_studio": (b'"result"', b'"result'),
}


@every_format
def test_damage_to_a_line_is_placed(name, folder):
    raw = VALID[name]
    good, wrong = LINES[name]
    at = raw.rindex(good)
    path = folder / f"damaged.{SUFFIX[name]}"
    path.write_bytes(raw[:at] + wrong + raw[at + len(good) :])
    with pytest.raises(llbt.errors.JudgmentError, match=path.name) as error:
        read_judgments(path)
    assert f"line {raw[:at].count(10) + 1}" in str(error.value)


def test_the_fifth_system_is_not_left_out_in_silence(folder):
    """A damaged heading must not turn rankings of five systems into rankings of four."""
    path = folder / "damaged.csv"
    path.write_bytes(VALID["wmt5"].replace(b"system5rank", b"system5rbnk"))
    with pytest.raises(llbt.errors.JudgmentError, match="system5"):
        read_judgments(path)


def test_a_game_that_nobody_judged_leaves_the_other_one(folder):
    """Two games a record, the second without any score: its judgments are left out and counted."""
    path = folder / "damaged.jsonl"
    records = [record | {"games": [{"score": "A>B"}, {"score": None}]} for record in RECORDS["arena_hard"]]
    path.write_text(written("arena_hard", records), encoding="utf-8")
    frame = read_judgments(path)
    assert len(frame.to_frame()) == 4
    assert left_out(frame.notes) == 4


def test_the_number_to_drop_that_a_message_asks_for_is_enough(folder):
    """A rank of 7 spoils several pairs: the message says how many judgments go with it."""
    records = [RECORDS["wmt5"][0] | {"system1rank": 7}, *RECORDS["wmt5"][1:]]
    path = folder / "damaged.csv"
    path.write_text(written("wmt5", records), encoding="utf-8")
    with pytest.raises(llbt.errors.JudgmentError) as error:
        read_judgments(path)
    frame = read_judgments(path, max_dropped=int(re.search(r"max_dropped=(\d+)", str(error.value))[1]))
    assert len(frame.to_frame()) == HELD["wmt5"] - 4
