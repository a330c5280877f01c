//! The settings of the transcription, and the paper's values.

/// All settings, in plain numbers.
#[derive(Clone, Copy)]
pub struct RedPdNumbers {
    /// In the unit of the queue: packets, or bytes in byte mode.
    pub limit: f64,
    pub minth: f64,
    pub maxth: f64,
    pub maxp: f64,
    pub wq: f64,
    /// ns-2's RED: `wait_`, and spares the first packet above minth and packets that find the queue empty.
    pub ns2: bool,
    pub bytes: bool,
    pub ecn: bool,
    pub mean: f64,
    pub m: usize,
    pub k: usize,
    pub list_flows: usize,
    pub counted_flows: usize,
    pub max_monitored: usize,
    pub test: bool,
    pub penalty: f64,
    pub max_decrease: f64,
    pub spare_unresponsive: bool,
    pub noidle: bool,
    /// Times in seconds.
    pub start: Option<f64>,
    /// Numbers of monitoring.tcl: shortest and longest list in R, weight of the last list, minimum drop rate, minimum
    /// hold in seconds. `holds` are the lists before an increase, and before a decrease of a responsive and an
    /// unresponsive flow.
    pub list: [f64; 2],
    pub weight: f64,
    pub least_rate: f64,
    pub hold: f64,
    pub holds: [usize; 3],
    /// Upper bounds of a first probability: absolute, and in multiples of the drop rate.
    pub first: [f64; 2],
    /// Growth, easing and release of responsive and of unresponsive flows.
    pub changes: [[f64; 3]; 2],
    pub comparable: f64,
    pub step: f64,
    pub fixed: Option<f64>,
    pub dynamic: Dynamic,
    pub min_rtt: f64,
    pub max_rtt: f64,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Dynamic {
    Off,
    DropRate(f64),
    MonitoredFlow(usize),
}

/// The paper's values; thresholds of the authors' scripts in a buffer of 150.
pub const PAPER: RedPdNumbers = RedPdNumbers {
    limit: 150.0,
    minth: 30.0,
    maxth: 99.0,
    maxp: 0.1,
    wq: 0.002,
    ns2: false,
    bytes: false,
    ecn: true,
    mean: 1000.0,
    m: 5,
    k: 3,
    list_flows: 50,
    counted_flows: 1024,
    max_monitored: 1024,
    test: true,
    penalty: 1.0,
    max_decrease: 0.05,
    spare_unresponsive: true,
    noidle: true,
    start: None,
    list: [2.0, 10.0],
    weight: 0.5,
    least_rate: 0.001,
    hold: 0.4,
    holds: [4, 3, 5],
    first: [0.5, 2.0],
    changes: [[2.0, 2.0, 0.005], [3.0, 1.5, 0.0025]],
    comparable: 0.1,
    step: 0.05,
    fixed: None,
    dynamic: Dynamic::Off,
    min_rtt: 0.010,
    max_rtt: 0.170,
};
