"""Inference: what serving a model takes, by the physics of an engine's steps, checked against
measurements.

`deployment`: the model, the chips and how they share it; `formats`: of the weights, and what they
cost in quality. `memory`: what fits. `phases`: the time of a step, by what kernels and network
reach. `slowdowns`: how much longer it takes in practice. `serving`: a server in its steady state;
`first_token`: what its clients wait, as prompts and answers share its steps. `lengths`: what is
asked of it, and drafts. `disaggregation`: prefill and decode apart. `power`: watts and joules.
`splits`, `nodes`: how chips may share a model, and usual engines of one node. `curves`: a
deployment as numbers for a page; `engine_tables`, `node_speed`: the engines that its controls
choose. `traffic`, `day`, `demand`: requests over a day, and the engines that they take.
`levers`, `ladder`, `fleet`: what saves chips. `measured`, `energy`: published figures.
"""
