"""Size fleets by the closed form of a day, simulate the busiest time of each, and write the table
`day_fleets`: `python -m refresh.day_fleets`, some minutes.
"""

import csv
import sys
from pathlib import Path

from scaleright.chapters.load_of_a_day.evidence import fleets

TABLE = Path(__file__).resolve().parents[1] / "data" / "day_fleets.csv"


def main() -> int:
    """Write the table."""
    rows = [
        {name: f"{of:g}" if isinstance(of, float) else of for name, of in row.items()}
        for row in fleets()
    ]
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
