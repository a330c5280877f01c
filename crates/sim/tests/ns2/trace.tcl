# One TCP flow of ns-2.35 on a path that loses or marks listed transmissions, written as the tests of this folder read it.
#
#     ns trace.tcl CASE | grep -v ^cmd > CASE.txt
#
# The first lines are the case. Each line after them is one transmission: its time in milliseconds, the segment (`r`: sent
# before, `c`: with CWR), then cwnd and ssthresh in segments as the sender had them when it sent.
#
# 100 Gbit/s add nearly nothing to the path's delay. As in the tests, the connection begins without a SYN (`syn_`,
# `delay_growth_`), and a packet is as large as `packetSize_` says (`useHeaders_`). All else is as in ns-default.tcl,
# unless the case says otherwise.

# Settings of a case: the agent, what to `set` of it, the delay each way in milliseconds, transmissions to lose or to mark,
# counted from 1, writes as {milliseconds segments}, and the end in milliseconds.
proc case {name args} {
    global cases
    set cases($name) $args
}

source [file join [file dirname [info script]] cases.tcl]

proc setting {name default} {
    global given
    return [expr {[info exists given($name)] ? $given($name) : $default}]
}

set name [lindex $argv 0]
if {![info exists cases($name)]} {
    puts stderr "no case \"$name\" (known: [lsort [array names cases]])"
    exit 2
}
array set given $cases($name)

set ns [new Simulator]
set sender [$ns node]
set middle [$ns node]
set receiver [$ns node]
$ns duplex-link $sender $middle 100Gb [setting delay 50]ms DropTail
$ns duplex-link $middle $receiver 100Gb 0ms DropTail
$ns queue-limit $sender $middle 100000
$ns queue-limit $middle $receiver 100000

# Loses, or marks, the listed packets of a link.
proc spoil {key from to} {
    global ns
    set model [new ErrorModel/List]
    $model unit pkt
    $model set markecn_ [string equal $key mark]
    # ns counts from 0.
    set list {}
    foreach nth [setting $key {}] { lappend list [expr {$nth - 1}] }
    if {$list ne {}} {
        $model droplist $list
        $model drop-target [new Agent/Null]
        $ns lossmodel $model $from $to
    }
}
spoil mark $sender $middle
spoil lose $middle $receiver

set tcp [new Agent/[setting agent TCP/Newreno]]
foreach {key value} [concat {syn_ false delay_growth_ false useHeaders_ false} [setting set {}]] { $tcp set $key $value }
if {[info exists given(select)]} { $tcp select_ca $given(select) }
set sink [new Agent/[setting sink TCPSink]]
$ns attach-agent $sender $tcp
$ns attach-agent $receiver $sink
$ns connect $tcp $sink

set path [file join /tmp ns2-trace.[pid]]
set log [open $path w]
$ns trace-queue $sender $middle $log
$tcp attach $log
$tcp trace cwnd_
$tcp trace ssthresh_

if {[setting writes {}] eq {}} {
    $ns at 0 "$tcp send -1"
} else {
    foreach write [setting writes {}] { $ns at [expr {[lindex $write 0] / 1000.0}] "$tcp advanceby [lindex $write 1]" }
}
$ns at [expr {[setting end 3000] / 1000.0}] "show"

proc show {} {
    global ns log path tcp
    $ns flush-trace
    foreach {key default} {set {} delay 50 lose {} mark {} writes {} end 3000} { puts [concat # $key [setting $key $default]] }
    close $log
    set log [open $path]
    set cwnd [$tcp set windowInit_]
    set ssthresh [$tcp set window_]
    while {[gets $log line] >= 0} {
        if {[lindex $line 5] eq "cwnd_"} {
            set cwnd [lindex $line 6]
        } elseif {[lindex $line 5] eq "ssthresh_"} {
            set ssthresh [lindex $line 6]
        } elseif {[lindex $line 0] eq "+"} {
            set seq [lindex $line 10]
            set flags [expr {[info exists sent($seq)] ? "r" : ""}]
            if {[string first A [lindex $line 6]] >= 0} { append flags c }
            set sent($seq) 1
            puts [format "%.0f %d%s %.3f %d" [expr {1000 * [lindex $line 1]}] $seq $flags $cwnd $ssthresh]
        }
    }
    close $log
    file delete $path
    exit 0
}

$ns run
