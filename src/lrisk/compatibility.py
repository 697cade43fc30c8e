"""Which axes may meet, and the error when they may not."""

from collections.abc import Iterable
from typing import ClassVar, Protocol

from ._params import refused
from ._typing import Floats
from .losses import Loss
from .objective import Objective
from .spectra import Spectrum


class Demands(Protocol):
    """What a solver says of the objectives it can minimise."""

    name: ClassVar[str]
    spectra: ClassVar[frozenset[str]]
    kinks: ClassVar[bool]
    requires: ClassVar[frozenset[str]]


def check_solvable(owner: str, solver: Demands, objective: Objective) -> None:
    """Refuse an objective that the solver cannot minimise; name the reason.

    Parameters
    ----------
    owner : str
        Whom the user has called: an estimator, or the solver itself.
    solver : Demands
    objective : Objective
    """
    spectrum = objective.ranking.spectrum
    check_spectrum(owner, spectrum, solver.spectra, solver.name)
    check_kept(owner, spectrum, objective.ranking.mass)
    check_loss(owner, objective.loss, solver.kinks, solver.name)
    check_capabilities(owner, solver.name, solver.requires, objective.space)


def check_spectrum(
    owner: str, spectrum: Spectrum, allowed: Iterable[str], solver: str
) -> None:
    """Refuse a spectrum whose objective the solver cannot minimise, by its shape."""
    if spectrum.shape in allowed:
        return
    if "down" in allowed:
        rule = f"decreasing (less weight on larger losses) for solver={solver!r}"
        remedy = "use 'subquantile:p' or 'risk_seeking_extremile:r'"
        if "range" in allowed:
            remedy = "of the two-sided ones only 'ranked_range:a:b' can be minimised"
    else:
        rule = f"increasing (more weight on larger losses) for solver={solver!r}"
        remedy = (
            "this objective is not convex; use 'mean', 'superquantile:q', "
            "'extremile:r', 'esrm:rho' or 'worst_case', or solver='auto'"
        )
    raise ValueError(refused(owner, "spectrum", rule, spectrum, remedy))


def check_loss(owner: str, loss: Loss, kinks: bool, solver: str) -> None:
    """Refuse a loss with kinks where the solver, or the spectrum, needs slopes."""
    if kinks or loss.smooth:
        return
    rule = f"smooth for solver={solver!r}"
    remedy = (
        "kinks are smoothed by the certified solvers only, under increasing spectra; "
        "use 'huber', which is near 'absolute' for a small delta, or solver='auto'"
    )
    raise ValueError(refused(owner, "loss", rule, loss, remedy))


def check_kept(owner: str, spectrum: Spectrum, mass: Floats) -> None:
    """Refuse a spectrum that trims and keeps less than one row of these masses."""
    lower, upper = spectrum.support
    if upper == 1.0:
        return
    least = float(mass.min())
    if upper - lower < least * (1.0 - 1e-9):
        rule = "wide enough to keep one row"
        remedy = f"keep at least {least:.3g} of the mass (n_samples={len(mass)})"
        raise ValueError(refused(owner, "spectrum", rule, spectrum, remedy))


def check_capabilities(
    owner: str, solver: str, requires: frozenset[str], space: object
) -> None:
    """Refuse a space that lacks what the solver needs; name what is missing."""
    missing = sorted(name for name in requires if not hasattr(space, name))
    if missing:
        needed = ", ".join(sorted(requires))
        rule = f"able to work on {type(space).__name__} (it needs {needed})"
        remedy = f"missing there: {', '.join(missing)}; use solver='auto'"
        raise ValueError(refused(owner, "solver", rule, solver, remedy))
