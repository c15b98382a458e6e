"""The looks and the one script of the report page."""

from __future__ import annotations

import base64
import hashlib

# name → (on a light page, on a dark page); contrasts are tested against WCAG's 4.5 : 1
COLOURS = {
    "text": ("#1a1a1a", "#ececec"),
    "quiet": ("#565656", "#b4b4b4"),
    "page": ("#ffffff", "#16181b"),
    "card": ("#f4f5f7", "#22262b"),
    "line": ("#c9ced6", "#444b55"),
    "link": ("#00548a", "#7cc4f5"),
    "error": ("#a3221a", "#ff9c92"),
    "warning": ("#7a4a00", "#f3bd5c"),
}

_RULES = """
*{box-sizing:border-box}
body{margin:0 auto;max-width:62rem;padding:1rem;background:var(--page);color:var(--text);
font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:break-word}
h1{font-size:1.7rem;line-height:1.2}h2{font-size:1.3rem;margin-top:2.5rem}h3{font-size:1.05rem}
a{color:var(--link)}
nav ul{display:flex;flex-wrap:wrap;gap:.3rem 1rem;padding:0;list-style:none}
.lead{font-size:1.08rem;background:var(--card);border-left:.3rem solid var(--link);padding:.8rem 1rem}
.notice{background:var(--card);border-left:.3rem solid var(--warning);padding:.6rem 1rem}
.quiet{color:var(--quiet);font-size:.9rem}
.level-error{color:var(--error);font-weight:700}.level-warning{color:var(--warning);font-weight:700}
.scroll{overflow-x:auto;margin:1rem 0}
.scroll:focus-visible,button:focus-visible,a:focus-visible,summary:focus-visible{outline:.2rem solid var(--link)}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.92rem}
caption{text-align:left;font-weight:600;padding:.3rem 0}
th,td{padding:.25rem .6rem;border-bottom:1px solid var(--line);vertical-align:top;text-align:left;font-weight:400}
thead th{border-bottom:2px solid var(--line);white-space:nowrap;font-weight:600}
.number{text-align:right;white-space:nowrap}
th button{font:inherit;color:inherit;background:none;border:0;padding:.2rem 0;cursor:pointer;min-height:1.6rem}
th button::after{content:" \\2195";color:var(--quiet)}
th[aria-sort=ascending] button::after{content:" \\2191"}th[aria-sort=descending] button::after{content:" \\2193"}
pre,.foot{white-space:pre-wrap;font:.85rem/1.45 ui-monospace,Consolas,monospace}
pre{background:var(--card);padding:.8rem 1rem;overflow-x:auto}
figure{margin:1.5rem 0;padding:.8rem;background:#fff;color:#1a1a1a;border:1px solid var(--line);border-radius:.4rem}
figure svg{display:block;max-width:100%;height:auto;margin:0 auto}
figcaption{font-size:.9rem;margin-top:.5rem}
summary{cursor:pointer;padding:.3rem 0}
@media print{
:root{color-scheme:light}nav{display:none}body{max-width:none;font-size:10pt}
.scroll{overflow:visible}figure,tr{break-inside:avoid}h2,h3{break-after:avoid}
table{width:100%;font-size:8pt}th,td{padding:.15rem .3rem}thead th{white-space:normal}
th button{display:inline;width:auto;min-height:0;padding:0}th button::after,th[aria-sort] button::after{content:""}
thead{display:table-header-group}
}
"""

SCRIPT = """
"use strict";
function bySize(a, b) { return Number(a) - Number(b); }
function byName(a, b) { return a.localeCompare(b, undefined, {numeric: true}); }
function sortTable(button) {
  const head = button.closest("th"), body = head.closest("table").tBodies[0], k = head.cellIndex;
  const rising = head.getAttribute("aria-sort") !== "ascending";
  const compare = head.dataset.kind === "number" ? bySize : byName;
  const value = row => row.cells[k].dataset.value ?? row.cells[k].textContent;
  const rows = Array.from(body.rows), known = rows.filter(row => value(row) !== "");
  known.sort((a, b) => (rising ? 1 : -1) * compare(value(a), value(b)));
  for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", rising ? "ascending" : "descending");
  body.append(...known, ...rows.filter(row => value(row) === ""));
}
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => sortTable(button));
}
"""


def stylesheet() -> str:
    """Return the CSS: the light colours, the dark ones where the reader prefers them, light ones in print."""
    light, dark = (";".join(f"--{name}:{pair[k]}" for name, pair in COLOURS.items()) for k in (0, 1))
    return (
        f":root{{color-scheme:light dark;{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n{_RULES}"
    )


def content_policy() -> str:
    """Return the content security policy: nothing is loaded, and no script but the page's own runs."""
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
