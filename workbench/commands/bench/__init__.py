"""`workbench bench`: compares the workbench with other systems on named problems, in interleaved rounds."""
