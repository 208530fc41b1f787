"""Views: what machines and simulations look like; records become frozen summaries, summaries become displays."""
