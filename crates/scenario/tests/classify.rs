//! Classes and flows of packets: every condition, the order of rules, the tree of classes, flow keys.

use std::net::{Ipv4Addr, Ipv6Addr};

use aqm::{Class, ClassId};
use headgate_scenario::{Changes, Classifier, Conditions, FlowKey, Header, IpNet, Ports, Scenario, TrafficClass};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

const HEAD: &str = r#"
name = "classes"
duration = "10s"
qdiscs = ["droptail"]
link = { rate = "10Mbit/s", delay = "10ms", limit = "100p" }
"#;

fn scenario(rest: &str) -> Scenario {
    let text = format!("{HEAD}{rest}");
    Scenario::read(&text, "classes.toml", &Changes::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// A classifier of these classes, with two groups for labels.
fn classifier(classes: &str) -> Classifier {
    scenario(&format!("[[tcp]]\nname = 'web'\n[[tcp]]\nname = 'bulk'\nlabel = 'data'\n{classes}")).classifier(9)
}

/// TCP from 10.1.2.3 port 50000 to 192.0.2.1 port 443, best effort, of no group.
fn header() -> Header<'static> {
    Header {
        protocol: 6,
        source: Ipv4Addr::new(10, 1, 2, 3).into(),
        destination: Ipv4Addr::new(192, 0, 2, 1).into(),
        source_port: 50_000,
        destination_port: 443,
        dscp: 0,
        label: "",
    }
}

fn v4(text: &str) -> Header<'static> {
    Header { source: text.parse::<Ipv4Addr>().unwrap().into(), ..header() }
}

fn v6(text: &str) -> Header<'static> {
    let destination = "2001:db8::1".parse::<Ipv6Addr>().unwrap().into();
    Header { source: text.parse::<Ipv6Addr>().unwrap().into(), destination, ..header() }
}

