"""Sweeps: a chapter run over a grid of its parameters, on every core of this machine or on any Dask
cluster.

`grid` reads and checks the values, `scenario` is what a worker does, `cluster` finds workers and
survives their loss, `results` keeps what is finished and writes the table, `picture` draws it,
`conduct` puts them together. Workers import this package too, so it imports nothing itself.
"""
