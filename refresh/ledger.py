"""Store what every claim is found to be: `python -m refresh.ledger` writes `data/ledger.csv`.

To recompute them all takes a quarter of a minute; a list must not. A claim that is new or has
changed is recomputed by whoever asks; where the library has changed, run this again. A test holds
the table to the library.
"""

from __future__ import annotations

import csv
import io
import math
from dataclasses import fields
from pathlib import Path
from typing import Any

from scaleright.claims import ledger
from scaleright.claims.verdicts import Claim, Finding

DATA = Path(__file__).resolve().parents[1] / "data"
TABLE = "ledger"
DIGITS = 6
"""Significant digits of what is found: those beyond belong to the processor."""
_ENDS = {"low": "claimed_low", "high": "claimed_high"}


def row(finding: Finding, written: bool) -> dict[str, Any]:
    """A claim and what it is found to be, as texts."""
    claim, of = finding.claim, finding.recomputed
    told = {_ENDS.get(f.name, f.name): getattr(claim, f.name) for f in fields(Claim)}
    told |= {name: _text(told[name], None) for name in _ENDS.values()}
    return told | {
        "written": str(written).lower(),
        "found_low": _text(of.low, DIGITS) if of else "",
        "found_high": _text(of.high, DIGITS) if of else "",
        "traced": str(bool(of and of.traced)).lower(),
        "verdict": finding.verdict,
        "factor": "" if finding.factor is None else _text(finding.factor, DIGITS),
        "holds": finding.holds,
        "possible": finding.possible,
        "origin": finding.origin,
    }


def _text(value: float, digits: int | None) -> str:
    """A number with so many digits, or all; nothing for an open end."""
    if not math.isfinite(value):
        return ""
    return f"{value:.{digits}g}" if digits else repr(float(value))


def text() -> str:
    """The table as its file holds it."""
    rows = [row(finding, written=True) for finding in ledger.findings(ids=_ids())]
    rows += [row(finding, written=False) for finding in ledger.generated()]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _ids() -> tuple[str, ...]:
    return tuple(claim.id for claim in ledger.claims())


def main() -> None:
    """Write the table."""
    (DATA / f"{TABLE}.csv").write_text(text(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
