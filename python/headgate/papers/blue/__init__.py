"""BLUE and Stochastic Fair BLUE."""

CITATION = (
    "Feng, Shin, Kandlur and Saha, The BLUE active queue management algorithms, IEEE/ACM Transactions on Networking "
    "10(4), 2002"
)
ABOUT = (
    "One probability of marking, raised by packet loss and lowered by an idle link, needs no queue length; with bins "
    "under several hash functions it finds the flows that do not slow down."
)
