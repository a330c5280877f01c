// Adds filters above each table of claims: by experiment, discipline, bound and verdict.
// The pages of the site and of `headgate paper report` use it.
"use strict";

const FILTERED = ["experiment", "disciplines", "bound", "verdict"];

for (const table of document.querySelectorAll("table")) {
  const titles = [...table.querySelectorAll("thead th")].map((cell) => cell.textContent.trim().toLowerCase());
  if (FILTERED.every((title) => titles.includes(title))) addFilters(table, titles);
}

function addFilters(table, titles) {
  const rows = [...table.querySelectorAll("tbody tr")];
  const values = (row, title) => row.cells[titles.indexOf(title)].textContent.trim().split(", ");
  const bar = document.createElement("p");
  bar.className = "filters";
  const count = document.createElement("output");
  const choices = FILTERED.map((title) => {
    const choice = document.createElement("select");
    choice.setAttribute("aria-label", title);
    choice.add(new Option(`any ${title.replace(/s$/, "")}`, ""));
    for (const value of new Set(rows.flatMap((row) => values(row, title)))) if (value) choice.add(new Option(value));
    choice.addEventListener("change", show);
    bar.append(choice, " ");
    return choice;
  });
  bar.append(count);
  table.before(bar);
  show();

  function show() {
    for (const row of rows) {
      row.hidden = FILTERED.some((title, n) => choices[n].value && !values(row, title).includes(choices[n].value));
    }
    count.value = `${rows.filter((row) => !row.hidden).length} of ${rows.length} claims`;
  }
}
