"""The comparison of FRED, BLUE, SFB and CHOKe, with RED and DropTail as baselines."""

CITATION = "A comparison of FRED, BLUE, SFB and CHOKe, with RED and Drop Tail as the baseline, by ns-2 simulation"
ABOUT = (
    "Six disciplines on one link of 1 Mbit/s with ten TCP flows and one unresponsive flow. All keep the link "
    "busy, but only FRED, SFB and CHOKe limit the unresponsive flow."
)
