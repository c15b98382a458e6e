"""The looks of the report page, and what its content security policy allows."""

from __future__ import annotations

import base64
import hashlib

from ..plot.style import COLOURS as SERIES
from ..plot.style import INK, darker, lighter
from .page_script import SCRIPT

# name → (on a light page, on a dark page); contrasts are tested against WCAG's 4.5 : 1
COLOURS = {
    "text": ("#1a1a1a", "#ececec"),
    "quiet": ("#565656", "#b4b4b4"),
    "page": ("#ffffff", "#16181b"),
    "paper": ("#ffffff", "#1c1f23"),
    "ink": (INK.lower(), "#e4e4e4"),
    "card": ("#f4f5f7", "#22262b"),
    "line": ("#c9ced6", "#444b55"),
    "link": ("#00548a", "#7cc4f5"),
    "error": ("#a3221a", "#ff9c92"),
    "warning": ("#7a4a00", "#f3bd5c"),
    # names in the colours of their series
    **{f"series-{k}": (darker(colour), lighter(colour)) for k, colour in enumerate(SERIES)},
}
# a colour of the pictures → that of the page that stands for it; what lies on shaded cells and bars stays as it is
IN_PICTURES = {
    COLOURS[name][0]: f"var(--{name})" for name in ("paper", "ink", *(f"series-{k}" for k in range(len(SERIES))))
}

_RULES = """
*{box-sizing:border-box}
body{margin:0 auto;max-width:80rem;padding:1rem;background:var(--page);color:var(--text);
font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:break-word}
h1{font-size:1.7rem;line-height:1.2}h2{font-size:1.3rem;margin-top:2.5rem}h3{font-size:1.05rem}
a{color:var(--link)}
.skip{position:absolute;left:-100rem}
.skip:focus{position:static}
nav ul{display:flex;flex-wrap:wrap;gap:.3rem 1rem;padding:0;list-style:none}
main{min-width:0}
section{scroll-margin-top:1rem}
@media screen and (min-width:64rem){
body{display:grid;grid-template:"skip skip" auto "title title" auto "aside main" 1fr/13rem minmax(0,1fr);gap:0 2rem}
body.single{display:block;max-width:64rem}
.skip{grid-area:skip}header{grid-area:title}main{grid-area:main}
aside{grid-area:aside;position:sticky;top:1rem;align-self:start;max-height:calc(100vh - 2rem);overflow-y:auto}
nav ul{flex-direction:column}main>section:first-child h2{margin-top:0}
}
.lead{font-size:1.08rem;background:var(--card);border-left:.3rem solid var(--link);padding:.8rem 1rem}
.notice{background:var(--card);border-left:.3rem solid var(--warning);padding:.6rem 1rem}
.quiet{color:var(--quiet);font-size:.9rem}
.level-error{color:var(--error);font-weight:700}.level-warning{color:var(--warning);font-weight:700}
.scroll{overflow-x:auto;margin:1rem 0}
:focus-visible{outline:.2rem solid var(--link)}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.84rem}
caption{text-align:left;font-weight:600;padding:.3rem 0}
th,td{padding:.2rem .28rem;border-bottom:1px solid var(--line);vertical-align:top;text-align:left;font-weight:400}
thead th{border-bottom:2px solid var(--line);font-weight:600;vertical-align:bottom}
tbody th{max-width:17rem;position:sticky;left:0;background:var(--page)}
.long{min-width:7rem;overflow-wrap:anywhere}
@media screen and (min-width:64rem){.long{min-width:10rem}th.long{min-width:11rem}}
.single thead button{white-space:nowrap}.single tbody th{min-width:8rem;overflow-wrap:anywhere}
@media screen and (max-width:40rem){.single tbody th{max-width:9rem}}
.number{text-align:right;white-space:nowrap}
th button{font:inherit;color:inherit;text-align:inherit;background:none;border:0;padding:.2rem 0;cursor:pointer;
min-height:1.6rem}
th button::after{content:" \\2195";color:var(--quiet)}
th[aria-sort=ascending] button::after{content:" \\2191"}th[aria-sort=descending] button::after{content:" \\2193"}
label{display:block;font-size:.9rem}
.tools{display:flex;flex-wrap:wrap;align-items:end;gap:.3rem 1rem;margin-top:1rem}
.tools label{display:flex;flex-wrap:wrap;align-items:center;gap:.5rem}
input,.more{font:inherit;color:inherit;background:var(--page);border:1px solid var(--quiet);border-radius:.3rem;
padding:.3rem .6rem;min-height:2rem;max-width:100%}
.search input{display:block;width:100%}
.more{cursor:pointer}
output{font-size:.9rem;color:var(--quiet)}
@media screen{.folded,.unmatched{display:none}}
pre,.foot{white-space:pre-wrap;font:.85rem/1.45 ui-monospace,Consolas,monospace}
pre{background:var(--card);padding:.8rem 1rem;overflow-x:auto}
figure{margin:1.5rem 0;padding:.8rem;background:var(--paper);color:var(--ink);border:1px solid var(--line);
border-radius:.4rem}
figure svg{display:block;max-width:100%;height:auto;margin:0 auto}
figcaption{font-size:.9rem;margin-top:.5rem}
summary{cursor:pointer;padding:.3rem 0}
@media print{
:root{color-scheme:light}aside,.skip,.tools,.more{display:none}body{max-width:none;font-size:10pt}
.scroll{overflow:visible}figure,tr{break-inside:avoid}h2,h3{break-after:avoid}figure svg{max-height:24cm}
table{width:100%;font-size:8pt}th,td{padding:.15rem .3rem}tbody th{position:static}
th button{display:inline;width:auto;min-height:0;padding:0}th button::after,th[aria-sort] button::after{content:""}
thead{display:table-header-group}
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
