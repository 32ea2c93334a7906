"""Money: what renting and owning an accelerator cost, and where the two break even.

`rent`: paid by the hour. `own`: price, resale, power that scales with use, facility, people, cost
of capital. `break_even`: hours a day, months and rents at which one overtakes the other; fleets
that mix both. `ownership`: the terms of buying one accelerator; `uncertainty`: how far its break-
even may be off. `tokens`: a million tokens rented, owned and at an API; `serving`: the same for one
model and mix of requests; `batches`: the same for requests at once on one server. `commitment`:
committed and spot hours. `price_performance`: what an hour of a chip buys. `pretraining`: a whole
run on any platform, by parts. `regret`: what a bet on one kind of model costs when another comes.
All amounts are per accelerator unless a name says otherwise.
"""
