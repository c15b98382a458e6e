/* The page that reads a file of votes: text → rows → roles of columns → votes → tiers → table, picture, downloads. */
"use strict";
const $ = (id) => document.getElementById(id);
const state = { name: "", rows: [], columns: [], roles: {}, meaning: new Map(), board: null };

/* -- reading ------------------------------------------------------------------------------------------------------ */

/* Rows of a csv text as objects; the separator is what the first line has most of. */
function csvRows(text) {
  const head = text.slice(0, text.search(/[\r\n]|$/));
  const separator = [",", "\t", ";"].reduce((a, b) => (head.split(b).length > head.split(a).length ? b : a));
  const table = [[]];
  let cell = "", quoted = false, k = 0;
  const close = () => { table.at(-1).push(cell); cell = ""; };
  for (; k < text.length; k++) {
    const c = text[k];
    if (quoted) {
      if (c !== '"') cell += c;
      else if (text[k + 1] === '"') cell += text[++k];
      else quoted = false;
    } else if (c === '"' && cell === "") quoted = true;
    else if (c === separator) close();
    else if (c === "\n" || c === "\r") {
      if (c === "\r" && text[k + 1] === "\n") k++;
      close();
      table.push([]);
    } else cell += c;
  }
  if (quoted) throw new Error("a quotation mark is opened and not closed");
  if (cell !== "" || table.at(-1).length) close();
  const [names, ...rows] = table.filter((row) => row.length > 1 || (row[0] ?? "") !== "");
  if (!names || !rows.length) throw new Error("the file has no rows below its first line; expected a line of names, then votes");
  const double = names.find((name, at) => names.indexOf(name) !== at);
  if (double !== undefined) throw new Error(`two columns are called ${JSON.stringify(double)}`);
  const odd = rows.findIndex((row) => row.length !== names.length);
  if (odd >= 0) throw new Error(`line ${odd + 2} has ${rows[odd].length} cells; expected ${names.length}`);
  return { names, rows };
}

function jsonRows(text) {
  const found = text.trim().startsWith("[") ? JSON.parse(text) : text.split("\n").filter((line) => line.trim()).map((line) => JSON.parse(line));
  if (!found.length || found.some((row) => row === null || typeof row !== "object" || Array.isArray(row)))
    throw new Error("the file has no records; expected objects with names and values");
  const names = [...new Set(found.flatMap(Object.keys))];
  const plain = (value) => (value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value));
  return { names, rows: found.map((row) => names.map((name) => plain(Object.hasOwn(row, name) ? row[name] : ""))) };
}

