"""Store what is fitted to the measurements: `python -m refresh.judged` writes the tables of
constants, `data/serving_errors.csv` from `validate serving` and `energy`, what the errors of two
chips have in common, and how long the phases of published runs of post-training take.

Fitting the constants anew for every group left out takes half a minute; a page must not. Rows that
no fit sees are predicted by the stored constants: where those moved, run it again. A test holds all
of them to the library, on every processor.
"""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
from scaleright.decisions import post_training_evidence
from scaleright.validation import energy, in_common, kinds, serving, training, whole_runs

from refresh.tables import Row, table_text

DATA = Path(__file__).resolve().parents[1] / "data"
TABLE = "serving_errors"
KINDS = ("serving", "energy")
FITTED = {"training": training, "pretraining": whole_runs, "serving": serving, "energy": energy}
"""What has a table of constants."""
FOUND = {"errors_in_common": in_common, "post_training_phases": post_training_evidence}
_SAME = (
    "run",
    "source",
    "model",
    "accelerator",
    "accelerators",
    "precision",
    "software",
    "output_tokens",
    "held_out",
    "scored",
    "why",
)
_FIGURES = {
    "published": "published",
    "predicted": "predicted",
    "low": "low",
    "high": "high",
    "error_percent": "error_percent",
    "error_percent model left out": "model_out_percent",
    "error_percent release left out": "release_out_percent",
    "error_percent chip left out": "chip_out_percent",
    "baseline_error_percent": "roofline_percent",
}


def rows() -> list[Row]:
    """Every judged figure of serving and of its energy, numbers to four digits."""
    found = []
    for kind in KINDS:
        judged = kinds.validate(kind).rows
        judged = judged if "figure" in judged else judged.assign(figure="energy")
        for row in judged.astype(object).where(judged.notna(), None).to_dict("records"):
            numbers = {ours: row.get(name) for name, ours in _FIGURES.items()}
            found.append(
                {name: row[name] for name in _SAME}
                | {"figure": row["figure"]}
                | {
                    name: None if value is None or pd.isna(value) else float(f"{value:.4g}")
                    for name, value in numbers.items()
                }
            )
    return found


def texts() -> dict[str, str]:
    """Every fitted table as its file holds it, by name."""
    package = json.loads((DATA / "datapackage.json").read_text(encoding="utf-8"))
    schema = next(
        entry["schema"] for entry in package["resources"] if entry["path"] == f"{TABLE}.csv"
    )
    fitted = {f"{kind}_constants": judge for kind, judge in FITTED.items()}
    found = {
        name: judge.refit().to_csv(index=False, lineterminator="\n")
        for name, judge in (fitted | FOUND).items()
    }
    return found | {TABLE: table_text(rows(), schema)}


def main() -> None:
    """Write every fitted table."""
    for name, text in texts().items():
        (DATA / f"{name}.csv").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
