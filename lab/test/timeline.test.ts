import { expect, test } from "vitest";
import type { PacketEvent, Snapshot } from "../src/engine/types";
import { Timeline } from "../src/timeline";

const snapshot = (t_ms: number, events: PacketEvent[], lost_events = 0): Snapshot => ({
  t_ms,
  finished: false,
  packets: 0,
  bytes: 0,
  gauges: {},
  bins: [],
  flows: [],
  queue: [[9, t_ms, 100, 0]],
  events,
  lost_events,
});

test("packets enter, leave and fall when they are shown, not when they are known", () => {
  const line = new Timeline();
  line.take(snapshot(30, [
    [10, "arrived", 0, 100, 10, null, 0],
    [11, "arrived", 1, 100, 11, null, 1],
    [12, "dropped", 1, 100, 11, "overflow", 1],
    [20, "sent", 0, 100, 10, null, 0],
  ]));
  line.advance(15, 5, 100);
  expect(line.queue).toEqual([[0, 10, 100, 0]]);
  expect(line.ahead.length).toBe(3);
  line.advance(18, 5, 100);
  expect(line.queue.length).toBe(1);
  line.advance(30, 5, 100);
  expect(line.queue).toEqual([]);
  expect(line.past.length).toBe(4);
  line.advance(200, 5, 100);
  expect(line.past).toEqual([]);
});

test("the packet that an event names is removed, not its flow's first", () => {
  const line = new Timeline();
  line.take(snapshot(9, [
    [1, "arrived", 4, 100, 1, null, 0],
    [1, "arrived", 4, 100, 1, null, 1],
    [3, "arrived", 4, 100, 3, null, 2],
    [4, "dropped", 4, 100, 1, "choke", 1],
  ]));
  line.advance(9, 0, 10);
  expect(line.queue.map(([, , , number]) => number)).toEqual([0, 2]);
});

test("after a gap in the events the queue is taken from the snapshot", () => {
  const line = new Timeline();
  line.take(snapshot(50, [[49, "arrived", 0, 100, 49, null, 0]], 7));
  expect(line.queue).toEqual([[9, 50, 100, 0]]);
  expect(line.shown_ms).toBe(50);
});