function read(name, text) {
  text = text.replace(/^\uFEFF/, "");
  const { names, rows } = /^\s*[[{]/.test(text) ? jsonRows(text) : csvRows(text);
  Object.assign(state, { name, rows, columns: names, roles: rolesOf(names, rows), meaning: new Map() });
  ask();
}

/* -- roles of columns, by the rules of llbt -------------------------------------------------------------------------- */

const wordsOf = (name) => (name.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{Lo}+|\d+/gu) ?? []).map((word) => word.toLowerCase());
const joined = (name) => wordsOf(name).join("");

function rolesOf(names, rows) {
  const of = (name) => rows.map((row) => row[names.indexOf(name)]);
  const find = (some) => names.find((name) => some.includes(joined(name)));
  const roles = { kind: "", first: "", second: "", outcome: "", unit: "", weight: "" };
  for (const [won, lost] of VOCABULARY.winners)
    for (const more of VOCABULARY.naming) {
      const [winner, loser] = [won, lost].map((word) => find([word + more, more + word]));
      if (!roles.kind && winner && loser) Object.assign(roles, { kind: "winner", first: winner, second: loser });
    }
  const sides = [["i", "j"], ...VOCABULARY.sides];
  for (const thing of VOCABULARY.objects)
    for (const [one, other] of sides) {
      const [first, second] = [one, other].map((side) => find([thing + side, side + thing]));
      const outcome = names.find((name) => VOCABULARY.outcomes.includes(joined(name)) && name !== first && name !== second);
      if (!roles.kind && first && second && outcome) Object.assign(roles, { kind: "outcome", first, second, outcome });
    }
  const units = [VOCABULARY.judges, VOCABULARY.prompts].map(find).filter(Boolean);
  roles.unit = units.find((name) => new Set(of(name)).size >= 40) ?? "";
  roles.few = roles.unit ? "" : units[0] ?? "";
  const counts = names.filter((name) => VOCABULARY.weights.includes(joined(name)) && !Object.values(roles).includes(name));
  roles.count = counts.find((name) => of(name).some((cell) => cell !== "1") && of(name).every((cell) => /^\d+$/.test(cell))) ?? "";
  return roles;
}

/* What a label of an outcome says: "a", "b", "tie", "out" or, where nobody knows, "". */
function meaningOf(label, first, second) {
  const word = label.toLowerCase().trim();
  const side = (column, more) => word === column.toLowerCase() || more.includes(word) || (word !== "" && joined(column) !== word && wordsOf(column).at(-1) === word);
  if (word === "") return "out";
  if (/^(tie\b|both)|^(=|draw|equal|same|tied|no preference)$/.test(word) || word.startsWith("tie")) return "tie";
  const [one, other] = [side(first, ["a", "i", "left", "first", "l"]), side(second, ["b", "j", "right", "second", "r"])];
  return one === other ? "" : one ? "a" : "b";
}

/* -- asking ---------------------------------------------------------------------------------------------------------- */

function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function choice(title, options, value, change) {
  const line = element("div", "", { class: "choice" }), id = `choice-${title}`, select = element("select", "", { id });
  for (const [key, text] of options) select.append(element("option", text, { value: key }));
  select.value = value;
  select.addEventListener("change", () => change(select.value));
  line.append(element("label", title, { for: id }), select);
  return line;
}

function ask() {
  const { roles, columns } = state, names = [["", "choose"], ...columns.map((name) => [name, name])];
  const set = (role) => (value) => { roles[role] = value; state.meaning.clear(); ask(); };
  const kinds = [["", "choose"], ["outcome", "two objects and an outcome"], ["winner", "the winner and the loser"]];
  $("roles").replaceChildren(choice("A row has", kinds, roles.kind, set("kind")));
  if (roles.kind) {
    const titles = roles.kind === "winner" ? ["Winner", "Loser"] : ["First object", "Second object"];
    $("roles").append(choice(titles[0], names, roles.first, set("first")), choice(titles[1], names, roles.second, set("second")));
    if (roles.kind === "outcome") $("roles").append(choice("Outcome", names, roles.outcome, set("outcome")));
    const none = [["", "none: votes are independent"], ...columns.map((name) => [name, name])];
    $("roles").append(choice("Votes belong together by", none, roles.unit, set("unit")));
    if (roles.count) {
      const uses = [["", "choose"], ["out", `nothing about votes: one row, one vote`], ["in", "how often the row was judged"]];
      $("roles").append(choice(`${roles.count} says`, uses, roles.weight, set("weight")));
    }
  }
  $("columns").hidden = false;
  $("found").hidden = true;
  $("labels").replaceChildren();
  const chosen = [roles.first, roles.second, ...(roles.kind === "outcome" ? [roles.outcome] : [])];
  if (!roles.kind || chosen.includes("") || new Set(chosen).size < chosen.length)
    return say(`${state.rows.length.toLocaleString("en-US")} rows. Say which columns hold the two objects and who won.`);
  if (roles.count && !roles.weight)
    return say(`Column ${roles.count} holds whole numbers and may say how often each row was judged. Say what it means.`);
  if (roles.kind === "outcome" && !namesWinner()) askLabels();
  answer();
}

/* The cells of some columns, row by row. */
function cellsOf(...names) {
  const places = names.map((name) => state.columns.indexOf(name));
  return state.rows.map((row) => places.map((at) => row[at] ?? ""));
}

/* Whether the outcome is the name of an object of its row, or a word for a tie. */
function namesWinner() {
  const { first, second, outcome } = state.roles, known = new Map();
  return cellsOf(first, second, outcome).every(([a, b, label]) => {
    if (!known.has(label)) known.set(label, ["tie", "out"].includes(meaningOf(label, first, second)));
    return label === a || label === b || known.get(label);
  });
}

function askLabels() {
  const { first, second, outcome } = state.roles, labels = [...new Set(cellsOf(outcome).flat())];
  if (labels.length > 40) return;
  const options = [["", "choose"], ["a", "the first is better"], ["b", "the second is better"], ["tie", "neither: a tie"], ["out", "no vote: leave the row out"]];
  for (const label of labels) {
    if (!state.meaning.has(label)) state.meaning.set(label, meaningOf(label, first, second));
    const set = (value) => { state.meaning.set(label, value); answer(); };
    $("labels").append(choice(`${JSON.stringify(label)} means`, options, state.meaning.get(label), set));
  }
}

/* -- answering ------------------------------------------------------------------------------------------------------- */

function say(text, warn = false) {
  $("said").replaceChildren(element("p", text, warn ? { class: "warn" } : {}));
}

/* The votes, and how many rows were left out for each reason. */
function votesOf() {
  const { kind, first, second, outcome, unit, weight, count } = state.roles;
  const votes = [], out = { "without an object": 0, "without a vote": 0, "without a unit": 0, "of an object with itself": 0 };
  const named = kind === "outcome" && namesWinner();
  for (const [one, other, label, own, times] of cellsOf(first, second, outcome, unit, count)) {
    const [a, b] = [one.trim(), other.trim()];
    const said = kind === "winner" || (named && one === label) ? "a" : named && other === label ? "b"
      : state.meaning.get(label) ?? meaningOf(label, first, second);
    if (a === "" || b === "") out["without an object"]++;
    else if (said === "out") out["without a vote"]++;
    else if (said === "") throw new Error(`the outcome ${JSON.stringify(label)} is not known; say above what it means`);
    else if (unit && own === "") out["without a unit"]++;
    else if (a === b) out["of an object with itself"]++;
    else for (let n = weight === "in" ? Number(times) : 1; n > 0; n--) votes.push(unit ? [a, b, said, own] : [a, b, said]);
    if (votes.length > 2e6) throw new Error("more than 2,000,000 votes; this page takes no more: use llbt");
  }
  return { votes, out };
}

function answer() {
  $("found").hidden = true;
  try {
    const { votes, out } = votesOf(), units = state.roles.unit ? new Set(votes.map((vote) => vote[3])).size : 0;
    const size = new Set(votes.flatMap(([a, b]) => [a, b])).size;
    if (units * size ** 3 > 3e9 || size > 400) throw new Error(`${size} objects and ${units} units; this page takes fewer: use llbt, as below`);
    state.board = { ...tiers(votes), votes, out, units };
    show();
  } catch (error) {
    say(`No leaderboard: ${error.message}.`, true);
  }
}

const amount = (n, noun) => `${n.toLocaleString("en-US")} ${noun}${n === 1 ? "" : "s"}`;

function auditLines() {
  const { votes, objects, out, units, board } = state.board, { roles, columns } = state;
  const ties = votes.filter((vote) => vote[2] === "tie").length, first = votes.filter((vote) => vote[2] === "a").length;
  const left = Object.entries(out).filter(([, n]) => n).map(([why, n]) => `${amount(n, "row")} ${why}`);
  const fewest = board.reduce((a, b) => (b.votes < a.votes ? b : a));
  const used = [roles.first, roles.second, roles.outcome, roles.unit, roles.weight === "in" ? roles.count : ""];
  const spare = columns.filter((name) => !used.includes(name));
  const order = roles.kind === "winner" ? "" : ` The first of a row won ${((100 * first) / Math.max(1, votes.length - ties)).toFixed(0)} % of the decided votes.`;
  const few = roles.few ? ` Column ${roles.few} has fewer than 40 different values: llbt allows for them, this page does not.` : "";
  return [
    `${amount(votes.length, "vote")} between ${amount(objects.length, "object")}; ${((100 * ties) / votes.length).toFixed(1)} % ties.${order}`,
    left.length ? `Left out: ${left.join(", ")}.` : "No row was left out.",
    `Fewest votes: ${fewest.object} with ${fewest.votes.toLocaleString("en-US")}.`,
    units ? `Errors allow for the dependence of votes within ${amount(units, "value")} of ${roles.unit}.` : `Errors take all votes as independent.${few}`,
    spare.length ? `Columns not used: ${spare.join(", ")}.` : "All columns are used.",
  ];
}

const COLUMNS = [["rank_low", "Rank from"], ["rank_high", "to"], ["object", "Object"], ["tier", "Tier"], ["log_odds", "Log-odds"], ["std_error", "Std. error"],
  ["votes", "Votes"], ["wins", "Wins"], ["ties", "Ties"], ["losses", "Losses"]];
const shown = (key, value) => (key === "log_odds" || key === "std_error" ? value.toFixed(3) : String(value));

/* Counts beside each row, log-odds 2λ, and the standard error of its distance from the mean of all. */
function completed() {
  const { board, votes, objects, errors } = state.board;
  const count = new Map(objects.map((name) => [name, { wins: 0, ties: 0, losses: 0 }]));
  for (const [a, b, said] of votes)
    for (const [name, won, lost] of [[a, "a", "b"], [b, "b", "a"]]) count.get(name)[said === won ? "wins" : said === lost ? "losses" : "ties"]++;
  const squares = errors.map((row) => sum([...row].map((error) => error ** 2)) / objects.length), all = sum(squares) / objects.length / 2;
  for (const row of board) {
    const own = count.get(row.object);
    const error = 2 * Math.sqrt(Math.max(0, squares[objects.indexOf(row.object)] - all));
    Object.assign(row, own, { votes: own.wins + own.ties + own.losses, log_odds: 2 * row.worth, std_error: error });
  }
}

function show() {
  completed();
  const { board } = state.board, top = board.filter((row) => row.rank_low === 1);
  say(`${amount(state.board.votes.length, "vote")} read from ${state.name}.`);
  $("audit").replaceChildren(...auditLines().map((line) => element("li", line)));
  $("answer").textContent = top.length === 1 ? `${top[0].object} is first (95 % confidence).` : `First place is open between ${amount(top.length, "object")} (95 % confidence): ${top.slice(0, 5).map((row) => row.object).join(", ")}${top.length > 5 ? ", …" : ""}.`;
  drawTable("log_odds", -1);
  drawPicture();
  $("python").textContent = pythonLines();
  $("found").hidden = false;
}

function drawTable(by, sign) {
  const head = element("thead", ""), line = element("tr", ""), body = element("tbody", "");
  for (const [key, title] of COLUMNS) {
    const cell = element("th", "", { scope: "col", ...(key === by ? { "aria-sort": sign > 0 ? "ascending" : "descending" } : {}) });
    const button = element("button", title, { type: "button", "data-key": key });
    button.addEventListener("click", () => {
      drawTable(key, key === by ? -sign : key === "object" || key.startsWith("rank") || key === "tier" ? 1 : -1);
      $("board").querySelector(`[data-key=${key}]`).focus();
    });
    cell.append(button);
    line.append(cell);
  }
  const rows = [...state.board.board].sort((a, b) => sign * (typeof a[by] === "string" ? byCodePoint(a[by], b[by]) : a[by] - b[by]));
  for (const row of rows) {
    const cells = COLUMNS.map(([key]) => element(key === "object" ? "th" : "td", shown(key, row[key]), key === "object" ? { scope: "row" } : {}));
    const made = element("tr", "");
    made.append(...cells);
    body.append(made);
  }
  head.append(line);
  $("board").replaceChildren(element("caption", "Sort by a column with its button."), head, body);
  filter();
}

function filter() {
  const part = $("filter").value.toLowerCase();
  for (const row of $("board").tBodies[0].rows) row.hidden = !row.cells[2].textContent.toLowerCase().includes(part);
}

function drawPicture() {
  const { board } = state.board, step = 22, z = 1.96;
  const room = 20 + 7 * Math.min(30, Math.max(...board.map((row) => row.object.length))), width = room + 480;
  const ends = board.flatMap((row) => [row.log_odds - z * row.std_error, row.log_odds + z * row.std_error]);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const x = (value) => room + ((value - low) / (high - low || 1)) * (width - room - 20);
  const made = (tag, attributes, text = "") => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.textContent = text;
    return node;
  };
  const height = step * board.length + 40;
  const svg = made("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": "Log-odds of each object with 95 % intervals" });
  if (low < 0 && high > 0) svg.append(made("line", { class: "zero", x1: x(0), x2: x(0), y1: 0, y2: height - 30 }));
  board.forEach((row, k) => {
    const y = step * k + 14, name = row.object.length > 30 ? `${row.object.slice(0, 29)}…` : row.object;
    svg.append(made("text", { x: room - 12, y: y + 4, "text-anchor": "end" }, name));
    svg.append(made("line", { x1: x(row.log_odds - z * row.std_error), x2: x(row.log_odds + z * row.std_error), y1: y, y2: y }));
    svg.append(made("circle", { cx: x(row.log_odds), cy: y, r: 4 }));
  });
  for (const value of [low, high]) svg.append(made("text", { x: x(value), y: height - 8, "text-anchor": "middle" }, value.toFixed(2)));
  svg.append(made("text", { x: (room + width) / 2, y: height - 8, "text-anchor": "middle" }, "log-odds, mean 0"));
  $("picture").replaceChildren(svg);
}

