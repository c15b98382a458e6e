/* Hold tiers.js against the fixtures: `node twin/check.js`. */
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { tiers } = require("./tiers.js");

const near = (one, other) => Math.abs(one - other) <= 1e-8 * Math.max(1, Math.abs(other));

/* What is wrong with the answer to a fixture, or null. */
function wrong(fixture) {
  let found;
  try {
    found = tiers(fixture.votes, { critical: fixture.critical });
  } catch (error) {
    const said = error.message.slice(0, fixture.refused?.length);
    return said === fixture.refused ? null : `it says ${JSON.stringify(error.message)}`;
  }
  if (fixture.refused) return "it answers";
  const { board, tie, objects, errors } = found;
  for (const key of ["object", "rank_low", "rank_high", "tier"])
    if (JSON.stringify(board.map((row) => row[key])) !== JSON.stringify(fixture.board.map((row) => row[key])))
      return `${key}: ${board.map((row) => row[key])}`;
  if (!board.every((row, k) => near(row.worth, fixture.board[k].worth))) return "worths";
  if ((tie === null) !== (fixture.tie === null) || !near(tie ?? 0, fixture.tie ?? 0)) return "tie";
  if (JSON.stringify(objects) !== JSON.stringify(fixture.objects)) return "order of the objects";
  if (!errors.flatMap((row) => [...row]).every((error, k) => near(error, fixture.errors.flat()[k]))) return "errors";
  const own = tiers(fixture.votes).critical; // simulated, the same draws in both languages
  return near(own, fixture.simulated) ? null : `critical value ${own}`;
}

const folder = path.join(__dirname, "fixtures");
const names = fs.readdirSync(folder).sort();
const bad = names.map((name) => [name, wrong(JSON.parse(fs.readFileSync(path.join(folder, name), "utf8")))]).filter(([, why]) => why);
for (const [name, why] of bad) console.log(`${name}: ${why}`);
console.log(`${names.length - bad.length} of ${names.length} fixtures are equal`);
process.exitCode = bad.length || !names.length ? 1 : 0;
