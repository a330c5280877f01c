import { expect, test } from "vitest";
import type { About, Discipline, Flow, Sample } from "../src/engine/types";
import { described, explained } from "../src/explain";
import { counted, gauge, ms, rate } from "../src/format";
import { colorsOf, colorsOfGroups } from "../src/palette";
import { fullCommand, quoted } from "../src/panels/dialogs";
import { newName, withFlow } from "../src/panels/knobs";
import { score } from "../src/panels/play_panel";
import { byGroup, goodputAt } from "../src/side";
import { countOf } from "../src/side_view";
import { layout, packetsOf, placeOf, thresholdOf } from "../src/stage/layout";

const red = { name: "red", title: "RED", parameters: [{ name: "minth", default: "5p" }, { name: "maxth", default: "15p" }] } as Discipline;
const about = { qdisc: "red:minth=25%", flows: [{ packet_bytes: 500 }], link: { limit: "40p" } } as About;
const flow = (number: number, responsive: boolean, group = "tcp") =>
  ({ flow: number, group, name: `${group} ${number}`, responsive, fair_bps: 1e6 }) as Flow;

test("numbers have three digits and a unit", () => {
  expect([rate(4_893_210), rate(34_800), rate(2.5e9), rate(0)]).toEqual(["4.89 Mbit/s", "34.8 kbit/s", "2.50 Gbit/s", "0 kbit/s"]);
  expect([ms(277.4), ms(0.4132), ms(2500)]).toEqual(["277 ms", "0.413 ms", "2.50 s"]);
  expect([gauge(0.0213, "probability"), gauge(null, "packets"), gauge(1, "0 or 1")]).toEqual(["2.13 %", "–", "yes"]);
});

test("goodput is measured over two seconds", () => {
  const at = (t_ms: number, bytes: number) => ({ t_ms, flows: [{ delivered_bytes: bytes }] }) as Sample;
  const samples = [at(0, 0), at(1000, 125_000), at(2000, 250_000), at(3000, 250_000), at(4000, 250_000)];
  expect(goodputAt(samples, 2)).toEqual([1e6]);
  expect(goodputAt(samples, 4)).toEqual([0]);
  expect(goodputAt([], 0)).toEqual([]);
  const share = (group: string, goodput_bps: number) => ({ group, name: group, goodput_bps, fair_bps: 1 });
  expect(byGroup([share("a", 1), share("a", 3), share("b", 5)]).map((each) => [each.name, each.goodput_bps])).toEqual([["a (mean of 2)", 2], ["b", 5]]);
});

test("limits and thresholds become lengths of the queue", () => {
  expect([packetsOf("780p", 512), packetsOf("60kB", 500), packetsOf("12", 1), packetsOf("auto", 1)]).toEqual([780, 120, 12, null]);
  expect(thresholdOf(about, red, "minth", 40)).toBe(10);
  expect(thresholdOf(about, red, "maxth", 40)).toBe(15);
  expect(thresholdOf(about, red, "target", 40)).toBeNull();
});

test.each([10, 100, 780, 5000])("a queue of %i packets fits its box", (capacity) => {
  for (const width of [300, 390, 600, 1200]) {
    const place = layout(width, 230, capacity);
    const last = placeOf(place, capacity - 1);
    expect(last.x).toBeGreaterThanOrEqual(place.queue.x);
    expect(last.y + place.cell).toBeLessThanOrEqual(place.queue.y + place.queue.height);
  }
});

test("a noun agrees with its number", () => {
  expect([0, 1, 2].map((count) => counted(count, "packets"))).toEqual(["0 packets", "1 packet", "2 packets"]);
  expect([gauge(1, "flows"), gauge(3, "flows"), gauge(1.5, "packets")]).toEqual(["1 flow", "3 flows", "1.50 packets"]);
  expect(described("RED", 0, 1, null, [])).toBe("RED at 0.0 s: 1 packet queued.");
});

test("unresponsive flows have colors of their own", () => {
  const colors = colorsOf([flow(0, true), flow(1, true), flow(2, false, "cbr"), flow(3, false, "cbr")]);
  expect(new Set(colors.slice(0, 2)).size).toBe(2);
  expect(colors[2]).toBe(colors[3]);
  expect(colors.slice(0, 2)).not.toContain(colors[2]);
  const many = Array.from({ length: 40 }, (_, number) => flow(number, true, number < 20 ? "marks" : "drops"));
  expect(new Set(colorsOf(many)).size).toBe(2);
  expect(colorsOfGroups(many).get("drops")).toBe(colorsOf(many)[39]);
});

test("events and states are told in sentences", () => {
  const told = explained([5215.8, "dropped", 0, 512, 5215.8, "overflow", 9], [flow(0, true)], red, { overflow: "the buffer was full" });
  expect(told).toBe("5.2158 s: RED dropped a packet of tcp 0 (512 bytes) as it arrived because the buffer was full.");
  const state = described("RED", 6200, 312, 128, [{ name: "a", goodput_bps: 1e6, fair_bps: 1e6 }, { name: "cbr", goodput_bps: 4.9e6, fair_bps: 1e6 }]);
  expect(state).toBe("RED at 6.2 s: 312 packets queued, queueing delay 128 ms. Most above its fair share: cbr with 4.90 Mbit/s of 1.00 Mbit/s.");
});

test("the command in full can be pasted into a shell", () => {
  expect(fullCommand("protect", ["link.rate=5Mbit/s"], ["droptail", "red:maxp=0.1"])).toBe(
    "headgate run protect --set link.rate=5Mbit/s --qdisc droptail --qdisc red:maxp=0.1 --seeds 10",
  );
  expect(quoted("it's [a; b]")).toBe(`'it'\\''s [a; b]'`);
});

test("a flow is added under a new name", () => {
  expect(newName("extra", ["tcp", "extra", "extra2"])).toBe("extra3");
  expect(withFlow('name = "x"\n', "extra", 2_000_000)).toContain('[[udp]]\nname = "extra"\nrate = "2000kbit/s"');
});

test("drops are told by group, the most first", () => {
  expect(countOf(new Map([["tcp", 5], ["cbr", 12]]), "drops")).toBe("17 drops (cbr 12, tcp 5)");
  expect(countOf(new Map([["tcp", 1]]), "drops")).toBe("1 drop (tcp 1)");
  expect(countOf(new Map(), "drops")).toBe("0 drops");
});

test("the score rewards a fair share and an empty queue", () => {
  expect(score(1e6, 1e6, 0)).toBe(1);
  expect(score(5e6, 1e6, 0)).toBe(1.5);
  expect(score(1e6, 1e6, 300)).toBe(-2);
});
