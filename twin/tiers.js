/* Tiers from votes between two objects (models, systems, people). Copy this file: it needs nothing else.

   A vote is [a, b, outcome] or [a, b, outcome, unit]: outcome "a", "b" or "tie", the unit who or what has several votes.
   tiers(votes) returns log-worths λ of mean 0, standard errors of differences, simultaneous rank ranges and tiers, or
   throws an Error. The model is Davidson's (1970), without effect of order: P(a), P(tie), P(b) are proportional to
   exp(λa − λb), exp(γ), exp(λb − λa). With units, at least 40, errors are cluster-robust (CR3, the jackknife). */
"use strict";
const sum = (values) => values.reduce((total, one) => total + one, 0);

function tiers(votes, { level = 0.95, draws = 2000, critical = null } = {}) {
  const pairs = counted(votes);
  const objects = [...new Set([...pairs.values()].flatMap(({ a, b }) => [a, b]))].sort(byCodePoint);
  refuse(objects, pairs);
  const units = new Map();
  for (const vote of votes)
    if (vote.length > 3) (units.get(vote[3]) ?? units.set(vote[3], []).get(vote[3])).push(vote);
  if (units.size > 0 && units.size < 40) // fewer, or very unequal ones, need effective degrees of freedom
    throw new Error(`${units.size} units; expected 40 or more: llbt has what fewer need`);
  const at = new Map(objects.map((name, k) => [name, k])), size = objects.length;
  const ties = [...pairs.values()].some(({ n }) => n[1] > 0);
  const rowsOf = (some) => [...some.values()].map(({ a, b, n }) => [at.get(a), at.get(b), n]), rows = rowsOf(pairs);
  let x = new Float64Array(size - 1 + Number(ties)), information;
  for (let longest = 1; longest > 1e-11; ) { // Newton's method, steps of at most 1
    const now = moments(x, size, rows), step = stepOf(now.information, now.g);
    information = now.information;
    longest = Math.max(...step.map(Math.abs));
    x = x.map((v, k) => v + step[k] / Math.max(1, longest));
  }
  let v = units.size ? jackknife(x, size, information, [...units.values()].map((some) => rowsOf(counted(some))))
    : solved(information, square(x.length, (r, c) => Number(r === c)));
  v = square(size, (a, b) => (Math.max(a, b) < size - 1 ? v[a][b] : 0));
  const errors = square(size, (a, b) => Math.sqrt(Math.max(v[a][a] + v[b][b] - 2 * v[a][b], 0)));
  const worths = [...x.slice(0, size - 1), 0];
  const mean = sum(worths) / size;
  const c = critical ?? simulated(v, errors, level, draws, units.size ? units.size - 1 : Infinity);
  const below = (a, b) => worths[b] - worths[a] > c * errors[a][b];
  const order = worths.map((_, k) => k).sort((a, b) => worths[b] - worths[a] || a - b);
  const tier = new Map();
  for (let left = order, t = 1; left.length; t++) { // of a tier are those whom the first of the rest does not beat
    for (const k of left) if (!below(k, left[0])) tier.set(k, t);
    left = left.filter((k) => !tier.has(k));
  }
  const board = order.map((k) => {
    const [low, high] = [(b) => below(k, b), (b) => below(b, k)].map((of) => order.filter(of).length);
    return { object: objects[k], worth: worths[k] - mean, rank_low: 1 + low, rank_high: size - high, tier: tier.get(k) };
  });
  return { board, tie: ties ? x[size - 1] : null, critical: c, objects, errors };
}

function byCodePoint(a, b) { // as Python sorts
  const [one, other] = [a, b].map((s) => [...s].map((c) => c.codePointAt(0).toString(16).padStart(6, "0")).join());
  return one < other ? -1 : Number(one > other);
}

function square(size, entry) {
  return Array.from({ length: size }, (_, r) => Float64Array.from({ length: size }, (_, c) => entry(r, c)));
}

