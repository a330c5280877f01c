/** Sentences on what happens, in the terms of the field. */

import type { Discipline, Flow, PacketEvent } from "./engine/types";
import { counted, ms, rate } from "./format";

/** What happened to a packet, in a sentence. */
export function explained(
  event: PacketEvent,
  flows: readonly Flow[],
  discipline: Discipline,
  reasons: Readonly<Record<string, string>>,
): string {
  const [time, kind, number, bytes, arrived, reason] = event;
  const packet = `a packet of ${flows[number]?.name ?? `flow ${number}`} (${bytes} bytes)`;
  const because = reason === null ? "" : ` because ${reasons[reason] ?? reason.replaceAll("_", " ")}`;
  const waited = ms(time - arrived);
  const at = `${(time / 1000).toFixed(4)} s`;
  switch (kind) {
    case "arrived":
      return `${at}: ${packet} arrived at the queue.`;
    case "sent":
      return `${at}: the link began to send ${packet} after ${waited} in the queue.`;
    case "dropped":
      return time === arrived
        ? `${at}: ${discipline.title} dropped ${packet} as it arrived${because}.`
        : `${at}: ${discipline.title} dropped ${packet} after ${waited} in the queue${because}.`;
    case "marked":
      return `${at}: ${discipline.title} marked ${packet}${because}. Its receiver tells the sender to slow down.`;
    case "lost":
      return `${at}: the link lost ${packet}.`;
  }
}

/** One lab's state in a sentence, for readers who listen. */
export function described(
  title: string,
  t_ms: number,
  packets: number,
  delay_ms: number | null,
  shares: readonly { name: string; goodput_bps: number; fair_bps: number }[],
): string {
  const delay = delay_ms === null ? "" : `, queueing delay ${ms(delay_ms)}`;
  const farthest = [...shares].sort((a, b) => ratio(b) - ratio(a))[0];
  const first = farthest
    ? ` Most above its fair share: ${farthest.name} with ${rate(farthest.goodput_bps)} of ${rate(farthest.fair_bps)}.`
    : "";
  return `${title} at ${(t_ms / 1000).toFixed(1)} s: ${counted(packets, "packets")} queued${delay}.${first}`;
}

function ratio({ goodput_bps, fair_bps }: { goodput_bps: number; fair_bps: number }): number {
  return fair_bps > 0 ? goodput_bps / fair_bps : 0;
}
