"""The judgement of a whole table: rows of a reference first, then all others."""

import numpy as np

from ..._threads import blas_threads_for
from ..._typing import Bools, Floats, Indices
from .._robust.scales import compress, prevailing_value, spread
from .assessment import (
    Assessment,
    Steps,
    assess,
    assess_predictions,
    dithered,
)
from .constants import CONSTANTS as C
from .detection import Detection, nothing_detected
from .detector import Detector, Units, expected_values, group_of
from .false_discovery import FalseDiscovery
from .feature_errors import contradicted_values
from .populations import is_exact
from .reference import Reference
from .share import estimated_share
from .tails import Tails


def detect(
    X: Floats, y: Floats, rng: np.random.Generator, places: Indices | None = None
) -> Detection:
    """Judge all rows of a table (distinct rows, in an order of their own).

    Rows of one of the `places`, shape (n,), if given, are judged by flexible references
    that have seen none of them.
    """
    with blas_threads_for(0):  # hundreds of small systems: more threads only wait
        return _detect(X, y, rng, places)


def _detect(
    X: Floats, y: Floats, rng: np.random.Generator, places: Indices | None
) -> Detection:
    n = len(y)
    if np.ptp(y) <= 1e-12 * float(np.max(np.abs(y))):
        return nothing_detected(y, "constant target", (0.0, 0.5))
    units = Units(float(np.median(y)), spread(y))
    target = units.inward(y)
    if n < 3:  # of two rows each contradicts the other
        return nothing_detected(y, "too few rows", (0.0, 0.5))
    chosen, line_seed, resample_seed = _drawn(n, rng)
    own = None if places is None else places[chosen]
    steps = Steps.of(y[chosen]).in_units(units.size)
    found = assess(X[chosen], target[chosen], line_seed, steps, own)
    if n < C.fewest_rows and not is_exact(found.mixture.u):
        return _ranked_only(found, y, units)
    group, before = np.zeros(n, dtype=bool), None
    if found.source == "group":
        group, before = group_of(found, X), found
        group[chosen] = found.group
        chosen = chosen[~found.group]
        own = None if places is None else places[chosen]
        steps = Steps.of(y[chosen]).in_units(units.size)
        found = assess(X[chosen], target[chosen], line_seed, steps, own, groups=False)
        found = found._replace(source="group")
    fitted = None
    if places is not None and isinstance(found.reference, Reference):
        fitted = found.reference.predict_elsewhere(X, places)
    judged = _all_rows(found, units, X, y, chosen, group, resample_seed, fitted)
    assert judged.detector is not None
    return judged._replace(detector=judged.detector._replace(before=before))


def _drawn(n: int, rng: np.random.Generator) -> tuple[Indices, int, int]:
    """Rows that references are fitted to, and seeds of the line and of resamples."""
    line_seed, sample_seed, resample_seed = map(int, rng.integers(2**31, size=3))
    if n <= C.reference_rows:
        return np.arange(n), line_seed, resample_seed
    chosen = np.random.default_rng(sample_seed).choice(
        n, C.reference_rows, replace=False
    )
    return np.sort(chosen), line_seed, resample_seed


def detect_by_predictions(
    X: Floats, y: Floats, predicted: Floats, rng: np.random.Generator
) -> Detection:
    """Judge all rows by predictions of models that have not seen them.

    As `detect` does by its own references; the level of the noise is that of at most a
    thousand rows.
    """
    n, units = len(y), Units(float(np.median(y)), spread(y) or 1.0)
    target, fitted = units.inward(y), units.inward(predicted)
    chosen, _, resample_seed = _drawn(n, rng)
    steps = Steps.of(y[chosen]).in_units(units.size)
    found = assess_predictions(X[chosen], target[chosen], fitted[chosen], steps)
    if n < C.fewest_rows and not is_exact(found.mixture.u):
        return _ranked_only(found, y, units)
    no_rows = np.zeros(n, dtype=bool)
    with blas_threads_for(0):
        return _all_rows(found, units, X, y, chosen, no_rows, resample_seed, fitted)


