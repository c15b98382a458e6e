"""The same Comparisons from every engine that holds a frame, and from every kind of file."""

import datetime
import decimal
import gzip
import json
import re
import sys
import warnings

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.format_cases import CASES, HARD
from support.tables import file_frame

import llbt
import llbt.data.files
from llbt import from_counts, from_judgments, read_judgments

NAMES = ("model_a", "model_b", "winner", "named", "judge", "worker", "len_a", "len_b", "n", "age")
ROWS = [
    ("x", "y", "model_a", "x", "J1", 11, 10.0, 20.5, 2, 20.5),
    ("y", "x", "tie", "tie", "J1", 12, 20.5, 10.0, 3, 20.5),
    ("x", "y", "model_b", "y", "J2", 11, 10.0, 30.0, 1, 31.0),
    ("z", "x", "model_a", "z", "J2", 12, 5.0, 10.0, 4, 31.0),
    ("x", "y", "model_a", "x", "J1", 11, 10.0, 20.5, 2, 20.5),
    ("x", "y", "model_a", "x", "J1", 12, 10.0, 20.5, 5, 20.5),
    ("z", "y", "model_b", "y", "J2", 12, 5.0, 20.5, 0, 31.0),
    ("y", "x", "tie", "tie", "J1", 12, 20.5, 10.0, 3, 20.5),
]
MODELS = {"objects": ("model_a", "model_b"), "outcome": "winner"}
SIDES = {"side_covariates": {"length": ("len_a", "len_b")}}
SETTINGS = {
    "plain": {},
    "order": {"order": True},
    "names of winners": {"outcome": "named"},
    "names of winners only": {"outcome": "named", "outcomes": "names"},
    "slots": {"outcomes": "slots"},
    "a mapping": {"outcomes": {"model_a": "j", "model_b": "i", "tie": None}},
    "covariates": {"covariates": ("judge", "age")},
    "labels that are numbers": {"covariates": "worker", "numeric": "worker"},
    "clusters": {"clusters": ("worker", "judge")},
    "covariates and clusters": {"covariates": "judge", "clusters": "worker"},
    "sides": SIDES,
    "sides in order": {**SIDES, "order": True},
    "weights": {"weights": "n"},
    "everything": {"covariates": "judge", "clusters": "worker", "weights": "n", "order": True, **SIDES},
}

IN_ORDER = ("object", "string", "categorical", "arrow types", "polars", "lazy", "pyarrow", "dictionary")
SPARK = pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.xdist_group("spark")])  # one JVM for all of them
DASK = pytest.param("dask", marks=pytest.mark.dask)
NO_ORDER = ("duckdb", SPARK, DASK)
ENGINES = (*IN_ORDER, *NO_ORDER)


def arrow(rows=ROWS, names=NAMES):
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    return pa.table({name: pa.array(column) for name, column in zip(names, columns, strict=True)})


def as_pandas(table, kind):
    frame = table.to_pandas()
    text = [name for name in table.column_names if pa.types.is_string(table.schema.field(name).type)]
    if kind == "arrow types":
        return table.to_pandas(types_mapper=pd.ArrowDtype)
    if kind == "categorical":
        return frame.assign(**{name: as_categories(frame[name]) for name in text})
    return frame.astype({name: "string" if kind == "string" else object for name in text})


def as_categories(column):
    return pd.Categorical(column, categories=["unused", *sorted(column.dropna().unique(), reverse=True)], ordered=True)


def as_dictionaries(table):
    for k, name in enumerate(table.column_names):
        if pa.types.is_string(table.schema.field(name).type):
            table = table.set_column(k, name, table[name].dictionary_encode())
    return table


def in_partitions(frame):
    import dask.dataframe as dd

    return dd.from_pandas(frame, npartitions=3)


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as opened:
        yield opened


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .appName("llbt")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.execution.arrow.pyspark.enabled", "true")
        .getOrCreate()
    )
    yield session
    session.stop()


def held(table, engine, connection=None):
    """The table in an engine that needs no fixture but perhaps a connection."""
    if engine in ("object", "string", "categorical", "arrow types"):
        return as_pandas(table, engine)
    if engine == "duckdb":
        return connection.from_arrow(table)
    if engine == "dask":
        return in_partitions(as_pandas(table, "arrow types"))  # of objects Dask makes text
    return {
        "polars": pl.from_arrow,
        "lazy": lambda table: pl.from_arrow(table).lazy(),
        "pyarrow": lambda table: table,
        "dictionary": as_dictionaries,
    }[engine](table)


@pytest.fixture
def hold(request, connection):
    """A function that gives a table to an engine; Spark starts when it is asked for."""

    def give(table, engine):
        if engine == "spark":
            return request.getfixturevalue("spark").createDataFrame(table)
        return held(table, engine, connection)

    return give


def baseline(table, **options):
    return from_judgments(as_pandas(table, "object"), **options)


def assert_same(c, expected, engine):
    assert c == expected
    assert c.unkept == expected.unkept
    assert sorted(c.notes) == sorted(expected.notes)
    if engine in IN_ORDER:
        assert c.notes == expected.notes


every_engine = pytest.mark.parametrize("engine", ENGINES)


