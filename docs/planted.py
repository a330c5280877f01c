"""Plants faults in the transport one at a time, and tells which of them its laws notice.

python docs/planted.py          # a worktree of HEAD, a build and a run of the laws for each fault: some minutes each
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SIM = Path("crates/sim/src")
LAWS = (
    "cargo",
    "test",
    "--quiet",
    "-p",
    "headgate-sim",
    "--test",
    "all",
    "--",
    "transport::",
    "tcp_script::accurate::",
)

WORKTREE = ("git", "worktree")


class Fault(NamedTuple):
    """A place of the code, and what stands there instead."""

    what: str
    file: str
    right: str
    wrong: str


FAULTS = (
    Fault(
        "ACE and the echo share bits",
        "segment.rs",
        "let ace = Ace::from_bits((self.0 >> ACE) as u8);",
        "let ace = Ace::from_bits((self.0 >> ACE) as u8);\nlet flag = flag || ace.bits() & 1 == 1;",
    ),
    Fault("the receiver counts no marks", "tcp/receiver.rs", "self.ace.after(marked)", "self.ace.after(false)"),
    Fault(
        "the sender forgets which marks it knows",
        "tcp/sender/marks.rs",
        "self.marks.wrapping_add(info.marked)",
        "self.marks",
    ),
    Fault(
        "the option counts unmarked segments",
        "tcp/accecn.rs",
        "let marked = ecn == Ecn::Ce;",
        "let marked = ecn.is_capable();",
    ),
    Fault(
        "a field that went round counts the fewest marks",
        "tcp/accecn.rs",
        "_ => delivered - (delivered - least) % Ace::MODULUS,",
        "_ => least,",
    ),
    Fault("every echo reduces the window", "tcp/sender/marks.rs", " && info.ack > self.ecn_recover;", ";"),
    Fault(
        "a mark halves CUBIC's window",
        "tcp/cc/cubic.rs",
        "let less = cwnd * if config.abe { BETA_ECN } else { config.cubic_beta };",
        "let less = cwnd * if config.abe { BETA_ECN } else { 0.5 };",
    ),
    Fault("a timeout is eight times the last", "tcp/rto.rs", "(self.timeout * 2)", "(self.timeout * 8)"),
    Fault(
        "slow start grows by a tenth", "tcp/cc/reno.rs", "window.grow(grown, config", "window.grow(grown / 10.0, config"
    ),
    Fault(
        "a delayed acknowledgement is forgotten",
        "tcp/receiver.rs",
        "self.ack_due = now + delay;",
        "self.ack_due = Time::NEVER;",
    ),
    Fault("pacing at half the rate", "tcp/pacing.rs", "from_secs_f64(1.0 / rate)", "from_secs_f64(2.0 / rate)"),
    Fault(
        "LEDBAT's window follows the paced flight",
        "tcp/cc/ledbat.rs",
        "if config.pacing { used.max(window.cwnd()) } else { used }",
        "used",
    ),
)


def run(words: tuple[str, ...], folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command in a folder; cargo builds into one of its own."""
    environment = {**os.environ, "CARGO_TARGET_DIR": str(ROOT / "target/planted")}
    return subprocess.run(  # noqa: S603 - words of this file
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def planted(fault: Fault, tree: Path) -> list[str]:
    """The laws that notice a fault in a tree, by the names of their tests. The tree is as before afterwards."""
    file = tree / SIM / fault.file
    code = file.read_text()
    if code.count(fault.right) != 1:
        raise SystemExit(
            f"{SIM / fault.file} has {fault.right!r} {code.count(fault.right)} times: mend docs/planted.py"
        )
    file.write_text(code.replace(fault.right, fault.wrong))
    try:
        done = run(LAWS, tree)
    finally:
        file.write_text(code)
    if "error[" in done.stderr:
        raise SystemExit(f"{fault.what}: it does not compile\n{done.stderr}")
    return [line.split()[0] for line in done.stdout.splitlines() if line.endswith("--- FAILED")]


def main() -> int:
    """Prints a line for each fault, and fails if a fault goes unnoticed."""
    unnoticed = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        run((*WORKTREE, "add", "--quiet", "--detach", str(tree), "HEAD"), ROOT).check_returncode()
        try:
            for fault in FAULTS:
                laws = planted(fault, tree)
                unnoticed += not laws
                print(f"{fault.what}: {', '.join(laws) or 'NOT NOTICED'}", flush=True)
        finally:
            run((*WORKTREE, "remove", "--force", str(tree)), ROOT).check_returncode()
    print(f"{len(FAULTS) - unnoticed} of {len(FAULTS)} faults are noticed")
    return min(unnoticed, 1)


if __name__ == "__main__":
    sys.exit(main())
