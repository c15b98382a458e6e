"""Tiers from votes between two objects (models, systems, people). Copy this file: it needs the standard library alone.

A vote is (a, b, outcome) or (a, b, outcome, unit): outcome "a", "b" or "tie", the unit who or what has several votes.
`tiers(votes)` returns log-worths λ of mean 0, standard errors of differences, simultaneous rank ranges and tiers, or
raises ValueError. The model is Davidson's (1970), without effect of order: P(a), P(tie), P(b) are proportional to
exp(λa − λb), exp(γ), exp(λb − λa). With units, at least 40, errors are cluster-robust (CR3, the jackknife).
"""

import math


def tiers(votes, level=0.95, draws=2000, critical=None):
    """Return the board; `critical`, of the largest of all differences in standard errors, is simulated if not given."""
    pairs, units = counted(votes), {}
    for vote in votes:
        units.setdefault(vote[3] if len(vote) > 3 else None, []).append(vote)
    refuse(objects := sorted({name for pair in pairs for name in pair}), pairs)
    if None not in units and len(units) < 40:  # fewer, or very unequal ones, need effective degrees of freedom
        raise ValueError(f"{len(units)} units; expected 40 or more: llbt has what fewer need")
    size, ties, df = len(objects), any(n[1] for n in pairs.values()), math.inf if None in units else len(units) - 1
    parts = [[(*map(objects.index, ab), n) for ab, n in counted(some).items()] for some in (votes, *units.values())]
    x, step = [0.0] * (size - 1 + ties), [1.0]
    while max(map(abs, step)) > 1e-11:  # Newton's method, steps of at most 1
        g, information = moments(x, size, parts[0])
        step = [d for (d,) in solved(information, [[s] for s in g])]
        x = [v + d / max(1.0, *map(abs, step)) for v, d in zip(x, step)]
    v = solved(information, [[float(r == c) for c in range(len(x))] for r in range(len(x))])
    if df < math.inf:  # CR3: (G − 1)/G times the squares of what leaving out a unit does to x, by one Newton step
        v = [[0.0] * len(x) for _ in x]
        for score, own in (moments(x, size, part) for part in parts[1:]):
            rest = [[w - o for w, o in zip(*both)] for both in zip(information, own)]
            moved = [d for (d,) in solved(rest, [[s * math.sqrt(1 - 1 / len(units))] for s in score])]
            v = [[w + a * b for w, b in zip(row, moved)] for row, a in zip(v, moved)]
    v = [[v[a][b] if max(a, b) < size - 1 else 0.0 for b in range(size)] for a in range(size)]
    errors = [[math.sqrt(max(v[a][a] + v[b][b] - 2 * v[a][b], 0.0)) for b in range(size)] for a in range(size)]
    worths, c = [*x[: size - 1], 0.0], simulated(v, errors, level, draws, df) if critical is None else critical
    above = [[b for b in range(size) if worths[b] - worths[a] > c * errors[a][b]] for a in range(size)]
    order = left = sorted(range(size), key=lambda k: -worths[k])
    tier, mean = {}, sum(worths) / size
    while left:  # of a tier are those whom the first of the rest does not beat
        tier |= dict.fromkeys([k for k in left if left[0] not in above[k]], max(tier.values(), default=0) + 1)
        left = [k for k in left if k not in tier]
    low, high = [1 + len(some) for some in above], [size - sum(k in some for some in above) for k in range(size)]
    said = [(objects[k], worths[k] - mean, low[k], high[k], tier[k]) for k in order]
    board = [dict(zip(("object", "worth", "rank_low", "rank_high", "tier"), row)) for row in said]
    return {"board": board, "tie": x[-1] if ties else None, "critical": c, "objects": objects, "errors": errors}


def counted(votes):
    """Return {(a, b): [wins of a, ties, wins of b]}, each pair once."""
    pairs = {}
    for a, b, outcome, *_ in votes:
        if a == b or outcome not in ("a", "b", "tie"):
            raise ValueError(f"the vote {a}, {b}, {outcome}; expected two objects and a, b or tie")
        k = 1 if outcome == "tie" else 0 if (outcome == "a") == (a < b) else 2
        pairs.setdefault((min(a, b), max(a, b)), [0, 0, 0])[k] += 1
    return pairs


