# One run of a scenario in ns-2: a dumbbell of two routers, with TCP, constant and on/off flows.
#
#     ns ns2.tcl KEY VALUE ... group {KEY VALUE ...} ...
#
# peers/ns2.py derives the arguments from a case and reads the answer, one line of JSON. Times are in seconds, rates in
# bit/s, packets in bytes. Everything is measured after the warm-up.

set groups {}
foreach {key value} $argv {
    if {$key eq "group"} { lappend groups $value } else { set opt($key) $value }
}

# ns-2 fills its generator's state with the seed itself. The first draws of such a state are alike for all seeds.
ns-random [expr {$opt(seed) * 104729 + 17}]
set rng [new RNG]
$rng seed [expr {$opt(seed) * 15485863 + 101}]
for {set i 0} {$i < 1000} {incr i} { $rng uniform 0 1; ns-random }

set ns [new Simulator]
set left [$ns node]
set right [$ns node]

# The bottleneck, with the queue that is compared.
eval $ns simplex-link $left $right $opt(rate) $opt(delay) $opt(queue)
$ns simplex-link $right $left $opt(rate) $opt(delay) DropTail
$ns queue-limit $left $right $opt(limit)
$ns queue-limit $right $left 1000
set bottleneck [$ns link $left $right]
set queue [$bottleneck queue]
foreach {name value} $opt(settings) { $queue set $name $value }

# The monitor of the bottleneck counts packets; its integrator holds the sum of queue length times time.
set past(parrivals_) 0
set past(bdepartures_) 0
set past(pdepartures_) 0
set past(pdrops_) 0
set past(pmarks_) 0
if {$opt(engine) eq ""} {
    set monitor [$ns monitor-queue $left $right [open /dev/null w]]
    set integrator [$monitor get-pkts-integrator]
} else {
    # RED-PD: the queue is ns-2's, the identification is its authors' script. That script starts at its own fixed time
    # (10.1 s), which `start` replaces. It resets the monitor after each list, so the counts are added up before that.
    set target_rtt_ $opt(target_rtt)
    set testIdent_ 0
    set verbosity_ -1
    set listMode_ multi
    set unresponsive_test_ 1
    source $opt(engine)/monitoring.tcl
    source $opt(engine)/helper.tcl
    set monitor [$queue makeflowmon $bottleneck]
    set integrator [new Integrator]
    $monitor set-pkts-integrator $integrator
    $monitor proc reset {} {
        global past integrator ns
        foreach name [array names past] { set past($name) [expr {$past($name) + [$self set $name]}] }
        set area [$integrator set sum_]
        set then [$integrator set lastx_]
        set length [$integrator set lasty_]
        $self next
        $integrator set sum_ $area
        $integrator set lastx_ $then
        $integrator set lasty_ $length
    }
    set sim_start $opt(start)
    Class Engine -superclass REDPDSim
    Engine instproc sched-detect-reward {after} {
        global sim_start
        if {$sim_start ne ""} { set after $sim_start; set sim_start "" }
        $self next $after
    }
}

# DRR and SFQ hash addresses, not flows: nodes whose pair would share a bucket with an earlier pair stay unused.
proc bucket {from to} {
    global opt
    if {$opt(hash) eq "drr"} {
        return [expr {(($from + ($from >> 8) + ~($from >> 4)) % ((2 << 23) - 1) + 1) % $opt(buckets)}]
    }
    set sum [expr {$from + $to}]
    return [expr {($sum + ($sum >> 8) + ~($sum >> 4)) % ((2 << 19) - 1) % $opt(buckets)}]
}

# The hosts of a flow: two new nodes, in a bucket of their own.
proc hosts {} {
    global ns opt used
    while 1 {
        set from [$ns node]
        set to [$ns node]
        if {$opt(hash) eq ""} { return [list $from $to] }
        set bucket [bucket [$from node-addr] [$to node-addr]]
        if {![info exists used($bucket)]} {
            set used($bucket) 1
            return [list $from $to]
        }
        if {[array size used] >= $opt(buckets)} { error "more flows than buckets" }
        $ns node
    }
}

proc access {from to group} {
    global ns left right
    $ns duplex-link $from $left [dict get $group access] [dict get $group near] DropTail
    $ns duplex-link $right $to [dict get $group access] [dict get $group far] DropTail
    foreach pair [list [list $from $left] [list $left $from] [list $right $to] [list $to $right]] {
        eval $ns queue-limit $pair 100000
    }
}

