"""What a message proposes, taken out of its text as somebody would who pastes it."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Collection, Iterator
from typing import Any

import pandas as pd

_ARGUMENT = re.compile(r"(?<![\w.\"'{=-])([a-z_]+)=(?=[\"'{\[(\d]|-\d|True|None)")
_PLAIN = re.compile(r"-?\d+(?:\.\d+)?|True|None")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_WORDS = set(
    ["with", "and", "or", "of", "if", "to", "for", "is", "has", "needs", "itself", "stands"]
)  # that follow an option without a value


def arguments(text: str) -> list[dict[str, Any]]:
    """Return the alternatives of a remedy in Python: the arguments of each that stand side by side."""
    found: list[dict[str, Any]] = []
    last = -1
    for match in _ARGUMENT.finditer(text):
        if match.start() < last or _of_another_call(text[: match.start()]):
            continue
        end = _end(text, match.end())
        value = ast.literal_eval(text[match.end() : end])
        if found and text[last : match.start()] == ", " and match[1] not in found[-1]:
            found[-1][match[1]] = value
        else:
            found.append({match[1]: value})
        last = end
    return found


def _of_another_call(before: str) -> bool:
    """Whether what follows stands in the parentheses of a call that is not the one that was refused: ``f(…, ``."""
    depth = 0
    for at in range(len(before) - 1, -1, -1):
        depth += (before[at] == ")") - (before[at] == "(")
        if depth < 0:
            return at > 0 and before[at - 1].isidentifier() and not before.startswith("…", at + 1)
    return False


def _end(text: str, start: int) -> int:
    """Return where the value that begins here ends."""
    if text[start] in "\"'":
        return text.index(text[start], start + 1) + 1
    if text[start] not in _CLOSING:
        plain = _PLAIN.match(text, start)
        assert plain is not None, text[start:]
        return plain.end()
    quote, depth = "", []
    for at in range(start, len(text)):
        sign = text[at]
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign in _CLOSING:
            depth.append(_CLOSING[sign])
        elif depth and sign == depth[-1]:
            depth.pop()
            if not depth:
                return at + 1
    raise AssertionError(f"no end: {text[start:]}")


def options(text: str, flags: Collection[str]) -> Iterator[list[str]]:
    """Yield the alternatives of a remedy in the shell: the words of each that stand side by side."""
    words: list[str] = []
    text = re.sub(r"llbt [a-z]+(?: --[a-z-]+)+", "", text)  # another command, named whole
    parts = re.split(r"(?<![\w'\"=-])(?=--[a-z])", text)[1:]
    for part in parts:
        option, _, rest = part.partition(" ")
        name = option.rstrip(".,;)")
        value = _first(rest) if name == option and name not in flags else None
        alone = name == option and value is None and name not in flags
        if alone and words:
            yield words
            words = []
        if alone:
            continue
        words += [name] if value is None else [name, value[0]]
        ends = option != name if value is None else not rest[value[1] :].isspace() or not rest[value[1] :]
        if ends:
            yield words
            words = []
    if words:
        yield words


def _first(text: str) -> tuple[str, int] | None:
    """Return the word that stands first, as a shell reads it, and where it ends; None for a word of a sentence."""
    match = re.match(r"""(?:'[^']*'|"(?:\\.|[^"\\])*"|[^\s'"])+""", text)
    if match is None or match[0].rstrip(".,;)") in _WORDS:
        return None
    word = match[0]
    bare = word.rstrip(".;)") if not word.endswith(("'", '"')) else word
    bare = bare[:-1] if bare.endswith(",") else bare
    return shlex.split(bare)[0], len(bare)


def to_type(text: str) -> list[str]:
    """Return what a text tells to type: names of what the reader has, with what follows them, brackets balanced."""
    found, end = [], 0
    for match in re.finditer(r"\b(llbt|res|classes|human)\.[\w.]*\w", text):
        if match.start() < end:
            continue
        end, depth = match.end(), 0
        while end < len(text) and (depth or text[end] == "("):
            depth += (text[end] in "([{") - (text[end] in ")]}")
            end += 1
        found.append(text[match.start() : end])
    return found


def statements(text: str) -> list[list[str]]:
    """Return the alternatives of a remedy in pandas: statements on a frame that is called ``frame``, in their order."""
    found: list[list[str]] = []
    last = -1
    for match in re.finditer(r"\bframe\b(?=[.\[]| = )", text):
        if match.start() < last:
            continue
        end = _end_of_statement(text, match.start())
        if end is None:
            continue
        if found and text[last : match.start()] == "; ":
            found[-1].append(text[match.start() : end])
        else:
            found.append([text[match.start() : end]])
        last = end
    return [lines for lines in found if "…" not in "".join(lines)]


def _end_of_statement(text: str, start: int) -> int | None:
    """Return where the longest statement ends that begins here; None where none does."""
    for end in range(len(text), start, -1):
        if text[end : end + 1].isalnum():
            continue
        try:
            body = ast.parse(text[start:end]).body
        except (SyntaxError, ValueError):
            continue
        calls = any(isinstance(node, ast.Call | ast.Subscript) for node in ast.walk(body[0])) if body else False
        if len(body) == 1 and calls and text[end - 1] not in " .;,":
            return end
    return None


def after(frame: pd.DataFrame, lines: list[str]) -> pd.DataFrame:
    """Return a frame after statements that somebody pasted: the last one that is no assignment is the frame."""
    room: dict[str, Any] = {"frame": frame.copy(), "pandas": pd}
    for line in lines:
        if isinstance(ast.parse(line).body[0], ast.Expr):
            room["frame"] = eval(line, room)
        else:
            exec(line, room)
    return room["frame"]
