"""The claims ledger: what the source documents state, recomputed by the library, with a computed verdict.

`ledger` reads `data/claims.csv`, runs the registered recomputation of each row and judges it; the modules named
after documents (`s2`, `s3`) hold the recomputations and may call anything above.
"""

from scaleright.claims.ledger import Finding, findings, report, table

__all__ = ["Finding", "findings", "report", "table"]
