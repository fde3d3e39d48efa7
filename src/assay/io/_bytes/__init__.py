"""The fast reader: lines and numbers from bytes, whole columns at a time."""
