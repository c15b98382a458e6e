"""The versions of Python, of llbt and of the packages that it uses, for bug reports."""

from __future__ import annotations

import importlib.metadata as metadata
import platform
import re

from .arguments import checked
from .table import Field, Table

_FOR_DEVELOPERS = ("bench", "browser", "dev", "release", "site")
_REQUIREMENT = re.compile(r"([\w.-]+)(?:.*extra == ['\"](\w+)['\"])?")


@checked
def show_versions() -> Table:
    """Return the versions of llbt, of the packages that it uses and of Python, and the platform.

    Begin a bug report with ``print(llbt.show_versions())``. Nothing is imported and nothing is sent.

    Returns
    -------
    Table
        A row per package: package, version (or ``"not installed"``) and part: ``"core"``, or the extra that
        installs it. Python and platform stand above the rows.

    Examples
    --------
    >>> import llbt
    >>> versions = llbt.show_versions().to_frame().set_index("package")
    >>> versions.loc["llbt", "version"] == llbt.__version__
    True
    >>> versions.loc[["numpy", "matplotlib"], "part"].tolist()
    ['core', 'plot']
    """
    parts = _parts()
    notes = () if len(parts) > 1 else ("llbt is not installed but imported from a folder, so its needs are unknown.",)
    fields = (
        Field("package", "Package", list(parts)),
        Field("version", "Version", [_version(name) for name in parts]),
        Field("part", "Part", list(parts.values())),
    )
    head = (f"Python {platform.python_version()} ({platform.python_implementation()}), {platform.platform()}",)
    return Table(fields, "Versions", head, notes=notes)


def _parts() -> dict[str, str]:
    """Return the packages with the part of llbt that needs them: the core, or the first extra other than `all`."""
    try:
        needs = [match.groups() for need in metadata.requires("llbt") or () if (match := _REQUIREMENT.match(need))]
    except metadata.PackageNotFoundError:
        needs = []
    core = [name for name, extra in needs if extra is None]
    extras = {name: extra for name, extra in reversed(needs) if extra and extra not in (*_FOR_DEVELOPERS, "all")}
    return {"llbt": "core", **dict.fromkeys(core, "core"), **{name: extras[name] for name in sorted(extras)}}


def _version(name: str) -> str:
    """Return the version of a package."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