/// Whether a class with this condition matches each of these headers.
fn takes<const N: usize>(condition: &str, headers: [Header<'_>; N]) -> [bool; N] {
    let classifier = classifier(&format!("[[class]]\nname = 'c'\n{condition}"));
    headers.map(|header| classifier.class(&header) == ClassId(1))
}

#[test]
fn a_prefix_matches_its_first_and_last_address_and_none_beyond() {
    let around = ["10.0.255.255", "10.1.0.0", "10.1.255.255", "10.2.0.0"].map(v4);
    assert_eq!(takes("source = '10.1.0.0/16'", around), [false, true, true, false]);
    assert_eq!(takes("source = '10.1.2.3'", ["10.1.2.2", "10.1.2.3", "10.1.2.4"].map(v4)), [false, true, false]);
    assert_eq!(takes("source = '10.1.2.2/31'", ["10.1.2.1", "10.1.2.2", "10.1.2.3"].map(v4)), [false, true, true]);
    let around = ["2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db8::", "2001:db8:ffff::", "2001:db9::"].map(v6);
    assert_eq!(takes("source = '2001:db8::/32'", around), [false, true, true, false]);
    assert_eq!(takes("source = '2001:db8::7'", ["2001:db8::6", "2001:db8::7"].map(v6)), [false, true]);
    assert_eq!(takes("source = ['10.1.0.0/16', '2001:db8::/32']", [v4("10.1.2.3"), v6("2001:db8::5")]), [true, true]);
}

#[test]
fn a_prefix_of_zero_bits_matches_only_its_own_version_of_ip() {
    assert_eq!(takes("source = '0.0.0.0/0'", [v4("255.255.255.255"), v6("::1")]), [true, false]);
    assert_eq!(takes("source = '::/0'", [v4("0.0.0.0"), v6("ffff::")]), [false, true]);
}

#[test]
fn source_and_destination_are_separate_conditions() {
    let there = header();
    assert_eq!(takes("destination = '192.0.2.0/24'", [there, there.reply()]), [true, false]);
    assert_eq!(takes("source = '192.0.2.0/24'", [there, there.reply()]), [false, true]);
    assert_eq!(takes("destination_port = 443", [there, there.reply()]), [true, false]);
    assert_eq!(takes("source_port = 443", [there, there.reply()]), [false, true]);
}

#[test]
fn a_range_of_ports_includes_both_ends() {
    let port = |port| Header { source_port: port, destination_port: port, ..header() };
    let around = [4999, 5000, 6000, 6001].map(port);
    assert_eq!(takes("source_port = '5000-6000'", around), [false, true, true, false]);
    assert_eq!(takes("destination_port = '5000-6000'", around), [false, true, true, false]);
    assert_eq!(takes("destination_port = [4999, '6001-65535']", around), [true, false, false, true]);
    assert_eq!(takes("destination_port = '0-65535'", [0, u16::MAX].map(port)), [true, true]);
    assert_eq!(takes("destination_port = 0", [0, 1].map(port)), [true, false]);
}

#[test]
fn protocols_are_read_by_name_and_by_number() {
    let protocols = [1, 6, 17, 58, 132].map(|protocol| Header { protocol, ..header() });
    for (index, name) in ["icmp", "tcp", "udp", "icmpv6", "sctp"].into_iter().enumerate() {
        let mut expected = [false; 5];
        expected[index] = true;
        assert_eq!(takes(&format!("protocol = '{name}'"), protocols), expected, "{name}");
        let number = protocols[index].protocol;
        assert_eq!(takes(&format!("protocol = {number}"), protocols), expected, "{number}");
    }
}

#[test]
fn dscps_are_read_by_the_names_of_the_rfcs_and_by_number() {
    // RFC 4594, figure 3; LE from RFC 8622, VOICE-ADMIT from RFC 5865.
    #[rustfmt::skip]
    let names = [
        ("CS7", 0b111000), ("CS6", 0b110000), ("EF", 0b101110), ("CS5", 0b101000), ("AF41", 0b100010),
        ("AF42", 0b100100), ("AF43", 0b100110), ("CS4", 0b100000), ("AF31", 0b011010), ("AF32", 0b011100),
        ("AF33", 0b011110), ("CS3", 0b011000), ("AF21", 0b010010), ("AF22", 0b010100), ("AF23", 0b010110),
        ("CS2", 0b010000), ("AF11", 0b001010), ("AF12", 0b001100), ("AF13", 0b001110), ("CS1", 0b001000),
        ("DF", 0b000000), ("CS0", 0b000000), ("LE", 0b000001), ("VOICE-ADMIT", 0b101100),
    ];
    for (name, dscp) in names {
        for written in [format!("'{name}'"), format!("'{}'", name.to_lowercase()), dscp.to_string()] {
            let classifier = classifier(&format!("[[class]]\nname = 'c'\ndscp = {written}"));
            let taken: Vec<u8> =
                (0..64).filter(|dscp| classifier.class(&Header { dscp: *dscp, ..header() }) == ClassId(1)).collect();
            assert_eq!(taken, [dscp], "{written}");
        }
    }
    let dscps = [8, 1, 45, 46].map(|dscp| Header { dscp, ..header() });
    assert_eq!(takes("dscp = ['CS1', 'LE', 45]", dscps), [true, true, true, false]);
}

#[test]
fn a_label_is_a_groups_name_unless_it_has_another() {
    let labels = ["web", "data", "bulk", ""].map(|label| Header { label, ..header() });
    assert_eq!(takes("label = 'web'", labels), [true, false, false, false]);
    assert_eq!(takes("label = ['data', 'web']", labels), [true, true, false, false]);
}

#[test]
fn all_conditions_must_hold_and_the_first_class_wins() {
    let classifier = classifier(
        "[[class]]\nname = 'voice'\nprotocol = 'udp'\ndscp = 'EF'\n\
         [[class]]\nname = 'udp'\nprotocol = 'udp'\n\
         [[class]]\nname = 'web'\ndestination_port = [80, 443]\n\
         [[class]]\nname = 'never'\nprotocol = 'udp'\ndestination_port = 443\n",
    );
    let class =
        |protocol, dscp, destination_port| classifier.class(&Header { protocol, dscp, destination_port, ..header() }).0;
    assert_eq!([class(17, 46, 443), class(17, 0, 443), class(6, 46, 443), class(6, 0, 80)], [1, 2, 3, 3]);
    assert_eq!(class(6, 46, 8080), 0, "no class matches");
}

#[test]
fn children_divide_the_packets_of_their_parent_and_leave_it_the_rest() {
    // Children and grandchildren need not follow their parents directly.
    let classifier = classifier(
        "[[class]]\nname = 'gold'\nsource = '10.1.0.0/16'\n\
         [[class]]\nname = 'rest'\n\
         [[class]]\nname = 'gold-udp'\nparent = 'gold'\nprotocol = 'udp'\n\
         [[class]]\nname = 'gold-web'\nparent = 'gold'\ndestination_port = 443\n\
         [[class]]\nname = 'gold-voice'\nparent = 'gold-udp'\ndscp = 'EF'\n",
    );
    let class = |header: Header<'_>| classifier.class(&header).0;
    let udp = Header { protocol: 17, destination_port: 5001, ..header() };
    assert_eq!(class(header()), 4);
    assert_eq!(class(Header { destination_port: 80, ..header() }), 1, "gold's own");
    assert_eq!(class(udp), 3);
    assert_eq!(class(Header { dscp: 46, ..udp }), 5);
    assert_eq!(class(Header { dscp: 46, ..header() }), 4, "voice is udp");
    assert_eq!(class(Header { dscp: 46, protocol: 17, ..v4("10.2.0.0") }), 2, "and gold's");
}

#[test]
fn a_parent_without_conditions_matches_what_its_children_match() {
    let classifier = classifier(
        "[[class]]\nname = 'fast'\nweight = 3.0\n\
         [[class]]\nname = 'voice'\nparent = 'fast'\ndscp = 'EF'\n\
         [[class]]\nname = 'games'\nparent = 'fast'\nprotocol = 'udp'\n\
         [[class]]\nname = 'slow'\nprotocol = 'udp'\n\
         [[class]]\nname = 'lump'\n\
         [[class]]\nname = 'empty'\nparent = 'lump'\ndscp = 'CS1'\n",
    );
    let class = |protocol, dscp| classifier.class(&Header { protocol, dscp, ..header() }).0;
    assert_eq!([class(6, 46), class(17, 0), class(6, 0), class(6, 8)], [2, 3, 0, 6]);
}

#[test]
fn a_chain_of_the_most_classes_is_followed_to_its_end() {
    let chain: String = (1..1000).map(|i| format!("[[class]]\nname = 'c{i}'\nparent = 'c{}'\n", i - 1)).collect();
    let classifier = classifier(&format!("[[class]]\nname = 'c0'\nprotocol = 'tcp'\n{chain}"));
    assert_eq!(classifier.class(&header()), ClassId(1000));
    assert_eq!(classifier.class(&Header { protocol: 17, ..header() }), ClassId(0));
}

#[test]
fn disciplines_get_parents_and_weights_by_class_number() {
    let classes = "[[tcp]]\n[[class]]\nname = 'a'\nweight = 2\n[[class]]\nname = 'b'\n\
                   [[class]]\nname = 'c'\nparent = 'a'\nweight = 0.5\n";
    let class = |parent: Option<u16>, weight| Class { parent: parent.map(ClassId), weight };
    let expected = [class(None, 1.0), class(None, 2.0), class(None, 1.0), class(Some(1), 0.5)];
    assert_eq!(scenario(classes).link_classes(), expected);
    assert!(scenario("[[tcp]]").link_classes().is_empty());
}

/// Headers that differ from [`header`] in one field, by the field's name.
fn variants() -> Vec<(&'static str, Header<'static>)> {
    vec![
        ("itself", header()),
        ("source", v4("10.1.2.9")),
        ("source net", v4("10.1.9.3")),
        ("destination", Header { destination: Ipv4Addr::new(192, 0, 2, 9).into(), ..header() }),
        ("destination net", Header { destination: Ipv4Addr::new(192, 0, 9, 1).into(), ..header() }),
        ("source port", Header { source_port: 50_001, ..header() }),
        ("destination port", Header { destination_port: 80, ..header() }),
        ("protocol", Header { protocol: 17, ..header() }),
        ("dscp", Header { dscp: 46, ..header() }),
        ("label", Header { label: "web", ..header() }),
    ]
}

#[test]
fn each_flow_key_distinguishes_flows_by_its_fields() {
    let classes = "[[tcp]]\nname = 'web'\n[[class]]\nname = 'voice'\ndscp = 'EF'\n[[class]]\nname = 'c'\n";
    let addresses = ["source", "source net", "destination", "destination net"];
    let five: Vec<&str> = addresses.into_iter().chain(["source port", "destination port", "protocol"]).collect();
    for (key, apart) in [
        ("5-tuple", &five[..]),
        ("source", &["source", "source net"]),
        ("source/24", &["source net"]),
        ("source/22", &["source net"]),
        ("source/16", &[]),
        ("source/0", &[]),
        ("source/33", &["source", "source net"]),
        ("destination", &["destination", "destination net"]),
        ("destination/24", &["destination net"]),
        ("pair", &addresses),
        ("address_sum", &addresses),
        ("protocol", &["protocol"]),
        ("dscp", &["dscp"]),
        ("class", &["dscp"]),
        ("label", &["label"]),
    ] {
        let classifier = scenario(&format!("classify.flow = '{key}'\n{classes}")).classifier(9);
        let flow = |header: &Header<'_>| classifier.flow(header, classifier.class(header));
        let itself = flow(&header());
        let found: Vec<&str> =
            variants().iter().filter(|(_, header)| flow(header) != itself).map(|(name, _)| *name).collect();
        let mut expected: Vec<&str> = variants().iter().map(|(name, _)| *name).collect();
        expected.retain(|name| apart.contains(name));
        assert_eq!(found, expected, "{key}");
    }
}

#[test]
fn prefixes_of_ipv6_make_flows_too() {
    let flow = |bits: u8, text| Classifier::new(&[], FlowKey::Source(bits), 9).flow(&v6(text), ClassId(0));
    for (bits, alike) in [(48, true), (64, true), (65, false), (128, false)] {
        assert_eq!(flow(bits, "2001:db8:0:7::1") == flow(bits, "2001:db8:0:7:8000::1"), alike, "{bits}");
    }
    assert_ne!(flow(64, "2001:db8:0:7::1"), flow(64, "2001:db8:0:6::1"));
}

#[test]
fn another_key_gives_other_flows() {
    let flow = |key| Classifier::new(&[], FlowKey::FiveTuple, key).flow(&header(), ClassId(0));
    assert_ne!(flow(1), flow(2));
}

#[test]
fn flows_have_the_headers_of_their_file() {
    let flows = "[[tcp]]\nflows = 2\n\
                 [[tcp]]\nname = 'gold'\nflows = 3\nsource = '10.9.0.0/30'\ndestination_port = '80-81'\ndscp = 'AF21'\n\
                 [[udp]]\nrate = '1Mbit/s'\ndestination = '2001:db8:7::/48'\nsource_port = 7\nlabel = 'six'\n";
    let headers: Vec<String> = scenario(flows)
        .headers()
        .map(|h| {
            let (source, destination) = (h.source, h.destination);
            format!(
                "{} {source} {} {destination} {} {} {}",
                h.protocol, h.source_port, h.destination_port, h.dscp, h.label
            )
        })
        .collect();
    assert_eq!(
        headers,
        [
            "6 10.0.0.1 49152 172.16.0.1 5001 0 tcp",
            "6 10.0.0.2 49153 172.16.0.2 5001 0 tcp",
            "6 10.9.0.1 49152 172.16.0.3 80 18 gold",
            "6 10.9.0.2 49153 172.16.0.4 81 18 gold",
            "6 10.9.0.1 49154 172.16.0.5 80 18 gold",
            "17 2001:db8:1::6 7 2001:db8:7::1 5001 0 six",
        ]
    );
}

#[test]
fn a_change_reaches_a_class_and_the_flow_key() {
    let text =
        format!("{HEAD}[[tcp]]\nname = 'voice'\n[[class]]\nname = 'voice'\nlabel = 'voice'\n[[class]]\nname = 'b'\n");
    let set = [
        "class.weight=2",
        "class.voice.weight=3.5",
        "classify.flow=source/24",
        "voice.dscp=EF",
        "tcp.source=10.9.0.0/16",
    ];
    let changes = Changes { set: set.map(String::from).into(), ..Changes::default() };
    let scenario = Scenario::read(&text, "classes.toml", &changes).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(scenario.classes.iter().map(|class| class.weight).collect::<Vec<_>>(), [3.5, 2.0]);
    assert_eq!((scenario.flow_key, scenario.tcp[0].headers.dscp), (FlowKey::Source(24), 46));
    assert_eq!(scenario.tcp[0].headers.source.unwrap().to_string(), "10.9.0.0/16");
}

/// The class by the guide's definition: the first child of `parent` that matches the packet.
fn naive(classes: &[TrafficClass], parent: Option<ClassId>, header: &Header<'_>) -> Option<ClassId> {
    let children = classes.iter().enumerate().filter(|(_, class)| class.parent == parent);
    children.into_iter().find_map(|(index, class)| {
        let number = ClassId(index as u16 + 1);
        let childless = classes.iter().all(|other| other.parent != Some(number));
        let own = childless || !class.conditions.is_empty();
        let holds = holds(&class.conditions, header);
        holds.then(|| naive(classes, Some(number), header).or(own.then_some(number))).flatten()
    })
}

/// Evaluates the conditions by their definition, with text and lists of all ports.
fn holds(conditions: &Conditions, header: &Header<'_>) -> bool {
    let binary = |address: std::net::IpAddr| match address {
        std::net::IpAddr::V4(v4) => format!("4{:032b}", v4.to_bits()),
        std::net::IpAddr::V6(v6) => format!("6{:0128b}", v6.to_bits()),
    };
    let in_net = |nets: &[IpNet], address| {
        let begins = |net: &IpNet| binary(address).starts_with(&binary(net.addr())[..=usize::from(net.prefix_len())]);
        nets.is_empty() || nets.iter().any(begins)
    };
    let in_ports = |ports: &[Ports], port| ports.is_empty() || ports.iter().any(|p| p.first <= port && port <= p.last);
    (conditions.protocol.is_empty() || conditions.protocol.contains(&header.protocol))
        && (conditions.dscp.is_empty() || conditions.dscp.contains(&header.dscp))
        && (conditions.label.is_empty() || conditions.label.iter().any(|label| label == header.label))
        && in_net(&conditions.source, header.source)
        && in_net(&conditions.destination, header.destination)
        && in_ports(&conditions.source_port, header.source_port)
        && in_ports(&conditions.destination_port, header.destination_port)
}

// Few values, so that many conditions match.

fn net() -> impl Strategy<Value = IpNet> {
    let v4 = (0..4_u32, 28..=32_u8).prop_map(|(low, bits)| IpNet::new(Ipv4Addr::from_bits(low).into(), bits));
    let v6 = (0..4_u128, 124..=128_u8).prop_map(|(low, bits)| IpNet::new(Ipv6Addr::from_bits(low).into(), bits));
    prop_oneof![v4, v6].prop_map(|net| net.unwrap().trunc())
}

fn any_header() -> impl Strategy<Value = Header<'static>> {
    let ends = prop_oneof![
        (0..16_u32, 0..16_u32).prop_map(|(a, b)| (Ipv4Addr::from_bits(a).into(), Ipv4Addr::from_bits(b).into())),
        (0..16_u128, 0..16_u128).prop_map(|(a, b)| (Ipv6Addr::from_bits(a).into(), Ipv6Addr::from_bits(b).into())),
    ];
    (select(vec![6, 17]), ends, 0..4_u16, 0..4_u16, 0..3_u8, select(vec!["", "a", "b"])).prop_map(
        |(protocol, (source, destination), source_port, destination_port, dscp, label)| Header {
            protocol,
            source,
            destination,
            source_port,
            destination_port,
            dscp,
            label,
        },
    )
}

