"""What does not fit into memory or time: an answer, a refusal with a figure, or a forecast, and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from support import limited

PATIENCE = 240  # seconds for a case on a machine with other work; most take less than 20


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of memory for a process")
@pytest.mark.parametrize("name", limited.CALLS)
def test_little_memory_is_enough_or_said_not_to_be(name: str, tmp_path: Path) -> None:
    if name == "file":  # so that memory for making it is not that of reading it
        limited.judgments(tmp_path, 10**7)
    line = [sys.executable, str(Path(limited.__file__)), name, str(tmp_path)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE, check=False)
    said = done.stdout.strip()
    assert said.startswith(("answer: ", "refused: ", "told: ")), done.stderr[-2000:]
    if said.startswith("refused: "):
        assert re.search(r"takes? [\d.,]+ GiB, and there are [\d.,]+ GiB of memory\. [A-Z]", said), said


@pytest.mark.parametrize("name", limited.RESAMPLERS)
def test_more_resamples_than_anybody_draws_are_refused(name: str) -> None:
    said = limited.outcome(lambda: limited.RESAMPLERS[name](limited.HUGE))
    assert re.match(rf"refused: {name}: .*1e\+15 .*takes [\d.,]+ GiB.*Pass n=10_000\.", said), said
