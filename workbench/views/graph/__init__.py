"""Graph view: values and their dependencies; a double click changes the storage of a value."""
