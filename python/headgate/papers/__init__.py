"""Every figure and table of the papers that define this toolkit, as one experiment each.

`headgate paper list` names them; docs/papers has a page for each paper.
"""
