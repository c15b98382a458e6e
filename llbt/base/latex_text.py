"""Text in LaTeX: escaping, widths of letters, and places where a word may be broken."""

from __future__ import annotations

import functools
import re
import unicodedata

_PLAIN = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "{''}",  # LaTeX's default fonts lack \textquotedbl
    "[": "{[}",  # a bracket right after \\ would be read as its optional argument
    "]": "{]}",
    "*": "{*}",  # a star would be read so too
    "…": r"\dots{}",
    "\u0304": "",  # the bar over a mean comes after its letter
    "\u0302": "",
}
_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "varepsilon", "ζ": "zeta", "η": "eta", "θ": "theta",
    "κ": "kappa", "λ": "lambda", "μ": "mu", "µ": "mu", "ν": "nu", "ξ": "xi", "π": "pi", "ρ": "rho", "σ": "sigma",
    "τ": "tau", "φ": "varphi", "χ": "chi", "ψ": "psi", "ω": "omega", "Γ": "Gamma", "Δ": "Delta", "Θ": "Theta",
    "Λ": "Lambda", "Ξ": "Xi", "Π": "Pi", "Σ": "Sigma", "Φ": "Phi", "Ψ": "Psi", "Ω": "Omega",
}  # fmt: skip
_SIGNS = {
    "−": "-", "×": r"\times", "·": r"\cdot", "∝": r"\propto", "∞": r"\infty", "≤": r"\leq", "≥": r"\geq",
    "≠": r"\neq", "±": r"\pm", "→": r"\to", "←": r"\leftarrow", "½": r"\frac12", "√": r"\surd", "ℓ": r"\ell",
    "∫": r"\int", "⌊": r"\lfloor", "⌋": r"\rfloor", "⊗": r"\otimes",
}  # fmt: skip
_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀ", "0123456789+-T", strict=True))
_LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₍₎ᵢⱼₕₖₛ", "0123456789+-()ijhks", strict=True))
_LATEX = (
    _PLAIN
    | {letter: rf"$\{name}$" for letter, name in _GREEK.items()}
    | {letter: f"${sign}$" for letter, sign in _SIGNS.items()}
    | {letter: f"$^{digit}$" for letter, digit in _RAISED.items()}
    | {letter: f"$_{digit}$" for letter, digit in _LOWERED.items()}
)

_KNOWN = frozenset("ßæÆœŒøØłŁıåÅ¡¿§¶©£†‡–—‘’“”\u00a0")  # letters in LaTeX's default fonts, besides letters with accents

# a negative number gets a minus sign, not a hyphen: at the start, in brackets, in a list
_NEGATIVE = re.compile(r"(?:^|(?<=\()|(?<=\{\[\})|(?<=, ))-(?=\d)")
_POWER = re.compile(r"(\d)e([+-])0*(\d+)$")
_STARRED = re.compile(r"(\*{1,3})?( *)$")

# Widths of Computer Modern Roman (cmr10.tfm of the TeX distribution), in hundredths of its size.
_WIDTHS = {
    letter: width
    for width, letters in {
        28: "ijlI.,:;'!|[]` ", 37: "I", 40: "fJrst-()½·²³¹₀₁₂ᵢⱼ⁻₋", 45: "cez", 50: "_~^", 53: "Jagovxyk?0123456789/*$",
        56: "bdhnpqu<>\"S", 63: "LZ", 69: "FEP", 74: "TBCwR", 79: "AHKNODUVXYQG&+=", 93: "mM#%@−×→", 103: "W",
    }.items()
    for letter in letters
}  # fmt: skip
_OTHER = 75  # width of letters that are not listed: capitals with accents, Greek

_BREAK_BEHIND = "-_/:;|+)]@=,.&·"


def escape_latex(text: str) -> str:
    """Return text without markup, for LaTeX."""
    escaped = "".join(_LATEX.get(c, c) for c in text).replace("--", "-{}-")  # two hyphens must not become a dash
    return _NEGATIVE.sub("$-$", escaped)


def unknown_letters(text: str) -> str:
    """Return the letters that pdflatex does not know, each once. It knows Latin letters and single Greek letters."""
    return "".join(dict.fromkeys(c for c in text if not _is_known(c)))


def _is_known(c: str) -> bool:
    return c.isascii() or c in _LATEX or c in _KNOWN or unicodedata.normalize("NFD", c)[0].isascii()


def number_latex(text: str) -> str:
    """Return a printed number as LaTeX: with a minus sign, and a power of ten in place of ``e-05``."""
    powered = _POWER.sub(lambda match: rf"{match[1]}\0{match[2].replace('+', '')}{match[3]}\1", text)
    return escape_latex(powered).replace(r"\textbackslash{}0", r"$\cdot10^{").replace(r"\textbackslash{}1", "}$")


def composed_latex(text: str) -> str:
    """Return numbers with stars as LaTeX: stars are raised, and numbers without stars get the same room."""
    match = _STARRED.search(text)
    marks, room = ("", "") if match is None else (match[1] or "", match[2])
    return number_latex(text[: len(text) - len(marks) - len(room)]) + raised_stars(marks, len(marks) + len(room))


def raised_stars(marks: str, room: int) -> str:
    """Return stars as superscripts, with room for `room` stars."""
    missing = rf"\phantom{{{'*' * (room - len(marks))}}}" if room > len(marks) else ""
    return f"$^{{{marks}{missing}}}$" if room else ""


def width(text: str) -> float:
    """Return the width of a text in sizes of its letters (em), rather too wide than too narrow."""
    return sum(map(_letter, text)) / 100


@functools.cache
def _letter(c: str) -> float:
    if c in _WIDTHS:
        return _WIDTHS[c]
    if unicodedata.combining(c):
        return 0
    base = unicodedata.normalize("NFD", c)[0]
    return _WIDTHS.get(base, 105 if unicodedata.east_asian_width(c) in "WF" else _OTHER)


def pieces(word: str) -> list[str]:
    """Return the pieces between which a word may be broken: after hyphens and the like, before brackets."""
    parts, start = [], 0
    for k in range(1, len(word)):
        before, after = word[k - 1], word[k]
        behind = before in _BREAK_BEHIND and after not in _BREAK_BEHIND and not (before in ".," and after.isdigit())
        if (behind and k - start > 1) or after in "[(":
            parts.append(word[start:k])
            start = k
    return [*parts, word[start:]]


def breakable(text: str, room: float) -> str:
    """Return a text as LaTeX where words that are wider than the room (em) may be broken."""
    return " ".join(escape_latex(word) if width(word) <= room else _broken(word, room) for word in text.split(" "))


def _broken(word: str, room: float) -> str:
    return r"\allowbreak{}".join(map(escape_latex, _small_pieces(word, room)))


def _small_pieces(word: str, room: float) -> list[str]:
    """Return a word as pieces that fit a room; a piece that is too long is split into letters."""
    return [small for piece in pieces(word) for small in ([piece] if width(piece) <= room else piece)]


def lines_needed(text: str, room: float) -> int:
    """Return the number of lines of a given width (em) that a text takes."""
    lines, left = 1, room
    for word in text.split(" "):
        for part in [word] if width(word) <= room else _small_pieces(word, room):
            if width(part) > left:
                lines, left = lines + 1, room
            left -= width(part)
        left -= width(" ")
    return lines
