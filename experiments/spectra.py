"""Spectral paper, figure 1, tables 1 and 2: what a spectrum is, and the data sets."""

from typing import Any

import numpy as np
from scipy import stats

from experiments._classifying import SETS as CLASSES
from experiments._data import parts
from experiments._drawing import grid, shared_legend, style
from experiments._experiment import Cell, Experiment, Record, Settings
from experiments._page import Page
from experiments._spectral import halves, spectra
from lrisk import risk
from lrisk.analysis.bounds import largest_density
from lrisk.spectra import parse_spectrum

#: Laws of the losses in table 1, by name.
LAWS: dict[str, Any] = {
    "exponential": stats.expon(),
    "uniform": stats.uniform(),
    "half normal": stats.halfnorm(),
}
#: Formulas of table 1, with the parameters of figure 2.
FORMULAS = {
    "mean": "1",
    "superquantile": "1/(1 − q) for t ≥ q",
    "extremile": "r t^(r−1)",
    "ESRM": "ρ e^(−ρ) e^(ρt)/(1 − e^(−ρ))",
}
#: n, d and test rows as printed in table 2.
PRINTED = {
    "simulated": (10, 800, 200),
    "yacht": (6, 244, 62),
    "energy_cooling": (8, 614, 154),
    "concrete": (8, 824, 206),
    "iwildcam": (157, 20_000, 5_000),
    "emotion": (45, 8_000, 2_000),
}


def cells(settings: Settings) -> list[Cell]:
    draws = settings.choose(200_000, 50_000, 5_000)
    laws: list[Cell] = [
        {"kind": "law", "law": law, "risk": name, "spectrum": spectrum, "draws": draws}
        for law in LAWS
        for name, spectrum in spectra().items()
    ]
    sets = settings.choose(PRINTED, PRINTED, ("simulated", "yacht"))
    return laws + [{"kind": "set", "data": name} for name in sets]


def run(cell: Cell) -> Record:
    if cell["kind"] == "set":
        return {"shape": _shape(cell["data"])}
    law, spectrum = LAWS[cell["law"]], parse_spectrum(cell["spectrum"])
    t = (np.arange(2_000_000) + 0.5) / 2_000_000
    quantiles, s = law.ppf(t), spectrum.density(t)
    rng = np.random.default_rng(0)
    losses = law.rvs(size=cell["draws"], random_state=rng)
    formula = np.abs(s - formula_of(cell["risk"])(t)).max()
    return {
        "integral": float(np.mean(s * quantiles)),
        "reading": _reading(cell["risk"], law, rng, cell["draws"]),
        "empirical": float(risk(losses, spectrum)),
        "formula": float(formula),
    }


def formula_of(name: str) -> Any:
    """s(t) as printed in table 1."""
    q, r, rho = 0.5, 2.0, 1.0
    return {
        "mean": np.ones_like,
        "superquantile": lambda t: (t >= q) / (1 - q),
        "extremile": lambda t: r * t ** (r - 1),
        "ESRM": lambda t: rho * np.exp(-rho) * np.exp(rho * t) / (1 - np.exp(-rho)),
    }[name]


def _reading(name: str, law: Any, rng: Any, draws: int) -> float | None:
    """The interpretation of table 1, by its own definition; None where it has none."""
    if name == "mean":
        return float(law.mean())
    if name == "superquantile":
        z = law.rvs(size=20 * draws, random_state=rng)
        return float(z[z >= law.ppf(0.5)].mean())
    if name == "extremile":  # the larger of two
        return float(law.rvs(size=(10 * draws, 2), random_state=rng).max(axis=1).mean())
    return None


def _shape(name: str) -> list[int]:
    """Features, training rows and test rows."""
    if name in CLASSES:
        found = parts(CLASSES[name][1])
        return [found["X_train"].shape[1], len(found["X_train"]), len(found["X_test"])]
    data = halves(name)
    return [data.X.shape[1], len(data.X), len(data.test_X)]


