"""Tables of the simulations as Markdown: `python -m support.simulation_tables`, in tests, writes README.md beside them.

Every file of tests/simulations has what was simulated, the command, the settings and the shares that came out. Nothing
here knows which simulation it is: a mapping of mappings is a table, a mapping of these is several tables.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from .folders import SIMULATIONS

README = SIMULATIONS / "README.md"
HEAD = """# Simulations

Long runs whose results are kept. The command of each section repeats the run and compares it with the file. This page
is generated: run `python -m support.simulation_tables` in `tests` after a file has changed.
"""


def page() -> str:
    """Return the page: one section for each JSON file of tests/simulations."""
    return "\n".join([HEAD, *(section(path.stem) for path in sorted(SIMULATIONS.glob("*.json")))])


def section(name: str) -> str:
    """Return one simulation: what was simulated, the command, settings in one line, and the tables."""
    record = json.loads((SIMULATIONS / f"{name}.json").read_text(encoding="utf-8"))
    lines = [f"## {name}", ""]
    for key in ("what", "command"):
        if key in record:
            value = record.pop(key)
            lines += [f"`{value}`" if key == "command" else f"{value[0].upper()}{value[1:]}.", ""]
    settings = {key: value for key, value in record.items() if not isinstance(value, dict) and not _is_rows(value)}
    if settings:
        lines += ["; ".join(f"{key}: {_cell(value)}" for key, value in settings.items()) + ".", ""]
    for key, value in record.items():
        if key not in settings:
            lines += tables("results" if key == "found" else key, value)
    return "\n".join(lines)


def tables(title: str, value: Any) -> Iterator[str]:
    """Yield the lines of one table, or of several where the mapping is deeper than a table."""
    rows = {str(n): row for n, row in enumerate(value, start=1)} if isinstance(value, list) else value
    if _depth(rows) > 2 and not isinstance(value, list):
        for key, part in rows.items():
            yield from tables(f"{title}: {key}", part)
        return
    if _depth(rows) == 1:
        rows = {key: {"value": cell} for key, cell in rows.items()}
    flat = {key: _flat(row) for key, row in rows.items()}
    columns = list(dict.fromkeys(column for row in flat.values() for column in row))
    yield from (f"**{title}**", "", _line(["", *columns]), _line(["---"] * (len(columns) + 1)))
    for key, row in flat.items():
        yield _line([key, *(_cell(row.get(column, "")) for column in columns)])
    yield ""


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(row, dict) for row in value)


def _depth(value: Any) -> int:
    return 1 + max(map(_depth, value.values()), default=0) if isinstance(value, dict) else 0


def _flat(row: Any) -> dict[str, Any]:
    """Return a row without nested mappings: `{"size": {"flips": .05}}` has the column "size: flips"."""
    if not isinstance(row, Mapping):
        return {"value": row}
    flat: dict[str, Any] = {}
    for key, value in row.items():
        nested = _flat(value) if isinstance(value, Mapping) else None
        flat |= {f"{key}: {name}": cell for name, cell in nested.items()} if nested is not None else {key: value}
    return flat


def _cell(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


if __name__ == "__main__":
    README.write_text(page(), encoding="utf-8")