class TestTheSameComparisons:
    @every_engine
    @pytest.mark.parametrize("setting", SETTINGS)
    def test_settings(self, engine, setting, hold):
        options = {**MODELS, **SETTINGS[setting]}
        assert_same(from_judgments(hold(arrow(), engine), **options), baseline(arrow(), **options), engine)

    @every_engine
    @pytest.mark.parametrize("asked", ["tie (bothbad)", "both_bad"])
    @pytest.mark.parametrize("read", [False, True], ids=["as recorded", "read before"])
    def test_both_bad(self, engine, asked, read, hold):
        rng = np.random.default_rng(7)
        left, step = rng.integers(0, 4, 300), rng.integers(1, 4, 300)
        columns = {"model_a": [f"m{k}" for k in left], "model_b": [f"m{k}" for k in (left + step) % 4]}
        said = rng.choice(["model_a", "model_b", "tie", "tie (bothbad)"], 300).tolist()
        table = pa.table(columns | {"winner": said, "judge": rng.choice(["v", "w"], 300).tolist()})
        if read:
            standard = llbt.read_judgments(table).to_frame()
            table = pa.Table.from_pandas(standard.drop(columns=["strength"]).assign(strength=1.0))
        options = {"outcomes": {asked: "bad"}, "clusters": "judge"}
        expected = baseline(table, **options)
        assert expected.n_bad == said.count("tie (bothbad)")
        assert_same(from_judgments(hold(table, engine), **options), expected, engine)

    @every_engine
    @pytest.mark.parametrize("said", ["sizes", "signed", "labels"])
    def test_grades(self, engine, said, hold):
        rng = np.random.default_rng(6)
        grade = rng.integers(-2, 3, 300)
        left, step, judge = rng.integers(0, 4, 300), rng.integers(1, 4, 300), rng.integers(0, 5, 300)
        columns = {"object_i": [f"m{k}" for k in left], "object_j": [f"m{k}" for k in (left + step) % 4]}
        columns |= {"judge": [f"w{k}" for k in judge]}
        words = {2: "A>>B", 1: "A>B", 0: "A=B", -1: "A<B", -2: "A<<B"}
        more, options = {
            "sizes": (
                {
                    "outcome": [("j", "tie", "i")[np.sign(g) + 1] for g in grade],
                    "size": [abs(g) or None for g in grade],
                },
                {"strength": "size"},
            ),
            "signed": ({"grade": grade.tolist()}, {"strength": "grade"}),
            "labels": (
                {"label": [words[g] for g in grade]},
                {"outcome": "label", "outcomes": {word: g for g, word in words.items()}},
            ),
        }[said]
        table = pa.table({name: pa.array(values) for name, values in (columns | more).items()})
        options |= {"clusters": "judge", "order": True}
        found = from_judgments(hold(table, engine), **options)
        assert_same(found, baseline(table, **options), engine)
        tally = pd.DataFrame(columns).assign(grade=grade).groupby(["object_i", "object_j"])["grade"].value_counts()
        by_hand = tally.unstack("grade", fill_value=0)[[2, 1, 0, -1, -2]]
        frame = found.to_frame().set_index(["object_i", "object_j"])
        np.testing.assert_array_equal(frame, by_hand.loc[frame.index])

    @every_engine
    def test_the_counts_are_these(self, engine, hold):
        counts = [("x", "y", 3, 0, 1), ("y", "x", 0, 2, 0), ("z", "x", 1, 0, 0), ("z", "y", 0, 0, 1)]
        table = pd.DataFrame(counts, columns=["object_i", "object_j", "wins_i", "ties", "wins_j"])
        found = from_judgments(hold(arrow(), engine), **MODELS, order=True)
        assert found == from_counts(table, order=True)
        assert found.unkept == NAMES[3:]
        weighted = from_judgments(hold(arrow(), engine), **MODELS, weights="n", order=True)
        assert weighted.to_frame()[["wins_i", "ties", "wins_j"]].to_numpy().tolist() == [
            *([9, 0, 1], [0, 6, 0], [4, 0, 0], [0, 0, 0])
        ]

    @every_engine
    def test_a_format(self, engine, hold):
        options = {"covariates": "judge", "clusters": "worker"}
        found = from_judgments(hold(arrow(), engine), format="arena", **options)
        expected = baseline(arrow(), **MODELS, **options)
        assert found == expected
        assert found.notes == ("8 rows read as 'arena'", *expected.notes)

    @every_engine
    def test_a_frame_of_counts(self, engine, hold):
        names = ("object_i", "object_j", "wins_i", "ties", "wins_j", "judge")
        table = arrow([("A", "B", 7, 1, 3, "J1"), ("A", "C", 9, 0, 2, "J2"), ("B", "C", 5, 2, 4, "J1")], names)
        expected = from_counts(as_pandas(table, "object"), covariates="judge", order=True)
        assert from_counts(hold(table, engine), covariates="judge", order=True) == expected

    @every_engine
    def test_read_judgments(self, engine, hold):
        frame = read_judgments(hold(arrow(), engine), format="arena")
        assert from_judgments(frame, covariates="judge", clusters="worker") == baseline(
            arrow(), **MODELS, covariates="judge", clusters="worker"
        )

    @every_engine
    def test_numbers_by_themselves(self, engine, hold):
        """Of two lists of numbers, weights and lengths, nothing is lost."""
        table = arrow()
        columns = table.set_column(8, "n", pa.array([0.5, 1.25, 1e-9, 3.0, 0.5, 1e9, 0.0, 1.25]))
        options = {**MODELS, "weights": "n", "numeric": "worker", "covariates": "age"}
        assert_same(from_judgments(hold(columns, engine), **options), baseline(columns, **options), engine)

    @every_engine
    @pytest.mark.parametrize(
        ("values", "labels"),
        [
            ([True, False], [False, True]),
            ([1, 2], [1, 2]),
            ([datetime.date(2026, 3, 1), datetime.date(2025, 12, 31)], ["2025-12-31", "2026-03-01"]),
            (
                [datetime.datetime(2026, 3, 1, 12, 30), datetime.datetime(2026, 3, 1)],
                ["2026-03-01", "2026-03-01 12:30:00"],
            ),
            (["é", "Z"], ["Z", "é"]),
            (["10", "9"], ["10", "9"]),
        ],
        ids=["bool", "int", "date", "datetime", "accents", "digits"],
    )
    def test_types_of_labels(self, engine, hold, values, labels):
        table = arrow().append_column("kind", pa.array(values * 4))
        found = from_judgments(hold(table, engine), **MODELS, covariates="kind")
        assert found.columns[0].levels.tolist() == labels
        assert [type(label) for label in found.columns[0].levels.tolist()] == [type(label) for label in labels]
        clustered = from_judgments(hold(table, engine), **MODELS, clusters="kind")
        assert clustered.cluster_counts.columns[0].levels.tolist() == labels

    @every_engine
    def test_objects_that_are_numbers(self, engine, hold):
        rows = [(1, 2, "model_a"), (2, 10, "tie"), (10, 1, "model_b"), (2, 1, "model_b")]
        found = from_judgments(hold(arrow(rows, NAMES[:3]), engine), **MODELS)
        assert found.objects == (1, 2, 10)
        assert found.win_matrix().loc[1, 2] == 2
        winners = [(1, 2, 1), (2, 10, 2), (10, 1, 1), (2, 1, 1)]
        named = from_judgments(hold(arrow(winners, NAMES[:3]), engine), **MODELS, outcomes="names")
        assert named.win_matrix().loc[1].tolist() == [0, 2, 1]

    @every_engine
    def test_decimals_are_numbers(self, engine, hold):
        prices = pa.array([decimal.Decimal("1.50"), decimal.Decimal("2.25")] * 4)
        table = arrow().append_column("price", prices)
        found = from_judgments(hold(table, engine), **MODELS, covariates="price")
        assert found.columns[0].numeric
        assert found.columns[0].levels.tolist() == [1.5, 2.25]

    @every_engine
    def test_names_of_columns(self, engine, hold):
        """Names that engines have in use, or that need quotes."""
        names = ("home.team", "away.team", "who won?", "rows", "first", "a b", "len_a", "len_b", "SELECT", 'a"b')
        table = arrow(ROWS, names)
        options = {
            "objects": names[:2],
            "outcome": names[2],
            "covariates": ("rows", "a b"),
            "clusters": ("first", "SELECT"),
            "outcomes": {"model_a": "i", "model_b": "j"},
        }
        found = from_judgments(hold(table, engine), **options)
        expected = baseline(table, **options)
        assert_same(found, expected, engine)
        assert found.n_judgments == len(ROWS)

    @every_engine
    def test_outcomes_left_out_are_counted(self, engine, hold):
        rows = [*ROWS, *[("x", "y", "skip", *ROWS[0][3:])] * 3, ("x", "y", None, *ROWS[0][3:])]
        for options in (
            {"outcomes": {"skip": None, None: None}},
            {"max_dropped": 4},
            {"outcomes": {"skip": None, None: "tie"}},
        ):
            found = from_judgments(hold(arrow(rows), engine), **MODELS, **options)
            assert_same(found, baseline(arrow(rows), **MODELS, **options), engine)
            assert any(note.startswith("3 rows with outcome 'skip' left out") for note in found.notes)

    @pytest.mark.parametrize(
        "engine", ["object", "string", "categorical", "arrow types", "polars", "pyarrow", "dictionary"]
    )
    def test_the_frame_of_the_caller_is_left_alone(self, engine, hold):
        frame, same = hold(arrow(), engine), hold(arrow(), engine)
        from_judgments(frame, **MODELS, **SETTINGS["everything"])
        read_judgments(frame, format="arena")
        assert frame.equals(same)
        columns = frame.column_names if engine in ("pyarrow", "dictionary") else frame.columns
        assert list(columns) == list(NAMES)

    def test_the_connection_of_the_caller_is_left_alone(self, connection):
        relation = connection.from_arrow(arrow())
        before = connection.sql("show tables").fetchall()
        from_judgments(relation, **MODELS)
        assert connection.sql("show tables").fetchall() == before
        assert relation.fetchall() == [tuple(row) for row in ROWS]

    @pytest.mark.parametrize("engine", ["duckdb", SPARK, DASK, "polars", "lazy", "pyarrow"])
    def test_many_rows_are_few_combinations(self, engine, hold):
        table = pa.concat_tables([arrow()] * 500)
        options = {**MODELS, "covariates": "judge", "weights": "n", "order": True}
        found = from_judgments(hold(table, engine), **options)
        once = baseline(arrow(), **options)
        assert found.n_judgments == 500 * once.n_judgments
        assert found == baseline(table, **options)

    @pytest.mark.parametrize("engine", ["duckdb", SPARK, DASK, "lazy"])
    def test_judges_are_resampled_from_the_counts_of_the_engine(self, engine, hold):
        rng = np.random.default_rng(3)
        left, step = rng.integers(0, 4, 600), rng.integers(1, 4, 600)
        columns = {"model_a": [f"m{k}" for k in left], "model_b": [f"m{k}" for k in (left + step) % 4]}
        columns["winner"] = rng.choice(["model_a", "tie", "model_b"], 600).tolist()
        columns["judge"] = [f"j{k}" for k in rng.integers(0, 8, 600)]
        table = pa.table(columns)
        options = {**MODELS, "clusters": "judge"}
        found, expected = (
            llbt.bootstrap(llbt.fit("object + tie", c), n=20, resample="judge", rng=1)
            for c in (from_judgments(hold(table, engine), **options), baseline(table, **options))
        )
        np.testing.assert_array_equal(found.replicates, expected.replicates)
        assert found.replicates.std(axis=0).min() > 0

    @pytest.mark.dask
    def test_partitions_that_code_categories_apart(self):
        import dask.dataframe as dd

        frame = as_pandas(arrow(), "object")
        parts = [as_pandas(arrow(rows), "object") for rows in (ROWS[:3], ROWS[3:])]
        parts = [part.astype({"model_a": "category", "judge": "category"}) for part in parts]
        options = {**MODELS, "covariates": "judge"}
        assert from_judgments(dd.concat([in_partitions(p) for p in parts]), **options) == from_judgments(
            frame, **options
        )


