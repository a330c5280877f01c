//! Any bytes are read or refused, and a mark changes a header's ECN and checksum alone.
#![no_main]

use headgate_live::{Layer, ParsedFrame, Parser, ecn};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|frame: &[u8]| {
    for layer in [Layer::Ethernet, Layer::Ip] {
        let mut parser = Parser::new(layer, 7);
        let result = parser.parse(frame);
        assert_eq!(parser.anomalies.dropped(), u64::from(result.is_err()));
        if let Ok(ParsedFrame { ip: Some(at), flow, .. }) = result {
            let mut marked = frame.to_vec();
            ecn::mark(&mut marked, at);
            let again = parser.parse(&marked).expect("a marked packet is as good as it was");
            assert_eq!((again.flow, again.ip, again.ecn.bits()), (flow, Some(at), 3));
            assert!(frame.iter().zip(&marked).filter(|(before, after)| before != after).count() <= 3);
        }
    }
});
