/** Play, step, speed, the moment, the scenario; and the dialogs. */

import type { App } from "../app";
import { button, element, select } from "../dom";
import { OWN, SPEEDS } from "../settings";
import { SCENARIOS, aboutOf } from "../scenarios";
import { openFull, openHelp, openShare } from "./dialogs";
import { savePicture } from "./picture";

export interface Panels {
  lessons(): void;
  play(): void;
}

/** Fills the section of controls. */
export function controls(app: App, box: HTMLElement, about: HTMLElement, panels: Panels): void {
  const play = button("Play", () => app.play(!app.playing), { class: "primary", id: "play-button" });
  const time = element("output", { id: "time" });
  const slider = element("input", { type: "range", min: "0", max: "1", step: "100", "aria-label": "Moment of the run", id: "seek" });
  slider.addEventListener("change", () => void app.seek(Number(slider.value)));
  const speed = select("Speed", SPEEDS.map((value) => [String(value), words(value)] as const), "1", (value) => {
    app.settings = { ...app.settings, speed: Number(value) };
  });
  const names = [...SCENARIOS.keys()].map((name) => [name, name] as const);
  const scenario = select("Scenario", [...names, [OWN, "your own"] as const], "", (name) => {
    if (name !== OWN) void app.begin({ scenario: name, changes: [], lesson: null }, 0);
  });
  const seed = element("input", { type: "number", min: "0", max: "4294967295", step: "1", "aria-label": "Seed" });
  seed.addEventListener("change", () => {
    if (/^\d+$/.test(seed.value) && Number(seed.value) < 2 ** 32) void app.begin({ seed: Number(seed.value) });
    else seed.value = String(app.settings.seed);
  });
  const second = button("One lab", () => void app.begin({ right: app.settings.right === "" ? "faba" : "" }), { id: "second" });
  box.append(
    element(
      "div",
      { class: "row" },
      play,
      button("Next packet", () => void app.step(), { id: "step" }),
      button("Start", () => void app.seek(0), { title: "Back to the start" }),
      speed,
      slider,
      time,
    ),
    element(
      "div",
      { class: "row" },
      scenario,
      element("label", {}, element("span", {}, "Seed"), seed),
      second,
      button("Lessons", panels.lessons, { id: "lessons-button", class: "primary" }),
      button("Play a flow", panels.play, { id: "play-flow" }),
      button("Share", () => openShare(app), { id: "share" }),
      button("Run it in full", () => openFull(app), { id: "full" }),
      button("Picture", () => savePicture(app), { id: "picture" }),
      button("Keys", () => openHelp(), { id: "help" }),
    ),
  );
  app.listen({
    began() {
      about.textContent = app.views[0]?.side.about.about || aboutOf(app.source);
      slider.max = String(app.duration_ms);
      seed.value = String(app.settings.seed);
      second.textContent = app.settings.right === "" ? "Two labs" : "One lab";
      const list = scenario.querySelector("select");
      if (list) list.value = app.settings.scenario;
    },
    moved() {
      play.textContent = app.playing ? "Pause" : "Play";
      if (document.activeElement !== slider || app.playing) slider.value = String(app.now_ms);
      time.textContent = `${(app.now_ms / 1000).toFixed(app.settings.speed < 0.05 ? 4 : 1)} of ${app.duration_ms / 1000} s`;
      const list = speed.querySelector("select");
      if (list) list.value = String(app.settings.speed);
    },
  });
}

function words(speed: number): string {
  return speed === 1 ? "real time" : `1/${Math.round(1 / speed)}`;
}

/** Space, arrows, plus and minus. */
export function keys(app: App): void {
  document.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || ["INPUT", "SELECT", "TEXTAREA", "BUTTON", "SUMMARY"].includes(target.tagName)) return;
    const act: Record<string, () => void> = {
      " ": () => app.play(!app.playing),
      ".": () => void app.step(),
      ArrowLeft: () => void app.seek(app.now_ms - 1000),
      ArrowRight: () => void app.seek(app.now_ms + 1000),
      Home: () => void app.seek(0),
      "+": () => app.faster(1),
      "-": () => app.faster(-1),
      "?": openHelp,
    };
    const found = act[event.key];
    if (!found || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    found();
  });
}
