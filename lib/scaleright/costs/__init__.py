"""Money: what renting and owning an accelerator cost, and where the two break even.

`break_even`: paid by the hour, or owned with price, resale, power, facility, people and cost of
capital; hours a day, months and rents at which one overtakes the other, and fleets that mix both.
`ownership`: the terms of buying one accelerator, and power by region; `owned_hours`: the price of
an hour of it; `uncertainty`: how far its break-even may be off. `tokens`: a million tokens rented,
owned and at an API; `token_offers`: who sells them; `serving`: the same for one model and mix of
requests, with what nobody knows of it. `day_choices`, `day_bills`: a day of a service and its bill.
`commitment`: committed and spot hours. `price_performance`: what an hour of a chip buys.
`pretraining`, `pretraining_run`: a whole run on any platform, by parts, and its range;
`post_training`, `experiments`: rounds of tuning, studies of many runs. `platforms`,
`platform_terms`: the chips that clusters are built of; `fastest_steps`, `update_steps`,
`experiment_steps`, `cluster_grid`: their steps as tables. All amounts are per accelerator unless a
name says otherwise.
"""
