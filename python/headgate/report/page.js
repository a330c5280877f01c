// The switch between light and dark, and the meanings of terms as tooltips.
"use strict";

const theme = document.getElementById("theme");
const isDark = () => {
  const chosen = document.documentElement.style.colorScheme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};
const nameTheme = () => (theme.textContent = isDark() ? "Light colors" : "Dark colors");
theme.hidden = false;
nameTheme();
theme.addEventListener("click", () => {
  document.documentElement.style.colorScheme = isDark() ? "light" : "dark";
  nameTheme();
  document.dispatchEvent(new Event("recolor"));
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", nameTheme);

// One tooltip for all terms. It stays while the pointer is on it, and Escape closes it (WCAG 2.2, 1.4.13).
const tip = document.createElement("div");
tip.id = "meaning";
tip.setAttribute("role", "tooltip");
tip.hidden = true;
document.body.append(tip);
let leaving;

function showMeaning(term) {
  clearTimeout(leaving);
  tip.textContent = document.querySelector(`${term.getAttribute("href")} + dd`).textContent;
  tip.hidden = false;
  term.setAttribute("aria-describedby", "meaning");
  const at = term.getBoundingClientRect(), width = document.documentElement.clientWidth;
  tip.style.left = `${Math.max(8, Math.min(at.left, width - tip.offsetWidth - 8))}px`;
  const below = at.bottom + 6;
  tip.style.top = `${below + tip.offsetHeight < innerHeight ? below : Math.max(8, at.top - tip.offsetHeight - 6)}px`;
}

function hideMeaning() {
  tip.hidden = true;
  document.querySelector("[aria-describedby=meaning]")?.removeAttribute("aria-describedby");
}

const closeSoon = () => (leaving = setTimeout(hideMeaning, 150));
tip.addEventListener("pointerenter", () => clearTimeout(leaving));
tip.addEventListener("pointerleave", closeSoon);
for (const term of document.querySelectorAll("a.term")) {
  term.addEventListener("pointerenter", () => showMeaning(term));
  term.addEventListener("pointerleave", closeSoon);
  term.addEventListener("focus", () => showMeaning(term));
  term.addEventListener("blur", hideMeaning);
  // A finger has no hover: the first tap shows the meaning. A click by mouse or keyboard goes to the glossary.
  term.addEventListener("click", (event) => event.pointerType === "touch" && (event.preventDefault(), showMeaning(term)));
}
document.addEventListener("keydown", (event) => event.key === "Escape" && hideMeaning());
document.addEventListener("scroll", hideMeaning, { passive: true });
