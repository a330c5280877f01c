//! Networks: links, routes, and the errors of impossible routes.

use headgate_scenario::{Changes, Direction, Scenario, ScenarioError};

/// A ring of four nodes, A - B - C - D - A, with a tail D - E. From A to C, the route over D has less delay.
const RING: &str = r#"name = "ring"
duration = "10s"
qdiscs = ["droptail"]

[[link]]
from = "A"
to = "B"
rate = "10Mbit/s"
delay = "5ms"
limit = "100p"

[[link]]
from = "C"
to = "B"
rate = "10Mbit/s"
delay = "5ms"
limit = "100p"
qdisc = "red"

[[link]]
name = "core"
from = "C"
to = "D"
rate = "20Mbit/s"
delay = "1ms"
limit = "100p"

[link.reverse]
rate = "2Mbit/s"
qdisc = "compared"

[[link]]
from = "D"
to = "A"
rate = "10Mbit/s"
delay = "8ms"
limit = "100p"

[[link]]
from = "D"
to = "E"
rate = "10Mbit/s"
delay = "1ms"
limit = "100p"

[[link]]
from = "X"
to = "Y"
rate = "10Mbit/s"
delay = "1ms"
limit = "100p"

"#;

fn read(text: &str, set: &[&str]) -> Result<Scenario, ScenarioError> {
    let changes = Changes { set: set.iter().map(ToString::to_string).collect(), ..Changes::default() };
    Scenario::read(text, "ring.toml", &changes)
}

fn ring(group: &str) -> Result<Scenario, ScenarioError> {
    read(&format!("{RING}[[tcp]]\n{group}\n"), &[])
}

/// The nodes on the route of a group with these keys.
fn nodes(group: &str) -> String {
    let scenario = ring(group).unwrap_or_else(|error| panic!("{error}"));
    scenario.nodes(&scenario.tcp[0].route).concat()
}

#[test]
fn routes_have_the_fewest_links_and_among_these_the_least_delay() {
    assert_eq!(nodes("from = 'A'\nto = 'B'"), "AB");
    assert_eq!(nodes("from = 'B'\nto = 'A'"), "BA");
    // 9 ms over D, 10 ms over B.
    assert_eq!(nodes("from = 'A'\nto = 'C'"), "ADC");
    assert_eq!(nodes("from = 'C'\nto = 'A'"), "CDA");
    assert_eq!(nodes("from = 'E'\nto = 'A'"), "EDA");
    // Three links on both routes: 1 + 1 + 5 ms over C, 1 + 8 + 5 ms over A.
    assert_eq!(nodes("from = 'E'\nto = 'B'"), "EDCB");
    assert_eq!(nodes("route = ['E', 'D', 'A', 'B']"), "EDAB");
}

#[test]
fn among_equal_routes_the_route_whose_links_come_first_in_the_file_is_taken() {
    let level = RING.replace("delay = \"8ms\"", "delay = \"9ms\"");
    let scenario = read(&format!("{level}[[tcp]]\nfrom = 'A'\nto = 'C'\n"), &[]).unwrap();
    assert_eq!(scenario.nodes(&scenario.tcp[0].route), ["A", "B", "C"], "10 ms both ways, A-B and C-B come first");
}

#[test]
fn each_direction_has_the_settings_of_its_section() {
    let scenario = ring("from = 'A'\nto = 'C'").unwrap();
    let names: Vec<&str> = scenario.links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names, ["A-B", "C-B", "core", "D-A", "D-E", "X-Y"]);
    let [first, last] = scenario.tcp[0].route[..] else { panic!("two links") };
    assert_eq!((first.link, first.direction), (3, Direction::Reverse));
    assert_eq!((last.link, last.direction), (2, Direction::Reverse));
    assert_eq!(
        (scenario.direction_settings(last).rate.as_bits(), &scenario.direction_settings(last).qdisc),
        (2_000_000, &None)
    );
    assert_eq!(scenario.direction_settings(last.back()).rate.as_bits(), 20_000_000);
    assert_eq!((scenario.bottleneck().link, scenario.links[1].forward.qdisc.is_some()), (0, true));
    assert_eq!(read(&scenario.to_toml(), &[]), Ok(scenario));
}

#[test]
fn changes_apply_to_one_link_or_to_all() {
    let text = format!("{RING}[[tcp]]\nfrom = 'A'\nto = 'B'\n");
    let changes = ["link.limit=7p", "link.core.rate=3Mbit/s", "link.core.reverse.limit=9p", "link.A-B.delay=1ms"];
    let scenario = read(&text, &changes).unwrap();
    let of = |name: &str| scenario.links.iter().find(|link| link.name == name).unwrap();
    assert!(scenario.links.iter().all(|link| link.forward.limit.to_string() == "7p"));
    assert_eq!((of("core").forward.rate.as_bits(), of("core").reverse.limit.to_string()), (3_000_000, "9p".into()));
    assert_eq!((of("A-B").delay.to_string(), of("C-B").delay.to_string()), ("1ms".into(), "5ms".into()));

    let small = "name = 's'\nduration = '9s'\nqdiscs = ['droptail']\n\
                 [link]\nrate = '1Mbit/s'\ndelay = '0s'\nlimit = '9p'\n[[udp]]\nrate = '1Mbit/s'\n";
    let scenario = read(small, &["link.bottleneck.reverse.rate=2Mbit/s", "link.limit=8p"]).unwrap();
    assert_eq!(scenario.links[0].reverse.rate.as_bits(), 2_000_000);
    assert_eq!(scenario.links[0].forward.limit.to_string(), "8p");

    for (change, message) in [
        ("link.croe.rate=1Mbit/s", "no link is called `croe`; did you mean `core`?"),
        ("link.core.rte=1Mbit/s", "unknown key `rte` in [[link]]; did you mean `rate`?"),
        ("link.core.reverse.rate.unit=5", "no key lies deeper than 4 names, as in `link.core.reverse.rate`"),
    ] {
        assert_eq!(read(&text, &[change]).unwrap_err().message, message);
    }
}