proc tcp {from to group flow} {
    global ns
    set tcp [new Agent/TCP/[dict get $group agent]]
    set sink [new Agent/[dict get $group sink]]
    foreach {name value} [dict get $group tcp] { $tcp set $name $value }
    foreach {name value} [dict get $group receiver] { $sink set $name $value }
    $tcp set fid_ $flow
    $ns attach-agent $from $tcp
    $ns attach-agent $to $sink
    $ns connect $tcp $sink
    return [list $tcp $sink]
}

proc udp {from to group flow} {
    global ns
    set udp [new Agent/UDP]
    set sink [new Agent/LossMonitor]
    $udp set packetSize_ 65535
    $udp set fid_ $flow
    $ns attach-agent $from $udp
    $ns attach-agent $to $sink
    $ns connect $udp $sink
    return [list $udp $sink]
}

# An on/off source that sends what TCP takes: ns-2 has none, so its periods are drawn here.
proc pareto {mean shape} {
    global rng
    return [expr {$mean * ($shape - 1.0) / $shape / pow([$rng uniform 0 1], 1.0 / $shape)}]
}
proc on {tcp group} {
    global ns
    $tcp send -1
    $ns at [expr {[$ns now] + [pareto [dict get $group on] [dict get $group shape]]}] [list off $tcp $group]
}
proc off {tcp group} {
    global ns
    $tcp advanceby [expr {[$tcp set maxseq_] + 1 - [$tcp set seqno_]}]
    $ns at [expr {[$ns now] + [pareto [dict get $group off] [dict get $group shape]]}] [list on $tcp $group]
}

proc source_of {agent group at} {
    global ns
    switch [dict get $group traffic] {
        ftp { $ns at $at [list $agent send -1] }
        take { $ns at $at [list on $agent $group] }
        default {
            set source [new Application/Traffic/[dict get $group traffic]]
            foreach {name value} [dict get $group source] { $source set $name $value }
            $source attach-agent $agent
            $ns at $at [list $source start]
        }
    }
}

set flow 0
foreach group $groups {
    set pairs {}
    for {set i 0} {$i < [dict get $group hosts]} {incr i} {
        lappend pairs [hosts]
        eval access [lindex $pairs end] [list $group]
    }
    for {set i 0} {$i < [dict get $group flows]} {incr i} {
        set ends [lindex $pairs [expr {$i % [llength $pairs]}]]
        set agents [[dict get $group kind] [lindex $ends 0] [lindex $ends 1] $group [incr flow]]
        set at [expr {[dict get $group start] + [$rng uniform 0 [dict get $group within]]}]
        source_of [lindex $agents 0] $group $at
        lappend sinks([dict get $group name]) [lindex $agents 1]
    }
}

if {$opt(engine) ne ""} {
    new Engine $ns $queue $monitor $bottleneck 0 true
}

# The counts now: of the bottleneck, and the bytes that each group's receivers had in order.
proc counts {} {
    global ns monitor integrator past sinks
    $integrator newpoint [$ns now] [$integrator set lasty_]
    set now {}
    foreach name [array names past] { dict set now $name [expr {$past($name) + [$monitor set $name]}] }
    dict set now area [$integrator set sum_]
    foreach group [array names sinks] {
        set bytes 0
        foreach sink $sinks($group) { incr bytes [$sink set bytes_] }
        dict set now "group $group" $bytes
    }
    return $now
}

proc finish {} {
    global warm opt groups
    set end [counts]
    set time [expr {$opt(duration) - $opt(warmup)}]
    foreach name [dict keys $end] { set of($name) [expr {[dict get $end $name] - [dict get $warm $name]}] }
    set goodput {}
    foreach group $groups { set useful([dict get $group name]) [dict get $group useful] }
    foreach name [array names useful] {
        lappend goodput "\"$name\": [expr {8.0 * $of(group $name) * $useful($name) / $time}]"
    }
    puts "{\"goodput_bps\": {[join $goodput {, }]}, \"arrived\": $of(parrivals_), \"dropped\": $of(pdrops_),\
        \"marked\": $of(pmarks_), \"queue_packets\": [expr {$of(area) / $time}],\
        \"utilization\": [expr {8.0 * $of(bdepartures_) / $time / $opt(rate)}],\
        \"packets\": [dict get $end pdepartures_]}"
    exit 0
}

$ns at $opt(warmup) {set warm [counts]}
$ns at $opt(duration) finish
$ns run
