"""Registry: what is alive in this process, as a snapshot and as messages to a front end."""
