"""The lab: the simulator as a web page, in a browser or a notebook. `make lab` builds `index.html` in this folder."""
