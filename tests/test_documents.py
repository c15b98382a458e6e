"""What the README shows is what its code prints, its commands run, and what documents for developers name is there."""

import contextlib
import io
import re
import shlex
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path

import pandas as pd
import pytest
from support import shell, simulation_tables
from support.folders import REPOSITORY, TESTS
from typer.testing import Result

from vignettes.site import developer_pages

README = REPOSITORY / "README.md"
ARCHITECTURE = REPOSITORY / "ARCHITECTURE.md"
CHANGELOG = REPOSITORY / "CHANGELOG.md"
CONTRIBUTING = REPOSITORY / "CONTRIBUTING.md"
DECISIONS = REPOSITORY / "docs" / "decisions"
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


@pytest.mark.slow
def test_examples_of_a_module_that_is_collected_alone_find_its_function() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "--doctest-modules", "llbt/plot/intervals.py"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=300, check=False)
    assert "2 passed" in done.stdout, done.stdout


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
    """Return the blocks of the site's pages that are commands of llbt alone; how-tos run whole, with their files."""
    pages = sorted(page for page in (REPOSITORY / "vignettes" / "site").rglob("*.md") if page.parent.name != "howto")
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


def test_architecture_is_a_map_of_two_pages() -> None:
    text = ARCHITECTURE.read_text(encoding="utf-8")
    assert len(text.encode()) <= 12_000
    places = [quote for quote in QUOTED.findall(text) if quote.startswith(("llbt/", "tests/", "docs/"))]
    assert len(places) > 40
    assert [place for place in places if not (REPOSITORY / place).exists()] == []


def test_the_picture_of_the_layers_is_the_contract_of_imports() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    contract = next(one for one in project["tool"]["importlinter"]["contracts"] if one["id"] == "rooms")
    picture = ARCHITECTURE.read_text(encoding="utf-8").partition("## The layers")[2].partition("## Where")[0]
    lines = re.findall(r"^ {10,}(\w+(?: │ \w+)*)", picture, re.MULTILINE)
    assert [line.replace("│", "|") for line in lines] == contract["layers"]


def test_every_decision_has_a_question_a_choice_figures_and_what_was_refused() -> None:
    index = (DECISIONS / "README.md").read_text(encoding="utf-8")
    pages = sorted(path for path in DECISIONS.glob("*.md") if path.name != "README.md")
    assert [path.name[:3] for path in pages] == [f"{n:03}" for n in range(1, len(pages) + 1)]
    for path in pages:
        text = path.read_text(encoding="utf-8")
        assert text.startswith(f"# {path.name[:3]} "), path.name
        assert re.findall(r"^## (.+)$", text, re.MULTILINE) == ["Question", "Choice", "Figures", "Refused"], path.name
        assert len(text.split()) <= 1100, path.name
        assert index.count(f"({path.name})") == 1, path.name
        files = re.findall(r"`(\w+\.json)`", text)
        assert [name for name in files if not (TESTS / "simulations" / name).exists()] == [], path.name


@pytest.mark.parametrize("path", [ARCHITECTURE, *sorted(DECISIONS.glob("*.md"))], ids=lambda path: path.stem)
def test_links_between_documents_lead_somewhere(path: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8"))
    assert [link for link in links if not (path.parent / link).exists()] == []


@pytest.mark.slow
def test_every_module_says_what_it_holds() -> None:
    """The site lists modules by these lines; a module holds something, so its line is no command."""
    paths = sorted((REPOSITORY / "llbt").rglob("*.py"))
    lines = {path.relative_to(REPOSITORY).as_posix(): developer_pages.first_line(path) for path in paths}
    command = re.compile(r"(Return|Yield|Give|Make|Compute|Helper|Utilit)", re.IGNORECASE)
    assert [name for name, line in lines.items() if not re.search(r"\w.*[.?]$", line) or command.match(line)] == []
    page = developer_pages.modules_page()
    assert page.count("\n| `") == sum(path.name != "__init__.py" for path in paths)


def test_the_changelog_has_one_line_a_change() -> None:
    """A reader finds a change in a second; figures are in docs/decisions.

    If a rebase brings older, longer entries back: take the file of main and add your lines, one line each.
    """
    entries = CHANGELOG.read_text(encoding="utf-8").partition("## [Unreleased]")[2].splitlines()
    assert [line for line in entries if line.startswith((" ", "\t"))] == []
    assert [line for line in entries if line.startswith("- ") and len(line) > 200] == []


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