def report(records: list[Record], page: Page) -> None:
    page.say(
        "Table 1 of the paper gives the density s(t) of four spectra and what the risk "
        "∫ s(t) F⁻¹(t) dt means. Here s is compared with lrisk's (largest difference "
        "over two million points), the integral with the meaning by its own definition "
        "(the mean beyond the quantile, the mean of the larger of two losses; the ESRM "
        "has none) and with the risk of a sample."
    )
    laws = [r for r in records if r["cell"]["kind"] == "law"]
    page.heading("Table 1: common spectral risks, (q, r, ρ) = (0.5, 2, 1)")
    rows = []
    for record in laws:
        cell = record["cell"]
        reading = "–" if record["reading"] is None else f"{record['reading']:.4f}"
        rows.append(
            (
                f"{cell['risk']}, {cell['law']} losses",
                FORMULAS[cell["risk"]],
                f"{record['formula']:.0e}",
                f"{record['integral']:.4f}",
                reading,
                f"{record['empirical']:.4f}",
            )
        )
    draws = max(r["cell"]["draws"] for r in laws)
    columns = ["risk", "s(t), printed", "off by", "∫ s F⁻¹", "its meaning"]
    page.table([*columns, f"of {draws:,} losses"], rows)
    worst = max(
        abs(r["reading"] / r["integral"] - 1) for r in laws if r["reading"] is not None
    )
    page.say(
        "Integral and meaning, which is simulated but for the mean, differ by at most "
        f"{worst:.1%}. The printed ESRM is ρe^(−ρ)e^(ρt)/(1 − e^(−ρ)), which "
        "integrates "
        "to one."
    )
    page.heading("Table 2: the data sets")
    shapes = [r for r in records if r["cell"]["kind"] == "set"]
    page.table(
        [
            "set",
            "d, printed",
            "ours",
            "train, printed",
            "ours",
            "test, printed",
            "ours",
        ],
        [
            (
                r["cell"]["data"],
                *(
                    x
                    for pair in zip(PRINTED[r["cell"]["data"]], r["shape"])
                    for x in pair
                ),
            )
            for r in shapes
        ],
    )
    differ = [
        r["cell"]["data"]
        for r in shapes
        if tuple(r["shape"]) != PRINTED[r["cell"]["data"]]
    ]
    page.say(
        f"Other numbers than printed: {', '.join(differ) or 'none'}. Yacht has 308 "
        "rows, "
        "80 % of which are 246; iwildcam is a stand-in (see *Images and text*)."
    )
    page.heading("Figure 1")
    page.figure(
        _drawn(), "Quantile functions, their distance, and spectra in five bins."
    )
    page.say(
        "Above: distribution and quantile function of four losses; two laws, whose "
        "1-Wasserstein distance is the area between the distribution functions, and "
        "between the quantile functions (equation 4). Below: densities and the weights "
        "σ₁ … σ₅, the areas under them: "
        + "; ".join(
            f"{name} {np.round(parse_spectrum(s).weights(5), 3).tolist()}, largest "
            f"density {largest_density(s):.3g}"
            for name, s in spectra().items()
        )
        + "."
    )


def _drawn() -> Any:
    figure, axes = grid(2, 4, width=2.4, height=2.1)
    z = np.array([0.4, 0.9, 1.6, 3.0])
    levels = np.arange(1, 5) / 4
    axes[0, 0].step(np.r_[0, z, 3.5], np.r_[0, levels, 1], where="post", **style(0))
    axes[0, 0].set(title="F of four losses", xlabel="loss", ylabel="share")
    axes[0, 1].step(np.r_[0, levels], np.r_[z, z[-1]], where="post", **style(0))
    axes[0, 1].set(title="their quantiles", xlabel="t", ylabel="loss")
    x, t = np.linspace(0, 4, 300), np.linspace(0.005, 0.985, 300)
    two = {"F": stats.expon(), "G": stats.gamma(3.0, scale=0.5)}
    for index, (name, law) in enumerate(two.items()):
        axes[0, 2].plot(x, law.cdf(x), label=name, **style(index))
        axes[0, 3].plot(t, law.ppf(t), label=name, **style(index))
    ends = [law.cdf(x) for law in two.values()]
    axes[0, 2].fill_between(x, *ends, color="0.85")
    axes[0, 3].fill_between(t, *(law.ppf(t) for law in two.values()), color="0.85")
    axes[0, 2].set(title="two laws", xlabel="loss")
    axes[0, 3].set(title="their quantiles", xlabel="t")
    for ax, (name, spectrum) in zip(axes[1], spectra().items()):
        known, u = parse_spectrum(spectrum), np.linspace(0.0, 0.999, 400)
        ax.plot(u, known.density(u), **style(0))
        edges = np.arange(6) / 5
        ax.bar(
            edges[:-1], 5 * known.weights(5), 0.2, align="edge", color="0.85", ec="0.6"
        )
        ax.set(title=name, xlabel="t")
    axes[1, 0].set_ylabel("s(t)")
    shared_legend(figure, axes)
    return figure


EXPERIMENT = Experiment(
    name="spectra",
    paper="spectral",
    title="Spectral paper, figure 1, tables 1 and 2: spectra and data sets",
    cells=cells,
    run=run,
    report=report,
)
