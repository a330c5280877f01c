/**
 * The reader drives one flow: its rate follows a slider or the arrow keys.
 *
 * The score of a second is goodput over the fair share, at most 1.5, less the queueing delay in tenths of a second.
 */

import type { App } from "../app";
import { button, element } from "../dom";
import { ms, rate } from "../format";
import { OWN } from "../settings";
import { withFlow } from "./knobs";

const NAME = "you";
/** Seconds of a game. */
const GAME_S = 30;

/** The score of one second. */
export function score(goodput_bps: number, fair_bps: number, delay_ms: number): number {
  return Math.min(1.5, goodput_bps / fair_bps) - delay_ms / 100;
}

export class PlayPanel {
  private total = 0;
  private seconds = 0;
  private began_ms = 0;
  private sent = 0;
  private readonly slider = element("input", { type: "range", min: "0", max: "100", value: "10", "aria-label": "Your rate in percent of the link" });
  private readonly words = element("p", { role: "status" });
  private readonly sum = element("strong", {}, "0.0");

  constructor(
    private readonly app: App,
    private readonly box: HTMLElement,
  ) {
    this.slider.addEventListener("input", () => this.send());
    app.listen({ moved: () => this.count() });
  }

  toggle(): void {
    if (this.box.hidden) void this.begin();
    else this.box.hidden = true;
  }

  private async begin(): Promise<void> {
    const { about } = this.app.views[0]!.side;
    const base = about.groups.some((group) => group.name === NAME) ? about.toml : withFlow(about.toml, NAME, about.link.rate_bps / 10);
    const begun = await this.app.begin({ scenario: OWN, toml: base, changes: [], right: "", lesson: null, speed: 1 }, 5000);
    if (!begun) return;
    [this.total, this.seconds, this.began_ms, this.sent] = [0, 0, this.app.now_ms, 0];
    this.slider.value = "10";
    this.box.hidden = false;
    this.box.replaceChildren(
      element("h2", {}, "Play a flow"),
      element("p", {}, `You are a sender beside the others. Choose your rate with the slider (or its arrow keys) for ${GAME_S} seconds. Each second gives your goodput over your fair share, less a point for every 100 ms of queueing delay.`),
      element("label", {}, element("span", {}, "Your rate"), this.slider),
      element("p", {}, "Score: ", this.sum),
      this.words,
      element("p", { class: "row" }, button("Again", () => void this.begin()), button("End", () => (this.box.hidden = true))),
    );
    this.slider.focus();
    this.app.play(true);
  }

  /** Sends the slider's rate to the engine, at most one change at a time. */
  private send(): void {
    const share = Number(this.slider.value);
    const { about } = this.app.views[0]!.side;
    // A slower source would not hear of the next change for long: it first sends its next packet.
    const bps = (Math.max(1, share) / 100) * about.link.rate_bps;
    if (share !== this.sent) void this.app.set(`${NAME}.rate`, `${Math.round(bps / 1000)}kbit/s`);
    this.sent = share;
  }

  /** Counts each full second of the game. */
  private count(): void {
    if (this.box.hidden) return;
    const view = this.app.views[0];
    const mine = view?.side.about.flows.find((flow) => flow.group === NAME);
    if (!view || !mine) return;
    const seconds = Math.floor((this.app.now_ms - this.began_ms) / 1000);
    if (seconds <= this.seconds || this.seconds >= GAME_S) return;
    this.seconds = seconds;
    const goodput = view.side.goodput()[mine.flow] ?? 0;
    const delay = view.side.delay() ?? 0;
    const points = score(goodput, mine.fair_bps, delay);
    this.total += points;
    this.sum.textContent = this.total.toFixed(1);
    this.words.textContent =
      seconds >= GAME_S
        ? `The game is over: ${this.total.toFixed(1)} points in ${GAME_S} s. A flow that takes just its fair share of an empty queue has ${GAME_S}.`
        : `${rate(goodput)} of ${rate(mine.fair_bps)}, queueing delay ${ms(delay)}: ${points.toFixed(2)} points this second.`;
    if (seconds >= GAME_S) this.app.play(false);
  }
}
