"""Methods without a choice model: scores from rankings, sign and rank tests, conjoint means: `llbt.classical`."""

from typing import NoReturn

from ..errors import unknown_name
from .block_tests import durbin_test, friedman_test, page_test, skillings_mack_test
from .conjoint import conjoint
from .feedback_order import feedback_order
from .head_to_head import head_to_head
from .ranking_readings import ranking_readings
from .ranking_scores import ranking_scores
from .shown_with import shown_with
from .sign_tests import mcnemar_test, model_test, sign_test

__all__ = [
    "conjoint",
    "durbin_test",
    "feedback_order",
    "friedman_test",
    "head_to_head",
    "mcnemar_test",
    "model_test",
    "page_test",
    "ranking_readings",
    "ranking_scores",
    "shown_with",
    "sign_test",
    "skillings_mack_test",
]


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> NoReturn:
    raise unknown_name(__name__, name)
