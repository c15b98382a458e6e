"""The bundled data sets, read as Comparisons."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import resources
from typing import Literal

import pandas as pd

from ..base.arguments import checked
from ..base.table import Field, Table
from ..core.comparisons import Comparisons
from ..errors import OptionError, listed
from .table_readers import from_counts


@dataclass(frozen=True)
class _Dataset:
    """The content of a file, and how it is read."""

    description: str
    source: str
    covariates: tuple[str, ...] = ()
    ties: str | dict[str, Literal["tie", "bad"]] = "ties"
    objects: str = ""
    order: bool = False
    notes: tuple[str, ...] = ()


_ARTIFICIAL = "artificial data, made by the paper to illustrate the models"
_INFERRED = "Inferred counts: the only whole numbers that give the printed estimates."
_EXCHANGED = "the columns AD and BC of the printed table are exchanged, as in the paper's own analysis"

_DATASETS = {
    "dras_modpref": _Dataset(
        "two systems, moderate preference (artificial)",
        "Dras (2015), Figure 1, ModPref (inferred)",
        notes=(_ARTIFICIAL, _INFERRED),
    ),
    "dras_collins": _Dataset(
        "word order: reordered and baseline translation",
        "Dras (2015), Collins et al. (2005) (inferred)",
        notes=(_INFERRED,),
    ),
    "dras_table1": _Dataset("four systems, four judges (artificial)", "Dras (2015), Table 1", ("judge",)),
    "dras_table1_as_analysed": _Dataset(
        "the same with AD and BC exchanged (artificial)", "Dras (2015), Table 1", ("judge",), notes=(_EXCHANGED,)
    ),
    "baseball": _Dataset("American League East 1987, home team first", "Agresti (2002), p. 437", order=True),
    "citations": _Dataset("four journals of statistics", "Stigler (1994)"),
    "cems": _Dataset(
        "six business schools, by students",
        "Dittrich, Hatzinger & Katzenbeisser (1998)",
        ("ENG", "SEX"),
        objects="cems_objects",
    ),
    "puddings": _Dataset("six brands of chocolate pudding", "Davidson (1970)"),
    "bojar_six_annotators": _Dataset(
        "two translation systems, six annotators",
        "Bojar et al. (2011)",
        ("judge",),
        {"both_fine": "tie", "both_wrong": "bad"},
    ),
}


@checked
def load_dataset(name: str) -> Comparisons:
    """Return a bundled data set as comparisons.

    Parameters
    ----------
    name : str
        One of the names in ``list_datasets()``.

    Returns
    -------
    Comparisons

    Raises
    ------
    OptionError
        For an unknown name.

    Notes
    -----
    ``baseball`` keeps its order (the home team is object i). ``cems`` has the labels ENG and SEX of the
    students as covariates, and the object covariates LAT and EC, read as numbers (0/1), as the published
    models do. ``bojar_six_annotators`` has four outcomes: "both wrong" is the outcome ``bad``, "both fine" is a tie.
    The data of Dras's Table 1 and of ``dras_modpref`` are artificial: he made them to illustrate the models.

    Examples
    --------
    >>> import llbt
    >>> c = llbt.load_dataset("cems")
    >>> c.objects
    ('BA', 'LO', 'MI', 'PA', 'SG', 'ST')
    >>> c.covariates, c.object_covariates
    (('ENG', 'SEX'), ('LAT', 'EC'))
    """
    known = _DATASETS.get(name) if isinstance(name, str) else None
    if known is None:
        raise OptionError(f"no bundled data set {name!r}", expected=f"one of {listed(tuple(_DATASETS), 20)}")
    table = _read(known.objects) if known.objects else None
    frame = _read(name)
    comparisons = from_counts(
        frame.drop(columns="ties") if isinstance(known.ties, dict) else frame,  # the sum of the kinds of ties
        ties_column=known.ties,
        covariates=known.covariates,
        numeric=() if table is None else tuple(table.columns[1:]),
        object_covariates=table,
        order=known.order,
    )
    return replace(comparisons, notes=(*comparisons.notes, *known.notes))


@checked
def list_datasets() -> Table:
    """Return the bundled data sets with their sizes and sources.

    Returns
    -------
    Table
        Columns name, objects, comparisons, judgments, ties, covariates, description, source.

    Examples
    --------
    >>> import llbt
    >>> frame = llbt.list_datasets().to_frame().set_index("name")
    >>> int(frame.loc["dras_modpref", "judgments"])
    120
    """
    tables = [load_dataset(name) for name in _DATASETS]
    whole = Table(
        fields=(
            Field("name", "name", list(_DATASETS)),
            Field("objects", "objects", [len(c.objects) for c in tables], "count"),
            Field("comparisons", "comparisons", [len(c) for c in tables], "count"),
            Field("judgments", "judgments", [c.n_judgments for c in tables], "count"),
            Field("ties", "ties", [c.n_ties for c in tables], "count"),
            Field("covariates", "covariates", [", ".join((*c.covariates, *c.object_covariates)) for c in tables]),
            Field("description", "description", [known.description for known in _DATASETS.values()]),
            Field("source", "source", [known.source for known in _DATASETS.values()]),
        ),
        title="Bundled data sets",
    )
    shown = tuple(f for f in whole.fields if f.name not in ("comparisons", "source"))
    return replace(whole, printed=replace(whole, fields=shown))


def _read(name: str) -> pd.DataFrame:
    """Return a file of ``llbt/data/sets``; no text in it stands for a missing value."""
    with resources.files("llbt.data").joinpath("sets", f"{name}.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file, keep_default_na=False)
