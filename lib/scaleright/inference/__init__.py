"""Inference: what serving a model takes, by the physics of an engine's steps, checked against
measurements.

`deployment`: the model, the chips and how they share it. `memory`: what fits. `phases`: the time of
a step. `slowdowns`: how much longer it takes in practice. `rhythm`, `serving`: a server in its
steady state; `first_token`: what its clients wait. `lengths`, `speculation`: what is asked of it,
and drafts. `frontier`: which layouts serve a load best, targets, queues. `disaggregation`: prefill
and decode apart. `power`: watts and joules. `nodes`: usual engines of one node. `curves`: a
deployment as numbers for a page; `node_speed`, `server_steps`: the engine and the server that its
controls choose. `levers`, `fleet`: what saves chips. `measured`, `energy`: published figures.
"""
