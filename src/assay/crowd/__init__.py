"""From many workers to judgments one can trust: scales, protocol, quality, aggregation, cuts."""
