"""The claims ledger: what the source documents state, recomputed by the library, with a computed verdict.

`ledger` reads `data/claims.csv`, runs the registered recomputation of each row and judges it. The recomputations may call
anything above: `s2` and `s3` hold rules and first prices of one document each, the others a theme of several (`rents`,
`supply`, `hardware`, `tokens`, `utilization`, `owning`).
"""

from scaleright.claims.ledger import Finding, findings, report, table

__all__ = ["Finding", "findings", "report", "table"]
