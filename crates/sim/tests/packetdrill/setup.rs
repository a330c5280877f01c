//! The kernel settings of a script: sysctls and queue disciplines, set by shell commands.
//!
//! The commands are read, not run. Settings that matter to the simulator's sender become keys of a group with
//! `profile = "linux"`; the others are listed in [`IGNORED`]. An unknown setting is an error.

use std::collections::BTreeMap;
use std::path::Path;

use headgate_scenario::{Changes, Scenario};
use headgate_sim::tcp::TcpSettings;

use crate::packetdrill::script::commands;

/// Sysctls that the sender's keys express.
const READ: &[&str] = &["tcp_congestion_control", "tcp_ecn", "tcp_slow_start_after_idle", "tcp_timestamps"];

/// Sysctls without effect here. The simulator has no sockets, no handshake, no segmentation offload and no cache of
/// earlier connections. Its `linux` profile always has RACK, TLP, SACK and DSACK, at their kernel defaults.
const IGNORED: &[&str] = &[
    "tcp_rmem",
    "tcp_wmem",
    "tcp_syn_retries",
    "tcp_synack_retries",
    "tcp_frto",
    "tcp_sack",
    "tcp_dsack",
    "tcp_fack",
    "tcp_reordering",
    "tcp_early_retrans",
    "tcp_recovery",
    "tcp_tso_win_divisor",
    "tcp_min_tso_segs",
    "tcp_ecn_option",
    "tcp_pacing_ss_ratio",
    "tcp_pacing_ca_ratio",
    "tcp_notsent_lowat",
    "tcp_fastopen",
    "tcp_fastopen_key",
    "tcp_syncookies",
    // Parameter of the module `tcp_cubic`: both of its ways to end slow start, the default.
    "hystart_detect",
    "tcp_no_metrics_save",
    "tcp_limit_output_bytes",
    "tcp_moderate_rcvbuf",
];

/// The settings in force.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setup {
    sysctls: BTreeMap<String, String>,
    /// The device's queue discipline paces (`fq`).
    pub paces: bool,
    /// The device's queue discipline refuses every packet.
    pub blocked: bool,
}

impl Setup {
    /// Carries out `commands` of the script in `folder`.
    pub fn run(&mut self, commands_of_script: &[String], folder: &Path) -> Result<(), String> {
        for command in commands_of_script {
            self.command(command, folder)?;
        }
        Ok(())
    }

    fn command(&mut self, command: &str, folder: &Path) -> Result<(), String> {
        let words: Vec<&str> = command.split_whitespace().collect();
        match words[..] {
            [file] if file.ends_with("/defaults.sh") => self.include(&folder.join(file), folder),
            [file] if file.starts_with("/tmp/sysctl_restore_") => Ok(()),
            [file, ref settings @ ..] if file.ends_with("/set_sysctls.py") => {
                settings.iter().try_for_each(|setting| self.set(setting))
            }
            ["sysctl", ref rest @ ..] => {
                // Values may be quoted and contain blanks; those are ignored settings, and their further words no keys.
                let settings = rest.iter().filter(|word| word.contains('='));
                settings.into_iter().try_for_each(|setting| self.set(setting))
            }
            ["echo", value, ">", path] => self.set(&format!("{path}={value}")),
            ["ip", "tcp_metrics", ..] => Ok(()),
            ["tc", "qdisc", "add" | "replace", "dev", "tun0", "root", kind, ref options @ ..] => {
                self.paces = kind == "fq";
                self.blocked = options == ["limit", "0"];
                Ok(())
            }
            _ => Err(format!("`{command}` is no command that the reader knows")),
        }
    }