def changed(*changes):
    """The rows with some values changed: (row, column, value)."""
    rows = [list(row) for row in ROWS]
    for row, name, value in changes:
        rows[row][NAMES.index(name)] = value
    return arrow([tuple(row) for row in rows])


BROKEN = {
    "a missing object": (changed((2, "model_b", None), (5, "model_b", None)), {}, "2 missing values", 2),
    "a missing outcome": (changed((3, "winner", None), (6, "winner", None)), {}, "2 missing outcomes", 3),
    "an unknown outcome": (changed((4, "winner", "?"), (6, "winner", "?")), {}, "'?' (2 rows", 4),
    "two unknown outcomes": (
        changed((4, "winner", "?"), (6, "winner", "?"), (1, "winner", "!")),
        {},
        "2 unknown outcomes: '?' (2 rows",
        4,
    ),
    "a stranger": (changed((5, "named", "z")), {"outcome": "named"}, "'z' is an object", 5),
    "itself": (changed((1, "model_b", "y"), (7, "model_b", "y")), {}, "2 rows with an object compared with itself", 1),
    "a missing covariate": (changed((5, "judge", None)), {"covariates": "judge"}, "1 missing value", 5),
    "a missing number": (changed((5, "age", None)), {"covariates": "age"}, "1 missing value", 5),
    "an infinite number": (changed((4, "age", float("inf"))), {"covariates": "age"}, "1 infinite value", 4),
    "a missing cluster": (changed((6, "worker", None)), {"clusters": "worker"}, "1 missing value", 6),
    "a missing side": (changed((6, "len_a", None)), SIDES, "1 missing value", 6),
    "a missing weight": (changed((2, "n", None), (3, "n", None)), {"weights": "n"}, "2 missing values", 2),
    "a weight below zero": (changed((2, "n", -1), (4, "n", -1)), {"weights": "n"}, "2 values negative", 2),
    "several at once": (
        changed((1, "judge", None), (7, "judge", None)),
        {"covariates": "judge"},
        "2 missing values",
        1,
    ),
}


