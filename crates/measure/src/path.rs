//! Minimum delays of a path, without queues.

use aqm::Span;
use headgate_scenario::{Access, Hop, Scenario};

/// Minimum round-trip time of a flow of `scenario` over `route`: the mean over flows if they draw their delays.
pub fn base_rtt(scenario: &Scenario, route: &[Hop], [sender, receiver]: [&Access; 2], [data, ack]: [u32; 2]) -> Span {
    let sending = |bytes| sender.rate.transmit(bytes) + receiver.rate.transmit(bytes);
    let access = sending(data) + sending(ack) + (sender.delay.mean() + receiver.delay.mean()) * 2;
    route.iter().fold(access, |sum, hop| {
        let link = &scenario.links[usize::from(hop.link)];
        let sent = |hop, bytes| scenario.direction_settings(hop).unqueued_transmission(bytes);
        sum + sent(*hop, data) + sent(hop.back(), ack) + link.delay * 2
    })
}

/// Minimum one-way delay of a packet of `bytes` over `route`: the least of all flows if they draw their delays, and of all
/// rates of a link whose rate varies.
pub fn base_one_way(scenario: &Scenario, route: &[Hop], [sender, receiver]: [&Access; 2], bytes: u32) -> Span {
    let ends = [sender, receiver].map(|access| access.rate.transmit(bytes) + access.delay.least());
    let access = ends[0] + ends[1];
    route.iter().fold(access, |sum, hop| {
        let transmission = scenario.direction_settings(*hop).least_transmission(bytes);
        sum + transmission + scenario.links[usize::from(hop.link)].delay
    })
}

/// Mean of the minimum round-trip times of all TCP flows; zero without TCP.
pub fn mean_base_rtt(scenario: &Scenario) -> Span {
    let rtts = scenario.tcp.iter().map(|group| {
        let ends = [&group.sender, &group.receiver];
        let rtt = base_rtt(scenario, &group.route, ends, [group.packet, group.ack]);
        (u128::from(group.flows), u128::from(group.flows) * u128::from(rtt.as_nanos()))
    });
    let (flows, nanos) = rtts.fold((0, 0), |sum, each| (sum.0 + each.0, sum.1 + each.1));
    Span::from_nanos((nanos / flows.max(1)) as u64)
}
