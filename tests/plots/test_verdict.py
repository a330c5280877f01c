"""The verdict, one sentence on a run, and the ranking behind it."""

import pytest

import headgate
from headgate.analysis.division import Division, LinkShare, divisions
from headgate.analysis.spread import estimate
from headgate.analysis.verdict import sentence, verdict
from headgate.scenario import Group, Role, Scenario

RATE = 10e6


def seeds_of(mean, spread=0.01):
    """Five seeds with this mean, half a percent apart."""
    return estimate(mean * (1 + spread * step) for step in (-1, -0.5, 0, 0.5, 1))


def six(values):
    """Six seeds: two beside each of three values."""
    return estimate(value * (1 + step) for value in values for step in (-0.001, 0.001))


def division(label, parts, jain=0.9, queue_delay_ms_p95=20.0, misallocated=None, delays=None):
    if misallocated is None:
        misallocated = seeds_of(sum(abs(part.goodput_bps - part.fair_bps) for part in parts))
    p95 = seeds_of(queue_delay_ms_p95, 0.0001)
    return Division(label, parts, misallocated, p95, jain, delays or {})


def two_classes(label, tcp, udp, flows=1, **more):
    return division(
        label,
        [
            LinkShare("TCP", Role.RESPONSIVE, 9, tcp, 8.4e6),
            LinkShare("UDP", Role.UNRESPONSIVE, flows, udp, 0.93e6, most_share=1.01 * udp / 0.93e6),
        ],
        **more,
    )


def two_groups(label, near, far, **more):
    return division(
        label,
        [LinkShare(name, Role.RESPONSIVE, 5, goodput, 4.65e6, is_fair=abs(goodput - 4.65e6) < 0.2e6)
         for name, goodput in (("near", near), ("far", far))],
        **more,
    )  # fmt: skip


def one_group(label, goodput, jain, misallocated, flows=10):
    return division(
        label, [LinkShare("tcp", Role.RESPONSIVE, flows, goodput, 9.3e6)], jain=jain,
        misallocated=seeds_of(misallocated),
    )  # fmt: skip


def with_a_call(label, delay_ms):
    """Downloads and a call whose 95th percentile of the queueing delay is this in six seeds."""
    return two_groups(label, 4.65e6, 4.65e6, delays={"call": six(delay_ms)})


def test_the_verdict_has_the_goodput_of_the_flow_with_the_best_the_next_and_the_last_discipline():
    ranking = [two_classes(*row) for row in (("FABA", 8.3e6, 1.1e6), ("SFB", 7.3e6, 2e6), ("DropTail", 4.6e6, 4.88e6))]
    assert sentence(ranking, RATE) == (
        "FABA holds the unresponsive flow to 1.10 Mbit/s (fair share 0.930). SFB lets it take 2.00, DropTail 4.88"
    )


@pytest.mark.parametrize(
    ("udp", "change"),
    [
        # 1.29 times the fair share, and up to 1.6 times it; a flow that has stopped; one of two that take 4.6 times it.
        (1.2e6, {"most_share": 1.6}),
        (0.0, {"fair_bps": 0.0, "most_share": None}),
        (4.28e6, {"most_share": 4.7}),
    ],
)
def test_a_flow_is_held_only_if_its_whole_interval_is_below_the_bound(udp, change):
    choke, red = two_classes("CHOKe", 8.3e6, udp), two_classes("RED", 4.6e6, 4.88e6)
    choke.parts[1] = choke.parts[1]._replace(**change)
    assert sentence([choke, red], RATE).startswith("CHOKe lets the unresponsive flow take ")


def test_disciplines_are_said_to_hold_a_flow_only_if_all_that_are_named_do():
    ranking = [
        two_classes("FRED", 8.3e6, 1.1e6, misallocated=six([0.2e6, 0.3e6, 0.4e6])),
        two_classes("CHOKe", 5.0e6, 4.28e6, misallocated=six([0.5e6, 0.2e6, 0.6e6])),
        two_classes("FABA", 8.2e6, 1.2e6, misallocated=six([1.4e6, 1.5e6, 1.6e6])),
    ]
    assert sentence(ranking, RATE) == (
        "FRED and CHOKe let the unresponsive flow take 1.10 and 4.28 Mbit/s (fair share 0.930; no difference from FRED "
        "shown). FABA lets it take 1.20"
    )


