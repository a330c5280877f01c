/** Where things stand on the stage. */

import type { About, Discipline } from "../engine/types";

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Layout {
  width: number;
  height: number;
  queue: Box;
  /** Edge of a packet's square, and squares in a column. */
  cell: number;
  rows: number;
  /** Packets that the queue can hold. */
  capacity: number;
}

const MARGIN = { left: 96, right: 92, top: 26, bottom: 40 };

export function layout(width: number, height: number, capacity: number): Layout {
  const narrow = width < 480 ? 0.72 : 1;
  const queue = {
    x: MARGIN.left * narrow,
    y: MARGIN.top,
    width: Math.max(40, width - (MARGIN.left + MARGIN.right) * narrow),
    height: height - MARGIN.top - MARGIN.bottom,
  };
  let cell = Math.min(14, Math.max(2, Math.floor(Math.sqrt((queue.width * queue.height) / capacity))));
  const fits = () => Math.floor(queue.height / cell) * Math.floor(queue.width / cell) >= capacity;
  while (cell > 2 && !fits()) cell -= 1;
  return { width, height, queue, cell, rows: Math.max(1, Math.floor(queue.height / cell)), capacity };
}

/** Left upper corner of the packet at a place in the queue; 0 is the head, at the right. */
export function placeOf({ queue, cell, rows }: Layout, index: number): { x: number; y: number } {
  const column = Math.floor(index / rows);
  return { x: Math.max(queue.x, queue.x + queue.width - (column + 1) * cell), y: queue.y + (index % rows) * cell };
}

/** The x of a queue of so many packets. */
export function lengthAt({ queue, cell, rows }: Layout, packets: number): number {
  return Math.max(queue.x, queue.x + queue.width - (packets / rows) * cell);
}

/** A limit such as `780p` or `60kB`, in packets; null if it cannot be read. */
export function packetsOf(limit: string, packetBytes: number): number | null {
  const found = /^([\d.]+)\s*(p|B|kB|KB|MB|KiB|MiB)?$/.exec(limit.trim());
  if (!found) return null;
  const unit = { p: 0, B: 1, kB: 1e3, KB: 1e3, MB: 1e6, KiB: 1024, MiB: 1 << 20 }[found[2] ?? "p"] ?? 0;
  return unit === 0 ? Number(found[1]) : (Number(found[1]) * unit) / packetBytes;
}

/** A discipline's setting as written, or its default. */
export function settingOf(about: About, discipline: Discipline, name: string): string | null {
  const settings = about.qdisc.slice(about.qdisc.indexOf(":") + 1).split(",");
  const given = about.qdisc.includes(":") ? settings.find((setting) => setting.startsWith(`${name}=`)) : undefined;
  if (given) return given.slice(name.length + 1);
  return discipline.parameters.find((parameter) => parameter.name === name)?.default ?? null;
}

/** Packets that the queue can hold. */
export function capacityOf(about: About, discipline: Discipline): number {
  const bytes = about.flows[0]?.packet_bytes ?? 1500;
  const given = about.qdisc.includes("limit=") ? settingOf(about, discipline, "limit") : about.link.limit;
  return Math.max(10, Math.min(5000, packetsOf(given ?? "", bytes) ?? 200));
}

/** A threshold such as `25%` or `5p`, in packets; null if the discipline has none of this name. */
export function thresholdOf(about: About, discipline: Discipline, name: string, capacity: number): number | null {
  const text = settingOf(about, discipline, name);
  if (text === null) return null;
  if (text.endsWith("%")) return (Number(text.slice(0, -1)) / 100) * capacity;
  return packetsOf(text, about.flows[0]?.packet_bytes ?? 1500);
}
