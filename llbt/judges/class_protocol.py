"""The attributes of latent classes of judges that functions read."""

from __future__ import annotations

from typing import Annotated, Any, Protocol

import pandas as pd

from ..base.table import Table
from ..core.columns import FloatArray
from ..fitting.estimates import Estimates
from ..fitting.fitted import CLASSES, ClassWorthSource
from ..kernel.mixture import Mixture
from .class_fit import ByJudge


class ClassesLike(ClassWorthSource, Protocol):
    """K classes of G judges, each with log-worths of its own."""

    @property
    def k(self) -> int:
        """The number of classes."""

    @property
    def labels(self) -> range:
        """The numbers of the classes."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters of all classes."""

    @property
    def by_judge(self) -> ByJudge:
        """The answers of each judge."""

    @property
    def pooled(self) -> Estimates:
        """The fit of all judges alike."""

    @property
    def mixture(self) -> Mixture:
        """The estimates of all classes and their shares."""

    @property
    def covariance(self) -> FloatArray:
        """Covariance of all parameters, then of the log ratios of shares."""

    @property
    def shares(self) -> pd.Series[float]:
        """The share of judges in each class."""

    @property
    def share_errors(self) -> pd.Series[float]:
        """Standard errors of the shares."""

    @property
    def posterior(self) -> pd.DataFrame:
        """How probable each class is for each judge."""

    @property
    def entropy(self) -> float:
        """The entropy of the classification; 1 if the class of every judge is certain."""

    @property
    def infinite(self) -> tuple[int, ...]:
        """The classes without finite estimates."""

    @property
    def n_params(self) -> int:
        """Number of estimated parameters."""

    @property
    def n_judgments(self) -> float:
        """Number of judgments."""

    def infinite_notes(self) -> list[str]:
        """Return which classes have no finite estimates."""

    def results(self, label: int) -> Estimates:
        """Return the worths of a class."""

    def summary(self, *, confidence: float = 0.95) -> Table:
        """Return the parameters of each class."""

    def worths(self, *, at: Any = None, confidence: float = 0.95) -> Table:
        """Return the worths of each class."""


Classes = Annotated[ClassesLike, CLASSES]
