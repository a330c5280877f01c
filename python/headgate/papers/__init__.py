"""The experiments that repeat figures and tables of papers: one experiment per figure or table.

`headgate paper list` lists them. `docs/papers` has a page for each paper.
"""
