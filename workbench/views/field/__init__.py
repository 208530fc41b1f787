"""Field: a value of a simulation, live: line, picture or slice, with probes, scalars and controls."""