class TestErrors:
    @every_engine
    @pytest.mark.parametrize("name", BROKEN)
    def test_say_the_row_where_there_is_an_order(self, engine, name, hold):
        table, options, part, row = BROKEN[name]
        with pytest.raises(llbt.errors.JudgmentError) as error:
            from_judgments(hold(table, engine), **{**MODELS, **options})
        message = str(error.value)
        assert part in message
        if engine in IN_ORDER:
            assert f"row {row}" in message
        else:
            assert not re.search(r"\brow \d", message)

    @every_engine
    def test_two_readings(self, engine, hold):
        rows = [("a", "b", "a"), ("b", "a", "a")]
        with pytest.raises(llbt.errors.JudgmentError, match=r"two readings") as error:
            from_judgments(hold(arrow(rows, NAMES[:3]), engine), **MODELS)
        assert ("row 1" in str(error.value)) == (engine in IN_ORDER)

    @every_engine
    def test_columns_that_are_not_there(self, engine, hold):
        with pytest.raises(llbt.errors.JudgmentError, match="'juge'") as error:
            from_judgments(hold(arrow(), engine), **MODELS, covariates="juge")
        assert "'judge'" in str(error.value)

    @every_engine
    def test_no_rows(self, engine, hold):
        table = arrow().slice(0, 0)
        with pytest.raises(llbt.errors.JudgmentError, match="no rows"):
            from_judgments(hold(table, engine), **MODELS)
        with pytest.raises(llbt.errors.JudgmentError, match="no rows"):
            read_judgments(hold(table, engine), format="arena")

    @every_engine
    def test_weights_that_are_no_numbers(self, engine, hold):
        table = arrow().set_column(8, "n", pa.array(["2"] * 7 + ["two"]))
        with pytest.raises(llbt.errors.JudgmentError, match=r"column 'n'.*expected numbers"):
            from_judgments(hold(table, engine), **MODELS, weights="n")

    @every_engine
    def test_lists_are_no_labels(self, engine, hold):
        table = arrow().append_column("tags", pa.array([["a"], ["b", "c"]] * 4))
        with pytest.raises(llbt.errors.JudgmentError, match="'tags'"):
            from_judgments(hold(table, engine), **MODELS, covariates="tags")


