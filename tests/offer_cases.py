"""Raw files of a few offers, for tests of what becomes of them."""

import csv
from pathlib import Path

from refresh import api_prices
from refresh.rules import header
from refresh.tables import read_table, sift

MODELS = read_table(Path(__file__).resolve().parents[1] / "data" / "models.csv")


def write(raw: Path, file: str, *rows: dict) -> None:
    """A raw file of these rows."""
    path = raw / file
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, header(file), restval="")
        writer.writeheader()
        writer.writerows(rows)


def listed(provider: str, model_id: str, read=0.5, write=1.0, **cells) -> dict:
    """A line of models.dev."""
    return {
        "provider": provider,
        "model_id": model_id,
        "input_usd_per_mtok": read,
        "output_usd_per_mtok": write,
        **cells,
    }


def noted(model_id: str, read: float, write: float, **cells) -> dict:
    """A line of llm-prices, of OpenAI."""
    prices = {"input_usd_per_mtok": read, "output_usd_per_mtok": write}
    return {"vendor": "openai", "model_id": model_id, "name": model_id} | prices | cells


def offers(raw: Path, *lines: dict, history: tuple[dict, ...] = ()) -> tuple[dict, dict]:
    """Offers by provider and name, and why rows were left out by their label."""
    write(raw, api_prices.MODELS_DEV, *lines)
    write(raw, api_prices.LLM_PRICES, *history)
    found, dropped = sift(api_prices.rows(raw, MODELS))
    return {(row["provider"], row["model_id"]): row for row in found}, {
        drop.row: drop.reason for drop in dropped
    }