def test_disciplines_that_are_not_shown_to_differ_from_the_first_share_its_rank():
    ranking = [
        two_classes("FRED", 8.3e6, 1.1e6, misallocated=six([0.2e6, 0.3e6, 0.4e6])),
        two_classes("FABA", 8.2e6, 1.2e6, misallocated=six([0.5e6, 0.2e6, 0.6e6])),
        two_classes("DropTail", 4.6e6, 4.88e6, misallocated=six([7.8e6, 7.8e6, 7.9e6])),
    ]
    assert sentence(ranking, RATE) == (
        "FRED and FABA hold the unresponsive flow to 1.10 and 1.20 Mbit/s (fair share 0.930; no difference from FRED "
        "shown). DropTail lets it take 4.88"
    )
    apart = [ranking[0], ranking[1]._replace(misallocated_bps=six([0.9e6, 1.01e6, 1.12e6])), ranking[2]]
    assert sentence(apart, RATE) == (
        "FRED holds the unresponsive flow to 1.10 Mbit/s (fair share 0.930), FABA to 1.20. DropTail lets it take 4.88"
    )


def test_a_discipline_beyond_one_that_is_shown_to_be_worse_is_not_called_best():
    ranking = [
        two_classes("FRED", 8.3e6, 1.1e6, misallocated=six([0.2e6, 0.3e6, 0.4e6])),
        two_classes("DropTail", 4.6e6, 4.88e6, misallocated=six([7.8e6, 7.8e6, 7.9e6])),
        two_classes("RED", 4.5e6, 4.95e6, misallocated=six([1e6, 2e6, 24e6])),
    ]
    assert sentence(ranking, RATE) == (
        "FRED holds the unresponsive flow to 1.10 Mbit/s (fair share 0.930). DropTail lets it take 4.88. No difference "
        "from RED shown with 6 seeds"
    )


def test_more_than_three_disciplines_of_the_first_rank_are_counted():
    ranking = [two_classes(f"D{number}", 8.3e6, 1.1e6) for number in range(5)] + [two_classes("last", 5e6, 4e6)]
    assert sentence(ranking, RATE).startswith(
        "D0, D1 and 3 more hold the unresponsive flow to 1.10 Mbit/s (fair share 0.930; no difference from D0 shown)"
    )


def test_several_unresponsive_flows_have_a_verb_in_the_plural():
    text = sentence([two_classes("FABA", 8.3e6, 1.1e6, flows=3)], RATE)
    assert text == "The 3 unresponsive flows take 1.10 Mbit/s with FABA (fair share 0.930)"


def test_disciplines_that_hardly_differ_are_not_ranked():
    ranking = [two_classes("BLUE", 4.7e6, 4.81e6), two_classes("RED", 4.65e6, 4.88e6)]
    assert sentence(ranking, RATE) == (
        "The disciplines do not differ noticeably: the unresponsive flow takes 4.81 Mbit/s with BLUE, 4.88 with RED "
        "(fair share 0.930)"
    )


def test_without_a_difference_the_verdict_says_how_many_seeds_would_show_one():
    ranking = [
        two_classes("FABA", 8.3e6, 1.1e6, misallocated=six([0.2e6, 0.3e6, 2.9e6])),
        two_classes("RED", 7e6, 2.1e6, misallocated=six([0.3e6, 4e6, 3e6])),
    ]
    text = sentence(ranking, RATE)
    assert text.startswith(
        "No difference shown with 6 seeds: the unresponsive flow takes 1.10 Mbit/s with FABA, 2.10 with RED "
    )
    # Differences 0.1, 3.7, 0.1 Mbit/s: mean 1.3, deviation 1.86, so t = 0.70 sqrt(n) has to be 2.96.
    assert text.endswith(". About 19 would show one (misallocated goodput, FABA and RED)")


def test_no_discipline_is_best_if_only_others_are_shown_to_differ():
    # FABA has the least mean, but its seeds differ much: it is not shown to be better than any other.
    varying = six([0.1e6, 1.0e6, 3.1e6])
    ranking = [
        two_classes("FABA", 8.3e6, 1.1e6, misallocated=varying),
        two_classes("SFB", 7.3e6, 2e6, misallocated=six([1.99e6, 2.0e6, 2.01e6])),
        two_classes("DropTail", 4.6e6, 4.88e6, misallocated=six([2.99e6, 3.0e6, 3.01e6])),
    ]
    assert sentence(ranking, RATE) == (
        "No best discipline shown with 6 seeds: the unresponsive flow takes 1.10 Mbit/s with FABA, 4.88 with DropTail "
        "(fair share 0.930)"
    )


