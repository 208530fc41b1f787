"""The steps of the problems as people write them for other systems; imported by the process that measures one."""
