"""One Prague flow beside one CUBIC flow, over rates and round-trip times: the heat maps of the tests of L4S."""
