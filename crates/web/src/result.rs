//! The result of a finished run: the numbers of the command line's tables.

use headgate_measure::{FlowRow, LinkRow, Outcome};
use serde_json::{Value, json};

use crate::Message;
use crate::lab::Lab;

impl Lab {
    /// Runs to the end, and returns each flow's and the link's row of the tables as JSON.
    pub fn result(&mut self) -> String {
        let link = usize::from(self.hop.number());
        let groups: Vec<String> = self.scenario.groups().map(|group| group.name.to_string()).collect();
        match self.outcome() {
            Ok(outcome) => json!({
                "flows": outcome.flows.iter().map(|row| flow(row, &groups)).collect::<Vec<_>>(),
                "link": link_row(&outcome.links[link]),
                "packets": outcome.packets,
            })
            .to_string(),
            Err(message) => json!({"error": message}).to_string(),
        }
    }

    /// Runs to the end, and returns the outcome.
    ///
    /// # Errors
    /// A message if the run was stopped.
    pub fn outcome(&mut self) -> Result<&Outcome, Message> {
        let end_ms = crate::lab::millis(self.end());
        self.skip(end_ms);
        if let Some(world) = self.world.take() {
            let outcome = world.finish(&self.scenario, &mut self.picture).map_err(|error| error.to_string())?;
            self.outcome = Some(outcome);
        }
        self.outcome.as_ref().ok_or_else(|| "the run has no result".to_string())
    }
}

fn flow(row: &FlowRow, groups: &[String]) -> Value {
    json!({
        "flow": row.flow,
        "group": groups[row.group as usize],
        "goodput_bps": row.goodput_bps,
        "throughput_bps": row.throughput_bps,
        "fair_share_bps": row.fair_share_bps,
        "retransmits": row.retransmits,
        "timeouts": row.timeouts,
        "cwnd_mean": row.cwnd_mean,
        "queue_delay_ms_mean": row.queue_delay_ms_mean,
    })
}

fn link_row(row: &LinkRow) -> Value {
    json!({
        "utilization": row.utilization,
        "arrived": row.counts.arrived,
        "sent": row.counts.sent,
        "dropped": row.counts.dropped(),
        "queue_packets_mean": row.queue_packets_mean,
    })
}
