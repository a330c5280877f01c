//! packetdrill's scripts of Linux's TCP sender, replayed against ours with `profile = "linux"`.
//!
//! The scripts are Google's (github.com/google/packetdrill). None is copied here: `make packetdrill CHECKOUT=...` names
//! a checkout, by the environment variable `PACKETDRILL`. Without it the replay is skipped, and only the recorded table
//! and the reader are tested.
//!
//! | task | file |
//! | --- | --- |
//! | statements, packets, assertions of a script | `script.rs`, `packet.rs`, `assertion.rs` |
//! | kernel settings | `setup.rs` |
//! | our sender as the host under test | `connection.rs`, `bytes.rs` |
//! | the comparison | `replay.rs` |
//! | the table, and the causes of differences | `page.rs`, `causes.rs` |

mod assertion;
mod bytes;
mod causes;
mod connection;
mod packet;
mod page;
mod replay;
mod script;
mod setup;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use page::Row;

/// Folders of a checkout with scripts of the sender.
const FOLDERS: [&str; 9] = [
    "gtests/net/packetdrill/tests/linux/fast_retransmit",
    "gtests/net/tcp/cubic",
    "gtests/net/tcp/cwnd_moderation",
    "gtests/net/tcp/ecn",
    "gtests/net/tcp/fast_recovery",
    "gtests/net/tcp/fast_retransmit",
    "gtests/net/tcp/limited_transmit",
    "gtests/net/tcp/sack",
    "gtests/net/tcp/slow_start",
];

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/packetdrill.md")
}

fn page_text() -> String {
    std::fs::read_to_string(page()).expect("the page is part of the repository")
}

/// The scripts of a checkout, in the order of their names.
fn scripts(checkout: &Path) -> Vec<PathBuf> {
    let mut scripts = Vec::new();
    for folder in FOLDERS.map(|folder| checkout.join(folder)) {
        let files = std::fs::read_dir(&folder).unwrap_or_else(|error| {
            panic!("{}: {error}; PACKETDRILL must name a checkout of google/packetdrill", folder.display())
        });
        let files = files.map(|file| file.expect("a readable folder").path());
        scripts.extend(files.filter(|file| file.extension().is_some_and(|extension| extension == "pkt")));
    }
    scripts.sort();
    scripts
}

/// Replays the script in `file`.
fn row(checkout: &Path, file: &Path) -> Row {
    let name = file.strip_prefix(checkout).expect("a file of the checkout").display().to_string();
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{name}: {error}"));
    let script = script::parse(&name, &text).unwrap_or_else(|error| panic!("{error}"));
    let report = replay::replay(&script, file.parent().expect("a file in a folder"));
    let report = report.unwrap_or_else(|(line, message)| panic!("{name}:{line}: {message}"));
    let name = name.trim_start_matches("gtests/net/").trim_end_matches(".pkt");
    Row::new(name.into(), &report)
}

/// Whether this run writes the page.
fn blessed() -> bool {
    std::env::var_os("BLESS").is_some_and(|value| value == "1")
}

#[test]
fn the_table_is_what_a_replay_gives() {
    let Some(checkout) = std::env::var_os("PACKETDRILL").map(PathBuf::from) else {
        return headgate_needs::skip("packetdrill");
    };
    let rows: Vec<Row> = scripts(&checkout).iter().map(|file| row(&checkout, file)).collect();
    rows.iter().for_each(|row| println!("{:14} {} {}", row.outcome, row.script, row.difference));
    let text = page::render(&rows).unwrap_or_else(|message| panic!("{message}"));
    let filled = page::filled(&page_text(), &text);
    if blessed() {
        return std::fs::write(page(), filled).expect("the page can be written");
    }
    assert!(filled == page_text(), "the page is old: `make packetdrill CHECKOUT=...` writes it");
}

#[test]
fn the_page_gives_the_declared_cause_of_each_script_that_does_not_pass() {
    // The other test writes the page at the same time, and judges it.
    if blessed() {
        return;
    }
    let rows = page::recorded(&page_text());
    assert!(rows.len() > 30, "{} scripts", rows.len());
    let text = page::render(&rows).unwrap_or_else(|message| panic!("{message}"));
    assert!(page::filled(&page_text(), &text) == page_text(), "the page's causes are not those of `causes.rs`");
    let differing: BTreeSet<&str> =
        rows.iter().filter(|row| row.outcome != "passes").map(|row| row.script.as_str()).collect();
    assert_eq!(differing, causes::declared().collect(), "scripts that do not pass, and scripts with a cause");
}
