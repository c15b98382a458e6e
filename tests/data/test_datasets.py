"""The bundled data sets say what the publications say."""

import numpy as np
import pytest

from llbt.data.datasets import list_datasets, load_dataset
from llbt.errors import OptionError

NAMES = list_datasets().to_frame()["name"].tolist()


def counts(name, i, j, where=None):
    c = load_dataset(name)
    pair = [c.objects.index(i), c.objects.index(j)]
    c = (c if where is None else c.select(objects=[i, j], where=where)).select(objects=[i, j]).pool()
    assert pair == sorted(pair)
    return c.counts[0].tolist()


def test_the_list_is_complete_and_agrees_with_the_tables():
    frame = list_datasets().to_frame().set_index("name")
    assert set(NAMES) == {
        *("dras_modpref", "dras_collins", "dras_table1", "dras_table1_as_analysed", "baseball", "citations"),
        *("cems", "puddings", "bojar_six_annotators"),
    }
    for name in NAMES:
        c = load_dataset(name)
        row = [len(c.objects), len(c), c.n_judgments, c.n_ties]
        assert frame.loc[name, ["objects", "comparisons", "judgments", "ties"]].tolist() == row
    assert (frame["description"].str.len() > 0).all()
    assert (frame["source"].str.contains(r"\d{4}")).all()


@pytest.mark.parametrize(
    ("name", "objects", "comparisons", "judgments", "has_ties"),
    [
        ("dras_modpref", 2, 1, 120, True),
        ("dras_collins", 2, 1, 199, True),
        ("dras_table1", 4, 24, 960, True),
        ("dras_table1_as_analysed", 4, 24, 960, True),
        ("baseball", 7, 42, 273, False),
        ("citations", 4, 6, 3727, False),
        ("cems", 6, 60, 303 * 15 - 91, True),  # 303 students; 91 of them did not compare Paris with Milano
        ("puddings", 6, 15, 745, True),
        ("bojar_six_annotators", 2, 6, 6 * 63, True),
    ],
)
def test_sizes(name, objects, comparisons, judgments, has_ties):
    c = load_dataset(name)
    assert (len(c.objects), len(c), c.n_judgments, c.has_ties) == (objects, comparisons, judgments, has_ties)


@pytest.mark.parametrize(
    ("name", "i", "j", "where", "expected"),
    [
        ("dras_modpref", "+", "-", None, [61, 24, 35]),
        ("dras_collins", "B", "R", None, [39, 77, 83]),
        ("dras_table1", "A", "B", {"judge": "J1"}, [38, 0, 2]),
        ("cems", "LO", "PA", None, [186, 26, 91]),
        ("cems", "LO", "MI", {"ENG": 1, "SEX": 1}, [78, 8, 29]),
        ("citations", "Biometrika", "Comm Statist", None, [730, 0, 33]),
        ("puddings", 1, 2, None, [19, 16, 22]),
        ("bojar_six_annotators", "cu-bojar", "cu-tecto", {"judge": "C"}, [10, 5, 36, 12]),
    ],
)
def test_figures(name, i, j, where, expected):
    assert counts(name, i, j, where) == expected


def test_exchanging_ad_and_bc_makes_the_table_as_analysed():
    printed, analysed = (load_dataset(name) for name in ("dras_table1", "dras_table1_as_analysed"))
    for judge in ("J1", "J2", "J3", "J4"):
        a, b = (c.select(where={"judge": judge}).counts for c in (printed, analysed))
        np.testing.assert_array_equal(a[[0, 1, 3, 2, 4, 5]], b)  # AB, AC, AD, BC, BD, CD


def test_baseball_keeps_the_home_team():
    c = load_dataset("baseball")
    assert c.keeps_order
    home = c.to_frame().query("object_i == 'Milwaukee' and object_j == 'Detroit'")
    assert home[["wins_i", "wins_j"]].to_numpy().tolist() == [[4, 3]]


def test_cems_has_labels_of_students_and_numbers_of_schools():
    c = load_dataset("cems")
    assert [(column.name, column.numeric) for column in c.columns] == [("ENG", False), ("SEX", False)]
    schools = {column.name: dict(zip(c.objects, column.values.tolist(), strict=True)) for column in c.object_columns}
    assert schools == {
        "LAT": {"LO": 0.0, "PA": 1.0, "MI": 1.0, "SG": 0.0, "BA": 1.0, "ST": 0.0},
        "EC": {"LO": 1.0, "PA": 0.0, "MI": 1.0, "SG": 0.0, "BA": 0.0, "ST": 1.0},
    }


@pytest.mark.parametrize(
    ("name", "fragment"),
    [
        ("dras_modpref", "Inferred"),
        ("dras_collins", "Inferred"),
        ("dras_table1_as_analysed", "AD and BC"),
        ("dras_modpref", "artificial"),
    ],
)
def test_what_was_done_to_the_figures_is_noted(name, fragment):
    assert fragment in " ".join(load_dataset(name).notes)


@pytest.mark.parametrize("name", ["cem", "../sets/cems", "cems_objects"])
def test_unknown_names_are_refused_with_the_list(name):
    with pytest.raises(OptionError, match="no bundled data set") as caught:
        load_dataset(name)
    assert "'dras_modpref'" in str(caught.value)
    assert "'bojar_six_annotators'" in str(caught.value)
