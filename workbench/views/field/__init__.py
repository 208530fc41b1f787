"""Field view: a live value of a simulation as a line, image or slice, with probes, scalars and controls."""
