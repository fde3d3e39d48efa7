"""Which topics suffice? Subsets of topics that rank the runs as all topics do, what they are worth, which to judge.

`series` and `search` find them, `holdout` tests them on other runs, `choose` picks topics before judging.
"""
