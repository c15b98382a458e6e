"""Formats of files of judgments: one declarative record of field mappings for each.

A field is the name of a column or, inside nested records, a path such as ``games.0.score``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as given

from ..core.columns import Label
from ..errors import JudgmentError
from .outcome_codings import Meaning
from .outcomes import Outcomes
from .value_types import LabelType

UNNAMED = "The models are not named. Pass objects= and the names of two columns that name them."


@dataclass(frozen=True)
class Constant:
    """A value that stands for a field that a file does not have: the same in all of its records."""

    value: Label


@dataclass(frozen=True)
class Reworded:
    """An object that its field names by another word.

    Attributes
    ----------
    field : str
    words : tuple of pairs
        The values of the field, and the objects that they stand for.
    """

    field: str
    words: tuple[tuple[Label, Label], ...]


@dataclass(frozen=True)
class Labelled:
    """An object that is named by its label if all labels are distinct, otherwise by other fields.

    Attributes
    ----------
    label, otherwise : str
        Several fields joined by ``+`` are read together.
    beside : tuple of str
        Label and other fields of the record's other object, whose labels count, too.
    """

    label: str
    otherwise: str
    beside: tuple[str, str]


Side = str | Constant | Reworded | Labelled


@dataclass(frozen=True)
class Labels:
    """An outcome written as a label in one field.

    Attributes
    ----------
    field : str
    outcomes : mapping, "names", "slots" or None
        Label → ``"i"``, ``"j"``, ``"tie"``, ``"bad"`` or None (left out, counted), as in `from_judgments`.
    tie_kinds : mapping
        Label → kind of the tie, such as ``"both_bad"``.
    strengths : mapping
        Label → strength of the preference.
    tie : str
        Field that is true where the judgment is a tie, whatever the label.
    pattern : str
        Regular expression whose first group is the label, in a field of longer text; the first match counts.
    """

    field: str
    outcomes: Outcomes = None
    tie_kinds: Mapping[Label, str] = given(default_factory=dict)
    strengths: Mapping[Label, float] = given(default_factory=dict)
    tie: str = ""
    pattern: str = ""


@dataclass(frozen=True)
class Lean:
    """An outcome written as a number on a scale from object i to object j.

    Attributes
    ----------
    field : str
    i, j : float
        The ends of the scale: all for object i, and all for object j. Halfway between them is a tie; the strength
        is the distance from there.
    failed : tuple of float
        Numbers that say that there is no judgment (left out, counted).
    tie_within : float
        Distance from the middle up to which a judgment is a tie.
    tie_values : tuple of float
        Numbers outside the scale that also mean a tie.
    """

    field: str
    i: float
    j: float
    failed: tuple[float, ...] = ()
    tie_within: float = 0.0
    tie_values: tuple[float, ...] = ()


@dataclass(frozen=True)
class ByScores:
    """An outcome written as a score or a rank of either object; equal ones are a tie.

    Attributes
    ----------
    fields : tuple of str
        The score of object i, and the score of object j.
    higher_is_better : bool
        False for ranks.
    unranked : tuple of labels
        Scores of objects that were shown and not judged (their pairs are left out, counted).
    bounds : tuple of float or None
        The smallest and the largest possible score.
    strength : bool
        Whether the difference is the strength of a preference; a difference of ranks is not.
    points : bool
        Whether these are the points of a match; notes then count draws and missing results.
    """

    fields: tuple[str, str]
    higher_is_better: bool = True
    unranked: tuple[Label, ...] = ()
    bounds: tuple[float, float] | None = None
    strength: bool = False
    points: bool = False


@dataclass(frozen=True)
class OneHot:
    """An outcome written as three fields, one of them 1 and the others 0: object i won, object j won, a tie."""

    i: str
    j: str
    tie: str


@dataclass(frozen=True)
class Choice:
    """An outcome written as a choice among several objects: the chosen one won against each of the others.

    Attributes
    ----------
    fields : tuple of str
        The fields about object i, and about object j.
    chosen : str or Constant
        Field about the chosen object. Where neither object is chosen, or both are, nothing is known
        (left out, counted).
    """

    fields: tuple[str, str]
    chosen: str | Constant


@dataclass(frozen=True)
class Always:
    """An outcome that the format implies: the field `chosen` holds the winner."""

    outcome: Meaning


@dataclass(frozen=True)
class Share:
    """A weight written as a number on a scale: 0 at one end, 1 at the other.

    Attributes
    ----------
    field : str
    zero, one : float
    failed : tuple of float
        Numbers that say that there is no judgment (left out, counted).
    halves : tuple of float
        Numbers outside the scale that mean one half.
    """

    field: str
    zero: float
    one: float
    failed: tuple[float, ...] = ()
    halves: tuple[float, ...] = ()


Verdict = Labels | Lean | ByScores | OneHot | Choice | Always


@dataclass(frozen=True)
class Game:
    """One judgment of a record.

    Attributes
    ----------
    objects : tuple of str, Constant, Reworded or Labelled
        The fields of the object shown first and of the other; several joined by ``+`` are read together.
    verdict : Labels, Lean, ByScores, OneHot, Choice or Always
        How the record says who won.
    weight : str, Share or None
        Field with the number of judgments that the record stands for; None: one. A record without a share is left out.
    optional : bool
        Whether a file may lack the fields of this judgment (such as a column of ties).
    """

    objects: tuple[Side, Side]
    verdict: Verdict
    weight: str | Share | None = None
    optional: bool = False


@dataclass(frozen=True)
class JudgmentFormat:
    """The fields of a file for the objects, the winner, the judge and the prompt.

    Attributes
    ----------
    name : str
    description : str
    games : tuple of Game
        The judgments that one record holds; usually one.
    marks : tuple of str
        Fields by which ``format="auto"`` recognizes the format; all must be present.
    unlike : tuple of str
        Beginnings of fields that the format does not have, so that damage is not taken for a smaller format.
    values : mapping
        Field → regular expression that all of its values match; it tells formats with the same fields apart.
    judge, prompt, block : tuple of str
        Fields; the first that exists is used; several joined by ``+`` are read together (``srclang+srcIndex``).
    each : str or tuple of str
        Field with a list of judgments; each of them is a record, to which the fields beside the list also belong. Lists
        of several fields are joined by ``+`` (the field ``list`` then says which it was); several strings are fields
        of lists within lists.
    every_two : str or None
        Field (several joined by ``+``) that is the same in records to be compared: each pair of these is one record,
        with the fields of the other as ``other_…``. The empty text stands for the elements of one list.
    itself : bool
        Whether records may compare an object with itself (left out, counted); else they are an error.
    defaults : mapping
        Field → its value where the file does not have it.
    unnamed : tuple of str or None
        Labels (None: no label) that stand for no object (their pairs are left out, counted).
    joined : str
        Sign between the names of objects with identical outputs. Each of them gets the judgment, and a column
        ``record`` links the copies.
    one_judge : bool
        Whether a record without a field for the judge is one judge.
    shown : bool
        Whether object i is the one shown first; else the order means nothing.
    header : tuple of str
        Names of the fields of a text file whose first line may not name them, and whose lines may end early.
    only : mapping
        Field → the values that mark a judgment; other records are left out, and a note counts them.
    advice : str
        The remedy if a file lacks a field of the format.
    objects : tuple of labels
        The objects in their order, if the format has one: the last is the reference of a fit. Else they are sorted.
    labels : "text", "number" or None
        What the labels of objects are, as in `from_judgments`.
    notes : tuple of str
        Notes for readers of the data.

    Examples
    --------
    >>> import llbt
    >>> from llbt import formats
    >>> game = formats.Game(("left_model", "right_model"), formats.Labels("choice"))
    >>> mine = formats.JudgmentFormat("mine", games=(game,))
    >>> records = [{"left_model": "x", "right_model": "y", "choice": "left_model"}]
    >>> llbt.read_judgments(records, format=mine).to_frame()[["object_i", "object_j", "outcome"]]
      object_i object_j outcome
    0        x        y       i
    """

    name: str
    games: tuple[Game, ...]
    marks: tuple[str, ...] = ()
    description: str = ""
    unlike: tuple[str, ...] = ()
    values: Mapping[str, str] = given(default_factory=dict)
    judge: tuple[str, ...] = ("judge", "judge_id", "worker", "annotator", "judge_hash")
    prompt: tuple[str, ...] = ("prompt", "prompt_id", "question_id", "instruction")
    block: tuple[str, ...] = ("block",)
    each: str | tuple[str, ...] = ""
    every_two: str | None = None
    itself: bool = False
    defaults: Mapping[str, Label] = given(default_factory=dict)
    unnamed: tuple[str | None, ...] = ()
    joined: str = ""
    one_judge: bool = False
    shown: bool = True
    header: tuple[str, ...] = ()
    only: Mapping[str, tuple[Label | None, ...]] = given(default_factory=dict)
    advice: str = ""
    objects: tuple[Label, ...] = ()
    labels: LabelType | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.games:
            raise JudgmentError(f"format {self.name!r} has no games=", expected="at least one judgment of a record")

    @property
    def reshaped(self) -> bool:
        """Whether records become judgments only after some are split, paired, renamed or left out."""
        return bool(self.each or self.every_two is not None or self.itself or self.unnamed or self.joined or self.only)

    @property
    def flat(self) -> bool:
        """Whether a record is one judgment with its objects and its label in columns: what any engine can count."""
        game = self.games[0]
        return (
            len(self.games) == 1
            and isinstance(game.verdict, Labels)
            and not (game.verdict.tie or game.verdict.pattern)
            and (game.weight is None or isinstance(game.weight, str))
            and all(isinstance(side, str) and "+" not in side for side in game.objects)
            and not (self.reshaped or self.defaults)
        )

    @property
    def counts(self) -> tuple[str, ...]:
        """The fields with wins of object i, wins of object j and ties, if the format is a table of counts."""
        if self.reshaped or self.defaults:
            return ()
        games = [game for game in self.games if game.objects == self.games[0].objects and isinstance(game.weight, str)]
        fields = {game.verdict.outcome: str(game.weight) for game in games if isinstance(game.verdict, Always)}
        meanings: tuple[Meaning, ...] = ("i", "j", "tie")
        complete = len(fields) == len(self.games) > 1
        return tuple(fields[outcome] for outcome in meanings if outcome in fields) if complete else ()

    @property
    def blocks(self) -> bool:
        """Whether the judgments of one record belong together, such as those of one ranking."""
        return self.joined != "" or (len(self.games) > 1 and not isinstance(self.games[0].weight, str))


def fields_of(game: Game) -> list[str]:
    """Return the fields that one judgment of a record reads."""
    match game.verdict:
        case Labels():
            fields: tuple[str, ...] = (game.verdict.field, *([game.verdict.tie] if game.verdict.tie else []))
        case Lean():
            fields = (game.verdict.field,)
        case ByScores():
            fields = game.verdict.fields
        case OneHot():
            fields = (game.verdict.i, game.verdict.j, game.verdict.tie)
        case Choice():
            chosen = game.verdict.chosen
            fields = (*game.verdict.fields, *([chosen] if isinstance(chosen, str) else []))
        case Always():
            fields = ()
    weight = (game.weight.field,) if isinstance(game.weight, Share) else (game.weight,) if game.weight else ()
    sides = [
        side.field if isinstance(side, Reworded) else side.otherwise if isinstance(side, Labelled) else side
        for side in game.objects
    ]
    return [*(side for side in sides if isinstance(side, str)), *fields, *weight]


def meaning(outcome: Meaning, *labels: Label | None) -> dict[Label | None, Meaning]:
    """Return the outcomes of labels that all have one meaning."""
    return dict.fromkeys(labels, outcome)
