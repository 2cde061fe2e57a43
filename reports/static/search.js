// Filters the table of rules. What is asked for stands in the URL after #, so that it can be kept and sent.
"use strict";

const form = document.getElementById("search");
const found = document.getElementById("found");
const heads = Array.from(document.querySelectorAll("#rules thead th"), (head) => head.dataset.verdict);
const rows = Array.from(document.querySelectorAll("#rules tbody tr"), (row) => ({
  row,
  words: row.cells[0].textContent.toLowerCase() + " " + row.cells[1].textContent.toLowerCase(),
  section: row.cells[1].textContent.trim().toLowerCase().replace(/^ms-/, ""),
  level: row.cells[0].querySelector(".level").textContent,
  verdicts: heads.filter((verdict, column) => verdict && row.cells[column].textContent),
}));

function isIn(wanted, section) {
  return section === wanted || section.startsWith(wanted + ".") || section.startsWith(wanted + " ")
    || section.split(" ")[1] === wanted || (section.split(" ")[1] || "").startsWith(wanted + ".");
}

function filter() {
  const asked = Object.fromEntries(new FormData(form));
  const words = asked.q.toLowerCase().split(/\s+/).filter(Boolean);
  const section = asked.section.trim().toLowerCase().replace(/^ms-/, "");
  let count = 0;
  for (const one of rows) {
    const shown = words.every((word) => one.words.includes(word))
      && (!asked.verdict || one.verdicts.includes(asked.verdict))
      && (!asked.level || one.level === asked.level)
      && (!section || isIn(section, one.section));
    one.row.hidden = !shown;
    count += shown;
  }
  found.textContent = `${count} of ${rows.length} rules`;
}

function keep() {
  const asked = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
  history.replaceState(null, "", "#" + asked);
  filter();
}

function restore() {
  const asked = new URLSearchParams(location.hash.slice(1));
  for (const field of form.elements) {
    if (field.name) field.value = asked.get(field.name) || "";
  }
  filter();
}

form.hidden = false;
form.addEventListener("input", keep);
form.addEventListener("submit", (event) => { event.preventDefault(); keep(); });
window.addEventListener("hashchange", restore);
restore();
