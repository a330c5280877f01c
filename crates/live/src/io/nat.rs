//! Source address translation for a host behind a link, by nf_tables' `masquerade`. Set up over netlink, without a
//! program.

use std::net::Ipv4Addr;

use super::netlink::{CREATE_NEW, Netlink, NetlinkRequests};
use super::request::Request;
use crate::error::LiveResult;

// Attributes of the requests (linux/netfilter/nf_tables.h).
const TABLE_NAME: u16 = 1;
const TABLE_FLAGS: u16 = 2;
/// The table belongs to the socket: nobody else can change it, and it disappears with the socket (Linux 5.12).
const OWNED: u32 = 2;
const CHAIN_TABLE: u16 = 1;
const CHAIN_NAME: u16 = 3;
const CHAIN_HOOK: u16 = 4;
const CHAIN_TYPE: u16 = 7;
const HOOK_NUMBER: u16 = 1;
const HOOK_PRIORITY: u16 = 2;
const RULE_TABLE: u16 = 1;
const RULE_CHAIN: u16 = 2;
const RULE_EXPRESSIONS: u16 = 4;
const ELEMENT: u16 = 1;
const EXPRESSION_NAME: u16 = 1;
const EXPRESSION_DATA: u16 = 2;
/// Chain for outgoing packets after routing, where source addresses are translated.
const CHAIN: &str = "postrouting";

/// Address translation for one host. It ends when this value is dropped or the process ends.
#[derive(Debug)]
pub(crate) struct Nat {
    /// Owns the table.
    _socket: Netlink,
}

impl Nat {
    /// Translates packets from `host` in the calling thread's network namespace, with a table called `name`.
    ///
    /// # Errors
    /// No nf_tables with owners, no `CAP_NET_ADMIN`, or the table exists.
    pub(crate) fn open(name: &str, host: Ipv4Addr) -> LiveResult<Nat> {
        Request::AddressTranslation.ask_about(name, || {
            let socket = Netlink::netfilter()?;
            socket.execute(&requests(name, host)).map(|()| Nat { _socket: socket })
        })
    }
}

/// A transaction for `table ip NAME { flags owner; chain postrouting { type nat hook postrouting priority srcnat; ip
/// saddr HOST masquerade; } }`.
fn requests(name: &str, host: Ipv4Addr) -> NetlinkRequests {
    let mut all = NetlinkRequests::default();
    // struct nfgenmsg: family, version, and for a batch the subsystem.
    let [batch, ipv4] = [[0, 0, 0, libc::NFNL_SUBSYS_NFTABLES as u8], [libc::AF_INET as u8, 0, 0, 0]];
    let message_type = |message: i32| (libc::NFNL_SUBSYS_NFTABLES << 8 | message) as u16;
    all.add(libc::NFNL_MSG_BATCH_BEGIN as u16, 0, &batch, |_| {});
    all.add(message_type(libc::NFT_MSG_NEWTABLE), CREATE_NEW, &ipv4, |table| {
        table.text(TABLE_NAME, name);
        table.number(TABLE_FLAGS, OWNED);
    });
    all.add(message_type(libc::NFT_MSG_NEWCHAIN), CREATE_NEW, &ipv4, |chain| {
        chain.text(CHAIN_TABLE, name);
        chain.text(CHAIN_NAME, CHAIN);
        chain.text(CHAIN_TYPE, "nat");
        chain.nested(CHAIN_HOOK, |hook| {
            hook.number(HOOK_NUMBER, libc::NF_INET_POST_ROUTING as u32);
            hook.number(HOOK_PRIORITY, libc::NF_IP_PRI_NAT_SRC as u32);
        });
    });
    let append = libc::NLM_F_CREATE | libc::NLM_F_APPEND | libc::NLM_F_ACK;
    all.add(message_type(libc::NFT_MSG_NEWRULE), append, &ipv4, |rule| {
        rule.text(RULE_TABLE, name);
        rule.text(RULE_CHAIN, CHAIN);
        rule.nested(RULE_EXPRESSIONS, |expressions| {
            expression(expressions, "payload", load_source);
            expression(expressions, "cmp", |data| compare_register(data, host));
            expression(expressions, "masq", |_| {});
        });
    });
    all.add(libc::NFNL_MSG_BATCH_END as u16, 0, &batch, |_| {});
    all
}

fn expression(all: &mut NetlinkRequests, name: &str, data: impl FnOnce(&mut NetlinkRequests)) {
    all.nested(ELEMENT, |element| {
        element.text(EXPRESSION_NAME, name);
        element.nested(EXPRESSION_DATA, data);
    });
}

/// Loads 4 bytes at offset 12 of the network header, IPv4's source, into register 1.
fn load_source(data: &mut NetlinkRequests) {
    for (kind, value) in [(1, 1), (2, 1), (3, 12), (4, 4)] {
        data.number(kind, value);
    }
}

/// Continues if register 1 equals `host`.
fn compare_register(data: &mut NetlinkRequests, host: Ipv4Addr) {
    data.number(1, 1);
    data.number(2, 0);
    data.nested(3, |value| value.attribute(1, &host.octets()));
}
