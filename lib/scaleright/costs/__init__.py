"""Money: what renting and owning an accelerator cost, and where the two break even.

`rent`: paid by the hour. `own`: price, resale, power that scales with use, facility, people, cost of capital.
`break_even`: hours a day, months and rents at which one overtakes the other; fleets that mix both.
All amounts are per accelerator unless a name says otherwise.
"""
