"""Is the difference real? Tests, corrections, intervals, effect sizes and analyses of variance on a ScoreMatrix."""
