"""The results of a fit of very many objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ..base.arguments import Confidence, Count, checked
from ..base.table import Record, Table
from . import hypotheses
from .attributes import COMPLETED, lacks, missing_attribute
from .large_estimates import LargeEstimates
from .large_summary import large_predictions, large_summary
from .summary_rows import MOST_ROWS, Sort
from .unsupported_questions import FIGURES_OF_LARGE, OF_LARGE


@lacks(FIGURES_OF_LARGE)
@dataclass(frozen=True, repr=False, eq=False)
class LargeResults(LargeEstimates, Record):
    """A fitted log-linear Bradley-Terry model of very many objects. J objects, q parameters that are not log-worths.

    Made by `fit` for more than 10,000 objects. Their covariance matrix would be too large, so its entries are computed
    on request. Attributes have statsmodels' names. Every object has a parameter, its log-worth measured from the mean
    of all.

    Attributes
    ----------
    specification : Specification
    beside : FitPart
        The parameters that are not log-worths (ties, order, covariates).
    solution : Fit
        The result of Newton's method for these parameters.
    worths : ndarray, shape (J,)
        Log-worths with mean 0.
    information : Complement
        The information of the estimates, solved by conjugate gradients or along a band.
    remarks : tuple of str

    Notes
    -----
    Estimates are found by Newton's method. The information of the log-worths is the Laplacian of the graph of judged
    pairs, with rows and columns added for the other parameters. Its linear systems are solved by conjugate gradients.
    If objects meet only similar objects, the matrix in reverse Cuthill-McKee order is a band, and its Cholesky factor
    solves the systems. If the band is wide, each step of conjugate gradients also solves a small system between groups
    of neighbouring objects. No array of size J² is made. Standard errors for some objects (`t_test`,
    ``llbt.pairwise(res, objects=…)``, the printout) are exact, and so is `bse` if the matrix is a band. Otherwise `bse`
    is approximate; `error_note` states its accuracy, from 200 objects with exact errors.

    References
    ----------
    Cuthill, E. & McKee, J. (1969). Reducing the bandwidth of sparse symmetric matrices. Proceedings of the 24th
    National Conference of the ACM, 157-172.

    Erisman, A. M. & Tinney, W. F. (1975). On computing certain elements of the inverse of a sparse matrix.
    Communications of the ACM 18(3), 177-179.

    Sidén, P., Lindgren, F., Bolin, D. & Villani, M. (2018). Efficient covariance approximations for large sparse
    precision matrices. Journal of Computational and Graphical Statistics 27(4), 898-909.
    """

    _made_by: ClassVar[str] = "llbt.fit(…) of more than 10,000 objects"
    _unanswered: ClassVar[Mapping[str, tuple[str, str]]] = OF_LARGE

    _completed: ClassVar[tuple[str, ...]] = COMPLETED

    def __getattr__(self, name: str) -> Any:
        raise missing_attribute(self, name)

    # -- questions ---------------------------------------------------------------------------------------

    t_test = hypotheses.Methods.t_test
    wald_test = hypotheses.Methods.wald_test

    @checked
    def predict(self, frame: Any = None, *, confidence: Confidence = 0.95) -> Table:
        """Return the probability of each outcome.

        Parameters
        ----------
        frame : data frame, optional
            Comparisons to predict, as for `LLBTResults.predict`; up to 100 have standard errors. By default the
            comparisons of the table.
        confidence : float

        Returns
        -------
        Table
            object_i, object_j, covariates, outcome, estimate (probability), and std_error (delta method), conf_low,
            conf_high (on the logit scale) if there are at most 100 comparisons.
        """
        return large_predictions(self, frame, confidence)

    @checked
    def summary(self, *, odds: bool = True, max_rows: Count = MOST_ROWS, sort: Sort = "estimate") -> Table:
        """Return the printout: call, data, coefficients and fit, with the objects that have the highest worths.

        Parameters
        ----------
        odds : bool
            Whether to add the column of odds: exp(2λ), exp(2δ), exp(γ).
        max_rows : int
            The number of rows, all with exact standard errors; ``res.to_frame()`` has all objects.
        sort : {"estimate", "name"}
            The order of the objects that are printed.
        """
        return large_summary(self, odds=odds, max_rows=max_rows, sort=sort)

    def table(self) -> Table:
        """Return the summary."""
        return self.summary()

    to_frame = LargeEstimates.to_frame
