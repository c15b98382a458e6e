"""Statistics on arrays against scipy."""

import numpy as np
import pytest
from scipy import stats

from llbt.core.statistics import sign_p


@pytest.mark.parametrize("n", [1, 2, 7, 10, 51, 1_000, 100_001])
def test_the_sign_test_is_the_exact_binomial_test(n: int) -> None:
    for k in {0, 1, n // 3, n // 2, (n + 1) // 2, n - 1, n}:
        assert np.isclose(sign_p(k, n), stats.binomtest(k, n).pvalue, rtol=1e-9, atol=0)