LABELS = st.sampled_from(["model_a", "model_b", "tie", "skip", None])
ROW = st.tuples(
    st.permutations(["x", "y", "Z", "é"]).map(lambda found: tuple(found[:2])),
    LABELS,
    st.sampled_from(["J1", "J2"]),
    st.integers(1, 3),
    st.sampled_from([0.0, -1.5, 2.25, 1e300]),
    st.sampled_from([0.0, -1.5, 7.0]),
    st.integers(0, 3),
).map(lambda row: (*row[0], *row[1:]))
SMALL = ("model_a", "model_b", "winner", "judge", "worker", "len_a", "len_b", "n")


def outcome_of(frame, options):
    """The comparisons, or what is wrong with them, without rows."""
    try:
        return from_judgments(frame, **options)
    except llbt.errors.JudgmentError as error:
        return re.sub(r",? ?(the )?first at row \d+|row \d+|a row|\W", "", str(error))


class TestAnyFrame:
    @settings(max_examples=30)
    @given(
        rows=st.lists(ROW, min_size=1, max_size=12),
        order=st.booleans(),
        weights=st.sampled_from([None, "n"]),
        covariates=st.sampled_from([(), "judge", ("judge", "worker")]),
        clusters=st.sampled_from([(), "worker"]),
        sides=st.booleans(),
        missing=st.sampled_from(["tie", None, "refuse"]),
    )
    @pytest.mark.slow
    def test_every_engine_in_memory(self, connection, rows, order, weights, covariates, clusters, sides, missing):
        table = pa.table(
            {
                name: pa.array(column, type=pa.string() if name == "winner" else None)
                for name, column in zip(SMALL, zip(*rows, strict=True), strict=True)
            }
        )
        outcomes = {"skip": None} | ({} if missing == "refuse" else {None: missing})
        options = {**MODELS, "order": order, "weights": weights, "covariates": covariates, "outcomes": outcomes}
        options |= {"clusters": () if "worker" in covariates else clusters} | (SIDES if sides else {})
        expected = outcome_of(held(table, "object"), options)
        for engine in ("string", "categorical", "polars", "lazy", "pyarrow", "dictionary", "duckdb"):
            found = outcome_of(held(table, engine, connection), options)
            assert type(found) is type(expected), (engine, found, expected)
            if isinstance(expected, str):
                continue
            assert found == expected, engine
            assert sorted(found.notes) == sorted(expected.notes), engine

    @settings(max_examples=30)
    @given(rows=st.lists(ROW, min_size=1, max_size=10))
    @pytest.mark.slow
    def test_the_counts_are_those_of_a_loop(self, connection, rows):
        counts = {}
        for a, b, said, *_ in rows:
            if said in ("model_a", "tie", "model_b"):
                counts.setdefault((a, b), [0, 0, 0])[("model_a", "tie", "model_b").index(said)] += 1
        table = pa.table(
            {name: pa.array(c) for name, c in zip(SMALL[:2], list(zip(*rows, strict=True))[:2], strict=True)}
        )
        table = table.append_column("winner", pa.array([row[2] for row in rows], type=pa.string()))
        options = {**MODELS, "order": True, "outcomes": {"skip": None, None: None}}
        for engine in ("object", "lazy", "pyarrow", "duckdb"):
            if not counts:
                with pytest.raises(llbt.errors.JudgmentError, match="leaves out every"):
                    from_judgments(held(table, engine, connection), **options)
                continue
            made = from_judgments(held(table, engine, connection), **options).to_frame()
            found = {(row[0], row[1]): list(row[2:]) for row in made.itertuples(index=False)}
            assert found == counts


def write(folder, suffix, table=None):
    """The table as a file of some kind, or several."""
    table = arrow() if table is None else table
    path = folder / f"judgments{suffix}"
    if suffix == "*.parquet":
        half = table.num_rows // 2
        pq.write_table(table.slice(0, half), folder / "judgments1.parquet")
        pq.write_table(table.slice(half), folder / "judgments2.parquet")
        return path
    if suffix == ".parquet":
        pq.write_table(table, path)
        return path
    frame = table.to_pandas()
    if suffix.startswith((".csv", ".tsv")):
        text = frame.to_csv(index=False, sep="\t" if suffix.startswith(".tsv") else ",")
    elif suffix.startswith(".jsonl"):
        text = "\n".join(json.dumps(record) for record in table.to_pylist()) + "\n"
    else:
        text = json.dumps(table.to_pylist(), indent=2)
    path.write_bytes(gzip.compress(text.encode()) if suffix.endswith(".gz") else text.encode())
    return path


SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".json", ".json.gz", ".jsonl", ".jsonl.gz", ".parquet", "*.parquet")


@pytest.fixture(params=["in memory", "through DuckDB"])
def large(request, monkeypatch):
    if request.param == "through DuckDB":
        make_large(monkeypatch)
    return request.param == "through DuckDB"


def make_large(monkeypatch):
    monkeypatch.setattr(llbt.data.files, "LARGE", dict.fromkeys(llbt.data.files.LARGE, 0))


@pytest.mark.slow
class TestFiles:
    @pytest.mark.parametrize("suffix", SUFFIXES)
    @pytest.mark.parametrize("setting", SETTINGS)
    def test_the_same_comparisons(self, suffix, setting, large, tmp_path):
        options = {**MODELS, **SETTINGS[setting]}
        path = write(tmp_path, suffix)
        found = from_judgments(path, **options)
        expected = baseline(arrow(), **options)
        assert found == expected
        assert sorted(found.notes) == sorted(expected.notes)
        assert from_judgments(str(path), **options) == expected

    @pytest.mark.parametrize("suffix", SUFFIXES)
    def test_both_steps_are_one(self, suffix, large, tmp_path):
        path = write(tmp_path, suffix)
        options = {"covariates": "judge", "clusters": "worker"}
        expected = baseline(arrow(), **MODELS, **options)
        made = read_judgments(path)
        assert isinstance(made.query, duckdb.DuckDBPyRelation) == large
        assert made.tabulate() == baseline(arrow(), **MODELS)
        assert "8 records read as 'arena': 8 judgments" in made.notes
        assert from_judgments(made, **options) == expected
        assert from_judgments(path, format="arena", **options) == expected
        assert from_judgments(path, **options) == expected
        assert "8 rows read as 'arena'" in from_judgments(path, **options).notes

    @pytest.mark.parametrize("suffix", [name for name in SUFFIXES if "*" not in name])
    def test_file_frame(self, suffix, tmp_path):
        frame = file_frame(write(tmp_path, suffix))
        assert frame.to_numpy(object).tolist() == [list(row) for row in ROWS]

    @pytest.mark.parametrize("suffix", [".csv", ".json", ".parquet"])
    def test_patterns(self, suffix, tmp_path):
        for k in range(3):
            write(tmp_path, suffix).rename(tmp_path / f"part-{k}{suffix}")
        found = from_judgments(tmp_path / f"part-*{suffix}", format="arena", order=True)
        assert found == baseline(pa.concat_tables([arrow()] * 3), **MODELS, order=True)

    def test_a_pattern_without_files(self, tmp_path):
        with pytest.raises(llbt.errors.JudgmentError, match=r"none\*\.parquet"):
            from_judgments(tmp_path / "none*.parquet", format="arena")

    def test_a_file_whose_name_looks_like_a_pattern(self, tmp_path):
        path = write(tmp_path, ".csv").rename(tmp_path / "judgments[1].csv")
        assert from_judgments(path, format="arena") == baseline(arrow(), **MODELS)

    @pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
    def test_missing_and_unknown_outcomes(self, suffix, large, tmp_path):
        table = changed((1, "winner", None), (3, "winner", "?"))
        path = write(tmp_path, suffix, table)
        with pytest.raises(llbt.errors.JudgmentError, match=r"1 missing outcome.*'\?'") as error:
            from_judgments(path, format="arena")
        assert ("row 1" in str(error.value)) == (not large)
        for outcomes in ({None: "tie", "?": "j"}, {None: "j", "?": None}, {None: None, "?": "tie"}):
            expected = baseline(table, **MODELS, outcomes=outcomes, covariates="judge")
            options = {"format": "arena", "outcomes": outcomes}
            assert from_judgments(path, **options, covariates="judge") == expected
            assert from_judgments(read_judgments(path, **options), covariates="judge") == expected
        dropped = from_judgments(read_judgments(path, max_dropped=2))
        assert dropped == baseline(table, **MODELS, max_dropped=2)

    @pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
    def test_names_of_winners(self, suffix, large, tmp_path):
        table = arrow().drop_columns("winner")
        path = write(tmp_path, suffix, table)
        options = {"objects": ("model_a", "model_b"), "outcome": "named"}
        made = read_judgments(path, **options)
        assert from_judgments(made, order=True) == baseline(arrow(), **MODELS, order=True)

    @pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
    def test_names_of_winners_that_are_numbers(self, suffix, large, tmp_path):
        rows = [(1, 2, "1"), (2, 10, "tie"), (10, 1, "1"), (2, 1, "2")]
        path = write(tmp_path, suffix, arrow(rows, NAMES[:3]))
        expected = baseline(arrow(rows, NAMES[:3]), **MODELS, outcomes="names")
        assert from_judgments(path, **MODELS, outcomes="names") == expected
        assert from_judgments(read_judgments(path, outcomes="names")) == expected

    @pytest.mark.parametrize("objects", [("i", "j"), ("j", "i"), ("tie", "x"), ("model_b", "model_c")])
    def test_objects_called_like_outcomes(self, objects, large, tmp_path):
        rows = [(*objects, said) for said in ("model_a", "model_a", "tie", "model_b")]
        path = write(tmp_path, ".csv", arrow(rows, NAMES[:3]))
        options = {"outcomes": "slots"}
        expected = baseline(arrow(rows, NAMES[:3]), **MODELS, **options)
        assert expected.n_ties == 1
        assert from_judgments(path, format="arena", **options) == expected
        assert from_judgments(read_judgments(path, **options)) == expected

    @pytest.mark.parametrize("suffix", [".csv", ".parquet"])
    def test_ties_of_a_kind(self, suffix, large, tmp_path):
        table = changed((1, "winner", "tie (bothbad)"), (7, "winner", "both_bad"))
        path = write(tmp_path, suffix, table)
        note = "2 ties are of the kind 'both_bad', which outcomes={'both_bad': 'bad'} counts apart"
        c = from_judgments(path)
        assert c == baseline(arrow(), **MODELS)
        assert note in c.notes
        made = read_judgments(path)
        assert note in made.notes
        assert made.to_frame()["tie_kind"].dropna().tolist() == ["both_bad", "both_bad"]
        left = read_judgments(path, outcomes={"tie (bothbad)": None})
        assert from_judgments(left).n_judgments == 7

    @pytest.mark.parametrize("suffix", [".csv", ".parquet"])
    def test_standard_columns(self, suffix, large, tmp_path):
        frame = read_judgments(write(tmp_path, suffix)).to_frame()
        standard = {"object_i", "object_j", "outcome", "judge", "prompt", "tie_kind", "strength", "block"}
        assert standard <= set(frame.columns)
        assert set(frame.columns) - standard == set(NAMES) - {"model_a", "model_b", "winner", "judge"}
        assert frame["judge"].tolist().count("J1") == 5

    @pytest.mark.parametrize("name", ["strength", "outcome", "tie_kind", "prompt_id", "object_i"])
    def test_columns_called_like_others(self, name, large, tmp_path):
        table = arrow().append_column(name, pa.array([f"v{k}" for k in range(8)]))
        path = write(tmp_path, ".csv", table)
        made = read_judgments(path, format="arena")
        frame = made.to_frame()
        kept = {"prompt_id": "prompt"}.get(name, f"{name}_")
        assert sorted(frame[kept]) == [f"v{k}" for k in range(8)]
        assert from_judgments(made) == baseline(arrow(), **MODELS)

    @pytest.mark.parametrize(
        "values",
        [
            ["a,b", "c\nd"],
            ['say "x"', "'y'"],
            ["NA", "null"],
            ["nan", "None"],
            ["007", "7"],
            ["true", "false"],
            ["2026-03-01", "2025-12-31"],
            ["01/02/2026", "03/02/2026"],
            ["2026-03-01 10:00:00", "2026-03-02 11:30:00"],
            ["10:00:00", "11:00:00"],
            ["1e3", "x"],
            [" x", "x "],
            ["é", "日本"],
            ["12345678901234567", "2"],
        ],
    )
    @pytest.mark.parametrize("suffix", [".csv", ".tsv", ".json", ".jsonl", ".parquet"])
    def test_labels_are_read_alike(self, values, suffix, tmp_path, monkeypatch):
        table = arrow().append_column("label", pa.array(values * 4))
        path = write(tmp_path, suffix, table)
        options = {**MODELS, "clusters": "label"}
        small = from_judgments(path, **options)
        make_large(monkeypatch)
        assert from_judgments(path, **options) == small

    @pytest.mark.parametrize("values", [[1.5, None], [2.0, 3.0], [1, 2], [1e20, -1e-20]])
    @pytest.mark.parametrize("suffix", [".csv", ".json", ".jsonl", ".parquet"])
    def test_numbers_are_read_alike(self, values, suffix, tmp_path, monkeypatch):
        table = arrow().append_column("number", pa.array(values * 4))
        path = write(tmp_path, suffix, table)
        options = {**MODELS, "covariates": "number"}
        small = outcome_of(path, options)
        make_large(monkeypatch)
        large = outcome_of(path, options)
        assert large == small

    @pytest.mark.parametrize("separator", [";", "|", "\t"])
    def test_separators(self, separator, large, tmp_path):
        path = tmp_path / "judgments.csv"
        path.write_text(arrow().to_pandas().to_csv(index=False, sep=separator), encoding="utf-8")
        assert from_judgments(path, **MODELS, covariates="judge") == baseline(arrow(), **MODELS, covariates="judge")

    def test_byte_order_marks(self, large, tmp_path):
        path = tmp_path / "judgments.csv"
        path.write_text(arrow().to_pandas().to_csv(index=False), encoding="utf-8-sig")
        assert from_judgments(path, **MODELS) == baseline(arrow(), **MODELS)

    @pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
    def test_labels_that_turn_into_text_late(self, suffix, large, tmp_path):
        rows = [("x", "y", "model_a", k % 7) for k in range(40_000)]
        table = arrow(rows, ("model_a", "model_b", "winner", "worker"))
        path = write(tmp_path, suffix, table)
        text = path.read_text(encoding="utf-8")
        last = (
            "x,y,model_b,abc\n"
            if suffix == ".csv"
            else json.dumps(dict(zip(NAMES[:3], ("x", "y", "model_b"), strict=True)) | {"worker": "abc"})
        )
        path.write_text(text + last, encoding="utf-8")
        c = from_judgments(path, **MODELS, clusters="worker")
        assert c.n_judgments == 40_001
        assert "abc" in c.cluster_counts.columns[0].levels.tolist()

    def test_outcomes_that_are_new_late(self, large, tmp_path):
        rows = [("x", "y", "model_a")] * 40_000 + [("x", "y", "model_b")]
        c = from_judgments(write(tmp_path, ".csv", arrow(rows, NAMES[:3])), format="arena")
        assert c.counts.tolist() == [[40_000, 0, 1]]

    @pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".jsonl", ".json", ".parquet"])
    def test_files_that_are_cut_off(self, suffix, large, tmp_path):
        path = write(tmp_path, suffix)
        raw = path.read_bytes()
        path.write_bytes(raw[: len(raw) - 25])
        with pytest.raises(llbt.errors.JudgmentError, match=re.escape(path.name)):
            from_judgments(path, **MODELS)

    @pytest.mark.parametrize("line", ["x,y\n", "x,y,model_a,x,J1,11,1,2,3,4,5,6\n"])
    def test_lines_that_are_too_short_or_too_long(self, line, large, tmp_path):
        path = tmp_path / "judgments.csv"
        path.write_text(arrow().to_pandas().to_csv(index=False) + line, encoding="utf-8")
        with pytest.raises(llbt.errors.JudgmentError, match=r"judgments\.csv"):
            from_judgments(path, **MODELS)

    def test_not_utf8(self, large, tmp_path):
        path = tmp_path / "judgments.csv"
        path.write_bytes(arrow().to_pandas().replace("J1", "é").to_csv(index=False).encode("latin-1"))
        with pytest.raises(llbt.errors.JudgmentError, match=r"judgments\.csv"):
            from_judgments(path, **MODELS, covariates="judge")

    def test_columns_named_twice(self, large, tmp_path):
        path = tmp_path / "judgments.csv"
        path.write_text("model_a,model_b,winner,winner\nx,y,model_a,model_b\n", encoding="utf-8")
        with pytest.raises(llbt.errors.JudgmentError, match="'winner'"):
            from_judgments(path, **MODELS)


