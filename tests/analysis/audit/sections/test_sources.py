"""A source whose rows fit worse is named, though a column marks it."""

import numpy as np
import pytest

from lrisk.analysis.audit.sections import Context, part_of_false_claims
from lrisk.analysis.audit.sections.sources import Sources
from lrisk.tables import table_of

LEVEL = part_of_false_claims()


def rows(seed, n=400, curved=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    f = 3.0 * X[:, 0] - 2.0 * X[:, 1] + (X[:, 0] ** 2 if curved else 0.0)
    site = np.array(["north", "south", "east", "west"], dtype=object)[
        rng.integers(4, size=n)
    ]
    data = {f"x{j}": X[:, j] for j in range(3)}
    return {**data, "site": site, "y": f + rng.normal(size=n)}, rng


def found(data):
    return Sources().find(Context(table_of(data, "y"), LEVEL))


@pytest.mark.parametrize("curved", [False, True])
def test_clean_sources_are_not_named(curved):
    """Offsets of a level are what a categorical column is for."""
    for seed in range(4):
        data, _ = rows(seed, curved=curved)
        data["y"] = data["y"] + 5.0 * (data["site"] == "west")
        assert found(data) == []


@pytest.mark.parametrize("seed", range(3))
def test_a_shuffled_source(seed):
    data, rng = rows(seed)
    bad = np.flatnonzero(data["site"] == "east")
    data["y"][bad] = rng.permutation(data["y"][bad])
    (finding,) = found(data)
    assert finding.kind == "unrelated" and finding.values == {"level": "east"}
    assert finding.rows == [int(row) + 1 for row in bad]
    words = Sources().words(finding)
    assert words.startswith("site=east:") and "shuffled?" in words
    assert "east" not in Sources().words(finding.redacted())


def test_a_noisy_source_is_not_called_shuffled():
    data, rng = rows(1)
    bad = data["site"] == "south"
    data["y"][bad] += 3.0 * rng.normal(size=int(bad.sum()))
    (finding,) = found(data)
    assert finding.kind == "noisier" and 2.0 <= finding.numbers["ratio"] < 4.0


def test_a_table_of_one_categorical_column():
    data, _ = rows(0)
    assert found({"site": data["site"], "y": data["y"]}) == []


def test_levels_with_slopes_of_their_own_are_clean():
    for seed in range(4):
        data, rng = rows(seed)
        slope = {"north": 1.0, "south": 2.0, "east": 3.0, "west": -2.0}
        own = np.array([slope[level] for level in data["site"]])
        data["y"] = own * data["x0"] + 0.3 * rng.normal(size=400)
        assert found(data) == []


def test_a_shuffled_source_beside_gross_errors():
    """Six targets ten times too large hide it from least squares."""
    data, rng = rows(3)
    bad = np.flatnonzero(data["site"] == "east")
    data["y"][bad] = rng.permutation(data["y"][bad])
    data["y"] = data["y"] + 100.0
    fine = np.flatnonzero(data["site"] != "east")
    data["y"][fine[:6]] *= 10.0
    data["x2"][fine[10:13]] = 1e4
    (finding,) = found(data)
    assert finding.values == {"level": "east"}
