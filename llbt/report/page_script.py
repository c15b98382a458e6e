"""The script of the report page: it sorts, filters and folds tables; without it all rows are shown."""

from __future__ import annotations

SCRIPT = """
"use strict";
const LONG = 12, SHOWN = 20, FOLDED = 30;
const tables = [], several = document.querySelectorAll("main table").length > 1;
function element(tag, text, attributes) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
  return made;
}
function bySize(a, b) { return Number(a) - Number(b); }
function byName(a, b) { return a.localeCompare(b, undefined, {numeric: true}); }
function sortTable(found, button) {
  const head = button.closest("th"), k = head.cellIndex;
  const rising = head.getAttribute("aria-sort") !== "ascending";
  const compare = head.dataset.kind === "number" ? bySize : byName;
  const value = row => row.cells[k].dataset.value ?? row.cells[k].textContent;
  const rows = Array.from(found.body.rows), known = rows.filter(row => value(row) !== "");
  known.sort((a, b) => (rising ? 1 : -1) * compare(value(a), value(b)));
  for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", rising ? "ascending" : "descending");
  found.body.append(...known, ...rows.filter(row => value(row) === ""));
  show(found);
}
function names(row) {
  return Array.from(row.querySelectorAll("bdi"), cell => cell.textContent).join("\\n").toLowerCase();
}
function show(found) {
  const rows = Array.from(found.body.rows), asked = [found.own, found.page].filter(text => text);
  let kept = 0;
  for (const row of rows) {
    const text = asked.length ? names(row) : "", matches = asked.every(part => text.includes(part));
    kept += matches;
    row.classList.toggle("unmatched", !matches);
    row.classList.toggle("folded", matches && found.folds && !asked.length && kept > SHOWN);
  }
  if (found.said) found.said.textContent = asked.length ? `${kept} of ${rows.length} rows` : "";
  if (found.more) found.more.hidden = asked.length > 0;
}
function searchField(label, changed) {
  const around = element("label", label), field = element("input", "", {type: "search", autocomplete: "off"});
  field.addEventListener("input", () => changed(field.value.trim().toLowerCase()));
  around.append(field);
  return around;
}
function addTools(found) {
  const scroll = found.table.closest(".scroll"), size = found.body.rows.length;
  if (size > LONG && found.table.querySelector("tbody bdi")) {
    const tools = element("div", "", {class: "tools"});
    found.said = element("output", "");
    tools.append(searchField("Filter rows by name ", text => { found.own = text; show(found); }), found.said);
    scroll.before(tools);
  }
  if (size > FOLDED && several) {
    const label = () => found.folds ? `Show all ${size} rows` : `Show ${SHOWN} rows`;
    found.folds = true;
    found.more = element("button", label(), {type: "button", class: "more", "aria-expanded": "false"});
    found.more.addEventListener("click", () => {
      found.folds = !found.folds;
      found.more.textContent = label();
      found.more.setAttribute("aria-expanded", String(!found.folds));
      show(found);
    });
    scroll.after(found.more);
  }
}
function searchPage(text) {
  let hits = 0;
  for (const found of tables) {
    const holds = text !== "" && Array.from(found.body.rows).some(row => names(row).includes(text));
    found.page = holds ? text : "";
    hits += holds;
    const around = found.table.closest("details");
    if (around && holds) around.open = true;
    show(found);
  }
  return text ? `in ${hits} of ${tables.length} tables` : "";
}
function addSearch() {
  const said = element("output", ""), around = element("div", "", {class: "search", role: "search"});
  around.append(searchField("Find a name in all tables ", text => { said.textContent = searchPage(text); }), said);
  document.querySelector("nav").before(around);
}
for (const table of document.querySelectorAll("main table")) {
  const found = {table, body: table.tBodies[0], own: "", page: "", folds: false, said: null, more: null};
  tables.push(found);
  for (const button of table.querySelectorAll("th button")) {
    button.addEventListener("click", () => sortTable(found, button));
  }
  addTools(found);
  show(found);
}
if (several) addSearch();
let closed = [];
addEventListener("beforeprint", () => {
  closed = Array.from(document.querySelectorAll("details:not([open]):not(.unprinted)"));
  for (const part of closed) part.open = true;
});
addEventListener("afterprint", () => { for (const part of closed) part.open = false; });
"""
