# 24 sources with their own destinations over one SFQ link. `ns sfq-ns2.tcl` of ns-2.35 writes sfq.tr, from which sfq-ns2.txt is:
# awk '$1 != "r" && $2 < 3 { split($9, a, "."); split($10, b, "."); print $1, a[1] + b[1], $12 }' sfq.tr
set ns [new Simulator]
set out [open sfq.tr w]
$defaultRNG seed 7
set a [$ns node]; set b [$ns node]
Queue/SFQ set maxqueue_ 40
Queue/SFQ set buckets_ 16
$ns duplex-link $a $b 800kb 10ms SFQ
$ns trace-queue $a $b $out
for {set i 0} {$i < 24} {incr i} {
  set s($i) [$ns node]; set d($i) [$ns node]
  $ns simplex-link $s($i) $a 10Mb 1ms DropTail
  $ns simplex-link $b $d($i) 10Mb 1ms DropTail
  set udp($i) [new Agent/UDP]; set null($i) [new Agent/Null]
  $udp($i) set packetSize_ 1000
  $ns attach-agent $s($i) $udp($i); $ns attach-agent $d($i) $null($i)
  $ns connect $udp($i) $null($i)
  set cbr($i) [new Application/Traffic/Exponential]
  $cbr($i) set packetSize_ [expr 200 + 100 * ($i % 9)]
  $cbr($i) set burst_time_ 200ms
  $cbr($i) set idle_time_ 300ms
  $cbr($i) set rate_ [expr 40 + 30 * ($i % 7)]k
  $cbr($i) attach-agent $udp($i)
  $ns at [expr 0.01 * $i] "$cbr($i) start"
}
$ns at 12 "exit 0"
$ns run
