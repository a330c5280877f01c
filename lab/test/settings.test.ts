import { expect, test } from "vitest";
import { DEFAULTS, LinkError, OWN, fromFragment, toFragment } from "../src/settings";

const NAMES = ["protect", "ecn"];

test("settings survive a link", () => {
  const settings = {
    scenario: OWN,
    toml: 'name = "ä & b"\n[link]\nrate = "5Mbit/s"\n',
    changes: ["link.rate=5Mbit/s", "tcp.flows=3"],
    left: "red:minth=25%,maxth=50%",
    right: "",
    seed: 7,
    t_ms: 1234,
    speed: 0.1,
    lesson: [2, 1] as [number, number],
  };
  expect(fromFragment(`#${toFragment(settings)}`, NAMES)).toEqual(settings);
  expect(toFragment({ ...DEFAULTS })).toBe("");
  expect(fromFragment("", NAMES)).toEqual(DEFAULTS);
});

test.each([
  ["colour=red", /unknown key "colour"/],
  ["scenario=nowhere", /scenario "nowhere"; known: protect, ecn, own/],
  ["scenario=own", /no text/],
  ["seed=1.5", /"seed" is a whole number from 0 to 4294967295, not "1.5"/],
  ["t=soon", /"t" is a number/],
  ["t=", /"t" is a number/],
  ["speed=3", /"speed" is a number from 0.001 to 1/],
  ["lesson=first", /"lesson" is a lesson and a step such as 3.1/],
])("the link %s is refused in words", (fragment, words) => {
  expect(() => fromFragment(fragment, NAMES)).toThrow(LinkError);
  expect(() => fromFragment(fragment, NAMES)).toThrow(words);
});

test("a message quotes at most 80 characters of a link", () => {
  expect(() => fromFragment(`scenario=${"x".repeat(5000)}`, NAMES)).toThrow(/^.{0,200}$/);
});
