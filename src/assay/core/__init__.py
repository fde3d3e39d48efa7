"""What knows nothing of retrieval: errors, arrays, ids, registries, engines, tables, results."""
