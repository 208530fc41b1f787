"""Solvers: programs in the language of a cell that are ready to run, each a module with `machine(...)`.

`hydro` (ideal gas), `advection`, `burgers`, `heat`, `wave` in any dimension; `life` in two. `gas_states` and
`exact_riemann` give exact solutions of the gas. A machine is imported from its module: from workbench.solvers import
heat, then heat.machine(dim=3).
"""
