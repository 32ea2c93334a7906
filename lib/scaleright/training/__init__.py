"""Training systems: the time and the memory of a step, by physics.

`layout`: a run and how it is laid out over chips; `rules`, `layouts`, `search`: which layouts run,
and the fastest. `machine`: what a step runs on; `parts`: its kinds of work, layer by layer;
`hiding`: what of them overlaps; `slowdowns`: how much longer they take in practice; `step`: all
together. `memory`: what each chip holds in a step, by part, and the fewest chips on which it fits.
`goodput`: what is left of the time that a job occupies its hardware, after checkpoints, lost work
and restarts.
"""