/* A map of { a, b, n: [wins of a, ties, wins of b] }, each pair once. */
function counted(votes) {
  const pairs = new Map();
  for (const [a, b, outcome] of votes) {
    if (a === b || !["a", "b", "tie"].includes(outcome))
      throw new Error(`the vote ${a}, ${b}, ${outcome}; expected two objects and a, b or tie`);
    const sorted = a < b;
    const key = JSON.stringify(sorted ? [a, b] : [b, a]);
    if (!pairs.has(key)) pairs.set(key, { a: sorted ? a : b, b: sorted ? b : a, n: [0, 0, 0] });
    pairs.get(key).n[outcome === "tie" ? 1 : (outcome === "a") === sorted ? 0 : 2]++;
  }
  return pairs;
}

/* Throw where no finite estimate exists. */
function refuse(objects, pairs) {
  const number = (n) => n.toLocaleString("en-US");
  const braced = (s) => `{${s.slice(0, 8).join(", ")}${s.length > 8 ? `, … (${s.length - 8} more)` : ""}}`;
  if (objects.length < 2) throw new Error(`${objects.length} objects; expected two or more`);
  const met = new Map(objects.map((name) => [name, []])); // all rivals of an object
  const unbeaten = new Map(objects.map((name) => [name, []])); // those that it did not always beat
  const arcs = []; // [a, b, d]: c_b ≤ c_a + d, below
  for (const { a, b, n } of pairs.values()) {
    for (const [one, other, won, lost] of [[a, b, n[0], n[2]], [b, a, n[2], n[0]]]) {
      met.get(one).push(other);
      if (lost + n[1]) unbeaten.get(one).push(other);
      if (won) arcs.push([one, other, -1]);
      if (n[1]) arcs.push([one, other, 1]);
    }
  }
  const groups = [...new Map(objects.map((name) => reached(name, met)).map((group) => [group[0], group])).values()];
  if (groups.length > 1) {
    const said = groups.slice(0, 6).map(braced).join(", ") + (groups.length > 6 ? ", …" : "");
    const start = `the objects fall into ${groups.length} groups never compared with each other`;
    throw new Error(`${start}: ${said}; their worths have no common scale`);
  }
  const top = objects.map((name) => reached(name, unbeaten)).reduce((best, group) => (group.length < best.length ? group : best));
  if (top.length < objects.length) {
    const rest = objects.filter((name) => !top.includes(name));
    const across = [...pairs.values()].filter(({ a, b }) => top.includes(a) !== top.includes(b));
    const n = sum(across.flatMap((pair) => pair.n));
    const said = `${braced(top)} won all ${number(n)} judgments against ${braced(rest)}`;
    throw new Error(`${said}, so their log-worths differ by ∞ and have no finite estimate`);
  }
  const [tied, total] = [(n) => n[1], sum].map((of) => sum([...pairs.values()].map(({ n }) => of(n))));
  if (tied === total)
    throw new Error(`the table has ${number(tied)} ties among ${number(total)} judgments, so tie has no finite estimate`);
  const c = new Map(objects.map((name) => [name, 0])); // Bellman-Ford: c_a − c_b ≥ 1 where a won, |c_a − c_b| ≤ 1 in ties
  while (Math.min(...c.values()) > -objects.length) { // below, a cycle of wins: no such c
    let moved = false;
    for (const [a, b, d] of arcs)
      if (c.get(a) + d < c.get(b)) moved = c.set(b, c.get(a) + d);
    if (!moved) throw new Error("wins and ties fit worths that grow without end, so worths and tie have no finite estimate");
  }
}

function reached(start, arcs) {
  const seen = new Set([start]);
  for (const a of seen) for (const b of arcs.get(a)) seen.add(b); // a set is walked on as it grows
  return [...arcs.keys()].filter((name) => seen.has(name)); // in their order
}