#[test]
fn in_a_dumbbell_flows_may_go_from_right_to_left() {
    let small = "name = 's'\nduration = '9s'\nqdiscs = ['droptail']\n\
                 [link]\nrate = '1Mbit/s'\ndelay = '0s'\nlimit = '9p'\n\
                 [[tcp]]\n[[tcp]]\nname = 'back'\nfrom = 'right'\nto = 'left'\n";
    let scenario = read(small, &[]).unwrap();
    let directions: Vec<Direction> = scenario.routes().map(|route| route[0].direction).collect();
    assert_eq!(directions, [Direction::Forward, Direction::Reverse]);
}

#[test]
fn an_impossible_route_is_refused_at_its_position() {
    for (way, line, message) in [
        ("from = 'A'\nto = 'elsewhere'", 55, "no link ends at a node called `elsewhere`"),
        ("from = 'A'\nto = 'X'", 55, "no links lead from `A` to `X`"),
        ("from = 'A'\nto = 'A'", 55, "flows go from one node to another, not from `A` to `A`"),
        ("from = 'A'", 53, "`to` is missing: [[tcp]] needs it"),
        ("flows = 2", 53, "`from` is missing: [[tcp]] needs it"),
        ("route = ['A']", 54, "a route names at least two nodes, in order"),
        ("route = ['A', 'C']", 54, "no link joins `A` and `C`"),
        ("route = ['A', 'B', 'A']", 54, "the route visits `A` twice: packets would loop"),
        ("route = ['A', 'B']\nto = 'B'", 55, "`route` names both ends: leave out `from` and `to`"),
    ] {
        let error = ring(way).unwrap_err();
        assert_eq!((error.message.as_str(), error.line), (message, Some(line)), "{error}");
    }
    assert_eq!(
        ring("route = ['A', 'D', 'B']").unwrap_err().to_string(),
        "error: no link joins `D` and `B`\n  --> ring.toml:54:20\n   |\n54 | route = ['A', 'D', 'B']\n   \
         |                    ^^^ links lead from `D` to: C, A, E"
    );
}

#[test]
fn invalid_links_are_refused() {
    let group = "[[tcp]]\nfrom = 'A'\nto = 'B'\n";
    for (old, new, message) in [
        ("name = \"core\"", "name = \"A-B\"", "two links are called `A-B`"),
        ("name = \"core\"", "name = \"reverse\"", "a link cannot be called `reverse`: the word is reserved"),
        ("to = \"Y\"", "to = \"X\"", "link `X-X` leads from `X` to itself"),
        (
            "from = \"X\"\nto = \"Y\"",
            "from = \"B\"\nto = \"A\"",
            "`A-B` joins `B` and `A` already, both ways: put a node between",
        ),
        (
            "rate = \"2Mbit/s\"",
            "rate = \"0Mbit/s\"",
            "`link[2].reverse.rate`: must be more than 0bit/s and at most 100Gbit/s, not 0bit/s",
        ),
        ("[[link]]\nfrom = \"X\"", "[link]\nfrom = \"X\"", "this is not TOML: duplicate key"),
        ("from = \"X\"\n", "", "`from` is missing: [[link]] needs it"),
        ("qdisc = \"red\"", "qdisc = \"drptail\"", "no discipline is called `drptail`; did you mean `droptail`?"),
        ("qdisc = \"red\"", "qdsc = \"red\"", "unknown key `qdsc` in [[link]]; did you mean `qdisc`?"),
    ] {
        let text = format!("{RING}{group}").replacen(old, new, 1);
        let error = read(&text, &[]).expect_err(message);
        assert_eq!(error.message, message);
    }
    let fixed =
        format!("{RING}{group}").replace("qdisc = \"compared\"", "").replace("limit = ", "qdisc = 'red'\nlimit = ");
    let fixed = fixed.replacen("qdisc = \"red\"\n", "", 1);
    let error = read(&fixed, &[]).unwrap_err();
    assert_eq!(error.message, "every link has a `qdisc` of its own: no link would run these");
    assert_eq!((error.line, error.column), (Some(3), Some(10)));
    let error = read(&format!("link = []\n{}{group}", RING.split("[[link]]").next().unwrap()), &[]).unwrap_err();
    assert_eq!(error.message, "no links: a network needs at least one");
}
