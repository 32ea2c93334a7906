"""Training systems.

`goodput`: what is left of the time that a job occupies its hardware, after checkpoints, lost work and restarts.
"""
