/** Starts the page: settings from the link, the engine, the panels, the clock. */

import "./style.css";
import { App, messageIn } from "./app";
import { byId } from "./dom";
import { Engine } from "./engine/client";
import { controls, keys } from "./panels/controls";
import { knobs } from "./panels/knobs";
import { LessonPanel } from "./panels/lesson_panel";
import { PlayPanel } from "./panels/play_panel";
import { SCENARIOS } from "./scenarios";
import { DEFAULTS, LinkError, type Settings, fromFragment } from "./settings";

/** The settings of the link that opened the page; the defaults and a message if it cannot be read. */
function linked(): [Settings, string | null] {
  try {
    // A notebook has the page in a frame, whose address has no fragment.
    const start = document.documentElement.dataset["start"] ?? window.location.hash;
    return [fromFragment(start, SCENARIOS.keys()), null];
  } catch (error) {
    if (!(error instanceof LinkError)) throw error;
    return [{ ...DEFAULTS }, `${error.message}. The lab begins with its own start instead.`];
  }
}

async function start(): Promise<void> {
  const box = byId("message");
  const [settings, problem] = linked();
  const engine = new Engine();
  const catalog = await engine.catalog();
  const speak = (sentence: string) => (byId("state").textContent = sentence);
  const app = new App(engine, catalog, settings, byId("labs"), speak, (message) => {
    if (message !== null || problem === null) messageIn(box, message);
  });
  const lesson = new LessonPanel(app, byId("lesson"));
  const play = new PlayPanel(app, byId("play"));
  controls(app, byId("controls"), byId("about"), { lessons: () => lesson.toggle(), play: () => play.toggle() });
  knobs(app, byId("knobs"));
  keys(app);
  if (!(await app.begin({}, settings.t_ms))) {
    const message = box.textContent;
    await app.begin({ ...DEFAULTS }, 0);
    messageIn(box, message);
  } else if (problem !== null) {
    messageIn(box, problem);
  }
  if (settings.lesson) lesson.show(...settings.lesson);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => app.relook());
  window.addEventListener("resize", () => app.resize());
  const tick = (clock_ms: number) => {
    app.tick(clock_ms);
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
  // For tests and for the curious: the page's state in the console.
  Object.assign(window, { lab: app });
  document.documentElement.dataset["ready"] = "true";
  if (!window.matchMedia("(prefers-reduced-motion: reduce)").matches && problem === null) app.play(true);
}

start().catch((error: unknown) => {
  messageIn(byId("message"), `The lab cannot start: ${error instanceof Error ? error.message : String(error)}`);
});
