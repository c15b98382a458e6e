"""Safe writing of files: the whole file or nothing, and never over a file that was read."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Sequence
from pathlib import Path

from ..data.paths import first_line, matching
from ..errors import JudgmentError, OptionError


def checked_target(path: str | os.PathLike[str], inputs: Sequence[object]) -> Path:
    """Return the path of a file to write, before anything is computed for it.

    Parameters
    ----------
    path : path
    inputs : sequence
        The inputs; their paths, patterns and lists of these name files that are not overwritten.

    Raises
    ------
    OptionError
        For a name that no file can have, a folder that does not exist, a folder in place of a file, and an input file.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise OptionError(f"path={path!r}", expected="the path of a file to write")
    target = Path(path)
    _refuse_no_name(target)
    if not target.parent.is_dir():
        raise OptionError(
            f"there is no folder {str(target.parent)!r} to write {target.name!r} to",
            "Make it, or name a file in another one.",
        )
    if target.is_dir():
        raise OptionError(f"{str(target)!r} is a folder", "Name a file, such as path='report.html'.")
    for read in (name for source in inputs for name in _named(source)):
        if target.exists() and target.samefile(read):
            raise OptionError(f"{str(target)!r} is an input of this call ({read!r})", "Name another file to write.")
    return target


def _refuse_no_name(target: Path) -> None:
    """Raise for a name that the system cannot look up: too long, not valid Unicode, or with a null byte."""
    try:
        target.lstat()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else first_line(error)
        raise OptionError(
            f"no file can be named {str(target)!r:.80} ({why})", "Name another one, such as path='report.html'."
        ) from None


def _named(source: object) -> list[str]:
    """Return the files that a source of judgments or objects names."""
    if isinstance(source, (list, tuple)):
        return [name for part in source if isinstance(part, (str, os.PathLike)) for name in _named(part)]
    if not isinstance(source, (str, os.PathLike)):
        return []
    with contextlib.suppress(JudgmentError):  # what is not there is refused where it is read
        return matching(os.fspath(source))
    return []


def write_whole(target: Path, text: str) -> None:
    """Write a new file beside the target and then replace the target, so the old file stays if writing fails.

    A link stays a link, to a new file. A terminal, a pipe and the like are written to directly.

    Raises
    ------
    OSError
        As the operating system reports: no space, no permission to write, a name that is too long.
    """
    place = Path(os.path.realpath(target))
    if place.exists() and not place.is_file():
        place.write_text(text, encoding="utf-8")
        return
    name = str(place.parent / f".llbt-{secrets.token_hex(8)}")
    try:
        _write_beside(name, place, text)
    except OSError as error:
        error.filename = str(target)  # not the one beside it
        raise


def _write_beside(name: str, place: Path, text: str) -> None:
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)  # less the process's umask
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if place.exists():
            shutil.copymode(place, name)
        os.replace(name, place)
    except BaseException:
        os.unlink(name)
        raise
