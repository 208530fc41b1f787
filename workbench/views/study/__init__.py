"""Study: what a tuning tried, in which order, and what it found."""