const quoted = (text) => JSON.stringify(text);

function pythonLines() {
  const { roles, name } = state, outcomes = { a: "i", b: "j", tie: "tie", out: null };
  const ties = state.board.tie !== null, clusters = roles.unit ? `, clusters=${quoted(roles.unit)}` : "";
  const weights = roles.weight === "in" ? `, weights=${quoted(roles.count)}` : roles.count ? `, ignore=[${quoted(roles.count)}]` : "";
  const labels = [...state.meaning].map(([label, said]) => `${quoted(label)}: ${outcomes[said] === null ? "None" : quoted(outcomes[said])}`);
  const said = roles.kind === "winner" ? `winner=${quoted(roles.first)}, loser=${quoted(roles.second)}`
    : `objects=[${quoted(roles.first)}, ${quoted(roles.second)}], outcome=${quoted(roles.outcome)}${labels.length ? `, outcomes={${labels.join(", ")}}` : ""}`;
  const fit = `llbt.fit("object${ties ? " + tie" : ""}", ${ties ? "c" : "c.drop_ties()"}${roles.unit ? `, cov_type="cluster", groups=${quoted(roles.unit)}` : ""})`;
  return `import llbt  # pip install . in a clone of its repository\n\nc = llbt.from_judgments(${quoted(name)}, ${said}${clusters}${weights})\nprint(llbt.leaderboard(${fit}))`;
}

