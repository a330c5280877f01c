/** Draws one lab: senders at the left, the queue with its packets, the link at the right. */

import type { About, Discipline, PacketEvent } from "../engine/types";
import type { Timeline } from "../timeline";
import { type Layout, capacityOf, layout, lengthAt, placeOf, thresholdOf } from "./layout";

export interface Scene {
  about: About;
  discipline: Discipline;
  timeline: Timeline;
  gauges: Record<string, number | null>;
  colors: readonly string[];
  /** Milliseconds of the run that a packet is on its way, and that a dropped packet falls. */
  flight_ms: number;
  fall_ms: number;
  still: boolean;
  ink: string;
  quiet: string;
  paper: string;
  danger: string;
}

/** Packets on their way that are drawn at most; of more, every second, third and so on. */
const MOST_FLIGHTS = 160;

/** Where a dropped packet is shown, for the words under the mouse. */
export interface Drawn {
  x: number;
  y: number;
  size: number;
  event: PacketEvent;
}

/** Draws a scene and returns the dropped and marked packets in it. */
export function draw(canvas: HTMLCanvasElement, scene: Scene): Drawn[] {
  const scale = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const pen = canvas.getContext("2d");
  if (!pen || width === 0) return [];
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, height);
  const place = layout(width, height, capacityOf(scene.about, scene.discipline));
  drawFrame(pen, scene, place);
  drawQueue(pen, scene, place);
  drawThresholds(pen, scene, place);
  if (scene.still) return [];
  drawArrivals(pen, scene, place);
  drawDepartures(pen, scene, place);
  return drawDrops(pen, scene, place);
}

function senderY(scene: Scene, place: Layout, flow: number): number {
  const { queue } = place;
  return queue.y + ((flow + 0.5) / Math.max(1, scene.about.flows.length)) * queue.height;
}

function drawFrame(pen: CanvasRenderingContext2D, scene: Scene, place: Layout): void {
  const { queue, width, height } = place;
  const middle = queue.y + queue.height / 2;
  pen.lineWidth = 1.5;
  pen.strokeStyle = scene.ink;
  pen.beginPath();
  pen.moveTo(queue.x, queue.y - 3);
  pen.lineTo(queue.x + queue.width + 2, queue.y - 3);
  pen.lineTo(queue.x + queue.width + 2, queue.y + queue.height + 3);
  pen.lineTo(queue.x, queue.y + queue.height + 3);
  pen.stroke();
  pen.strokeStyle = scene.quiet;
  pen.beginPath();
  pen.moveTo(queue.x + queue.width + 2, middle);
  pen.lineTo(width - 8, middle);
  pen.stroke();
  const radius = Math.min(5, Math.max(1.5, queue.height / scene.about.flows.length / 2.6));
  scene.about.flows.forEach((flow) => {
    pen.fillStyle = scene.colors[flow.flow] as string;
    pen.beginPath();
    pen.arc(12, senderY(scene, place, flow.flow), flow.responsive ? radius : radius * 1.5, 0, 2 * Math.PI);
    pen.fill();
  });
  drawNames(pen, scene, place);
  pen.fillStyle = scene.quiet;
  pen.font = "12px system-ui, sans-serif";
  pen.textBaseline = "alphabetic";
  pen.textAlign = "left";
  pen.fillText("senders", 4, 14);
  pen.textAlign = "center";
  pen.fillText(`queue: room for ${Math.round(place.capacity)} packets`, queue.x + queue.width / 2, 14);
  pen.textAlign = "right";
  pen.fillText("link", width - 4, 14);
  pen.fillText("", width, height);
}

/** The names of unresponsive flows, of the first in each group. */
function drawNames(pen: CanvasRenderingContext2D, scene: Scene, place: Layout): void {
  pen.font = "11px system-ui, sans-serif";
  pen.textAlign = "left";
  const named = new Set<string>();
  for (const flow of scene.about.flows) {
    if (flow.responsive || named.has(flow.group)) continue;
    named.add(flow.group);
    pen.fillStyle = scene.ink;
    pen.fillText(flow.group, 4, Math.min(place.height - 4, senderY(scene, place, flow.flow) + 21));
  }
}

function drawQueue(pen: CanvasRenderingContext2D, scene: Scene, place: Layout): void {
  const gap = place.cell > 4 ? 1 : 0;
  scene.timeline.queue.forEach(([flow], index) => {
    const { x, y } = placeOf(place, index);
    pen.fillStyle = scene.colors[flow] ?? scene.ink;
    pen.fillRect(x, y, place.cell - gap, place.cell - gap);
  });
}

