// Runs the lab's engine in node. Reads a job from standard input, and prints one line for each discipline: the result's JSON
// as the engine gives it.
import { readFileSync } from "node:fs";

const { pkg, toml, qdiscs, seed } = JSON.parse(readFileSync(0, "utf8"));
// Without a package.json beside it, node takes the file for another kind of module.
const source = readFileSync(`${pkg}/headgate_web.js`).toString("base64");
const { initSync, Lab } = await import(`data:text/javascript;base64,${source}`);
initSync({ module: readFileSync(`${pkg}/headgate_web_bg.wasm`) });

// Steps of a page: frames, single packets, and a jump.
function look(lab) {
  const { duration_ms } = JSON.parse(lab.about());
  for (let now = 0, turn = 0; now < duration_ms / 2; turn += 1) {
    now += [16.7, 333.3, 1000][turn % 3];
    if (turn % 3 === 2) lab.skip(now);
    else lab.advance(now);
    now = lab.step();
    JSON.parse(turn % 2 === 0 ? lab.snapshot() : lab.sample());
  }
}

for (const qdisc of qdiscs) {
  try {
    const lab = new Lab(toml, qdisc, seed);
    look(lab);
    console.log(lab.result());
    lab.free();
  } catch (error) {
    console.log(JSON.stringify({ error: error.message }));
  }
}
