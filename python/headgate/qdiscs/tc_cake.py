"""Words of tc for sch_cake that are not options with a value.

Source: tc/q_cake.c of iproute2 6.1 and tc-cake(8).
"""

#: Round-trip times by name.
ROUND_TRIPS = {
    "datacentre": "100us",
    "lan": "1ms",
    "metro": "10ms",
    "regional": "30ms",
    "internet": "100ms",
    "oceanic": "300ms",
    "satellite": "1s",
    "interplanetary": "1000s",
}
#: Overhead, least size and framing of links by name.
LINKS: dict[str, dict[str, str]] = {
    "raw": {"overhead": "0", "mpu": "0B", "framing": "noatm"},
    "conservative": {"overhead": "48", "framing": "atm"},
    "ethernet": {"overhead": "38", "mpu": "84B"},
    "docsis": {"overhead": "18", "mpu": "64B", "framing": "noatm"},
    "pppoe-ptm": {"overhead": "30", "framing": "ptm"},
    "bridged-ptm": {"overhead": "22", "framing": "ptm"},
    "pppoa-vcmux": {"overhead": "10", "framing": "atm"},
    "pppoa-llc": {"overhead": "14", "framing": "atm"},
    "pppoe-vcmux": {"overhead": "32", "framing": "atm"},
    "pppoe-llcsnap": {"overhead": "40", "framing": "atm"},
    "bridged-vcmux": {"overhead": "24", "framing": "atm"},
    "bridged-llcsnap": {"overhead": "32", "framing": "atm"},
    "ipoa-vcmux": {"overhead": "8", "framing": "atm"},
    "ipoa-llcsnap": {"overhead": "16", "framing": "atm"},
}
#: Words that say what Headgate does anyway.
DEFAULTS = ("nonat", "nowash", "split-gso", "egress", "unlimited")
#: Words for what Headgate does not have.
MISSING = ("nat", "wash", "ingress", "autorate-ingress", "no-split-gso", "ether-vlan")