def refuse(objects, pairs):
    """Raise ValueError if no finite estimate exists."""
    if len(objects) < 2:
        raise ValueError(f"{len(objects)} objects; expected two or more")
    braced = lambda s: "{" + ", ".join(s[:8]) + f", … ({len(s) - 8} more)" * (len(s) > 8) + "}"  # noqa: E731
    met, unbeaten, arcs = {}, {}, []  # of each object all rivals, and those it did not always beat; (a, b, d) below
    for (a, b), (wins, ties, losses) in pairs.items():
        for one, other, won, lost in ((a, b, wins, losses), (b, a, losses, wins)):
            met.setdefault(one, []).append(other)
            unbeaten.setdefault(one, []).extend([other] if lost + ties else [])
            arcs += [(one, other, -1)] * (won > 0) + [(one, other, 1)] * (ties > 0)
    groups = sorted({reached(name, met) for name in objects})
    if len(groups) > 1:
        said = f"never compared with each other: {', '.join(map(braced, groups[:6]))}{', …' * (len(groups) > 6)}"
        raise ValueError(f"the objects fall into {len(groups)} groups {said}; their worths have no common scale")
    top = min((reached(name, unbeaten) for name in objects), key=lambda group: (len(group), group))
    if rest := [name for name in objects if name not in top]:
        n = sum(sum(votes) for (a, b), votes in pairs.items() if (a in top) != (b in top))
        end = "so their log-worths differ by ∞ and have no finite estimate"
        raise ValueError(f"{braced(top)} won all {n:,} judgments against {braced(rest)}, {end}")
    n = sum(map(sum, pairs.values()))
    if n == sum(votes[1] for votes in pairs.values()):
        raise ValueError(f"the table has {n:,} ties among {n:,} judgments, so tie has no finite estimate")
    c = dict.fromkeys(objects, 0)  # Bellman-Ford: c_a − c_b ≥ 1 where a won, |c_a − c_b| ≤ 1 where they tied
    while min(c.values()) > -len(objects):  # below, a cycle of wins: no such c
        moved = [(b, c[a] + d) for a, b, d in arcs if c[a] + d < c[b]]
        if not moved:
            raise ValueError(
                "wins and ties fit worths that grow without end, so worths and tie have no finite estimate"
            )
        c |= {b: min(low for other, low in moved if other == b) for b, _ in moved}


def reached(start, arcs):
    """Return all names that arcs lead to from a start, itself included, sorted."""
    seen = {start}
    for _ in arcs:
        seen |= {b for a in seen for b in arcs.get(a, ())}
    return tuple(sorted(seen))


def moments(x, size, rows):
    """Return gradient and information at x: the log-worths of all but the last object, then γ if there are ties."""
    last, g, information = size - 1, [0.0] * len(x), [[0.0] * len(x) for _ in x]
    for a, b, n in rows:
        loads = [(a, (1, 0, -1))] * (a < last) + [(b, (-1, 0, 1))] * (b < last) + [(last, (0, 1, 0))] * (len(x) > last)
        eta = [sum(x[k] * u[o] for k, u in loads) for o in range(3)]  # of a won, tie, b won
        weight = [math.exp(e - max(eta)) * (o != 1 or len(x) > last) for o, e in enumerate(eta)]
        share = [sum(n) * w / sum(weight) for w in weight]
        mean = {k: sum(map(math.prod, zip(share, u))) for k, u in loads}
        for k, u in loads:
            g[k] += sum(map(math.prod, zip(n, u))) - mean[k]
            for m, w in loads:
                information[k][m] += sum(map(math.prod, zip(share, u, w))) - mean[k] * mean[m] / sum(n)
    return g, information


def solved(matrix, right):
    """Return x of matrix · x = right, by elimination with pivots."""
    rows, tiny = [[*a, *b] for a, b in zip(matrix, right)], 1e-10 * max(row[k] for k, row in enumerate(matrix))
    for k in range(len(rows)):
        p = max(range(k, len(rows)), key=lambda r: abs(rows[r][k]))
        if abs(rows[p][k]) <= tiny:
            raise ValueError("without one of the units an estimate is gone, so CR3 has no standard errors")
        rows[k], rows[p] = rows[p], rows[k]
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for r in [r for r in range(len(rows)) if r != k and rows[r][k]]:
            rows[r] = [v - rows[r][k] * w for v, w in zip(rows[r], rows[k])]
    return [row[len(rows) :] for row in rows]


def simulated(v, errors, level, draws, df):
    """Return the quantile of the largest |difference| / s.e. of normal draws of covariance v, as in tiers.js."""
    size, seed, largest = len(v), 1, []
    root = [[0.0] * size for _ in range(size)]
    for a in range(size - 1):  # Cholesky's factor; the last object has no variance
        for b in range(a + 1):
            rest = v[a][b] - sum(root[a][k] * root[b][k] for k in range(b))
            root[a][b] = math.sqrt(rest) if a == b else rest / root[b][b]
    for _ in range(draws):
        u = []
        for _ in range(2 * size - 2):  # mulberry32
            seed = (seed + 0x6D2B79F5) & 0xFFFFFFFF
            t = (seed ^ seed >> 15) * (seed | 1) & 0xFFFFFFFF
            t ^= t + ((t ^ t >> 7) * (t | 61) & 0xFFFFFFFF) & 0xFFFFFFFF
            u.append(((t ^ t >> 14) + 0.5) / 4294967296)
        z = [math.sqrt(-2 * math.log(far)) * math.cos(2 * math.pi * turn) for far, turn in zip(u[::2], u[1::2])]
        y = [sum(r * one for r, one in zip(row, z)) for row in root]
        largest.append(max(abs(y[a] - y[b]) / errors[a][b] for a in range(size) for b in range(a)))
    c = sorted(largest)[math.ceil(level * draws) - 1]
    return c + (c**3 + c) / (4 * df)  # from the normal distribution to t, the first term of its expansion
