"""A source whose rows fit worse is named, though a column marks it."""

import numpy as np
import pytest

from lrisk import audit
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
    """Targets of their own are what the levels of a column are for."""
    for seed in range(4):
        data, _ = rows(seed, curved=curved)
        assert found(data) == []
        own = {"north": 0.0, "south": 4.0, "east": -5.0, "west": 9.0}
        data["y"] = data["y"] + np.array([own[level] for level in data["site"]])
        assert found(data) == []


@pytest.mark.parametrize("seed", range(4))
def test_a_source_that_lies_apart_from_others_which_agree(seed):
    data, _ = rows(seed, curved=True)
    data["y"] = data["y"] - 8.0 * (data["site"] == "south")
    (finding,) = found(data)
    assert (finding.kind, finding.values) == ("offset", {"level": "south"})
    assert finding.numbers["offset"] == pytest.approx(-8.0, abs=0.8)
    assert finding.numbers["others"] < 1.0
    words = Sources().words(finding)
    assert "rows whose targets lie" in words and "below what is expected" in words
    assert words.endswith("at most: real, or measured in another way.")
    assert "south" not in Sources().words(finding.redacted())


def test_columns_that_tell_the_source_do_not_hide_it():
    """Its number, and the ward, of which a source has several."""
    data, rng = rows(0)
    numbers = {"north": 7.0, "south": 3.0, "east": 12.0, "west": 1.0}
    data["number"] = np.array([numbers[level] for level in data["site"]])
    ward = rng.integers(3, size=400).astype(str)
    data["ward"] = np.array([a + b for a, b in zip(data["site"], ward)], dtype=object)
    data["y"] = data["y"] + 8.0 * (data["site"] == "south")
    (finding,) = [f for f in found(data) if f.columns == ["site"]]
    assert (finding.kind, finding.values) == ("offset", {"level": "south"})


def test_of_two_or_three_sources_none_lies_apart():
    """There is no majority that agrees."""
    data, _ = rows(0)
    data["y"] = data["y"] + 8.0 * (data["site"] == "west")
    for few in ({"south": "north", "east": "north"}, {"south": "north"}):
        site = [few.get(level, level) for level in data["site"]]
        assert found({**data, "site": np.array(site, dtype=object)}) == []


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


def classes(seed, n=400):
    """Two classes that a number tells with few errors, and where each row is from."""
    rng = np.random.default_rng(seed)
    data, _ = rows(seed, n)
    data["y"] = np.where(data["x0"] + 0.3 * rng.normal(size=n) > 0, "ill", "well")
    data["y"] = data["y"].astype(object)
    return data, rng


def of_classes(data):
    return [f for f in audit(data, "y").findings if f.section == "sources"]


@pytest.mark.parametrize("seed", range(2))
def test_a_source_with_labels_at_random(seed):
    data, rng = classes(seed)
    bad = (data["site"] == "east") & (rng.random(400) < 0.4)
    other = np.where(data["y"] == "ill", "well", "ill")
    data["y"] = np.where(bad, other, data["y"]).astype(object)
    (finding,) = of_classes(data)
    assert (finding.kind, finding.values) == ("labels", {"level": "east"})
    assert 0.3 < finding.numbers["share"] < 0.6
    words = Sources().words(finding)
    assert (
        words.startswith("site=east: ") and "have another label than expected" in words
    )


def test_sources_of_labels_that_follow_from_the_source_are_clean():
    """All of one ward are ill, whatever their numbers."""
    for seed in range(3):
        data, _ = classes(seed)
        assert of_classes(data) == []
        data["y"] = np.where(data["site"] == "east", "ill", data["y"]).astype(object)
        assert of_classes(data) == []
