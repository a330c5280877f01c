/** One step of a lesson: what to see, a question, and the answer when the reader asks for it. */

import type { App } from "../app";
import { button, element, select } from "../dom";
import { LESSONS, settingsOf } from "../lessons";

export class LessonPanel {
  constructor(
    private readonly app: App,
    private readonly box: HTMLElement,
  ) {}

  /** Opens the first step, or closes the panel. */
  toggle(): void {
    if (this.box.hidden) void this.open(0, 0);
    else this.close();
  }

  /** Sets the lab for a step, and shows it. */
  async open(lesson: number, step: number): Promise<void> {
    const settings = settingsOf(lesson, step);
    if (!settings) return;
    await this.app.begin(settings, settings.t_ms);
    this.show(lesson, step);
    this.app.play(true);
  }

  close(): void {
    this.box.hidden = true;
    this.app.settings = { ...this.app.settings, lesson: null };
  }

  show(lesson: number, step: number): void {
    const found = LESSONS[lesson];
    const shown = found?.steps[step];
    if (!found || !shown) return;
    const titles = LESSONS.map(({ title }, at) => [String(at), `${at + 1}. ${title}`] as const);
    const answer = element("details", {}, element("summary", {}, "Answer"), element("p", {}, shown.answer));
    const last = step === found.steps.length - 1;
    const next = last
      ? button("Next lesson", () => void this.open(lesson + 1, 0), { disabled: lesson + 1 >= LESSONS.length, class: "primary" })
      : button("Next step", () => void this.open(lesson, step + 1), { class: "primary", id: "next-step" });
    this.box.hidden = false;
    this.box.replaceChildren(
      element(
        "div",
        { class: "row" },
        select("Lesson", titles, String(lesson), (value) => void this.open(Number(value), 0)),
        element("strong", {}, `Step ${step + 1} of ${found.steps.length}`),
        button("Close", () => this.close()),
      ),
      element("p", {}, shown.text),
      element("p", { class: "question" }, shown.question),
      answer,
      element("p", { class: "row" }, button("Back", () => void this.open(lesson, step - 1), { disabled: step === 0 }), next),
    );
  }
}
