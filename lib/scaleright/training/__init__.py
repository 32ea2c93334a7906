"""Training systems.

`goodput`: what is left of the time that a job occupies its hardware, after checkpoints, lost work
and restarts. `memory`: what each chip holds in a step, by part, and the fewest chips on which it
fits.
"""
