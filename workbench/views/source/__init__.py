"""Source: generated text, linked to the values and lines that it comes from."""
