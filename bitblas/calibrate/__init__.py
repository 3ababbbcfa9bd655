"""Measure products and searches on a device, and fit the cost model of plan/cost_model.py to the times."""
