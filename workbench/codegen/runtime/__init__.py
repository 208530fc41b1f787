"""Headers included by generated source: fixed ones, and one generated from the sequences of `graph/elementary`."""