@pytest.mark.slow
class TestFormatsOfLargeFiles:
    @pytest.mark.parametrize(
        "case", [c for c in CASES if isinstance(c.source, list) and c.id != "choix"], ids=lambda c: c.id
    )
    @pytest.mark.parametrize("suffix", [".jsonl", ".json", ".parquet"])
    def test_the_same_comparisons(self, case, suffix, tmp_path, monkeypatch):
        path = tmp_path / f"judgments{suffix}"
        if suffix == ".parquet":
            pl.DataFrame(case.source, infer_schema_length=None).write_parquet(path)
        else:
            lines = [json.dumps(record) for record in case.source]
            path.write_text("\n".join(lines) if suffix == ".jsonl" else json.dumps(case.source), encoding="utf-8")
        frame = read_judgments(case.source, format=case.name, **case.options)
        expected = from_judgments(frame, order=frame.shown)
        make_large(monkeypatch)
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", llbt.errors.LLBTWarning
            )  # a relation says in a warning what a frame has in its notes
            made = read_judgments(path, format=case.name, **case.options)
        assert from_judgments(made, order=frame.shown) == expected
        assert from_judgments(path, format=case.name, **case.options, order=frame.shown) == expected

    @pytest.mark.parametrize("case", [c for c in CASES if c.suffix], ids=lambda c: c.id)
    def test_text(self, case, tmp_path, monkeypatch):
        path = case.open(tmp_path)
        frame = read_judgments(path, format=case.name)
        expected = from_judgments(frame, order=frame.shown)
        make_large(monkeypatch)
        assert from_judgments(read_judgments(path, format=case.name), order=frame.shown) == expected

    def test_formats_of_several_games_are_frames(self, tmp_path, monkeypatch):
        path = tmp_path / "games.jsonl"
        path.write_text("\n".join(json.dumps(record) for record in HARD), encoding="utf-8")
        make_large(monkeypatch)
        assert read_judgments(path).notes[0] == "4 records read as 'arena_hard': 6 judgments"


class TestExtras:
    def test_without_duckdb(self, tmp_path, monkeypatch):
        write(tmp_path, "*.parquet")
        path = write(tmp_path, ".csv")
        monkeypatch.setitem(sys.modules, "duckdb", None)
        for small in (tmp_path / "*.parquet", path):
            assert from_judgments(small, format="arena") == baseline(arrow(), **MODELS)
        make_large(monkeypatch)
        for door in (from_judgments, read_judgments):
            for large in (tmp_path / "*.parquet", path):
                with pytest.raises(llbt.errors.JudgmentError, match=r"pip install 'llbt\[duckdb\]'"):
                    door(large, format="arena")

    def test_without_pyarrow(self, tmp_path, monkeypatch):
        path = write(tmp_path, ".parquet")
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
        for door in (from_judgments, read_judgments):
            with pytest.raises(llbt.errors.JudgmentError, match=r"pip install 'llbt\[parquet\]'"):
                door(path, format="arena")