    /// Reads the commands of a shell file.
    fn include(&mut self, path: &Path, folder: &Path) -> Result<(), String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        self.run(&commands(&text), folder)
    }

    /// Takes one setting, `net.ipv4.NAME=value` or `/proc/sys/net/ipv4/NAME=value`.
    fn set(&mut self, setting: &str) -> Result<(), String> {
        let (path, value) = setting.split_once('=').ok_or_else(|| format!("`{setting}` sets nothing"))?;
        let name = path.rsplit(['.', '/']).next().unwrap_or(path);
        if READ.contains(&name) {
            self.sysctls.insert(name.into(), value.into());
        } else if !IGNORED.contains(&name) {
            return Err(format!("`{name}` is no setting that the reader knows"));
        }
        Ok(())
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.sysctls.get(name).map(String::as_str)
    }

    /// The settings of a connection: the profile `linux`, and what the script and the `peer`'s handshake change in it.
    pub fn settings(&self, peer: Peer) -> TcpSettings {
        let ecn = peer.ecn && matches!(self.value("tcp_ecn"), Some("1" | "2"));
        let mut keys = format!("ecn = {ecn}\n");
        let mut add = |line: &str| {
            keys.push_str(line);
            keys.push('\n');
        };
        add(&format!("timestamps = {}", peer.timestamps));
        if let Some(cc) = self.value("tcp_congestion_control") {
            add(&format!("cc = '{cc}'"));
        }
        if !peer.sack {
            add("recovery = 'newreno'");
        }
        if let Some(value) = self.value("tcp_slow_start_after_idle") {
            add(&format!("idle_restart = {}", value != "0"));
        }
        if self.paces {
            add("pacing = true");
        }
        group(&keys)
    }
}

/// What the other end agreed to in the handshake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peer {
    pub ecn: bool,
    pub sack: bool,
    pub timestamps: bool,
}

/// The settings of a group with `profile = "linux"` and `keys`.
fn group(keys: &str) -> TcpSettings {
    let text = format!(
        "name = 'packetdrill'\nduration = '1s'\nwarmup = '0s'\nqdiscs = ['droptail']\n\
         link = {{ rate = '1Gbit/s', delay = '1ms', limit = '100p' }}\n[[tcp]]\nprofile = 'linux'\n{keys}"
    );
    let scenario = Scenario::read(&text, "packetdrill", &Changes::default());
    scenario.unwrap_or_else(|error| panic!("{error}")).tcp.remove(0).settings
}

#[cfg(test)]
mod tests {
    use super::*;
    use headgate_scenario::{Cc, Recovery};

    fn setup(text: &str) -> Result<Setup, String> {
        let mut setup = Setup::default();
        setup.run(&commands(text), Path::new("."))?;
        Ok(setup)
    }

    const PEER: Peer = Peer { ecn: true, sack: true, timestamps: false };

    #[test]
    fn sysctls_become_keys_of_the_profile() {
        let text = "sysctl -q net.ipv4.tcp_wmem=\"4096 $((256*1024)) 4194304\" net.ipv4.tcp_ecn=1\n\
                    ../common/set_sysctls.py /proc/sys/net/ipv4/tcp_slow_start_after_idle=0\n\
                    sysctl net.ipv4.tcp_congestion_control=reno\ntc qdisc replace dev tun0 root fq";
        let settings = setup(text).unwrap().settings(PEER);
        assert_eq!((settings.cc, settings.recovery), (Cc::Reno, Recovery::Rack));
        assert_eq!((settings.ecn, settings.idle_restart, settings.pacing), (true, false, true));
    }

    #[test]
    fn the_peer_decides_with_the_sysctls() {
        let settings = setup("sysctl net.ipv4.tcp_ecn=0").unwrap().settings(Peer { sack: false, ..PEER });
        assert_eq!((settings.ecn, settings.recovery), (false, Recovery::NewReno));
    }

    #[test]
    fn a_queue_of_no_packets_blocks() {
        assert!(setup("tc qdisc replace dev tun0 root pfifo limit 0").unwrap().blocked);
        assert!(!setup("tc qdisc add dev tun0 root pfifo").unwrap().blocked);
    }

    #[test]
    fn an_unknown_command_or_setting_is_an_error() {
        for text in ["rm -r x", "sysctl net.ipv4.tcp_magic=1", "tc filter add", "x/set_sysctls.py tcp_ecn"] {
            assert!(setup(text).is_err(), "{text}");
        }
    }
}
