"""Launch: threads, blocks, occupancy and the cells that they touch."""
