"""Measures what products and searches cost on a device, and fits the constants of plan/costs.py to them."""
