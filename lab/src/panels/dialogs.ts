/** What opens over the page: the link, the command that gives the same in full, the keys. */

import type { App } from "../app";
import { button, byId, element } from "../dom";
import { OWN } from "../settings";

/** Seeds of a run in full: enough for a margin of error. */
const FULL_SEEDS = 10;

function open(title: string, ...content: (Node | string)[]): void {
  const dialog = byId<HTMLDialogElement>("dialog");
  const close = button("Close", () => dialog.close(), { class: "primary" });
  dialog.replaceChildren(element("h2", { id: "dialog-title" }, title), ...content, close);
  dialog.showModal();
}

function copied(text: string, rows: number, name: string): HTMLElement {
  const box = element("textarea", { readonly: true, rows: String(rows), "aria-label": name, spellcheck: "false" });
  box.value = text;
  const copy = button("Copy", () => {
    box.select();
    void navigator.clipboard?.writeText(text).catch(() => undefined);
    copy.textContent = "Copied";
  });
  return element("div", { class: "copied" }, box, copy);
}

export function openShare(app: App): void {
  const link = app.link();
  window.history.replaceState(null, "", link);
  open("Share", element("p", {}, "This link shows the same: scenario, disciplines, seed, moment."), copied(link, 4, "Link"));
}

/** A word of a command line, quoted if the shell would change it. */
export function quoted(word: string): string {
  return /^[\w.,:=/%+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The command that runs what the page shows with several seeds. `file` is a shipped scenario's name or a file. */
export function fullCommand(file: string, changes: readonly string[], qdiscs: readonly string[]): string {
  const words = ["headgate", "run", quoted(file)];
  for (const change of changes) words.push("--set", quoted(change));
  for (const qdisc of qdiscs) words.push("--qdisc", quoted(qdisc));
  return [...words, "--seeds", String(FULL_SEEDS)].join(" ");
}

export function openFull(app: App): void {
  const { settings } = app;
  const own = settings.scenario === OWN;
  const qdiscs = [settings.left, settings.right].filter((name) => name !== "");
  const command = fullCommand(own ? "scenario.toml" : settings.scenario, settings.changes, qdiscs);
  const live = app.views.some(({ side }) => side.changes.length > 0);
  open(
    "Run it in full",
    element("p", {}, `With ${FULL_SEEDS} seeds, tables, figures and a report that says what the numbers show:`),
    copied(command, 3, "Command"),
    ...(live ? [element("p", {}, "You changed settings while the run went on. The command has them from the start.")] : []),
    element("p", {}, own ? "The scenario, for the file scenario.toml:" : "The scenario, which comes with Headgate:"),
    copied(app.source, 10, "Scenario"),
  );
}

export function openHelp(): void {
  const rows: [string, string][] = [
    ["Space", "play or pause"],
    [".", "to the next packet of the left queue"],
    ["← →", "a second back or forward"],
    ["Home", "to the start"],
    ["+ −", "faster, slower"],
    ["?", "these keys"],
  ];
  const list = rows.flatMap(([key, does]) => [element("dt", {}, element("kbd", {}, key)), element("dd", {}, does)]);
  open("Keys", element("dl", { class: "keys" }, ...list));
}
