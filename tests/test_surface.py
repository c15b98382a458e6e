"""What a user may type: every name before the rooms and where it is now, and that nothing speaks of the old ones."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.folders import REPOSITORY
from support.surface import NAMESPACES, public, rows

import llbt

ROWS = rows()
NAMES = {before: now for before, now in ROWS if before}
NEW = {now for before, now in ROWS if not before}
TEXTS = ("llbt/**/*.py", "tests/**/*.py", "benchmarks/**/*.py", "vignettes/**/*.py", "vignettes/*.ipynb", "**/*.md")
# Names that nothing else has, so that they are old wherever they stand. The others are old only behind "llbt.".
DISTINCT = re.compile(r"plot_|_test$|_metrics$|_summary$|_aggregations$|_scores$|_setups$|_table$|minimum_")


def found(place: str) -> Any:
    """What stands at "plot.worth", or of a record that nobody types at "inference.pairwise:Pairwise"."""
    module, _, record = place.partition(":")
    return getattr(importlib.import_module(f"llbt.{module}"), record) if record else public()[place]


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_where_the_table_says_or_in_what_took_its_place(name: str) -> None:
    if not NAMES[name].startswith("in "):  # "in plot.worth": a function of its own no longer
        assert found(NAMES[name]) is not None
    else:
        assert name not in public()


def test_the_table_holds_every_public_name() -> None:
    """`python -m support.surface`, in tests, adds new names."""
    assert set(public()) == {now for now in NAMES.values() if "in " not in now and ":" not in now} | NEW


def test_what_a_user_is_shown_is_the_surface_alone() -> None:
    assert dir(llbt) == sorted(llbt.__all__)
    assert set(NAMESPACES) == {"classical", "errors", "formats", "judges", "metrics", "planning", "plot", "scores"}
    assert len(llbt.__all__) <= 70
    for module in NAMESPACES.values():
        assert dir(module) == sorted(module.__all__)


def test_the_interpreter_reads_what_type_checkers_read() -> None:
    source = Path(llbt.__file__).read_text(encoding="utf-8")
    read = {
        alias.name: node.module or alias.name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and node.level
        for alias in node.names
    }
    assert read == llbt.HOMES
    assert set(llbt.HOMES) == set(llbt.__all__)


@pytest.mark.slow
def test_a_name_imports_its_own_rooms_alone() -> None:
    rooms = ("plot", "report", "scores", "metrics", "judges", "classical", "planning", "auditing")
    code = (
        "import sys, llbt; dir(llbt); assert 'numpy' not in sys.modules; llbt.fit;"
        f"print(*(room for room in {rooms} if f'llbt.{{room}}' in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize("name", [name for name, value in public().items() if inspect.isfunction(value)])
def test_a_function_is_defined_under_its_public_name_and_documented(name: str) -> None:
    function = public()[name]
    if name != "formats.table":  # of formats as of results: `list_formats` where it is defined
        assert function.__name__ == name.rpartition(".")[2]
    assert function.__doc__
    assert "Examples\n" in function.__doc__, name


def test_a_public_function_is_named_by_hand_in_three_places() -> None:
    """surface.py (or `__all__` of a namespace), CALLS and questions.md, as CONTRIBUTING says; surface.csv is generated.

    A file that names nearly every public function is a place that a new function has to be added to.
    """
    leaves = [name.rpartition(".")[2] for name, value in public().items() if inspect.isfunction(value)]
    globs = ("tests/**/*.py", "tests/*.csv", "vignettes/**/*.md", "docs/**/*.md")
    copied = REPOSITORY / "vignettes" / "site" / "changelog.md"  # where the site was built
    paths = {path for glob in globs for path in REPOSITORY.glob(glob)} - {copied}
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(paths)}
    words = {_inside(path).as_posix(): set(re.findall(r"\w+", text)) for path, text in texts.items()}
    lists = {name for name, there in words.items() if sum(leaf in there for leaf in leaves) > 0.9 * len(leaves)}
    assert lists == {"tests/surface.csv", "tests/support/calls.py", "vignettes/site/pages/questions.md"}


# What an option of a name may be, wherever a public function has it.
WORDS = {
    "ties": {"Ties"},  # what is done with ties
    "scale": {"Scale"},  # on which worths are given
    "by": {"str", "str | None", "Names", "object | None", "By | None"},  # whose values split the answer
    "weights": {"str | None", "Weights"},  # what judgments count, or a target mix
    "hypothesis": {"GroupHypothesis | None"},  # differences between groups
    "metric": {"npt.ArrayLike", "object", "Scores"},
    "human": {"npt.ArrayLike", "object", "Scores", "str", "Names"},  # what people said, or the columns that have it
    "rng": {"Rng"},
    "ax": {"Axes | None"},
    "at": {"At"},
    "covariates": {"Names", "str | Sequence[str]"},  # that split the table
    "prior": {"Prior", "PriorScale"},  # judgments for each pair, or of a posterior the scale of log-worths
    "confidence": {"Confidence"},
    "progress": {"bool"},
    "n_jobs": {"Jobs"},
}


def test_an_option_has_one_meaning() -> None:
    functions = {name: thing for name, thing in public().items() if inspect.isfunction(thing)}
    options = [
        (name, word, str(parameter.annotation))
        for name, function in functions.items()
        for word, parameter in inspect.signature(function).parameters.items()
    ]
    assert {word for _, word, _ in options} >= set(WORDS)
    assert [option for option in options if option[2] not in WORDS.get(option[1], {option[2]})] == []
    assert not {"X", "Y", "Z", "seed", "verbose"} & {word for _, word, _ in options}


def test_nothing_speaks_of_an_old_name() -> None:
    old = [name for name, place in NAMES.items() if name != place]
    patterns = [re.compile(rf"(?<!\w)llbt\.({'|'.join(old)})\b(?!\.py)(?!\.\w+ import)")]
    distinct = [name for name in old if DISTINCT.search(name) and name not in map(_leaf, NAMES.values())]
    patterns.append(re.compile(rf"(?<![\w.])({'|'.join(distinct)})(?!\w)(?!\.py)"))
    told = []
    for path in {path for glob in TEXTS for path in REPOSITORY.glob(glob)}:
        if path.name in {"test_surface.py", "surface.csv"} or any(part.startswith(".") for part in _inside(path).parts):
            continue
        if path.parent.name == "coming":  # names of other packages, beside those of llbt
            continue
        text = path.read_text(encoding="utf-8")
        told += [f"{_inside(path)}: {hit[0]}" for pattern in patterns for hit in pattern.finditer(text)]
    assert told == []


def _leaf(place: str) -> str:
    return place.rpartition(".")[2]


def _inside(path: Path) -> Path:
    return path.relative_to(REPOSITORY)
