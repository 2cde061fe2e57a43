// Elements whose texts are never markup, for the scripts of two pages.
"use strict";

function made(name, className, text) {
  const one = document.createElement(name);
  if (className) one.className = className;
  one.textContent = text;
  return one;
}

function link(page, text) {
  const one = made("a", "", text);
  one.href = page;
  return one;
}
