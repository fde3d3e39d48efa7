"""The numbers of the literature, made again from public data: `make reproduce` writes docs/reproduction.md."""
