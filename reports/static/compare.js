// Shows two systems side by side. The URL after # names them. The data: rules-data.js.
"use strict";

const SHOWN = 500;
const DECIDED = ["fail", "warn", "pass"];
const form = document.getElementById("compare");
const found = document.getElementById("found");
const body = document.querySelector("#rules tbody");
const heads = { a: document.getElementById("head-a"), b: document.getElementById("head-b") };
const byKey = new Map(SYSTEMS.map((system) => [system[0], system]));

function verdictOf(system, place) {
  return system[3].charCodeAt(place) - 48;
}

function cell(verdict) {
  const [name, symbol, label] = VERDICTS[verdict];
  const one = made("td", "cell worst-" + name, "");
  one.append(made("span", "badge v-" + name, symbol + " " + label));
  return one;
}

function row({ place, a, b }) {
  const [id, level, , says, page] = RULES[place];
  const head = made("th", "", "");
  head.scope = "row";
  head.append(link(page, id), " ", made("span", "level", level), made("span", "says", says));
  const one = document.createElement("tr");
  one.append(head, cell(a), cell(b));
  return one;
}

function isShown(show, a, b) {
  const names = [VERDICTS[a][0], VERDICTS[b][0]];
  if (show === "fail") return names.includes("fail");
  return a !== b && (show === "" || names.every((name) => DECIDED.includes(name)));
}

function show() {
  const asked = Object.fromEntries(new FormData(form));
  const sides = { a: byKey.get(asked.a), b: byKey.get(asked.b) };
  for (const side of ["a", "b"]) heads[side].replaceChildren(link(sides[side][2], sides[side][1]));
  const rows = RULES.map((_, place) => ({ place, a: verdictOf(sides.a, place), b: verdictOf(sides.b, place) }))
    .filter(({ a, b }) => isShown(asked.show, a, b));
  rows.sort((one, other) => Math.min(one.a, one.b) - Math.min(other.a, other.b) || one.place - other.place);
  body.replaceChildren(...rows.slice(0, SHOWN).map(row));
  const fails = (side) => rows.filter((one) => VERDICTS[one[side]][0] === "fail").length;
  const first = rows.length > SHOWN ? `; the first ${SHOWN}, the worst first` : "";
  found.textContent = `${rows.length} of ${RULES.length} rules${first}: ${fails("a")} fail here, ${fails("b")} there`;
}

function keep() {
  history.replaceState(null, "", "#" + new URLSearchParams([...new FormData(form)].filter(([, value]) => value)));
  show();
}

function restore() {
  const asked = new URLSearchParams(location.hash.slice(1));
  for (const side of ["a", "b"]) {
    if (byKey.has(asked.get(side))) form.elements[side].value = asked.get(side);
  }
  if (asked.has("show")) form.elements.show.value = asked.get("show");
  show();
}

form.addEventListener("input", keep);
form.addEventListener("submit", (event) => { event.preventDefault(); keep(); });
window.addEventListener("hashchange", restore);
restore();