def test_one_seed_names_no_best():
    ranking = [
        two_classes("FABA", 8.3e6, 1.1e6, misallocated=estimate([0.3e6])),
        two_classes("DropTail", 4.6e6, 4.88e6, misallocated=estimate([7.8e6])),
    ]
    assert sentence(ranking, RATE) == (
        "The unresponsive flow takes 1.10 Mbit/s with FABA, 4.88 with DropTail (fair share 0.930). One seed shows no "
        "difference: at least 5 are needed"
    )


def test_without_unresponsive_flows_groups_are_compared():
    ranking = [two_groups("FABA", 4.9e6, 4.1e6), two_groups("DropTail", 6.9e6, 2.3e6)]
    assert sentence(ranking, RATE) == (
        "FABA divides the link most fairly: a flow of “near” gets 1.2 times the goodput of one of “far”. "
        "With DropTail: 3.0 times"
    )
    assert sentence([two_groups("FABA", 4.6e6, 4.5e6), ranking[1]], RATE) == (
        "FABA divides the link most fairly: each group gets its fair share within 10 %. "
        "With DropTail, a flow of “near” gets 3.0 times the goodput of one of “far”"
    )


def test_a_group_gets_its_fair_share_only_if_its_whole_interval_is_near_it():
    # Means of 4.6 and 4.5 Mbit/s are near 4.65, but the seeds do not show it of the second.
    even = two_groups("FABA", 4.6e6, 4.5e6)
    even.parts[1] = even.parts[1]._replace(is_fair=False)
    assert sentence([even, two_groups("DropTail", 6.9e6, 2.3e6)], RATE) == (
        "FABA divides the link most fairly: a flow of “near” gets 1.0 times the goodput of one of “far”. "
        "With DropTail: 3.0 times"
    )


@pytest.mark.parametrize(("seeds", "shown"), [(5, True), (4, False)])
def test_equal_groups_get_their_fair_shares_if_five_seeds_show_it(seeds, shown):
    text = """
    name = "even"
    duration = "8s"
    warmup = "2s"
    qdiscs = ["fq_codel"]
    link = { rate = "10Mbit/s", delay = "5ms", limit = "100p" }
    tcp = [{ name = "a", flows = 2, start = "0s..1s" }, { name = "b", flows = 2, start = "0s..1s" }]
    """
    result = headgate.run(Scenario.parse(text, seeds=seeds), report=False)
    (only,) = divisions(result)
    for part, group in zip(only.parts, result.summary()[0]["groups"], strict=True):
        shares = group["share_of_fair"]
        assert (shares["low"] >= 0.9, shares["high"] <= 1.1) == (True, True)
        assert part.is_fair is shown
    assert ("gets its fair share within 10 %" in verdict(result)) is shown


def test_the_delay_of_packets_is_stated_if_it_differs_more_than_the_division():
    ranking = [
        two_groups("FABA", 4.6e6, 4.5e6, queue_delay_ms_p95=30.0),
        two_groups("RED", 4.6e6, 4.49e6, queue_delay_ms_p95=15.0),
    ]
    assert sentence(ranking, RATE) == (
        "RED delays packets least: 95 % of packets have a queueing delay of at most 15.0 ms with RED, 30.0 with FABA"
    )


def test_the_delay_of_a_call_is_its_own_and_not_that_of_all_packets():
    ranking = [
        with_a_call("DropTail", [236, 238, 235])._replace(queue_delay_ms_p95=seeds_of(236)),
        with_a_call("CoDel", [17.1, 17.6, 18])._replace(queue_delay_ms_p95=seeds_of(17)),
        # The flood's own queue is long, the call's is short.
        with_a_call("FQ-CoDel", [1.2, 2.4, 1.5])._replace(queue_delay_ms_p95=seeds_of(240)),
    ]
    assert sentence(ranking, RATE) == (
        "FQ-CoDel delays “call” least: 95 % of its packets have a queueing delay of at most 1.70 ms with FQ-CoDel, "
        "17.6 with CoDel, 236 with DropTail"
    )


