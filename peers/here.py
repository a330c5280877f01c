"""Headgate: the scenario of a case, and one run of it (`python -m peers.here SEED < scenario.toml`)."""

from __future__ import annotations

import json
import sys
import time

from peers.declare import Case, Flows

#: ns-3.37's TCP where it differs from the profile `rfc`.
NS3_TCP = {"delayed_ack": "200ms", "header": "42B", "ack": "42B"}


def scenario(case: Case) -> str:
    """The scenario as a TOML file."""
    lines = [
        f'name = "{case.name.replace(".", "_")}"',
        f'duration = "{case.duration}s"',
        f'warmup = "{case.warmup}s"',
        f'qdiscs = ["{case.discipline.here}"]',
        "[link]",
        f'rate = "{case.rate:.0f}bit/s"',
        f'delay = "{case.delay}ms"',
        f'limit = "{case.limit}p"',
    ]
    for flows in case.flows:
        for index, (rtt, count) in enumerate(flows.by_rtt()):
            lines += _section(case, flows, f"{flows.name}-{index}", rtt, count)
    return "\n".join(lines) + "\n"


def _section(case: Case, flows: Flows, name: str, rtt: float, count: int) -> list[str]:
    keys: dict[str, object] = {"name": name, "flows": count, "rtt": f"{rtt}ms", "start": "0s..1s"}
    keys["packet"] = f"{case.packet}B"
    keys |= _tcp(case, flows) if flows.kind == "tcp" else _udp(case, flows)
    if flows.on_off:
        periods = flows.on_off
        source = f"pareto:on={periods.on}s,off={periods.off}s,shape={periods.shape}"
        if periods.rate is not None:
            source += f",rate={periods.rate:.0f}bit/s,begin=off"
        keys["traffic"] = source
    return [f"[[{flows.kind}]]", *(f"{key} = {json.dumps(value)}" for key, value in keys.items())]


def _tcp(case: Case, flows: Flows) -> dict[str, object]:
    keys: dict[str, object] = {"window": case.window, "recovery": flows.recovery, "ecn": case.ecn}
    keys |= {"header": f"{case.header}B", "send_jitter": f"{case.send_jitter}ms"}
    if case.peer == "ns2":
        keys |= {"profile": "ns2", "initial_ssthresh": case.window}
    else:
        keys |= NS3_TCP
    return keys | dict(case.tcp)


def _udp(case: Case, flows: Flows) -> dict[str, object]:
    # ns-3's datagrams have headers of UDP, IP and the device; ns-2's have none.
    keys: dict[str, object] = {"header": "0B" if case.peer == "ns2" else "30B", "jitter": flows.jitter}
    if flows.rate is not None:
        keys["rate"] = f"{flows.rate:.0f}bit/s"
    return keys


def main() -> None:
    """Runs the scenario from standard input with one seed, and prints its results and processor time."""
    import headgate  # not above: the measured time excludes the import

    scenario = headgate.Scenario.parse(sys.stdin.read())
    before = time.process_time()
    result = headgate.run(scenario, seeds=[int(sys.argv[1])], threads=1, report=False)
    cpu_s = time.process_time() - before
    links = next(row for row in result.links.to_pylist() if row["direction"] == "forward")
    goodput: dict[str, float] = {}
    for row in result.flows.to_pylist():
        name = row["group"].rpartition("-")[0]
        goodput[name] = goodput.get(name, 0.0) + row["goodput_bps"]
    print(
        json.dumps(
            {
                "goodput_bps": goodput,
                "arrived": links["arrived"],
                "dropped": links["dropped"],
                "marked": links["marked"],
                "queue_packets": links["queue_packets_mean"],
                "utilization": links["utilization"],
                "packets": links["packets"],
                "cpu_s": cpu_s,
            }
        )
    )


if __name__ == "__main__":
    main()
