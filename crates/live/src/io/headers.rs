//! Reads the headers of a frame for disciplines that ask for more than flow and class.
//!
//! Most disciplines do not ask, so the parser does not keep these fields. Hosts and connections are known by unkeyed
//! hashes, which the discipline hashes again under its key.

use std::net::IpAddr;

use aqm::{AckHeader, PacketHeaders};
use etherparse::{IpNumber, Ipv4HeaderSlice, Ipv6HeaderSlice, TcpHeaderSlice, TcpOptionElement};
use headgate_scenario::{Header, five_tuple_id, host_id};

/// The headers of an IP packet; `None` if it is malformed.
pub(crate) fn parse(packet: &[u8]) -> Option<PacketHeaders> {
    let IpFields { ends: [source, destination], tos, .. } = ip_fields(packet)?;
    Some(PacketHeaders { source: host_id(source, 0), destination: host_id(destination, 0), dscp: tos >> 2 })
}

/// The fields of an IP packet that is a TCP segment with the ACK flag and without SYN. One in a fragment or behind
/// extension headers is not read.
pub(crate) fn parse_ack(packet: &[u8]) -> Option<AckHeader> {
    let IpFields { ends, tcp, .. } = ip_fields(packet)?;
    ack(tcp?, ends)
}

struct IpFields<'a> {
    ends: [IpAddr; 2],
    /// The DSCP and the ECN field.
    tos: u8,
    /// The TCP segment, if it is one.
    tcp: Option<&'a [u8]>,
}

fn ip_fields(packet: &[u8]) -> Option<IpFields<'_>> {
    if packet.first()? >> 4 == 6 {
        let header = Ipv6HeaderSlice::from_slice(packet).ok()?;
        let payload = packet[header.slice().len()..].get(..usize::from(header.payload_length()));
        let ends = [header.source_addr().into(), header.destination_addr().into()];
        let tcp = payload.filter(|_| header.next_header() == IpNumber::TCP);
        return Some(IpFields { ends, tos: header.traffic_class(), tcp });
    }
    let header = Ipv4HeaderSlice::from_slice(packet).ok()?;
    let payload = packet.get(header.slice().len()..usize::from(header.total_len()));
    let ends = [header.source_addr().into(), header.destination_addr().into()];
    let tcp = payload.filter(|_| header.protocol() == IpNumber::TCP && !header.is_fragmenting_payload());
    Some(IpFields { ends, tos: header.slice()[1], tcp })
}

fn ack(payload: &[u8], [source, destination]: [IpAddr; 2]) -> Option<AckHeader> {
    let tcp = TcpHeaderSlice::from_slice(payload).ok()?;
    if !tcp.ack() || tcp.syn() {
        return None;
    }
    let (source_port, destination_port) = (tcp.source_port(), tcp.destination_port());
    let header =
        Header { protocol: IpNumber::TCP.0, source, destination, source_port, destination_port, dscp: 0, label: "" };
    // The low bits of byte 12 are reserved, but for AE (RFC 9768).
    let plain = !(tcp.fin() || tcp.rst() || tcp.psh() || tcp.urg()) && tcp.slice()[12] & 0b1111 == 0;
    let mut ack = AckHeader {
        connection: five_tuple_id(&header, 0),
        number: tcp.acknowledgment_number(),
        pure: plain && payload.len() == tcp.slice().len(),
        ecn_flags: u8::from(tcp.ece()) | u8::from(tcp.cwr()) << 1,
        ..AckHeader::default()
    };
    read_options(&tcp, &mut ack);
    Some(ack)
}

fn read_options(tcp: &TcpHeaderSlice<'_>, ack: &mut AckHeader) {
    for option in tcp.options_iterator() {
        match option {
            Ok(TcpOptionElement::Noop) => {}
            Ok(TcpOptionElement::Timestamp(value, echo)) => ack.timestamps = Some([value, echo]),
            Ok(TcpOptionElement::SelectiveAcknowledgement(first, rest)) => {
                let [second, third, fourth] = rest.map(Option::unwrap_or_default);
                ack.sack = [first, second, third, fourth];
            }
            _ => ack.pure = false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{PacketBuilder, TcpOptionElement::*};

    fn packet(
        build: impl Fn(etherparse::PacketBuilderStep<etherparse::TcpHeader>) -> Vec<u8>,
    ) -> (PacketHeaders, Option<AckHeader>) {
        let step = PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).tcp(5001, 40_000, 7, 1000).ack(99);
        let bytes = build(step);
        (parse(&bytes).unwrap(), parse_ack(&bytes))
    }

    fn written(step: etherparse::PacketBuilderStep<etherparse::TcpHeader>, data: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        step.write(&mut bytes, data).unwrap();
        bytes
    }

    #[test]
    fn an_acknowledgement_is_read_with_its_options() {
        let options =
            [Noop, Noop, Timestamp(5, 6), SelectiveAcknowledgement((200, 300), [Some((400, 500)), None, None])];
        let (headers, ack) = packet(|step| written(step.options(&options).unwrap(), &[]));
        let ack = ack.unwrap();
        assert!(ack.pure && ack.number == 99 && ack.ecn_flags == 0);
        assert_eq!((ack.timestamps, ack.sack), (Some([5, 6]), [(200, 300), (400, 500), (0, 0), (0, 0)]));
        assert_ne!(headers.source, headers.destination);
    }

    #[test]
    fn segments_that_say_more_are_not_pure_and_others_do_not_acknowledge() {
        let pure = |data: &[u8], change: fn(etherparse::PacketBuilderStep<etherparse::TcpHeader>) -> _| {
            packet(|step| written(change(step), data)).1.map(|ack| (ack.pure, ack.ecn_flags))
        };
        assert_eq!(pure(&[], |step| step), Some((true, 0)));
        assert_eq!(pure(&[1], |step| step), Some((false, 0)));
        assert_eq!(pure(&[], |step| step.psh()), Some((false, 0)));
        assert_eq!(pure(&[], |step| step.ns()), Some((false, 0)));
        assert_eq!(pure(&[], |step| step.ece().cwr()), Some((true, 0b11)));
        assert_eq!(pure(&[], |step| step.options(&[MaximumSegmentSize(1460)]).unwrap()), Some((false, 0)));
        assert_eq!(pure(&[], |step| step.syn()), None);
    }

    #[test]
    fn codepoints_are_read_and_malformed_packets_are_not() {
        let mut v6 = Vec::new();
        let udp = PacketBuilder::ipv6([1; 16], [2; 16], 64).udp(1, 2);
        udp.write(&mut v6, &[0; 8]).unwrap();
        v6[0] |= 0xb;
        v6[1] |= 0x80;
        assert_eq!((parse(&v6).unwrap().dscp, parse_ack(&v6)), (46, None));
        assert!(parse(&v6[..30]).is_none() && parse(&[]).is_none());
    }
}
