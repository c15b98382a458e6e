"""A study of metrics: many metrics, tasks and human scores, with one table for each question."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from ..base.arguments import Confidence, Count, Jobs, Positive, Rng, Share, checked
from ..base.table import Field, Record, Table, about, counted
from ..classical.pair_tables import Adjust
from ..core.columns import Label
from ..errors import OptionError, listed
from ..resampling import Resampler
from .compare_all import Family
from .correlate import Level
from .coverage import several
from .decisions import MetricTest
from .interval import IntervalMethod
from .kernels import Coefficient
from .metric_scores import MetricScores
from .metric_tests import Statistic, TestMethod
from .quality_reliability import PairClusters, QualityReliability, quality_reliability
from .study_parts import (
    StudyPart,
    compared,
    correlated,
    decided,
    judged,
    metrics_with_all_scores,
    normality_rows,
    taken,
)
from .study_results import ErrorConvention, StudyComparisons, StudyDecisions, correlation_table
from .task_scores import within_task


@dataclass(frozen=True, repr=False, eq=False)
class Study(Record):
    """Scores of systems by metrics and by humans, on several tasks; made by `llbt.metrics.read_study`.

    Attributes
    ----------
    parts : tuple of StudyPart
        The scores of each task and each kind of human scores.
    notes : tuple of str
    """

    _made_by: ClassVar[str] = "llbt.metrics.read_study(…)"

    parts: tuple[StudyPart, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, parts: Iterable[StudyPart], notes: Sequence[str] = ()) -> Study:
        """Return the study of scores, without inputs and systems that have no human score."""
        parts_judged: list[StudyPart] = []
        part_notes: list[str] = []
        for part in parts:
            with within_task(part.task):
                one, note = judged(part)
            parts_judged.append(one)
            part_notes += [about(part.name, note)] if note else []
        return cls(tuple(parts_judged), (*notes, *part_notes))

    @property
    def tasks(self) -> tuple[Hashable, ...]:
        """The tasks, such as language pairs or data sets."""
        return tuple(dict.fromkeys(part.task for part in self.parts))

    @property
    def humans(self) -> tuple[str, ...]:
        """The kinds of human scores."""
        return tuple(dict.fromkeys(part.human for part in self.parts))

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that have scores in at least one task."""
        return tuple(dict.fromkeys(name for part in self.parts for name in part.scores.metrics))

    @checked
    def by_task(self, human: str | None = None) -> dict[Hashable, MetricScores]:
        """Return the scores of each task with one kind of human scores, as input for `llbt.metrics.compare_all`.

        Raises
        ------
        OptionError
            If human scores are missing, or if there are several kinds and none is named.
        """
        chosen = human if human is not None or len(self.humans) > 1 else self.humans[0]
        if chosen not in self.humans:
            fault = (
                f"human={human!r}" if human is not None else f"the study has {len(self.humans)} kinds of human scores"
            )
            raise OptionError(
                fault, f"Pass one: human={self.humans[0]!r}.", expected=f"one of {listed(self.humans, 20)}"
            )
        return {part.task: part.scores for part in self.parts if part.human == chosen}

    @checked
    def without(self, *systems: Label) -> Study:
        """Return the study without some systems, such as reference translations.

        Raises
        ------
        OptionError
            For systems that no task has.
        JudgmentError
            For a task with fewer than two other systems.

        Examples
        --------
        >>> import llbt
        >>> rows = [{"system": s, "bleu": float(k), "human": k * k} for k, s in enumerate(["a", "b", "refA"])]
        >>> llbt.metrics.read_study(rows).without("refA").parts[0].scores.systems
        ('a', 'b')
        """
        there = {label for part in self.parts for label in part.scores.systems}
        gone = [label for label in systems if label not in there]
        if gone:
            raise OptionError(
                f"without {listed(gone)}", expected=f"systems of the study: {listed(sorted(there, key=str))}"
            )
        parts = []
        for part in self.parts:
            with within_task(part.task):
                stays = np.array([label not in systems for label in part.scores.systems])
                parts.append(replace(part, scores=taken(part.scores, stays, np.ones(part.scores.human.shape[1], bool))))
        return replace(self, parts=tuple(parts), notes=(*self.notes, f"left out: {listed(systems)}"))

    def table(self) -> Table:
        """Return task, human, systems, inputs, metrics, missing (human scores), one row per task and human scores."""
        scores = [part.scores for part in self.parts]
        return Table(
            (
                *self._keys(self.parts),
                Field("systems", "Systems", [len(one.systems) for one in scores], "count"),
                Field("inputs", "Inputs", [len(one.inputs) for one in scores], "count"),
                Field("metrics", "Metrics", [len(one.metrics) for one in scores], "count"),
                Field("missing", "No human score", [int(np.isnan(one.human).sum()) for one in scores], "count"),
            ),
            title="Study of metrics",
            head=(f"{counted(len(self.metrics), 'metric')}: {listed(self.metrics, 12)}",),
            notes=self.notes,
        )

    @checked
    def correlations(
        self,
        *,
        levels: Level | Sequence[Level] = "system",
        coefficients: Coefficient | Sequence[Coefficient] = "pearson",
        cutoff: Positive = 2.5,
        method: IntervalMethod | None = None,
        confidence: Confidence = 0.95,
        n: Count = 1000,
        rng: Rng = None,
        progress: bool = False,
        n_jobs: Jobs = 1,
    ) -> Table:
        """Return the correlation of every metric with human scores in every task.

        Parameters
        ----------
        levels : {"system", "input", "global"} or sequence of them
        coefficients : {"pearson", "spearman", "kendall"} or sequence of them
        cutoff : float
            The cutoff for outliers among human system scores, as in `llbt.metrics.outliers`.
        method : {"boot-systems", "boot-inputs", "boot-both", "fisher"}, optional
            The method of the intervals; by default there are none.
        confidence, n, rng, progress, n_jobs
            As in `llbt.metrics.interval`.

        Returns
        -------
        Table
            task, human, metric, level, coefficient, estimate, n, without_outliers (the estimate without them, at system
            level), outliers (how many); and conf_low, conf_high of `estimate` if a method is named.

        Raises
        ------
        OptionError
            For invalid options.

        References
        ----------
        Deutsch, D., Dror, R. & Roth, D. (2021), Transactions of the ACL 9, 1132-1146. Mathur, N., Baldwin, T. & Cohn,
        T. (2020), ACL, 4984-4997, Tables 1 to 5.

        Examples
        --------
        >>> import llbt
        >>> rows = [{"system": s, "bleu": b, "human": h}
        ...         for s, b, h in zip("abcde", [30, 28, 29, 27, 10], [0.2, 0.1, 0.0, -0.1, -1.4])]
        >>> correlations = llbt.metrics.read_study(rows).correlations().to_frame()
        >>> correlations[["metric", "estimate", "without_outliers", "outliers"]].round(3).values.tolist()
        [['bleu', 0.995, 0.8, 1]]
        """
        draw = Resampler.of("metrics.Study.correlations", rng, n_jobs, progress)
        cases = [
            (part, metric, level, coefficient)
            for part in self.parts
            for metric in part.scores.metrics
            for level in several(levels)
            for coefficient in several(coefficients)
        ]
        results = draw.each([partial(correlated, *case, cutoff, method, confidence, n) for case in cases])
        return correlation_table(
            self._keys([case[0] for case in cases]), cases, results, method, confidence, self.notes
        )

    @checked
    def normality(self, *, alpha: Share = 0.05) -> Table:
        """Return the Shapiro–Wilk test of system scores: of their means, and of the scores on every input.

        Parameters
        ----------
        alpha : float
            The level at which the test rejects on an input.

        Returns
        -------
        Table
            task, human, metric, statistic (W), p_value (of mean scores), inputs (number with a test), rejected (share
            of these inputs). The row of the human scores has their name in the column metric. NaN where a test is
            undefined.

        References
        ----------
        Deutsch, D., Dror, R. & Roth, D. (2021). Transactions of the ACL 9, 1132-1146, Table 2.

        Examples
        --------
        >>> import llbt
        >>> rows = [{"system": s, "bleu": b, "human": h} for s, b, h in zip("abcd", [1.0, 2, 4, 9], [1.0, 3, 2, 4])]
        >>> llbt.metrics.read_study(rows).normality().to_frame()["statistic"].round(3).tolist()
        [0.895, 0.993]
        """
        tests = [normality_rows(part, alpha) for part in self.parts]
        rows = [row for part in tests for row in part]
        metric, statistic, p_value, inputs, rejected = zip(*rows, strict=True)
        single = all(len(part.scores.inputs) == 1 for part in self.parts)
        return Table(
            (
                *self._keys([part for part, made in zip(self.parts, tests, strict=True) for _ in made]),
                Field("metric", "Metric", metric),
                Field("statistic", "W", statistic, "statistic"),
                Field("p_value", "p", p_value, "p_value"),
                Field("inputs", "Inputs", inputs, "count", frame_only=single),
                Field("rejected", "Rejected", rejected, "percent", frame_only=single),
            ),
            title="Shapiro–Wilk tests of system scores",
            head=(
                "Null hypothesis: scores of systems are normal.",
                *(() if single else (f"Rejected: inputs with p ≤ {alpha:g}.",)),
            ),
            notes=self.notes,
        ).first(how=".normality().to_frame()")

    @checked
    def decisions(
        self,
        *,
        human: str | None = None,
        convention: ErrorConvention = "usual",
        metric_test: MetricTest = "paired-t",
        alpha: Share = 0.05,
        n: Count = 1000,
        rng: Rng = None,
        progress: bool = False,
        n_jobs: Jobs = 1,
    ) -> StudyDecisions:
        """Return the decisions of every metric on pairs of systems, compared with humans' decisions.

        Parameters
        ----------
        human : str, optional
            The name of the human scores; needed if the study has several.
        convention : {"usual", "exchanged"}
            The names of the errors. ``"usual"``, as in `llbt.metrics.decisions` and the introduction of [1]_: type I if
            the metric finds a difference and humans find none, or the opposite one; type II if humans find a difference
            and the metric finds none. ``"exchanged"``, as in section 5 of [1]_: the other way round.
        metric_test, alpha, n, rng, progress, n_jobs
            As in `llbt.metrics.decisions`.

        Returns
        -------
        StudyDecisions
            Metrics that lack scores in any task are left out; a note names them. ``errors()`` counts errors that one
            metric makes and another does not, ``shared_errors()`` counts errors that several metrics make.

        Raises
        ------
        JudgmentError
            If no metric of the study has all scores of all tasks.

        References
        ----------
        .. [1] Mathur, N., Baldwin, T. & Cohn, T. (2020). Tangled up in BLEU: reevaluating the evaluation of automatic
           machine translation evaluation metrics. ACL, 4984-4997.

        Examples
        --------
        >>> import llbt
        >>> import numpy as np
        >>> rng = np.random.default_rng(1)
        >>> rows = [{"system": s, "segment": k, "bleu": s + rng.normal(), "human": s + rng.normal()}
        ...         for s in range(4) for k in range(40)]
        >>> llbt.metrics.read_study(rows).decisions().to_frame()[["metric", "n", "type_1", "type_2"]].values.tolist()
        [['bleu', 6, 0, 0]]
        """
        tasks = self.by_task(human)
        complete, gone = metrics_with_all_scores(tasks)
        humans = {task: one.human_matrix() for task, one in tasks.items()}
        draw = Resampler.of("metrics.Study.decisions", rng, n_jobs, progress)
        tests = [
            partial(decided, {task: one.matrix(name) for task, one in tasks.items()}, humans, metric_test, alpha, n)
            for name in complete
        ]
        left = (f"metrics left out because scores are missing: {listed(gone)}",) if gone else ()
        return StudyDecisions(dict(zip(complete, draw.each(tests), strict=True)), (*self.notes, *left), convention)

    @checked
    def compare(
        self,
        *,
        human: str | None = None,
        statistic: Statistic = "correlation",
        level: Level = "system",
        coefficient: Coefficient = "pearson",
        method: TestMethod = "perm-systems",
        adjust: Adjust = "holm",
        family: Family = "row",
        n: Count | None = None,
        draws: Count = 1000,
        rng: Rng = None,
        progress: bool = False,
        n_jobs: Jobs = 1,
    ) -> StudyComparisons:
        """Return the tests of every pair of metrics in every task, and their significance clusters.

        Parameters
        ----------
        human : str, optional
            The name of the human scores; needed if the study has several.
        statistic, level, coefficient, method, adjust, family, n, draws, rng, progress, n_jobs
            As in `llbt.metrics.compare_all`, which is called for each task. To test the mean over tasks, call
            ``llbt.metrics.compare_all(study.by_task())``.

        Returns
        -------
        StudyComparisons
            ``table()`` has a row for each metric and a column for each task.

        Raises
        ------
        JudgmentError
            For a metric whose scores are all equal.
        OptionError
            For a task with fewer than two metrics.

        Examples
        --------
        >>> import llbt
        >>> import numpy as np
        >>> rng = np.random.default_rng(1)
        >>> rows = [{"system": s, "segment": k, "good": s + rng.normal(), "poor": rng.normal(), "human": s}
        ...         for s in range(8) for k in range(20)]
        >>> clusters = llbt.metrics.read_study(rows).compare(n=200, rng=1)
        >>> clusters.to_frame()[["metric", "cluster", "unbeaten"]].values.tolist()
        [['good', 1.0, True], ['poor', 2.0, False]]
        """
        draw = Resampler.of("metrics.Study.compare", rng, n_jobs, progress)
        tasks = self.by_task(human)
        options = (statistic, level, coefficient, method, adjust, family, n, draws)
        tests = draw.each([partial(compared, task, one, *options) for task, one in tasks.items()])
        return StudyComparisons(dict(zip(tasks, tests, strict=True)), self.notes)

    @checked
    def reliability_by_quality(
        self, *, human: str | None = None, cluster: PairClusters | None = None, confidence: Confidence = 0.95
    ) -> QualityReliability:
        """Return a regression that shows whether metrics agree with humans less on better systems.

        Parameters
        ----------
        human : str, optional
            The name of the human scores; needed if the study has several.
        cluster : {"system", "task"}, optional
            Which pairs are dependent: pairs that share a system, or all pairs of a task. By default tasks if there are
            ten or more, otherwise systems.
        confidence : float

        Returns
        -------
        QualityReliability
            ``answer`` is one sentence, ``table()`` the regression, ``by_metric()`` has the slope of each metric alone,
            ``pairs()`` the data.

        Raises
        ------
        JudgmentError
            If the pairs do not determine the slopes, for example because all metrics order all pairs as humans do.
        OptionError
            If human scores are missing, or if there are several kinds and none is named.

        Notes
        -----
        logit P(metric orders the pair as humans) = a(metric) + b·|human difference| + c·mean quality of the pair, by
        maximum likelihood over the pairs of all tasks. Difference and quality are centred in each task and divided by
        the standard deviation of the human scores of the task's systems. c is the answer: if it is below 0, metrics
        agree with humans less on better systems at equal human difference.

        Pairs that share a system are dependent, so standard errors are CR3 by clusters, with t on G* − 1 df as in
        `llbt.metrics.difference_curve`. By system, the pairs of each system are left out in turn. So each pair is left
        out twice, which makes these standard errors somewhat too large. In 300 simulated studies without an effect (4
        metrics; 3 or 18 tasks of 10 systems, or one of 30) tests at .05 rejected in 1 % by system, in 5 % by task, and
        in 32 to 51 % where pairs were taken as independent.

        The model assumes human scores without error. If they have errors, and good systems are closer to each other
        than poor ones, agreement falls although the metrics are not at fault. A note says so if the reliability of
        human scores is below .9.

        References
        ----------
        Mathur, N., Baldwin, T. & Cohn, T. (2020). Tangled up in BLEU: reevaluating the evaluation of automatic machine
        translation evaluation metrics. ACL, 4984-4997, section 4.1, for the question.

        Examples
        --------
        >>> import llbt
        >>> import numpy as np
        >>> rng = np.random.default_rng(2)
        >>> rows = [{"task": t, "system": s, "bleu": s + rng.normal(0, 2), "human": float(s)}
        ...         for t in "abcd" for s in range(8)]
        >>> by_quality = llbt.metrics.read_study(rows).reliability_by_quality()
        >>> by_quality.answer[:83]
        'At equal human difference, no change of agreement with quality was shown: odds × 1.'
        """
        return quality_reliability(self.by_task(human), cluster, confidence, self.notes)

    def _keys(self, parts: Sequence[StudyPart]) -> tuple[Field, ...]:
        """Return the columns of tasks and of human scores; a column with only one value is shown in frames only."""
        return (
            Field("task", "Task", [part.task for part in parts], frame_only=len(self.tasks) < 2),
            Field("human", "Human", [part.human for part in parts], frame_only=len(self.humans) < 2),
        )