def _all_rows(
    found: Assessment,
    units: Units,
    X: Floats,
    y: Floats,
    chosen: Indices,
    group: Bools,
    resample_seed: int,
    fitted: Floats | None = None,
) -> Detection:
    """What the reference says of all rows, and what they all say of the noise.

    `fitted` are values of all rows by references that have not seen them, if the one
    found has.
    """
    n, no_rows = len(y), np.zeros(len(y), dtype=bool)
    others = np.setdiff1d(np.arange(n), chosen, assume_unique=True)
    found, away, u, expected, scale = _compared(
        found, units, X, y, chosen, others, fitted
    )
    compared, populations = ~group, found.mixture.populations
    mass = prevailing_value(y[chosen]) if found.beside_mass else None
    if mass is not None:
        compared &= y != mass
    tails = Tails.of(away[compared] if compared.any() else away)
    beyond = tails.expected_beyond(away)
    detector = Detector(found, units, tails, ~found.mixture.flagged, mass=mass)
    misfit = np.zeros(n)
    if detector.finds:
        misfit[chosen] = found.mixture.chance
        misfit[others] = detector.chance(u[others])
    share, interval = estimated_share(
        found.mixture, u, misfit > C.flagged_above, resample_seed
    )
    far = (beyond < C.unexpected) & compared & (misfit <= C.flagged_above)
    apart = detector.apart(X, misfit > 0.5)
    # Rows too far out do not vouch for each other: they may be all that is known of
    # their place.
    detector = detector._replace(known=detector.known & ~far[chosen])
    far &= ~detector.apart(X, far)
    misfit[far] = 1.0 - beyond[far]
    misfit[group] = 0.0
    for rows, own in ((chosen, np.arange(len(chosen))), (others, None)):
        away[rows] = detector.tempered(X[rows], away[rows], misfit[rows], own)
    tempered = np.where(misfit > 0.5, compress(away, C.far_residual), u)
    low, high, mirrored = -np.inf, np.inf, no_rows
    if populations is not None:
        mode, left, right = populations.core[:3]
        low, high = mode - C.core_reach * left, mode + C.core_reach * right
        if detector.finds:
            mirrored = populations.mirrored(u) & (misfit <= 0.5) & ~group
            discovery = FalseDiscovery.of(populations, tempered[compared])
            detector = detector._replace(discovery=discovery)
    chance = detector.certain(tempered, away, misfit)
    wrong = contradicted_values(X, units.inward(y), chosen, misfit > 0.5)
    misfit, chance = (
        np.where(wrong, C.wrong_value_chance, p) for p in (misfit, chance)
    )
    mirrored = mirrored & ~wrong
    more = float(np.mean(wrong | far))
    share = min(share + more, 0.5)
    interval = (interval[0] + 0.8 * more, min(interval[1] + 1.2 * more, 0.5))
    return Detection(
        share,
        interval,
        chance,
        misfit,
        u,
        expected,
        scale,
        low,
        high,
        group,
        apart,
        found.source,
        found.mixture.evidence,
        mirrored,
        detector,
    )


def _compared(
    found: Assessment,
    units: Units,
    X: Floats,
    y: Floats,
    chosen: Indices,
    others: Indices,
    fitted: Floats | None,
) -> tuple[Assessment, Floats, Floats, Floats, Floats]:
    """Residuals of all rows in noise scales, these compressed, expected values, scales.

    And the assessment with the populations of all of them.
    """
    mixture = found.mixture
    expected, scale, away = (np.empty(len(y)) for _ in range(3))
    expected[chosen] = units.outward(found.fitted + mixture.shift)
    scale[chosen] = units.size * mixture.scale
    if len(others):
        given = None if fitted is None else fitted[others]
        expected[others], scale[others] = expected_values(
            found, units, X[others], given
        )
    for rows in (chosen, others):
        residuals = dithered(y[rows] - expected[rows], units.size * found.width)
        with np.errstate(over="ignore"):
            away[rows] = residuals / scale[rows]
    u = compress(away, C.far_residual)
    u[chosen] = mixture.u
    if len(others) and not found.beside_mass:
        found = found.of_all_rows(u)
    return found, away, u, expected, scale


def _ranked_only(found: Assessment, y: Floats, units: Units) -> Detection:
    """Nobody is flagged among so few rows; they are ordered by their residuals.

    The fit leaves out what seems to misfit all the same: to accuse a row takes more
    than not to lean on it.
    """
    mixture = found.mixture
    return nothing_detected(y, "too few rows", (0.0, 0.5))._replace(
        u=mixture.u,
        misfit=mixture.chance,
        expected=units.outward(found.fitted + mixture.shift),
        scale=units.size * mixture.scale,
    )
