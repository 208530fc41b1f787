"""Launch view: threads, blocks, occupancy, and the cells that they access."""
