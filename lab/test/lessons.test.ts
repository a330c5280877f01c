/** The answers of the lessons, measured: whole runs in the engine that the page has. */

import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { LESSONS, settingsOf } from "../src/lessons";

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const built = existsSync(at("build/lab/pkg/headgate_web.js"));

interface Row {
  group: string;
  goodput_bps: number;
  queue_delay_ms_mean: number;
}
interface Found {
  flows: Row[];
  link: { queue_delay_ms_mean: number; drop_rate?: number; arrived: number; dropped: number };
}

let run: (scenario: string, qdisc: string, changes?: readonly string[]) => Found;
let packetsAt: (qdisc: string, t_ms: number) => number;

beforeAll(async () => {
  if (!built) return;
  const engine = await import(at("build/lab/pkg/headgate_web.js"));
  engine.initSync({ module: readFileSync(at("build/lab/pkg/headgate_web_bg.wasm")) });
  const text = (name: string) => readFileSync(at(`python/headgate/scenarios/${name}.toml`), "utf8");
  run = (name, qdisc, changes = []) => {
    const toml = changes.length > 0 ? engine.changed(text(name), changes) : text(name);
    return JSON.parse(new engine.Lab(toml, qdisc, 1).result());
  };
  packetsAt = (qdisc, t_ms) => {
    const lab = new engine.Lab(text("protect"), qdisc, 1);
    lab.skip(t_ms);
    return JSON.parse(lab.sample()).packets;
  };
});

const mean = (found: Found, group: string) => {
  const rows = found.flows.filter((row) => row.group === group);
  return rows.reduce((sum, row) => sum + row.goodput_bps, 0) / rows.length / 1e6;
};
const delay = (found: Found) => found.link.queue_delay_ms_mean;
const drops = (found: Found) => found.link.dropped / found.link.arrived;
const RED = "red:minth=25%,maxth=50%,maxp=0.02";

test("there are eight lessons, and every step sets the lab", () => {
  expect(LESSONS.length).toBe(8);
  LESSONS.forEach((lesson, number) => {
    lesson.steps.forEach((step, place) => {
      expect(settingsOf(number, place)?.left).toBe(step.set.left);
      expect(step.question.endsWith("?")).toBe(true);
    });
  });
  expect(settingsOf(8, 0)).toBeNull();
});

describe.skipIf(!built)("what the answers say is so", () => {
  test("a full buffer", () => {
    const [large, small] = [run("protect", "droptail"), run("protect", "droptail", ["link.limit=40p"])];
    expect(packetsAt("droptail", 5000)).toBeGreaterThan(650);
    expect(delay(large)).toBeGreaterThan(250);
    expect(delay(small)).toBeLessThan(20);
    expect(drops(small) / drops(large)).toBeGreaterThan(15);
    expect(Math.min(mean(large, "cbr"), mean(small, "cbr"))).toBeGreaterThan(4.9);
  });

  test("RED and BLUE", () => {
    const [red, blue, many] = [run("protect", RED), run("protect", "blue"), run("protect", "blue", ["tcp.flows=40"])];
    expect(delay(red)).toBeGreaterThan(80);
    expect(delay(red)).toBeLessThan(100);
    expect(mean(red, "cbr")).toBeGreaterThan(4.9);
    expect(delay(blue)).toBeLessThan(35);
    expect(drops(many) / drops(blue)).toBeGreaterThan(3);
  });

  test("one unresponsive flow", () => {
    expect(mean(run("protect", "choke:minth=25%,maxth=50%,maxp=0.02"), "cbr")).toBeCloseTo(4.5, 0);
    expect(mean(run("protect", "fred"), "cbr")).toBeLessThan(1.4);
  });

  test("SFB's bins", () => {
    const [usual, few] = [run("protect", "sfb"), run("protect", "sfb:bins=4,levels=2")];
    expect(mean(few, "tcp")).toBeLessThan(0.8 * mean(usual, "tcp"));
    expect(mean(few, "cbr")).toBeGreaterThan(3.5);
    expect(mean(usual, "cbr")).toBeLessThan(1.6);
  });

  test("tokens", () => {
    for (const qdisc of ["faba", "sfed"]) {
      const found = run("protect", qdisc);
      expect(mean(found, "cbr")).toBeLessThan(1.4);
      expect(mean(found, "tcp")).toBeGreaterThan(0.9);
    }
  });

  test("CoDel and FQ", () => {
    const fq = run("protect", "fq_codel");
    const waits = (group: string) => fq.flows.filter((row) => row.group === group).map((row) => row.queue_delay_ms_mean);
    expect(delay(run("protect", "codel"))).toBeCloseTo(14, 0);
    expect(Math.min(...waits("cbr"))).toBeGreaterThan(400);
    expect(Math.max(...waits("tcp"))).toBeLessThan(15);
  });

  test("ECN", () => {
    const red = run("ecn", RED);
    expect(mean(red, "marks") / mean(red, "drops")).toBeGreaterThan(1.07);
    expect(delay(run("ecn", "droptail"))).toBeGreaterThan(100);
    expect(delay(run("ecn", "blue"))).toBeLessThan(25);
  });
});
