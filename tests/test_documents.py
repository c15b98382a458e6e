"""What the README shows is what its code prints, its commands run, and what documents for developers name is there."""

import contextlib
import io
import re
import shlex
import warnings
from pathlib import Path

import pandas as pd
import pytest
from support import shell, simulation_tables
from support.folders import REPOSITORY
from typer.testing import Result

README = REPOSITORY / "README.md"
ARCHITECTURE = REPOSITORY / "ARCHITECTURE.md"
CONTRIBUTING = REPOSITORY / "CONTRIBUTING.md"
QUOTED = re.compile(r"`([^`\n]+)`")
WORD = re.compile(r"\w+")
CI = README.parent / ".ci" / "run"
SHELL = re.compile(r"(?:<!-- command: (\w+) -->\n)?```bash\n(.*?)```", re.DOTALL)
BLOCK = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)


def printed(code: str, names: dict[str, object]) -> str:
    """Run a block and return what it prints, or the error that it ends with."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(code, names)
        except ValueError as error:
            return f"{type(error).__name__}: {error}\n"
    return out.getvalue()


def test_readme_prints_what_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    names: dict[str, object] = {}
    blocks = BLOCK.findall(README.read_text(encoding="utf-8"))
    assert len(blocks) >= 5
    shown = 0
    for code, expected in blocks:
        found = printed(code, names)
        assert "".join(found.split()) == "".join(expected.split())
        shown += bool(expected)
    assert shown >= 5


def shell_blocks() -> list[tuple[str, str]]:
    return SHELL.findall(README.read_text(encoding="utf-8"))


def made(folder: Path) -> None:
    """Write the files that the README's commands name: three people judge three systems, in both orders."""
    pairs = [(i, j) for i in ("gpt", "llama", "opus") for j in ("gpt", "llama", "opus") if i != j]
    said = [("left", "tie", "right")[(3 * k + n) % 3 if n else k % 2 * 2] for k in range(6) for n in range(4)]
    rows = [(*pair, ["ann", "bob", "cat", "dan"][n]) for pair in pairs for n in range(4)]
    frame = pd.DataFrame(rows, columns=["left", "right", "judge"]).assign(winner=said)
    frame.to_csv(folder / "judgments.csv", index=False)
    words = {"left": "model_a", "right": "model_b", "tie": "tie"}
    battles = frame.rename(columns={"left": "model_a", "right": "model_b"}).assign(winner=frame["winner"].map(words))
    battles.to_parquet(folder / "battles.parquet")


def run(line: str) -> Result:
    command, *args = shlex.split(line)
    assert command == "llbt"
    return shell.run(*args)


def page_blocks() -> list[str]:
    """Return the blocks of the site's pages that are commands of llbt alone."""
    pages = sorted((REPOSITORY / "vignettes" / "site").rglob("*.md"))
    blocks = [text for page in pages for _, text in SHELL.findall(page.read_text(encoding="utf-8"))]
    return [text for text in blocks if all(line.startswith("llbt ") for line in text.splitlines())]


BLOCKS = dict.fromkeys([*(text for name, text in shell_blocks() if not name), *page_blocks()])


def test_pages_have_commands() -> None:
    assert len(page_blocks()) >= 2


@pytest.mark.parametrize("block", BLOCKS)
def test_commands_of_documents_run(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path)
    monkeypatch.chdir(tmp_path)
    for line in block.splitlines():
        result = run(line)
        beside = [said for said in result.stderr.splitlines() if not said.startswith("note: ")]
        assert (result.exit_code, beside) == (0, []), f"{line}\n{result.output}"
        for name in re.findall(r"-o (\S+)", line):
            assert "</html>" in (tmp_path / name).read_text(encoding="utf-8")


def test_readme_commands_that_install_run_in_ci() -> None:
    script = CI.read_text(encoding="utf-8")
    names = [name for name, _ in shell_blocks() if name]
    assert len(names) >= 2
    assert all(re.search(rf"^step .* readme {name}$", script, re.MULTILINE) for name in names)


def test_architecture_has_a_line_for_every_module() -> None:
    section = ARCHITECTURE.read_text(encoding="utf-8").partition("\n## 5.")[2].partition("\n## 6.")[0]
    block = section.partition("    llbt/\n")[2].partition("\n    tests/")[0]
    found, room = [], ""
    for indent, name in re.findall(r"^( {6}| {8})(\S+)", block, re.MULTILINE):
        if name.endswith("/"):
            room = name
        else:
            found.append(name if len(indent) == 6 else room + name)
    there = [path.relative_to(REPOSITORY / "llbt").as_posix() for path in (REPOSITORY / "llbt").rglob("*.py")]
    assert sorted(found) == sorted(name for name in there if not name.endswith("__init__.py"))


def test_tables_of_simulations_are_up_to_date() -> None:
    """`python -m support.simulation_tables`, in tests, writes them anew."""
    assert simulation_tables.README.read_text(encoding="utf-8") == simulation_tables.page()


def test_what_contributing_names_is_there() -> None:
    quoted = [quote.removesuffix("()") for quote in QUOTED.findall(CONTRIBUTING.read_text(encoding="utf-8"))]
    paths = [quote for quote in quoted if "/" in quote or re.search(r"\.(py|md|toml|csv)$", quote)]
    assert len(paths) > 40
    assert [path for path in paths if not (REPOSITORY / path).exists()] == []
    names = {word for quote in quoted if quote not in paths for word in WORD.findall(quote)}
    files = [*(REPOSITORY / "llbt").rglob("*.py"), *(REPOSITORY / "tests").rglob("*.py"), REPOSITORY / "pyproject.toml"]
    words = set(WORD.findall("\n".join(path.read_text(encoding="utf-8") for path in files if path != Path(__file__))))
    assert sorted(names - words) == []
    assert {"JudgmentFormat", "TestResult", "Mechanism", "CALLS"} <= names
