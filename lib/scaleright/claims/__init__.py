"""The claims ledger: what five documents state, recomputed by the library, with a computed verdict.

`ledger` reads `data/claims.csv`, runs the recomputation of each row and judges it by the rule of
`verdicts`; `entries` are what was found last time, as `data/ledger.csv` keeps it, and who wrote
what: `listing` lists, filters and searches them in no time, and of them `stored` has what chapters
show; `errors` are those that predictions of models carry. The other modules hold the recomputations
of each document: functions with the names of their claims, and those of one line in a table
`RECOMPUTED`; of claims beside which a published figure stands, `QUOTED` names the facts. `vendor`
has both answers of Token Cost Analysis, `s2_training`, `s2_serving` and `s2_costs` the guide of
Clarifai, `s3` Andreessen Horowitz, `s4` the MLPerf blog post, from whose tables it also generates a
claim for each figure printed. They may call anything above.
"""
