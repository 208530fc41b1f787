"""`workbench bench`: named problems, the workbench beside other systems, in interleaved rounds, with a report."""
