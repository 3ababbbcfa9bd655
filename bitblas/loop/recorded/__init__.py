"""What a body says: its statements, written down as plain data."""
