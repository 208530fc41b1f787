"""Page: what connects a view with its page: messages, widgets and threads."""
