"""Two results of one scenario side by side: simulated and live, or two simulations whose settings differ.

`gaps.compare` sets two results side by side; `sources` finds or makes them. Light to import: a process with threads can
no longer be made ready for real packets.
"""