/** RED's average and thresholds: they are lengths of the queue. */
function drawThresholds(pen: CanvasRenderingContext2D, scene: Scene, place: Layout): void {
  const average = scene.gauges["average"];
  const lines: [string, number | null | undefined, boolean][] = [
    ["average", average, false],
    ["minth", average === undefined ? null : thresholdOf(scene.about, scene.discipline, "minth", place.capacity), true],
    ["maxth", average === undefined ? null : thresholdOf(scene.about, scene.discipline, "maxth", place.capacity), true],
  ];
  pen.font = "11px system-ui, sans-serif";
  pen.textAlign = "center";
  for (const [name, packets, dashed] of lines) {
    if (packets === null || packets === undefined || packets > place.capacity) continue;
    const x = lengthAt(place, packets);
    pen.strokeStyle = dashed ? scene.quiet : scene.ink;
    pen.lineWidth = dashed ? 1 : 2;
    pen.setLineDash(dashed ? [4, 3] : []);
    pen.beginPath();
    pen.moveTo(x, place.queue.y - 3);
    pen.lineTo(x, place.queue.y + place.queue.height + (dashed ? 6 : 18));
    pen.stroke();
    pen.fillStyle = dashed ? scene.quiet : scene.ink;
    pen.fillText(name, x, place.queue.y + place.queue.height + (dashed ? 17 : 30));
  }
  pen.setLineDash([]);
}

function sampled(events: PacketEvent[]): PacketEvent[] {
  const every = Math.ceil(events.length / MOST_FLIGHTS);
  return every <= 1 ? events : events.filter((_, at) => at % every === 0);
}

function drawArrivals(pen: CanvasRenderingContext2D, scene: Scene, place: Layout): void {
  const { timeline, flight_ms } = scene;
  const coming = timeline.ahead.filter(([time, kind]) => kind === "arrived" && time <= timeline.shown_ms + flight_ms);
  const size = Math.max(4, Math.min(9, place.cell));
  const tail = placeOf(place, timeline.queue.length);
  for (const [time, , flow] of sampled(coming)) {
    const share = 1 - (time - timeline.shown_ms) / flight_ms;
    const from = senderY(scene, place, flow);
    // Straight to the mouth of the queue, then along it to the tail.
    const mouth = place.queue.x;
    const way = share * (tail.x - 14);
    const x = 14 + way;
    const bend = Math.min(1, way / (mouth - 14));
    const y = from + (tail.y + size / 2 - from) * bend * bend;
    pen.fillStyle = scene.colors[flow] ?? scene.ink;
    pen.fillRect(x - size / 2, y - size / 2, size, size);
  }
}

function drawDepartures(pen: CanvasRenderingContext2D, scene: Scene, place: Layout): void {
  const { timeline, flight_ms } = scene;
  const size = Math.max(4, Math.min(9, place.cell));
  const start = place.queue.x + place.queue.width + 2;
  const middle = place.queue.y + place.queue.height / 2;
  const sent = timeline.past.filter(([time, kind]) => kind === "sent" && time > timeline.shown_ms - flight_ms);
  for (const [time, , flow] of sampled(sent)) {
    const x = start + ((timeline.shown_ms - time) / flight_ms) * (place.width - start);
    pen.fillStyle = scene.colors[flow] ?? scene.ink;
    pen.fillRect(x, middle - size / 2, size, size);
  }
}

/** Dropped packets fall out of the queue; marked ones get a ring. */
function drawDrops(pen: CanvasRenderingContext2D, scene: Scene, place: Layout): Drawn[] {
  const { timeline, fall_ms } = scene;
  const size = Math.max(5, Math.min(10, place.cell));
  const drawn: Drawn[] = [];
  const gone = timeline.past.filter(([time, kind]) => (kind === "dropped" || kind === "marked") && time > timeline.shown_ms - fall_ms);
  for (const event of sampled(gone)) {
    const [time, kind, flow, , arrived] = event;
    const share = (timeline.shown_ms - time) / fall_ms;
    // As it arrived: at the tail. Later: somewhere in the queue, the same place all the time.
    const spread = ((arrived * 7919 + flow * 104_729) % 97) / 97;
    const { x: tail } = placeOf(place, timeline.queue.length);
    const x = time === arrived ? tail - spread * 30 - 6 : tail + spread * (place.queue.x + place.queue.width - tail);
    const bottom = place.height - size - 2;
    const top = place.queue.y + place.queue.height * (0.3 + 0.5 * spread);
    const y = kind === "dropped" ? top + (bottom - top) * share * share : place.queue.y - size;
    pen.globalAlpha = 1 - 0.8 * share;
    pen.fillStyle = scene.colors[flow] ?? scene.ink;
    pen.fillRect(x, y, size, size);
    pen.strokeStyle = kind === "dropped" ? scene.danger : scene.ink;
    pen.lineWidth = 1.5;
    pen.strokeRect(x, y, size, size);
    pen.globalAlpha = 1;
    drawn.push({ x, y, size, event });
  }
  return drawn;
}
