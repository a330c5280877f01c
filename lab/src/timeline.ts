/**
 * The queue as the stage shows it, a little behind the run: a packet that will arrive is drawn on its way before.
 *
 * The engine tells events in order of time. `advance` applies them up to the shown moment.
 */

import type { PacketEvent, QueuedPacket, Snapshot } from "./engine/types";

/** Seconds on the reader's clock that a packet takes from its sender to the queue. */
export const FLIGHT_S = 0.35;
/** Seconds that a dropped packet takes to fall. */
export const FALL_S = 0.8;

export class Timeline {
  /** In order of arrival. */
  queue: QueuedPacket[] = [];
  /** The shown moment. */
  shown_ms = 0;
  /** Events at and before the shown moment, as long as they are drawn. */
  past: PacketEvent[] = [];
  /** Events after the shown moment. */
  ahead: PacketEvent[] = [];

  /** Begins at a moment: everything before is forgotten. */
  reset(now: Snapshot): void {
    this.queue = [...now.queue];
    this.shown_ms = now.t_ms;
    this.past = [];
    this.ahead = [];
  }

  /** Takes the events of a snapshot. If some are missing, the queue is taken from the snapshot itself. */
  take(now: Snapshot): void {
    if (now.lost_events > 0) {
      this.reset(now);
      return;
    }
    this.ahead.push(...now.events);
  }

  /** Moves the shown moment to `flight_ms` before `now_ms`, and forgets events older than `fall_ms`. */
  advance(now_ms: number, flight_ms: number, fall_ms: number): PacketEvent[] {
    this.shown_ms = Math.max(this.shown_ms, now_ms - flight_ms);
    let due = 0;
    while (due < this.ahead.length && (this.ahead[due] as PacketEvent)[0] <= this.shown_ms) due += 1;
    const applied = this.ahead.splice(0, due);
    applied.forEach((event) => this.apply(event));
    this.past.push(...applied);
    const oldest = this.shown_ms - fall_ms;
    const kept = this.past.findIndex((event) => event[0] >= oldest);
    this.past.splice(0, kept < 0 ? this.past.length : kept);
    return applied;
  }

  private apply([, kind, flow, bytes, arrived, , number]: PacketEvent): void {
    if (kind === "arrived") {
      this.queue.push([flow, arrived, bytes, number]);
    } else if (kind === "sent" || kind === "dropped") {
      const last = this.queue.length - 1;
      const is = (packet: QueuedPacket | undefined) => packet !== undefined && packet[3] === number;
      const at = is(this.queue[last]) ? last : this.queue.findIndex(is);
      if (at >= 0) this.queue.splice(at, 1);
    }
  }
}