def test_a_difference_within_the_intervals_is_not_stated():
    """Means of 22.7 and 58.5 ms with margins of 8 and 42 ms."""
    ranking = [with_a_call("SFB", [13.0, 24.0, 31.1]), with_a_call("CoDel", [113.0, 45.5, 17.0])]
    text = sentence(ranking, RATE)
    assert text.startswith("No difference shown with 5 seeds: 95 % of packets of “call” have a queueing delay of")
    assert "p95 queueing delay of call, SFB and CoDel)" in text


def test_the_verdict_on_a_group_without_goodput():
    assert sentence([two_groups("DropTail", 9e6, 0.0)], RATE) == "“far” gets no goodput with DropTail"
    assert sentence([two_groups("FABA", 4.9e6, 4.1e6), two_groups("DropTail", 9e6, 0.0)], RATE).endswith(
        "of one of “far”. With DropTail, “far” gets no goodput"
    )


def test_one_group_is_described_by_jains_index():
    red, faba = one_group("RED", 9e6, 0.987, 0.5e6), one_group("FABA", 9e6, 0.8, 1.2e6)
    assert sentence([red], RATE) == "10 flows share the link. Jain's index is 0.987 with RED (1: equal shares)"
    assert sentence([red, faba], RATE) == (
        "RED divides the link most evenly among 10 flows. "
        "Jain's index is 0.987 with RED, 0.800 with FABA (1: equal shares)"
    )
    assert (
        sentence([one_group("RED", 9e6, 1.0, 0.3e6, flows=1)], RATE)
        == "One flow uses the link alone. Its goodput is 9.00 Mbit/s with RED"
    )


def test_one_seed_in_which_a_call_got_no_packet_through_is_described_by_the_division(make):
    text = verdict(make(groups=[Group("near", "tcp", 5, None), Group("far", "tcp", 5, None), CALLS], seeds=[1]))
    assert text.endswith("One seed shows no difference: at least 5 are needed")


def test_the_verdict_without_data(make):
    assert verdict(make(idle=True)) == "No data reached a receiver after the warm-up"


def test_the_fairest_division_comes_first_and_parts_add_up_to_all_goodput(make):
    result = make()
    ranking = divisions(result)
    misallocated = [division.misallocated for division in ranking]
    assert misallocated == sorted(misallocated)
    assert ranking[-1].label == "DropTail"
    seeds = len(result.scenario.seeds)
    total = sum(result.flows.column("goodput_bps").to_pylist()) / seeds
    assert sum(division.goodput_bps for division in ranking) == pytest.approx(total)


@pytest.mark.parametrize(
    ("groups", "piece"),
    [
        ([Group("a", "tcp", 2, None), Group("b", "tcp", 3, None), Group("c", "udp", 1, 5e6, responsive=False)], "kind"),
        ([Group("a", "tcp", 2, None), Group("b", "tcp", 3, None)], "group"),
        ([Group("a", "tcp", 5, None)], "flow"),
    ],
    ids=["classes", "groups", "flows"],
)
def test_misallocated_goodput_is_the_distance_from_the_fair_division_in_each_seed(make, groups, piece):
    result = make(groups=groups, qdiscs=["red"])
    table = result.flows.to_pandas()
    for seed, share_error in zip(result.scenario.seeds, divisions(result)[0].misallocated_bps["per_seed"], strict=True):
        mine = table[table["seed"] == seed].groupby(table[piece].astype(str))[["goodput_bps", "fair_share_bps"]].sum()
        assert share_error == pytest.approx((mine["goodput_bps"] - mine["fair_share_bps"]).abs().sum())


def test_many_groups_are_drawn_as_the_first_five_and_the_rest(make):
    groups = [Group(f"g{number}", "tcp", 1, None) for number in range(9)]
    parts = divisions(make(groups=groups))[0].parts
    assert [part.name for part in parts] == ["g0", "g1", "g2", "g3", "g4", "all other groups"]
    assert parts[-1].flows == 4


CALLS = Group("calls", "udp", 3, 80e3, responsive=False, greedy=False)
FLOOD = Group("flood", "udp", 1, 5e6, responsive=False)
AMOUNTS = (("RED", 5e6), ("FABA", 1e6))
VIDEO = Group("video", "udp", 2, None)


