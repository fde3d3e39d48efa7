"""One file per revision of the schema, each after the one that it names."""
