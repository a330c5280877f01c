//! The flow identifier and class of each of the scenario's flows at a discipline.

use std::collections::BTreeMap;

use aqm::{ClassId, FlowId};

use crate::classify::FlowKey;
use crate::header::Header;
use crate::model::Scenario;
use crate::network::Hop;

/// A flow's identity at a discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The identifier of the flow at the discipline.
    pub flow: FlowId,
    /// Its class.
    pub class: ClassId,
}

impl Scenario {
    /// The identity of each flow at `hop`, by flow number. Flows that the classifier does not distinguish share an
    /// identifier: the number of their first flow. If it distinguishes all flows, each keeps its own number. A
    /// direction that carries a flow's replies classifies the reply's header.
    pub fn identities(&self, hop: Hop) -> Vec<Identity> {
        // Numbers depend only on which hashes are equal, so any key will do.
        let classifier = self.classifier(0);
        let mut first = BTreeMap::new();
        let carried = self.groups().flat_map(|group| {
            let seen = (group.route.contains(&hop), self.dscp_at(hop, group.route, group.headers.dscp));
            (0..group.flows).map(move |_| seen)
        });
        let numbered = (0..).zip(self.headers().zip(carried));
        numbered
            .map(|(number, (header, (is_data, dscp)))| {
                let header = Header { dscp, ..header };
                let header = if is_data { header } else { header.reply() };
                let class = classifier.class(&header);
                let flow = classifier.flow(&header, class);
                let mut numbered = || *first.entry(flow).or_insert(FlowId(number));
                Identity { flow: if self.flow_key == FlowKey::AddressSum { flow } else { numbered() }, class }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Changes, Direction};

    const FLOWS: &str = "[[tcp]]\nname = 'web'\nflows = 2\nsource = '10.1.0.0/24'\n\
                         [[udp]]\nname = 'voice'\nflows = 2\nrate = '1Mbit/s'\ndscp = 'EF'\nsource = '10.2.0.1'\n\
                         [[class]]\nname = 'high'\ndscp = 'EF'\n[[class]]\nname = 'back'\nsource_port = 5001\n";

    fn seen(flow: &str, direction: Direction) -> Vec<(u64, u16)> {
        let text = format!(
            "name = 'c'\nduration = '1s'\nqdiscs = ['droptail']\nclassify.flow = '{flow}'\n\
             link = {{ rate = '10Mbit/s', delay = '10ms', limit = '9p' }}\n{FLOWS}"
        );
        let scenario = Scenario::read(&text, "c.toml", &Changes::default()).unwrap_or_else(|error| panic!("{error}"));
        let identities = scenario.identities(Hop { link: 0, direction });
        identities.iter().map(|identity| (identity.flow.0, identity.class.0)).collect()
    }

    #[test]
    fn flows_that_the_key_does_not_distinguish_have_the_number_of_their_first_flow() {
        assert_eq!(seen("5-tuple", Direction::Forward), [(0, 0), (1, 0), (2, 1), (3, 1)]);
        assert_eq!(seen("source", Direction::Forward), [(0, 0), (1, 0), (2, 1), (2, 1)]);
        assert_eq!(seen("source/24", Direction::Forward), [(0, 0), (0, 0), (2, 1), (2, 1)]);
        assert_eq!(seen("class", Direction::Forward), [(0, 0), (0, 0), (2, 1), (2, 1)]);
    }

    #[test]
    fn an_address_sum_is_the_identifier_and_is_the_same_in_both_directions() {
        // Flows go from 10.1.0.1 and .2 to 172.16.0.1 and .2, and from 10.2.0.1 to 172.16.0.3 and .4.
        let web = |n: u64| (10 << 24) + (1 << 16) + n + (172 << 24) + (16 << 16) + n;
        let voice = |n: u64| (10 << 24) + (2 << 16) + 1 + (172 << 24) + (16 << 16) + n;
        let sums = [web(1), web(2), voice(3), voice(4)];
        for direction in [Direction::Forward, Direction::Reverse] {
            assert_eq!(seen("address_sum", direction).into_iter().map(|(flow, _)| flow).collect::<Vec<_>>(), sums);
        }
    }

    #[test]
    fn in_reverse_the_headers_of_replies_are_classified() {
        assert_eq!(seen("source", Direction::Reverse), [(0, 2), (1, 2), (2, 1), (3, 1)]);
        assert_eq!(seen("destination", Direction::Reverse), [(0, 2), (1, 2), (2, 1), (2, 1)]);
    }
}