def test_groups_that_need_less_than_their_share_do_not_affect_the_ranking(make):
    groups = [Group("near", "tcp", 5, None), Group("far", "tcp", 5, None), CALLS]
    result = make(groups=groups)
    assert "unresponsive" not in verdict(result)
    assert "calls" not in verdict(result)
    first = divisions(result)[0]
    assert [part.role for part in first.parts] == [Role.RESPONSIVE, Role.RESPONSIVE, Role.MODEST]
    assert [part.name for part in first.compared] == ["near", "far"]
    table = result.flows.to_pandas().query("qdisc == 'faba' and group != 'calls'")
    sums = table.groupby(["seed", table["group"].astype(str)])[["goodput_bps", "fair_share_bps"]].sum()
    distances = (sums["goodput_bps"] - sums["fair_share_bps"]).abs().groupby("seed").sum()
    (faba,) = (each for each in divisions(result) if each.label == "FABA")
    assert faba.misallocated_bps["per_seed"] == pytest.approx(distances.tolist())


def test_the_other_groups_share_what_modest_groups_leave(make):
    text = verdict(make(groups=[Group("bulk", "tcp", 5, None), CALLS], qdiscs=["red"]))
    assert text.startswith("5 flows share the rest of the link. Jain's index is ")


def test_tfrc_counts_as_responsive_like_tcp(make):
    first = divisions(make(groups=[Group("web", "tcp", 5, None), VIDEO, FLOOD]))[0]
    assert [(part.name, part.flows) for part in first.parts] == [("TCP and TFRC", 7), ("UDP", 1)]
    others = LinkShare("TCP and TFRC", Role.RESPONSIVE, 7, 8.3e6, 8.4e6)
    far, near = (
        division(label, [others, LinkShare("UDP", Role.UNRESPONSIVE, 1, udp, 0.93e6, udp / 0.93e6)])
        for label, udp in AMOUNTS
    )
    assert sentence([near, far], RATE).startswith("FABA holds the unresponsive flow to 1.00 Mbit/s")
    between = verdict(make(groups=[Group("web", "tcp", 5, None), VIDEO], qdiscs=["droptail"]))
    assert "unresponsive" not in between


def test_if_all_groups_are_modest_all_are_compared(make):
    groups = [CALLS, CALLS._replace(name="games")]
    first = divisions(make(groups=groups))[0]
    assert [part.name for part in first.compared] == ["calls", "games"]


@pytest.mark.parametrize(
    ("file", "roles"),
    [
        # Web pages are half of the link's load and calls 30 kbit/s each: films and bulk transfers want more.
        ("mix", {"web": Role.MODEST, "video": Role.RESPONSIVE, "bulk": Role.RESPONSIVE, "calls": Role.MODEST}),
        ("classes", {"web": Role.RESPONSIVE, "backup": Role.RESPONSIVE, "calls": Role.MODEST}),
        ("protect", {"tcp": Role.RESPONSIVE, "cbr": Role.UNRESPONSIVE}),
    ],
)
def test_groups_of_ready_scenarios_have_the_right_roles(file, roles):
    groups = Scenario.load(f"scenarios/{file}.toml").groups
    assert {group.name: group.role for group in groups} == roles
    assert [group.name for group in groups if group.brief] == (["web"] if file == "mix" else [])


def test_the_next_best_is_named_beside_a_discipline_that_may_be_as_good():
    ranking = [
        two_classes("FRED", 8.77e6, 1.23e6, misallocated=six([0.45e6, 0.455e6, 0.46e6])),
        two_classes("FABA", 8.68e6, 1.25e6, misallocated=six([0.556e6, 0.566e6, 0.576e6])),
        two_classes("SFB", 8.88e6, 1.11e6, misallocated=six([0.1e6, 0.7e6, 1.4e6])),
        two_classes("DropTail", 5e6, 5e6, misallocated=six([7.9e6, 8e6, 8.1e6])),
    ]
    assert sentence(ranking, RATE) == (
        "FRED holds the unresponsive flow to 1.23 Mbit/s (fair share 0.930), FABA to 1.25. DropTail lets it take 5.00. "
        "No difference from SFB shown with 6 seeds"
    )
