"""How far judges agree, with each other and with themselves, beyond chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.arguments import Confidence, Count, Jobs, Number, Rng, checked
from ..base.notes import named
from ..base.table import Field, Kind, Record, Table, counted, format_count, format_percent, format_share
from ..core.columns import FloatArray, Label
from ..errors import DesignError, OptionError, listed
from ..resampling import Resampler
from .agreement_estimates import Plan, ResampledAgreement, measure
from .coefficients import (
    COEFFICIENTS,
    Coefficient,
    Labelled,
    Sums,
    corrected,
    crossed,
    judge_counts,
    judge_pair_sums,
    observed_and_expected,
    unit_features,
)
from .labelled_units import (
    MOST_PAIRS,
    ONE_LABEL,
    ORDERED,
    Among,
    LabelledUnits,
    Reason,
    read_units,
    refuse_nothing,
    repeating,
    with_chance,
    withheld,
)

_MOST_ROWS = 20
_MOST_GROUP_ROWS = 60


@dataclass(frozen=True, repr=False, eq=False)
class Agreement(Record):
    """Coefficients of agreement between judges, with K labels.

    Attributes
    ----------
    estimates : DataFrame
        One row per group and coefficient: the column of `by` (if any), term, estimate, conf_low and conf_high with
        intervals, observed and expected agreement, agreements and pairs (counts of pairs of judgments), units (with at
        least one pair).
    labels : tuple
        The labels that a judgment may have.
    chance : ndarray, shape (K,)
        The label shares from which Scott's π computes chance agreement; with `by` and no `chance_from`, the shares in
        all groups.
    repeats : int
        The number of judgments of a unit by a judge who had judged the unit before.
    among : str
        ``"inter"`` (different judges) or ``"intra"`` (each judge with themselves).
    judgments : Labelled
        The judgments as codes.
    judges : ndarray, shape (J,)
        The judges that the codes stand for.
    notes : tuple of str
    chance_given : bool
        Whether `chance` comes from other judgments (`chance_from`).
    unavailable : tuple of str
        Coefficients that the judgments do not allow.
    """

    estimates: pd.DataFrame
    labels: tuple[Label, ...]
    chance: FloatArray
    repeats: int
    among: Among
    judgments: Labelled
    judges: npt.NDArray[Any]
    notes: tuple[str, ...]
    chance_given: bool
    unavailable: tuple[str, ...]

    def table(self) -> Table:
        """Return one row per group and coefficient."""
        kinds: dict[str, Kind] = {"agreements": "count", "pairs": "count", "units": "count"}
        for name in ("estimate", "conf_low", "conf_high", "observed", "expected"):
            kinds[name] = "estimate"
        fields = []
        for name in map(str, self.estimates):
            column = self.estimates[name]
            fields.append(
                Field(name, name, column.to_numpy() if name in kinds else list(column), kinds.get(name, "text"))
            )
        title = {"inter": "Agreement between judges", "intra": "Agreement of judges with themselves"}[self.among]
        shown, more = self._printed()
        return Table(tuple(fields), title=title, notes=self.notes, shown=shown, more=more)

    def _printed(self) -> tuple[tuple[int, ...], str]:
        """Return the printed rows, without coefficients that the judgments do not allow, and a line on hidden rows."""
        terms = self.estimates["term"]
        rows = np.flatnonzero(~terms.isin(self.unavailable)).tolist()
        rest, last = len(rows) - _MOST_GROUP_ROWS, terms[rows].nunique()  # those of all judgments come last
        if rest <= 0:
            return tuple(rows), ""
        more = f"… {format_count(rest)} more rows above the last {last}: .to_frame()"
        return (*rows[: _MOST_GROUP_ROWS - last], *rows[-last:]), more

    @property
    def by_judges(self) -> Table:
        """The coefficients of each pair of judges that share a unit, in long form: judge_i, judge_j, term, estimate, ….

        Each value uses only the judgments of the two judges. It is NaN for pairs with one unit in common. For
        coefficients that need one label per judge and unit, it is NaN for judges who repeat a unit.

        Raises
        ------
        DesignError
            For more than 10 million pairs of judgments, and for ``among="intra"``: use ``agreement(…, among="intra",
            by="judge")``.
        """
        if self.among == "intra":
            raise DesignError(
                "there are no pairs of judges, as among='intra' compares each judge with themselves",
                "Pass by='judge' for a row per judge.",
                where="by_judges",
            )
        pairs = unit_features(self.judgments, "inter")[:, 0].sum()
        if pairs > MOST_PAIRS:
            raise DesignError(
                f"there are {format_count(pairs)} pairs of judgments, too many to go through one by one",
                "Select some judges.",
                expected=f"at most {format_count(MOST_PAIRS)}",
                where="by_judges",
            )
        met = crossed(self.judgments)
        sums = judge_pair_sums(met, judge_counts(self.judgments), len(self.labels))
        agreement_ = observed_and_expected(sums, self.judgments.flip, self.chance if self.chance_given else None)
        undefined = sums.paired < 2
        again = np.isin(met.judges, repeating(self.judgments)).any(axis=1)
        columns = []
        names = list(dict.fromkeys(self.estimates["term"]))
        for name in names:
            observed, expected = agreement_[name]
            by_unit = name in ONE_LABEL or name == "gwet_ac1"
            gone = undefined | (again & by_unit) | (name in self.unavailable and name in ORDERED)
            values = [corrected(name, observed, expected), observed, expected]
            columns.append([np.where(gone, np.nan, value) for value in values])
        return _by_judges_table(self.judges[met.judges], names, np.array(columns), sums)

    @checked
    def judge_matrix(self, coefficient: str = "cohen_kappa") -> pd.DataFrame:
        """Return a coefficient for every pair of judges as a symmetric matrix, the values of `by_judges`.

        Parameters
        ----------
        coefficient : str
            A coefficient in `estimates`.

        Returns
        -------
        DataFrame
            Judges in rows and columns. NaN on the diagonal, and for pairs without two units in common.

        Raises
        ------
        OptionError
            For a coefficient that was not computed.
        DesignError
            As `by_judges`.
        """
        terms = list(dict.fromkeys(self.estimates["term"]))
        if coefficient not in terms:
            raise OptionError(f"coefficient={coefficient!r}", expected=f"one of {listed(terms, 20)}")
        table = self.by_judges.to_frame()
        pairs = table[table["term"] == coefficient]
        judges = [self.judges[k] for k in np.unique(self.judgments.judge)]
        matrix = pd.DataFrame(np.nan, index=judges, columns=judges)
        for one, other, value in zip(pairs["judge_i"], pairs["judge_j"], pairs["estimate"], strict=True):
            matrix.loc[one, other] = matrix.loc[other, one] = value
        return matrix


@checked
def agreement(
    frame: object,
    *,
    unit: str | Sequence[str],
    judge: str = "judge",
    label: str = "outcome",
    objects: Sequence[str] = ("object_i", "object_j"),
    among: Among = "inter",
    chance_from: object = None,
    by: str | None = None,
    bins: Count | None = None,
    coefficients: Coefficient | Sequence[Coefficient] | None = None,
    confidence: Confidence = 0.95,
    n: Number = 0,
    resample: ResampledAgreement = "units",
    rng: Rng = None,
    progress: bool = False,
    n_jobs: Jobs = 1,
) -> Agreement:
    """Return coefficients of agreement between judges on the same units, raw and corrected for chance.

    Parameters
    ----------
    frame : Judgments, frame, path or list of records
        Judgments, one row each, as `llbt.read_judgments` gives or reads them.
    unit : str or sequence of str
        Columns that, together with the pair of objects in either order, identify what was judged, such as the prompt.
        With an empty list, the pair alone is the unit.
    judge, label : str
        Columns of the judge and of the label. If a frame has no other outcome, `label` may name the column of outcomes.
        If the objects change places, so do the labels ``"i"`` and ``"j"``; other labels stay. Judgments without a label
        are left out, and a note counts them. With ``"best_of_block"``, if no column has this name, the label says
        whether each object is among the best of its block: ``"best"`` or ``"rest"``. A unit is then one object of one
        set of objects. The column ``block`` separates the lists of a judge; `read_judgments` makes it from rankings.
        With ``"outcome_and_kind"``, the two kinds of ties are separate labels: both bad and both good.
    objects : two str
    among : {"inter", "intra"}
        Pairs of judgments by different judges, or by the same judge.
    chance_from : judgments, optional
        Judgments whose label shares p are used for Scott's π, in place of the shares in `frame`: the chance agreement
        P(E) is Σ p². Pass all judgments of a campaign if `frame` lacks some, such as judgments of the reference.
    by : str, optional
        A column, such as the language. Each value has its own rows, from the judgments with this value; further rows
        use all judgments.
    bins : int, optional
        The number of intervals into which the numbers of the column `by` are divided, such as the length of a sentence.
        Each interval has about equally many judgments.
    coefficients : str or sequence of str, optional
        Any of ``"percent"``, ``"bennett_s"``, ``"scott_pi"``, ``"cohen_kappa"``, ``"cohen_kappa_linear"``,
        ``"cohen_kappa_quadratic"``, ``"fleiss_kappa"``, ``"krippendorff_alpha"``, ``"krippendorff_alpha_ordinal"`` and
        ``"gwet_ac1"``; by default all. Coefficients that the judgments do not allow are NaN and not printed, with a
        note.
    confidence : float
    n : int
        Number of resamples for percentile intervals, such as 999. With 0 there are no intervals.
    resample : {"units", "judges", "both"}
        What is resampled. Units: the interval is for these judges on other units. Judges: for other judges on these
        units. Both: for other judges on other units, which is what "annotators agree" claims.
    rng : numpy.random.Generator or int, optional
    progress : bool
        Show a progress bar.
    n_jobs : int
        Processes; −1 for one per core. The result is the same for the same `rng`.

    Returns
    -------
    Agreement

    Raises
    ------
    JudgmentError
        If fewer than two units were judged twice, and for repeats that a requested coefficient does not allow.
    OptionError
        For options that are not known.
    DesignError
        For coefficients that do not apply: weighted coefficients if labels have no order, and coefficients that compare
        judges if ``among="intra"``.

    Notes
    -----
    A coefficient is (A − E)/(1 − E), with A the observed and E the expected agreement.

    ========================= ========================================= =============================================
    coefficient               A                                         E
    ========================= ========================================= =============================================
    Bennett's S               share of agreeing pairs of judgments of   1/K
                              a unit, all pairs together
    Scott's π                 the same                                  Σ p², p the shares of the labels among all
                                                                        judgments, also of units judged once
    Cohen's κ                 the same                                  Σ p q, p and q the shares of the two judges
                                                                        on the units that both judged; over pairs of
                                                                        judges the mean, by units in common
    Fleiss' κ                 share of agreeing pairs of each unit,     Σ p², p the mean over units of a label's share
                              averaged over units                       in the unit
    Gwet's AC1                as Fleiss' κ                              Σ p(1 − p)/(K − 1), p as in Fleiss' κ
    Krippendorff's α          1 − disagreement of the coincidences      1 − disagreement of pairs of different
                                                                        judgments
    ========================= ========================================= =============================================

    If all units have equally many judgments, the coefficients are as their authors define them; κ of several judges is
    Conger's. For units with unequal numbers of judgments, κ and AC1 follow Gwet (2014). Weights follow the order i <
    tie < j, or the order of labels that are all numbers: 1 − d/(K − 1) and 1 − d²/(K − 1)² at a distance of d labels.
    The κ of the WMT's own evaluations up to 2010 is Bennett's S: its P(E), the agreement that chance alone would give,
    is 1/3 for wins, ties and losses, as if judges used all three equally often. Bojar et al. (2011) take P(E) from the
    shares of the labels, which is Scott's π. Between judges of WMT10, S and π are .487 and .454 with the reference, and
    .439 and .403 without it. `chance_from` gives other judgments for these shares.

    A judgment of identical outputs (``a+b`` against ``c``, as in WMT) counts once, although it gives several pairs. The
    column ``record`` of `read_judgments` identifies these pairs.

    Which of two objects is called i depends only on their names. So every judgment counts in both orientations in all
    shares of labels: p(i) = p(j). To separate preferences for one object from chance, put the name of the winner into a
    further column and pass this column as `label`.

    Intervals of resampled units take the judges as fixed: they say nothing about other judges. The table has the
    simulated coverage of 95 % intervals if the target is the agreement of other judges on other units. Ranges are over
    percent, π, κ, α and AC1, for 60 units, judges of unequal care and bias, 100 simulated tables and 199 resamples:

    ======  =========  =========  =========
    judges  units      judges     both
    ======  =========  =========  =========
    5       .84-.89    .91-.93    .98-.99
    10      .82-.91    .82-.86    .98-.99
    20      .84-.85    .76-.79    .95-.96
    ======  =========  =========  =========

    A judge who is drawn twice counts as two judges, but the judgments of the two copies are not compared.

    References
    ----------
    Artstein, R. & Poesio, M. (2008). Inter-coder agreement for computational linguistics. Computational Linguistics
    34(4), 555-596.

    Bojar, O., Ercegovčević, M., Popel, M. & Zaidan, O. F. (2011). A grain of salt for the WMT manual evaluation. WMT,
    1-11.

    Conger, A. J. (1980). Integration and generalization of kappas for multiple raters. Psychological Bulletin 88(2),
    322-328.

    Gwet, K. L. (2014). Handbook of inter-rater reliability, 4th edition. Advanced Analytics.

    Krippendorff, K. (2011). Computing Krippendorff's alpha-reliability. University of Pennsylvania.

    Examples
    --------
    >>> import llbt
    >>> import pandas as pd
    >>> said = {"J1": ["i", "i", "j", "tie"], "J2": ["i", "j", "j", "tie"]}
    >>> frame = pd.DataFrame(
    ...     [("A", "B", o, judge, prompt) for judge, row in said.items() for prompt, o in enumerate(row)],
    ...     columns=["object_i", "object_j", "outcome", "judge", "prompt"],
    ... )
    >>> names = ["percent", "bennett_s", "scott_pi"]
    >>> agreement = llbt.judges.agreement(frame, unit="prompt", coefficients=names).to_frame()
    >>> agreement[["term", "estimate", "expected"]].round(3).values.tolist()
    [['percent', 0.75, nan], ['bennett_s', 0.625, 0.333], ['scott_pi', 0.619, 0.344]]
    """
    names = _asked(coefficients)
    if bins is not None and by is None:
        raise OptionError(f"bins={bins} without by", "Pass by= and the name of a column of numbers.")
    draw = Resampler.of("judges.agreement", rng, n_jobs, progress)
    read = read_units(frame, unit, judge, label, objects)
    refuse_nothing(read, among)
    shares, from_where = read.shares(), f"all {counted(len(read.data.label), 'judgment')} of the data"
    if chance_from is not None:
        read, shares, from_where = with_chance(read, chance_from, label, objects)
    left_out = withheld(read, among, names)
    if coefficients is not None and left_out:
        name, (error, why, _) = next(iter(left_out.items()))
        raise error(f"{name!r} {why}.")
    plan = Plan(
        names, tuple(left_out), among, shares if chance_from is not None else None, n, resample, confidence, draw
    )
    frames, notes = measure(read, plan, by, bins)
    notes = [
        *_chance_notes(read, shares, from_where, by is not None and chance_from is None),
        *_undefined_notes(left_out),
        *notes,
    ]
    if n:
        notes += _interval_notes(read, resample, n, confidence)
    return Agreement(
        pd.concat(frames, ignore_index=True),
        *(tuple(read.labels), shares, int(read.again.sum()), among, read.data, read.judge.levels),
        (*notes, *read.notes),
        chance_from is not None,
        tuple(left_out),
    )


# -- saying it ---------------------------------------------------------------------------------------------------


def _undefined_notes(left_out: dict[str, Reason]) -> list[str]:
    """Return one note per reason, with the number of coefficients that are NA for it."""
    reasons = Counter(brief for _, _, brief in left_out.values())
    return [f"{counted(n, 'coefficient')} NA: {brief}" for brief, n in reasons.items()]


def _chance_notes(read: LabelledUnits, shares: FloatArray, from_where: str, own: bool) -> list[str]:
    k = len(read.labels)
    ties = "; there are no ties" if read.labels == ["i", "j"] else ""
    shares_text = [f"{name} {format_share(share)}" for name, share in zip(read.labels, shares, strict=True)]
    notes = [
        f"Bennett's S expects an agreement P(E) of 1/{k}{ties}",
        f"Scott's π: P(E) by the label shares of {from_where}",
        f"label shares: {named(shares_text, 5)}",
    ]
    if own:
        notes.append("Scott's π of each group: P(E) by the label shares of the group")
    if "i" in read.labels:
        notes.append("Judgments count in both orientations: 'i' and 'j' have equal shares.")
    repeats = int(read.again.sum())
    if repeats:
        share = format_percent(repeats / len(read.again))
        notes.append(
            f"{counted(repeats, 'judgment')} ({share}) repeat a unit that the same judge had judged; all are used"
        )
    return notes


def _interval_notes(read: LabelledUnits, resample: ResampledAgreement, n: int, confidence: float) -> list[str]:
    what = {"units": "the units", "judges": "the judges", "both": "judges and units"}[resample]
    notes = [f"{100 * confidence:.4g} % percentile intervals: {counted(n, 'resample')} of {what}"]
    judges = len(np.unique(read.data.judge))
    if resample == "units":
        return [*notes, f"Intervals are for these {counted(judges, 'judge')}; resample='both' allows for other judges."]
    return [*notes, "Copies of a judge who is drawn twice are not compared with each other."]


def _by_judges_table(judges: npt.NDArray[Any], names: list[str], columns: FloatArray, sums: Sums) -> Table:
    """Return the table by pair of judges, a row per coefficient; columns has shape (C, 3, G)."""
    times = len(names)
    values = {"estimate": 0, "observed": 1, "expected": 2}
    order = {name: columns[:, k].T.ravel() for name, k in values.items()}
    numbers = {"agreements": sums.agree, "pairs": sums.pairs, "units": sums.paired}
    return Table(
        (
            Field("judge_i", "judge_i", [name for name in judges[:, 0] for _ in names]),
            Field("judge_j", "judge_j", [name for name in judges[:, 1] for _ in names]),
            Field("term", "term", names * len(judges)),
            *(Field(name, name, shares, "estimate") for name, shares in order.items()),
            *(
                Field(name, name, np.repeat(shares, times).astype(np.int64), "count")
                for name, shares in numbers.items()
            ),
        ),
        title="Agreement by pair of judges",
        notes=("NA: fewer than two common units, only one label, or repeats by a judge",),
    ).first(_MOST_ROWS)


def _asked(coefficients: object) -> tuple[str, ...]:
    if coefficients is None:
        return COEFFICIENTS
    several = [coefficients] if isinstance(coefficients, str) else coefficients
    names = tuple(several) if isinstance(several, Sequence) else (coefficients,)
    unknown = [name for name in names if not isinstance(name, str) or name not in COEFFICIENTS]
    if unknown or not names:
        raise OptionError(f"coefficients={coefficients!r}", expected=f"names among {listed(COEFFICIENTS, 20)}")
    return tuple(dict.fromkeys(names))
