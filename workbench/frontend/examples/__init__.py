"""Examples: for each word of the language a small cell with its result, and a mistake with its error message."""
