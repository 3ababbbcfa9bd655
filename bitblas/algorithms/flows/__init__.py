"""Maximum flow and minimum cut."""