/* Gradient and information at x: the log-worths of all but the last object, then γ if there are ties. */
function moments(x, size, rows) {
  const last = size - 1, tied = x.length > last, dot = (s, u) => s[0] * u[0] + s[1] * u[1] + s[2] * u[2];
  const g = new Float64Array(x.length), information = square(x.length, () => 0);
  for (const [a, b, n] of rows) {
    const loads = [[a, [1, 0, -1]], [b, [-1, 0, 1]]].filter(([k]) => k < last); // of a won, tie, b won
    if (tied) loads.push([last, [0, 1, 0]]);
    const eta = [0, 1, 2].map((o) => sum(loads.map(([k, u]) => x[k] * u[o])));
    const weight = eta.map((e, o) => (o !== 1 || tied ? Math.exp(e - Math.max(...eta)) : 0));
    const share = weight.map((w) => (sum(n) * w) / sum(weight));
    for (const [k, u] of loads) {
      g[k] += dot(n, u) - dot(share, u);
      const own = share.map((s, o) => s * u[o]);
      for (const [m, w] of loads) information[k][m] += dot(own, w) - (dot(share, u) * dot(share, w)) / sum(n);
    }
  }
  return { g, information };
}

/* x of matrix · x = right, by elimination with pivots. */
function solved(matrix, right) {
  const size = matrix.length, rows = matrix.map((row, k) => Float64Array.from([...row, ...right[k]]));
  const tiny = 1e-10 * Math.max(...matrix.map((row, k) => row[k])), width = size + right[0].length;
  for (let k = 0; k < size; k++) {
    let p = k;
    for (let r = k; r < size; r++) if (Math.abs(rows[r][k]) > Math.abs(rows[p][k])) p = r;
    if (Math.abs(rows[p][k]) <= tiny)
      throw new Error("without one of the units an estimate is gone, so CR3 has no standard errors");
    [rows[k], rows[p]] = [rows[p], rows[k]];
    for (let c = width - 1; c >= k; c--) rows[k][c] /= rows[k][k];
    for (let r = 0; r < size; r++) {
      const factor = rows[r][k];
      if (r !== k && factor) for (let c = k; c < width; c++) rows[r][c] -= factor * rows[k][c];
    }
  }
  return rows.map((row) => row.slice(size));
}

const stepOf = (matrix, g) => solved(matrix, [...g].map((s) => [s])).map(([d]) => d);

/* CR3: (G − 1)/G times the squares of what leaving out each unit does to x, by one Newton step. */
function jackknife(x, size, information, units) {
  const v = square(x.length, () => 0);
  for (const rows of units) {
    const { g, information: own } = moments(x, size, rows);
    const moved = stepOf(information.map((row, r) => row.map((w, c) => w - own[r][c])), g);
    for (let r = 0; r < x.length; r++)
      for (let c = 0; c < x.length; c++) v[r][c] += moved[r] * moved[c] * (1 - 1 / units.length);
  }
  return v;
}

/* The quantile of the largest |difference| / s.e. of normal draws of covariance v, as in tiers.py. */
function simulated(v, errors, level, draws, df) {
  const size = v.length, root = square(size, () => 0), largest = [];
  for (let a = 0; a < size - 1; a++) // Cholesky's factor; the last object has no variance
    for (let b = 0; b <= a; b++) {
      let rest = v[a][b];
      for (let k = 0; k < b; k++) rest -= root[a][k] * root[b][k];
      root[a][b] = a === b ? Math.sqrt(rest) : rest / root[b][b];
    }
  let seed = 1;
  const uniform = () => { // mulberry32
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), seed | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (((t ^ (t >>> 14)) >>> 0) + 0.5) / 4294967296;
  };
  for (let draw = 0; draw < draws; draw++) {
    const z = Array.from({ length: size - 1 }, () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()));
    const y = root.map((row) => z.reduce((total, one, k) => total + row[k] * one, 0));
    largest.push(0);
    for (let a = 0; a < size; a++)
      for (let b = 0; b < a; b++) largest[draw] = Math.max(largest[draw], Math.abs(y[a] - y[b]) / errors[a][b]);
  }
  const c = largest.sort((a, b) => a - b)[Math.ceil(level * draws) - 1];
  return c + (c ** 3 + c) / (4 * df); // from the normal distribution to t, the first term of its expansion
}

if (typeof module !== "undefined") module.exports = { tiers };
