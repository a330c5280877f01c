"""BLUE and Stochastic Fair BLUE."""

CITATION = (
    "Feng, Shin, Kandlur and Saha, The BLUE active queue management algorithms, IEEE/ACM Transactions on Networking "
    "10(4), 2002"
)
ABOUT = (
    "BLUE marks with one probability, raised by drops and lowered by an idle link. It needs no queue length. "
    "SFB keeps one such probability per hashed bin and so finds the unresponsive flows."
)
