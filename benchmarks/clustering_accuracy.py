"""Test accuracy of clustering with outliers (paper 1, section 4.3, appendix F.6).

The paper's settings (minibatch SGD from zero) and the alternating solver; five seeds.
"""

import numpy as np

from benchmarks._data import folder
from lrisk import RiskKMeans
from lrisk.datasets import make_dirty_clouds
from lrisk.metrics import clustering_accuracy

SEEDS = range(5)


def images(name: str):
    """Train and test rows, standardised pixel by pixel on the training rows."""
    data = np.load(folder() / f"{name}.npz")
    train, test = (data[f"X_{part}"].astype(float) for part in ("train", "test"))
    middle, spread = train.mean(axis=0), train.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    return (train - middle) / spread, (test - middle) / spread, data["y_test"]


def clouds(seed: int):
    train, _ = make_dirty_clouds(random_state=seed)
    test, y = make_dirty_clouds(n_outliers=0, random_state=1000 + seed)
    return train, test, y


def show(title: str, data, model: RiskKMeans) -> None:
    found = []
    for seed in SEEDS:
        train, test, y = data(seed)
        model.set_params(random_state=seed).fit(train)
        found.append(clustering_accuracy(y, model.predict(test)))
    cells = "".join(f"{100 * value:8.2f}" for value in found)
    print(f"  {title:<58}{cells}   mean {100 * np.mean(found):6.2f}", flush=True)


def table(title: str, data, k: int, spectra, batch_size: int, rate: float) -> None:
    print(f"\n{title}: test accuracy in %, seeds 0 … 4")
    for spectrum in spectra:
        sgd = RiskKMeans(
            k,
            spectrum=spectrum,
            init="zeros",
            solver="sgd",
            batch_size=batch_size,
            learning_rate=rate,
        )
        show(f"{spectrum:<26} sgd from zeros (paper's)", data, sgd)
        show(f"{spectrum:<26} alternating", data, RiskKMeans(k, spectrum=spectrum))


def main() -> None:
    truncated, fading = "subquantile:", "risk_seeking_extremile:"
    spectra = ["mean", truncated + "0.75", fading + "5"]
    table("clouds with outliers", clouds, 3, spectra, 64, 1.0)
    show("all defaults but n_clusters", clouds, RiskKMeans(3))
    digits = images("mnist_1v3")
    spectra = ["mean", truncated + "0.66", fading + "2"]
    table("digits 1 and 3 (mnist_1v3)", lambda seed: digits, 2, spectra, 256, 0.1)
    clothes = images("fashion_trouser_sneaker")
    spectra = ["mean", truncated + "0.5", fading + "5"]
    title = "trousers and sneakers (fashion_trouser_sneaker)"
    table(title, lambda seed: clothes, 2, spectra, 64, 1.0)


if __name__ == "__main__":
    main()