/* -- downloads ------------------------------------------------------------------------------------------------------- */

function download(name, type, text) {
  const link = element("a", "", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}

function csvOf() {
  const cell = (value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  const lines = state.board.board.map((row) => COLUMNS.map(([key]) => cell(String(row[key]))).join(","));
  return [COLUMNS.map(([key]) => key).join(","), ...lines].join("\r\n") + "\r\n";
}

function htmlOf() {
  const copy = document.documentElement.cloneNode(true);
  for (const node of copy.querySelectorAll("script, #drop, #said, form, button, label[for=filter]")) {
    if (node.tagName === "BUTTON" && node.closest("th")) node.replaceWith(node.textContent);
    else node.remove();
  }
  return `<!doctype html>\n${copy.outerHTML}`;
}

/* -- events ---------------------------------------------------------------------------------------------------------- */

async function opened(file) {
  say(`Reading ${file.name} …`);
  try {
    read(file.name, new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer()));
  } catch (error) {
    $("columns").hidden = $("found").hidden = true;
    say(`${file.name} was not read: ${error.message}.`, true);
  }
}

function example() {
  const rows = ["model_a,model_b,winner"], names = ["Ada", "Bell", "Curie", "Darwin"];
  for (let k = 0; k < 240; k++) {
    const [a, b] = [k % 4, (k + 1 + (k % 3)) % 4], turn = (k * 7919) % 100;
    rows.push(`${names[a]},${names[b]},${turn < 15 ? "tie" : turn < 57 + 14 * (b - a) ? "model_a" : "model_b"}`);
  }
  read("example.csv", rows.join("\n"));
}

$("file").addEventListener("change", (event) => event.target.files.length && opened(event.target.files[0]));
$("example").addEventListener("click", example);
$("filter").addEventListener("input", filter);
$("csv").addEventListener("click", () => download("leaderboard.csv", "text/csv", csvOf()));
$("html").addEventListener("click", () => download("leaderboard.html", "text/html", htmlOf()));
document.addEventListener("dragover", (event) => { event.preventDefault(); $("drop").classList.add("over"); });
document.addEventListener("dragleave", () => $("drop").classList.remove("over"));
document.addEventListener("drop", (event) => {
  event.preventDefault();
  $("drop").classList.remove("over");
  if (event.dataTransfer.files.length) opened(event.dataTransfer.files[0]);
});
