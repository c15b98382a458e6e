"""Notes of two severities: what qualifies a number stands above, what describes takes five lines."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.in_full import in_full
from support.printed_answers import in_full as long_tables
from support.printed_answers import names, of_fits, of_judgments, of_no_names, of_scores

import llbt
from llbt.base.notes import (
    MOST,
    WIDTH,
    Qualifying,
    about,
    describing,
    few_lines,
    named,
    qualifying,
    reworded,
    text_width,
    wrapped,
)
from llbt.base.table import Field, Record, Table

SMALL = names(35, 4)


def lines_of_notes(answer: Record) -> list[str]:
    """The lines of notes below the columns."""
    lines = answer.as_text().split("\n")
    last = len(lines) - lines[::-1].index("") if "" in lines else 0
    return [line for line in lines[last:] if line.startswith(("Note: ", "… "))] if describing(notes_of(answer)) else []


def notes_of(answer: Record) -> tuple[str, ...]:
    return answer._as_printed().notes


def assert_fits(name: str, answer: Record) -> None:
    text = answer.as_text()
    assert max(map(text_width, text.split("\n"))) <= WIDTH, name
    assert len(lines_of_notes(answer)) <= MOST, name
    whole = in_full(answer)
    assert all(" ".join(note.split()) in whole for note in notes_of(answer)), name
    above = qualifying(notes_of(answer))
    assert all(" ".join(note.split()) in " ".join(text.split()) for note in above), name  # never cut


def test_long_tables_of_sixty_objects_with_long_names() -> None:
    for name, answer in long_tables(names(35, 60)):
        assert_fits(name, answer)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [of_fits, of_judgments, of_scores])
def test_every_kind_of_answer_with_long_names(kind: type[Iterator[tuple[str, Record]]]) -> None:
    for name, answer in kind(SMALL):
        assert_fits(name, answer)


@pytest.mark.slow
def test_answers_without_names_of_objects() -> None:
    for name, answer in of_no_names():
        assert_fits(name, answer)


@pytest.mark.slow
def test_answers_about_sixty_systems() -> None:
    for name, answer in of_scores(names(35, 60)):
        assert_fits(name, answer)


def table(*notes: str) -> Table:
    return Table((Field("x", "x", [1.0], "number"),), title="T", notes=notes)


def test_what_qualifies_stands_above_the_columns_and_is_wrapped_whole() -> None:
    long = Qualifying("word " * 40 + "end.")
    above, below = table("describes", long).as_text().split("\n\n")[1:4:2]
    assert " ".join(above.split()) == f"Note: {long}"
    assert below == "Note: describes"
    assert table("describes", long).as_html().index("end.") < table("describes", long).as_html().index("<tbody>")
    assert table("describes", long).as_markdown().index("end.") < table("describes", long).as_markdown().index("| ")


def test_five_notes_are_printed_and_more_are_counted() -> None:
    assert few_lines(list("abcde"), WIDTH) == [f"Note: {note}" for note in "abcde"]
    assert few_lines(list("abcdef"), WIDTH)[4:] == ["… 2 more notes: .as_text(notes='all')"]
    assert table(*"abcdef").as_text(notes="all").count("Note: ") == 6
    assert table(*"abcdef").as_html().count("Note: ") == 6
    assert table(*"abcdef").as_markdown().count("Note: ") == 6


def test_a_long_note_is_cut_behind_a_word_and_said_to_be() -> None:
    first, last = few_lines(["word " * 40], WIDTH)
    assert first.endswith("word …")
    assert text_width(first) <= WIDTH
    assert last == "… notes in full: .as_text(notes='all')"
    assert " ".join(table("word " * 40).as_text(notes="all").split()).count("word") == 40


def test_other_words_of_a_note_keep_its_severity() -> None:
    notes = ("a", Qualifying("b"))
    assert qualifying(reworded(notes, str.upper)) == ("B",)
    assert describing(reworded(notes, str.upper)) == ("A",)
    assert [isinstance(about("x", note), Qualifying) for note in notes] == [False, True]
    assert about("x", "a") == "x: a"


def test_labels_are_listed_to_three() -> None:
    assert named(list("abc")) == "a, b, c"
    assert named(list("abcde")) == "a, b, c and 2 more"


def test_words_that_are_wider_than_a_line_are_parted() -> None:
    lines = wrapped("x" * 200, 88, "  ")
    assert "".join(lines).replace(" ", "") == "x" * 200
    assert all(text_width(line) <= 88 for line in lines)
    assert wrapped("a  b", 88, "") == ["a  b"]


def test_aliased_parameters_are_counted_and_their_rows_left_out() -> None:
    res = llbt.fit("object + LAT + tie", llbt.load_dataset("cems"))
    text = res.as_text()
    assert "Note: 1 not defined because of singularities (NA): LAT." in text
    assert not any(line.startswith("LAT") for line in text.split("\n"))
    assert "LAT" in res.to_frame()["term"].tolist()
