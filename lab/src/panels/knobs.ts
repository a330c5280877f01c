/** The settings: of the link, of the groups of flows, and of each discipline. */

import type { App } from "../app";
import { button, element, field, select } from "../dom";
import type { Group, Parameter } from "../engine/types";
import { rate } from "../format";
import { OWN } from "../settings";
import { settingOf } from "../stage/layout";

const CONTROLLERS = ["reno", "cubic", "bbr", "dctcp", "vegas", "scalable"];
/** A rate for a new unresponsive flow: a fifth of the link. */
const EXTRA_SHARE = 0.2;

/** Fills the section of settings whenever a run begins. */
export function knobs(app: App, box: HTMLElement): void {
  const opened = new Set<string>(["Link and flows"]);
  const section = (title: string, ...content: HTMLElement[]): HTMLElement => {
    const details = element("details", { open: opened.has(title) }, element("summary", {}, title), ...content);
    details.addEventListener("toggle", () => (details.open ? opened.add(title) : opened.delete(title)));
    return details;
  };
  const fill = () => {
    const first = app.views[0];
    if (!first) return;
    const seen = new Set<string>();
    const disciplines = app.views.filter(({ discipline }) => !seen.has(discipline.name) && seen.add(discipline.name));
    box.replaceChildren(
      section("Link and flows", linkKnobs(app), ...first.side.about.groups.map((group) => groupKnobs(app, group)), extras(app)),
      ...disciplines.map((view) =>
        section(
          `${view.discipline.title}: parameters`,
          element("p", { class: "citation" }, view.discipline.citation),
          element("div", { class: "grid" }, ...view.discipline.parameters.map((parameter) => parameterKnob(app, view.side.number, parameter))),
        ),
      ),
      section("The scenario as a file", ownScenario(app)),
    );
  };
  app.listen({ began: fill });
}

function linkKnobs(app: App): HTMLElement {
  const { link } = app.views[0]!.side.about;
  const set = (key: string) => (value: string) => void app.set(`link.${key}`, value);
  return element(
    "fieldset",
    {},
    element("legend", {}, "Link"),
    field("rate", `${link.rate_bps / 1e6}Mbit/s`, set("rate"), "from now on; such as 5Mbit/s"),
    field("delay", `${link.delay_ms}ms`, set("delay"), "a new run; one way, such as 40ms"),
    field("limit", link.limit, set("limit"), "a new run; the buffer, such as 100p or 60kB"),
  );
}

function groupKnobs(app: App, group: Group): HTMLElement {
  const set = (key: string) => (value: string) => void app.set(`${group.name}.${key}`, value);
  const knobs: HTMLElement[] = [field("flows", String(group.flows), set("flows"), "a new run; the number of flows")];
  if (group.kind === "tcp") {
    const names = [...new Set([group.cc ?? "reno", ...CONTROLLERS])].map((name) => [name, name] as const);
    knobs.push(select("cc", names, group.cc ?? "reno", set("cc")));
  } else if (group.rate_bps !== null && group.rate_bps !== undefined) {
    knobs.push(field("rate", `${group.rate_bps / 1e6}Mbit/s`, set("rate"), "from now on"));
  }
  const ecn = element("input", { type: "checkbox", checked: group.ecn });
  ecn.addEventListener("change", () => set("ecn")(String(ecn.checked)));
  const what = group.kind === "tcp" ? "TCP" : `UDP, ${group.rate_bps ? rate(group.rate_bps) : "as fast as it can"}`;
  return element("fieldset", {}, element("legend", {}, `${group.name} (${what})`), ...knobs, element("label", {}, ecn, " ECN"));
}

/** Buttons that add a flow. */
function extras(app: App): HTMLElement {
  const { about } = app.views[0]!.side;
  const tcp = about.groups.find((group) => group.kind === "tcp");
  const unresponsive = button("Add an unresponsive flow", () => void addUnresponsive(app), { id: "add-unresponsive" });
  const more = tcp && button("Add a TCP flow", () => void app.set(`${tcp.name}.flows`, String(tcp.flows + 1)), { id: "add-tcp" });
  const turn =
    tcp && tcp.flows > 1 && button("Make a TCP flow unresponsive", () => void makeUnresponsive(app, tcp), { id: "make-unresponsive" });
  const undo = button("Undo all changes", () => void app.begin({ changes: [], ...(app.settings.scenario === OWN ? {} : { toml: "" }) }), {
    disabled: app.settings.changes.length === 0,
  });
  return element("p", { class: "row" }, ...(more ? [more] : []), unresponsive, ...(turn ? [turn] : []), undo);
}

/** A name that no group has yet. */
export function newName(base: string, taken: readonly string[]): string {
  let name = base;
  for (let number = 2; taken.includes(name); number += 1) name = `${base}${number}`;
  return name;
}

/** The scenario's text with one more UDP flow. */
export function withFlow(toml: string, name: string, bps: number): string {
  return `${toml.trimEnd()}\n\n[[udp]]\nname = "${name}"\nrate = "${Math.round(bps / 1e3)}kbit/s"\n`;
}

async function addUnresponsive(app: App): Promise<void> {
  const { about } = app.views[0]!.side;
  await withUnresponsive(app, about.toml, about.link.rate_bps * EXTRA_SHARE);
}

/** One flow of a TCP group stops listening: it sends twice its fair share, whatever is dropped. */
async function makeUnresponsive(app: App, group: Group): Promise<void> {
  const { about } = app.views[0]!.side;
  const fair = about.flows.find((flow) => flow.group === group.name)?.fair_bps ?? about.link.rate_bps * EXTRA_SHARE;
  await withUnresponsive(app, await app.engine.changed(about.toml, [`${group.name}.flows=${group.flows - 1}`]), 2 * fair);
}

async function withUnresponsive(app: App, toml: string, bps: number): Promise<void> {
  const name = newName("extra", app.views[0]!.side.about.groups.map((group) => group.name));
  await app.begin({ scenario: OWN, toml: withFlow(toml, name, bps), changes: [], lesson: null });
}

function parameterKnob(app: App, side: number, parameter: Parameter): HTMLElement {
  const view = app.views[side]!;
  const { name } = view.discipline;
  const value = settingOf(view.side.about, view.discipline, parameter.name) ?? parameter.default;
  const hint = `${parameter.doc} (${parameter.kind}${parameter.range ? `, ${parameter.range}` : ""}; default ${parameter.default})`;
  const change = (text: string) => void app.set(`qdisc.${name}.${parameter.name}`, text);
  if (parameter.kind === "bool" || parameter.kind === "switch") {
    return select(parameter.name, [["on", "on"], ["off", "off"]], value, change);
  }
  return field(parameter.name, value, change, hint);
}

function ownScenario(app: App): HTMLElement {
  const text = element("textarea", { rows: "16", spellcheck: "false", "aria-label": "Scenario" });
  text.value = app.views[0]!.side.about.toml;
  const run = button("Use this scenario", () => void app.begin({ scenario: OWN, toml: text.value, changes: [], lesson: null }, 0), { id: "use-own" });
  return element("div", { class: "own" }, text, run);
}
