"""`workbench bench accelerate`: the programs of McDonell's thesis beside other systems, and what optimisation does."""
