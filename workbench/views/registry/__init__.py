"""Registry: machines, simulations and caches of this process, as a snapshot and as messages to a front end."""
