"""Layouts: vertex positions for drawing."""
