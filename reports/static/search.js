// Finds rules. The search is in the URL after #, so that it can be kept and sent. The data: rules-data.js.
"use strict";

const SHOWN = 200;
const form = document.getElementById("search");
const found = document.getElementById("found");
const body = document.querySelector("#rules tbody");
const unasked = found.textContent;
const counts = RULES.map((_, place) => {
  const of = new Array(VERDICTS.length).fill(0);
  for (const system of SYSTEMS) of[system[3].charCodeAt(place) - 48] += 1;
  return of;
});
const words = RULES.map((rule) => (rule[0] + " " + rule[1] + " " + rule[2] + " " + rule[3]).toLowerCase());

function isIn(wanted, section) {
  return section === wanted || section.startsWith(wanted + ".") || section.startsWith(wanted + " ")
    || section.split(" ")[1] === wanted || (section.split(" ")[1] || "").startsWith(wanted + ".");
}

function row(place) {
  const [id, level, section, says, page, sectionPage] = RULES[place];
  const one = document.createElement("tr");
  const head = made("th", "", "");
  head.scope = "row";
  head.append(link(page, id), " ", made("span", "level", level), made("span", "says", says));
  const where = made("td", "section", "");
  where.append(link(sectionPage, section));
  const verdicts = made("td", "", "");
  VERDICTS.forEach(([name, symbol, label], verdict) => {
    const number = counts[place][verdict];
    if (number) {
      const count = made("span", "count v-" + name, symbol + "\u00a0" + number);
      count.title = label;
      verdicts.append(count, " ");
    }
  });
  one.append(head, where, verdicts);
  return one;
}

function show() {
  const asked = Object.fromEntries(new FormData(form));
  const wanted = asked.q.toLowerCase().split(/\s+/).filter(Boolean);
  const section = asked.section.trim().toLowerCase().replace(/^ms-/, "");
  const verdict = VERDICTS.findIndex(([name]) => name === asked.verdict);
  const isAsked = wanted.length > 0 || section !== "" || verdict >= 0 || asked.level !== "";
  const hits = !isAsked ? [] : RULES.map((_, place) => place).filter((place) =>
    wanted.every((word) => words[place].includes(word))
      && (verdict < 0 || counts[place][verdict])
      && (!asked.level || RULES[place][1] === asked.level)
      && (!section || isIn(section, RULES[place][2].toLowerCase())));
  const worst = (place) => counts[place].findIndex(Boolean);
  hits.sort((one, other) => worst(one) - worst(other) || one - other);
  body.replaceChildren(...hits.slice(0, SHOWN).map(row));
  document.getElementById("hits").hidden = !isAsked;
  document.getElementById("unasked").hidden = isAsked;
  const first = hits.length > SHOWN ? `; the first ${SHOWN}, the worst first` : "";
  found.textContent = isAsked ? `${hits.length} of ${RULES.length} rules${first}` : unasked;
}

function keep() {
  const asked = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
  history.replaceState(null, "", "#" + asked);
  show();
}

function restore() {
  const asked = new URLSearchParams(location.hash.slice(1));
  for (const field of form.elements) {
    if (field.name) field.value = asked.get(field.name) || "";
  }
  show();
}

form.hidden = false;
form.addEventListener("input", keep);
form.addEventListener("submit", (event) => { event.preventDefault(); keep(); });
window.addEventListener("hashchange", restore);
restore();
