"""Examples: a small cell for each word of the language, what it computes, and a mistake with the error it gets."""
