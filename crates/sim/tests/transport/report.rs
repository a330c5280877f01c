//! A flow alone with accurate feedback behind DropTail, at 50 Mbit/s and 20 ms: with the echo in ACE's lowest bit, each
//! acknowledgement looked like an echo, and the window never grew.

use headgate_scenario::{Cc, Changes, Scenario};
use headgate_sim::run;

#[test]
fn accurate_feedback_does_not_slow_any_control_down() {
    for cc in Cc::ALL {
        let text = format!(
            "name = 't'\nduration = '30s'\nwarmup = '5s'\nqdiscs = ['droptail']\n\
             [link]\nrate = '50Mbit/s'\ndelay = '20ms'\nlimit = '200p'\n\
             [[tcp]]\ncc = '{}'\naccecn = true\necn = true\n",
            cc.name()
        );
        let scenario = Scenario::read(&text, "t", &Changes::default()).unwrap_or_else(|error| panic!("{error}"));
        let outcome = run(&scenario, &scenario.qdiscs[0], 1, &mut ()).unwrap_or_else(|error| panic!("{error}"));
        let goodput = outcome.flows[0].goodput_bps / 1e6;
        assert!(goodput > 45.0, "{}: {goodput:.1} Mbit/s", cc.name());
    }
}
