"""Measure products and searches on a device, and fit the cost model of plan/costs.py to the times."""
