"""Files of PrefLib, as its page on formats describes them."""

import pytest

import llbt

HEAD = """# FILE NAME: 00001-00000001.{suffix}
# TITLE: A vote
# DATA TYPE: {suffix}
# NUMBER ALTERNATIVES: 3
# NUMBER VOTERS: {voters}
# NUMBER UNIQUE ORDERS: {orders}
# ALTERNATIVE NAME 1: Anna
# ALTERNATIVE NAME 2: Bertha, of Ulm
# ALTERNATIVE NAME 3: Carl
"""


def file(folder, suffix, *orders, voters=None, number=None):
    total = sum(int(order.partition(":")[0]) for order in orders if order[0] in "123456789")
    head = HEAD.format(suffix=suffix, voters=voters or total, orders=number or len(orders))
    path = folder / f"vote.{suffix}"
    path.write_text(head + "\n".join(orders) + "\n", encoding="utf-8")
    return path


def test_orders_and_how_often_they_were_given(tmp_path):
    r = llbt.from_rankings(file(tmp_path, "soc", "5: 3,1,2", "2: 1,2,3"))
    assert r.objects == ("Anna", "Bertha, of Ulm", "Carl")
    assert r.n_judgments == 7
    assert str(r).splitlines()[3].startswith("Carl > Anna > Bertha, of Ulm")
    assert r.counts.tolist() == [5, 2]


def test_places_of_several(tmp_path):
    r = llbt.from_rankings(str(file(tmp_path, "toc", "4: {1, 3},2", "1: 2,{1,3}")))
    assert r.places.tolist() == [1, 1, 2, 1, 2, 2]
    assert r.largest_tie == 2


def test_orders_that_are_not_complete(tmp_path):
    path = file(tmp_path, "soi", "3: 2", "4: 1,3")
    r = llbt.from_rankings(path)
    assert r.sizes.tolist() == [2]
    assert r.notes[0] == "left out: 1 list of a single object" or "left out: 3 lists of a single object" in r.notes
    below = llbt.from_rankings(path, unranked="below")
    assert below.sizes.tolist() == [3, 3]
    assert below.to_comparisons().n_judgments == 2 * 3 + 3 * 4


def test_the_fit_is_that_of_the_frame(tmp_path):
    import pandas as pd

    orders = {"3: 1,2,3": (1, 2, 3), "2: 2,1,3": (2, 1, 3), "2: 3,1,2": (2, 3, 1), "1: 1,3,2": (1, 3, 2)}
    r = llbt.from_rankings(file(tmp_path, "soc", *orders))
    rows = [ranks for order, ranks in orders.items() for _ in range(int(order[0]))]
    wide = pd.DataFrame(rows, columns=["Anna", "Bertha, of Ulm", "Carl"])
    other = llbt.from_rankings(wide, objects=list(wide))
    one, two = llbt.fit("object", r), llbt.fit("object", other)
    pd.testing.assert_series_equal(one.params, two.params)


@pytest.mark.parametrize(
    ("suffix", "orders", "options", "match"),
    [
        ("soc", ["5: 3,1,2", "x"], {}, "line 11.*expected an order after its count"),
        ("soc", ["5: 3,1,x"], {}, "'x' in an order"),
        ("soc", ["5: 3,1,1"], {}, "alternative 1 occurs twice"),
        ("soc", ["5: 3,1,4"], {}, "alternative 4 has no name"),
        ("soc", ["5: 3,1,2"], {"voters": 6}, "5 voters, where the head says 6"),
        ("soc", ["5: 3,1,2"], {"number": 2}, "1 unique order, where the head says 2"),
        ("soc", ["5: 3,1"], {}, "2 of 3 alternatives in a file of complete ones"),
        ("soc", ["5: {3,1},2"], {}, "ties in a file of strict orders"),
        ("soc", ["5: {3,1,2"], {}, "in an order"),
        ("soc", ["0: 3,1,2"], {}, "expected an order after its count"),
        ("soc", [], {}, "without an order"),
    ],
)
def test_what_is_no_file_of_preflib_is_refused(tmp_path, suffix, orders, options, match):
    with pytest.raises(llbt.errors.JudgmentError, match=match):
        llbt.from_rankings(file(tmp_path, suffix, *orders, **options))


def test_files_without_names_or_not_there(tmp_path):
    (tmp_path / "old.soc").write_text("3\n1,Anna\n2,Bertha\n3,Carl\n5,5,1\n5,1,2,3\n")
    with pytest.raises(llbt.errors.JudgmentError):
        llbt.from_rankings(tmp_path / "old.soc")
    with pytest.raises(llbt.errors.JudgmentError, match="is not there"):
        llbt.from_rankings(tmp_path / "none.soc")
    with pytest.raises(llbt.errors.OptionError, match="a file of PrefLib, which has none"):
        llbt.from_rankings(tmp_path / "old.soc", clusters="judge")


@pytest.mark.parametrize(
    "order",
    [
        "2: {1 2},3",
        "2: {1\t2},3",
        "2: {,},1",
        "2: 1,{ },3",
        "2: {},1",
        "²: 1,2,3",
        f"{'1' * 400}: 1,2,3",
        "1: 9999999999999999,1",
    ],
)
def test_what_is_no_order_says_its_line(order, tmp_path):
    path = file(tmp_path, "toi", "1: 1,2,3", order, voters=3)
    with pytest.raises(llbt.errors.JudgmentError, match="line 11"):
        llbt.from_rankings(path)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("# ALTERNATIVE NAME 3: Dora", "a second name of alternative 3"),
        ("# ALTERNATIVE NAME 4: Anna", "1 and 4 are both"),
    ],
)
def test_a_name_is_of_one_alternative(line, said, tmp_path):
    path = file(tmp_path, "soi", "1: 1,2,3")
    path.write_text(path.read_text(encoding="utf-8").replace("1: 1,2", line + "\n1: 1,2"), encoding="utf-8")
    with pytest.raises(llbt.errors.JudgmentError, match=said):
        llbt.from_rankings(path)


@pytest.mark.parametrize("more", [{"rank": "place"}, {"object": "who"}, {"missing": -1}, {"clusters": "judge"}])
def test_a_file_has_no_columns(more, tmp_path):
    with pytest.raises(llbt.errors.OptionError, match=f"Leave {next(iter(more))}= out"):
        llbt.from_rankings(file(tmp_path, "soc", "1: 1,2,3"), **more)
