"""Registered kernel variants: a finite, printed list, compiled for every architecture and executed in CI."""
