// The order of search results: how-tos first, then the other pages and the tutorials; the changelog is last.
// Sphinx reads this in place of its own Scorer (html_search_scorer in conf.py).
const HIGHEST_FIRST = [
  ["pages/howto/", 60],
  ["pages/errors", 0],
  ["pages/", 30],
  ["tutorials/", 15],
  ["pictures/", 10],
  ["changelog", -30],
];

var Scorer = {
  score: ([page, , anchor, , score, , kind]) => {
    if (kind === "object" && anchor.split(".").length > 3) return score - 20; // a method of a record
    const [, boost] = HIGHEST_FIRST.find(([start]) => page.startsWith(start)) || ["", 0];
    return score + boost;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
