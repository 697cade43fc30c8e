"""The demonstration: planted errors, and whether the audit finds them."""

from typing import Any, NamedTuple

import numpy as np

from .._typing import Bools


class Planted(NamedTuple):
    """A table, and which of its rows were made wrong."""

    data: dict[str, Any]
    target: str
    wrong: Bools


def planted_errors(seed: int = 0, n_rows: int = 400) -> Planted:
    """Rents of flats, generated; decimal and unit slips in about one row of twelve.

    The errors are gross: the rent is ten times or a tenth of what it was, or is in
    another currency at a factor of a hundred, mostly on one desk's forms.
    """
    rng = np.random.default_rng(seed)
    area = rng.gamma(9.0, 8.0, n_rows) + 15.0
    rooms = np.clip(np.round(area / 25.0 + rng.normal(0, 0.4, n_rows)), 1, 6)
    distance = rng.gamma(2.0, 3.0, n_rows)
    year = np.round(rng.uniform(1900, 2024, n_rows))
    balcony = rng.random(n_rows) < 0.4
    district = rng.choice(["north", "east", "south", "harbour"], n_rows)
    extra = np.select([district == "harbour", district == "north"], [160.0, 60.0], 0.0)
    rent = 250.0 + 11.0 * area - 18.0 * distance + 1.2 * (year - 1950) + extra
    rent += 55.0 * balcony + rng.normal(0.0, 45.0, n_rows)
    rent = np.maximum(rent, 200.0)
    desk = rng.choice(["A", "B", "C"], n_rows, p=[0.5, 0.3, 0.2])
    chance = np.where(desk == "C", 0.3, 0.02)
    wrong = rng.random(n_rows) < chance
    factor = rng.choice([10.0, 0.1, 100.0], n_rows, p=[0.6, 0.2, 0.2])
    rent = np.where(wrong, rent * factor, rent)
    data = {
        "flat": np.arange(1001, 1001 + n_rows),
        "area": np.round(area, 1),
        "rooms": rooms,
        "distance_km": np.round(distance, 2),
        "built": year,
        "balcony": balcony,
        "district": district.astype(object),
        "desk": desk.astype(object),
        "rent": np.round(rent, 2),
    }
    return Planted(data, "rent", wrong)


def found_words(wrong: Bools, flags: Bools) -> tuple[str, float, float]:
    """Precision and recall of the planted errors, and a sentence with both."""
    hits = int(np.sum(wrong & flags))
    precision, recall = hits / max(int(flags.sum()), 1), hits / int(wrong.sum())
    words = (
        f"Planted errors: {int(wrong.sum())}; flagged rows: {int(flags.sum())}; "
        f"both: {hits}. Precision {precision:.2f}, recall {recall:.2f}."
    )
    return words, precision, recall