fn rules() -> impl Strategy<Value = Vec<TrafficClass>> {
    let few = || prop_oneof![4 => Just(0..1_usize), 1 => Just(1..3_usize)];
    let list = |values: BoxedStrategy<u8>| few().prop_flat_map(move |size| vec(values.clone(), size));
    let nets = || few().prop_flat_map(|size| vec(net(), size));
    let range = || (0..4_u16, 0..4_u16).prop_map(|(a, b)| Ports { first: a.min(b), last: a.max(b) });
    let ports = move || few().prop_flat_map(move |size| vec(range(), size));
    let labels = few().prop_flat_map(|size| vec(select(vec!["a".to_string(), "b".to_string()]), size));
    let conditions =
        (list(select(vec![6, 17]).boxed()), list((0..3_u8).boxed()), nets(), nets(), ports(), ports(), labels);
    let rule = (conditions, any::<u16>()).prop_map(|(conditions, parent)| {
        let (protocol, dscp, source, destination, source_port, destination_port, label) = conditions;
        (Conditions { protocol, source, destination, source_port, destination_port, dscp, label }, parent)
    });
    vec(rule, 0..8).prop_map(|rules| {
        let class = |(index, (conditions, parent)): (usize, (Conditions, u16))| TrafficClass {
            name: format!("c{index}"),
            parent: Some(ClassId(parent % (index as u16 + 1))).filter(|parent| parent.0 > 0),
            weight: 1.0,
            conditions,
        };
        rules.into_iter().enumerate().map(class).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_classifier_does_what_the_guide_says(classes in rules(), headers in vec(any_header(), 20)) {
        let classifier = Classifier::new(&classes, FlowKey::FiveTuple, 9);
        for header in headers {
            prop_assert_eq!(classifier.class(&header), naive(&classes, None, &header).unwrap_or_default(), "{:?}", header);
        }
    }

    #[test]
    fn two_packets_are_of_one_flow_if_and_only_if_their_five_fields_agree(a in any_header(), b in any_header()) {
        let classifier = Classifier::new(&[], FlowKey::FiveTuple, 9);
        let five = |h: Header<'static>| Header { dscp: 0, label: "", ..h };
        let flow = |h: &Header<'_>| classifier.flow(h, ClassId(0));
        prop_assert_eq!(flow(&a) == flow(&b), five(a) == five(b));
        prop_assert_eq!(flow(&a), flow(&five(a)));
    }
}
