# Four windows of marks: two ordinary reductions, then echoes at a window of one, and growth once they end.
case ecn_timeout set {ecn_ 1} mark {6 7 8 9 10 11 12 13 14 15 16 17 18 19 20} end 4700
# A mark, and a loss in the same window of data.
case mark_and_loss set {ecn_ 1} mark {20} lose {26} end 1000
# The retransmission after a timeout is marked.
case marked_again set {ecn_ 1} lose {3 4 5 6} mark {7 8} end 4400
# Pauses shorter and longer than the timeout, counted from the last acknowledgement.
case pause set {window_ 100} writes {{0 60} {650 20} {850 90} {1500 30} {4000 60}} end 4600
# The last segment of a burst is lost: duplicates come a round trip after the last new acknowledgement, and the
# retransmission is acknowledged later than the timeout after it.
case timer delay 55 lose {130} end 1400
# The retransmission is lost too, and the timer expires.
case timeout delay 55 lose {14 33} end 1500
# Three losses in a window.
case partial lose {15 17 20} end 1000
# Without deflation at partial acknowledgements, ns-2's default before May 2003.
case no_deflation set {partial_window_deflation_ 0} lose {15 17 20} end 1000
# Each partial acknowledgement restarts the timer, ns-2's default before May 2003: Slow-but-Steady.
case slow_but_steady set {newreno_changes1_ 0} delay 55 lose {15 16 17 18 19 20} end 1600
# cwnd grows beyond the receiver's window of 8, and a loss halves the window.
case window set {window_ 8} lose {120} end 2200
# A flight of losses: a timeout, and duplicates of what is sent again.
case go_back lose {15 16 17 19 21 22 23 24} end 1400
# A retransmission is lost twice: each timeout halves, and the timer backs off.
case back_off lose {10 19 20 21} end 1200
# CUBIC of Linux 2.6 in ns-2: one loss.
case cubic agent TCP/Linux sink TCPSink/Sack1 select cubic set {window_ 40} lose {120} end 710
# Reno repairs one of two losses in a window, and three duplicates of the second change nothing.
case reno agent TCP/Reno set {window_ 100} lose {32 60} end 1000
# SACK repairs a loss at a window of 15.
case sack agent TCP/Sack1 sink TCPSink/Sack1 lose {14} end 700
# Random delays of up to 10 ms before a burst.
case overhead set {overhead_ 0.01} end 700
