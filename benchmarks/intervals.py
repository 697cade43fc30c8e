"""How often `risk_interval` and `compare_risks` hold the truth: 1,000 simulated sets.

``python -m benchmarks.intervals [SETS] [dkw] [paired] [bootstrap]`` prints, for n = 200
and 2,000 normal, lognormal and t₃ losses, in how many sets of a hundred the 95 %
bootstrap interval holds the risk of the distribution, where the tail has fifty rows;
whether it warns where it has fewer; the same for the difference of two models on the
same rows (correlation .9 before the law is given to them); and for bounded losses the
interval by Dvoretzky, Kiefer, Wolfowitz and Massart.
"""

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student_t

from lrisk.metrics import compare_risks, risk_interval
from lrisk.metrics.intervals import FEWEST_IN_TAIL
from lrisk.spectra import parse_spectrum

Law = tuple[Callable[[Any], Any], Callable[[Any, int], Any]]
#: Quantile function and sampler of each law of losses.
LAWS: dict[str, Law] = {
    "normal": (norm.ppf, lambda rng, n: rng.normal(size=n)),
    "lognormal": (lambda u: np.exp(norm.ppf(u)), lambda rng, n: rng.lognormal(size=n)),
    "t3": (lambda u: student_t.ppf(u, 3), lambda rng, n: rng.standard_t(3, n)),
}
BOUNDED: dict[str, Law] = {
    "uniform": (lambda u: u, lambda rng, n: rng.uniform(size=n)),
    "rare": (lambda u: (u > 0.99) * 1.0, lambda rng, n: (rng.random(n) > 0.99) * 1.0),
}
#: Spectra by number of rows; the last has fewer rows in the tail than it takes.
SPECTRA = {
    200: ("mean", "superquantile:0.5", "superquantile:0.75", "superquantile:0.9"),
    2000: ("mean", "superquantile:0.9", "superquantile:0.975", "superquantile:0.99"),
}  # fmt: skip
#: Of the bootstrap; 999 is the default, and costs more here than it tells.
RESAMPLES = 499
LOW, HIGH = 0.93, 0.97


def truth(ppf: Callable[[Any], Any], spectrum: str) -> float:
    """∫F⁻¹(u) dS(u), on a grid that is fine where the tail is: u = 1 − v⁴."""
    v = (np.arange(2_000_000) + 0.5) / 2e6
    u = np.clip(1.0 - v**4, 1e-300, 1.0 - 1e-16)
    return float(np.mean(ppf(u) * parse_spectrum(spectrum).density(u) * 4.0 * v**3))


def coverage(
    draw: Any, n: int, truth: float, spectrum: str, sets: int, **options: Any
) -> tuple[float, float, float]:
    """Shares of the sets whose interval holds the truth, lies below it, above it."""
    # Settings must not share their luck.
    rng = np.random.default_rng([n, *spectrum.encode(), int(1e6 * abs(truth))])
    ends = np.array(
        [
            risk_interval(draw(rng, n), spectrum, random_state=rng, **options)[1:3]
            for _ in range(sets)
        ]
    )
    below, above = np.mean(ends[:, 1] < truth), np.mean(ends[:, 0] > truth)
    return 1.0 - below - above, float(below), float(above)


def bootstrap(sets: int) -> None:
    print(f"bootstrap, 95 %, {sets} sets, {RESAMPLES} resamples")
    print(f"{'n':>5} {'spectrum':<20} {'law':<10} rows in tail  covers  below above")
    for n, spectra in SPECTRA.items():
        for spectrum in spectra:
            for law, (ppf, draw) in LAWS.items():
                began = time.process_time()
                rows = 1.0 / np.sum(parse_spectrum(spectrum).weights(n) ** 2)
                few = rows < FEWEST_IN_TAIL * (1.0 - 1e-9)
                own = sets // 10 if few else sets
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    held, below, above = coverage(
                        draw, n, truth(ppf, spectrum), spectrum, own,
                        n_resamples=RESAMPLES,
                    )  # fmt: skip
                warned = len(caught) == own if few else not caught
                good = warned and (few or LOW <= held <= HIGH)
                word = "ok" if good else "MISSED"
                note = ", warns" if few else ""
                seconds = time.process_time() - began
                print(
                    f"{n:>5} {spectrum:<20} {law:<10} {rows:>12.0f} {held:>7.1%} "
                    f"{below:>6.1%} {above:>5.1%}  {word}{note}  ({seconds:.0f} s)",
                    flush=True,
                )


def paired(sets: int) -> None:
    """Losses of two models that share what is hard; a is lower by a tenth."""
    print(f"compare_risks, 95 %, {sets} sets, {RESAMPLES} resamples")
    ratio, apart = 0.9, np.sqrt(0.19)
    for n, spectra in SPECTRA.items():
        for spectrum in spectra[:-1]:
            for law, (ppf, _) in LAWS.items():
                rng = np.random.default_rng([n, *spectrum.encode(), *law.encode()])
                # Both have the law of the losses, so both risks are known.
                difference = (ratio - 1.0) * truth(ppf, spectrum)
                below = above = 0
                for _ in range(sets):
                    shared = 0.9 * rng.normal(size=n)
                    a, b = (
                        ppf(norm.cdf(shared + apart * rng.normal(size=n)))
                        for _ in range(2)
                    )
                    found = compare_risks(ratio * a, b, spectrum, random_state=rng,
                                          n_resamples=RESAMPLES)  # fmt: skip
                    below += found.high < difference
                    above += found.low > difference
                held = 1.0 - (below + above) / sets
                word = "ok" if LOW <= held <= HIGH else "MISSED"
                print(
                    f"{n:>5} {spectrum:<20} {law:<10} {held:>7.1%} "
                    f"{below / sets:>6.1%} {above / sets:>5.1%}  {word}",
                    flush=True,
                )


def dkw(sets: int) -> None:
    print(f"dkw, 95 %, losses within [0, 1], {sets} sets")
    for n in SPECTRA:
        for spectrum in ("mean", "superquantile:0.9", "subquantile:0.8", "extremile:3"):
            for law, (ppf, draw) in BOUNDED.items():
                held, _, _ = coverage(
                    draw, n, truth(ppf, spectrum), spectrum, sets,
                    method="dkw", bounds=(0.0, 1.0),
                )  # fmt: skip
                word = "ok" if held >= 0.95 else "MISSED"
                print(f"{n:>5} {spectrum:<20} {law:<10} {held:>7.1%}  {word}")


PARTS = {"dkw": dkw, "paired": paired, "bootstrap": bootstrap}


def main() -> None:
    sets, parts = 1000, []
    for given in sys.argv[1:]:
        if given.isdigit():
            sets = int(given)
        else:
            parts.append(PARTS[given])
    for part in parts or PARTS.values():
        part(sets)


if __name__ == "__main__":
    main()
