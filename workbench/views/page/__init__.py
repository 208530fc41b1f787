"""Page: the connection of a view with the browser: messages, widgets and threads."""
