"""The certified minima of three data sets, found by another method."""

import csv
import statistics
import time

import pytest

import lrisk


def rows(shared):
    with open(shared / "reference" / "spectral_minima.csv") as file:
        return list(csv.DictReader(file))


@pytest.mark.numerics
def test_all_reference_minima_are_reached(shared, load, capsys):
    table = rows(shared)
    assert len(table) == 33
    lines = [
        f"{'data':<15}{'spectrum':<20}{'objective':>14}{'error':>10}{'gap':>10}{'ms':>8}"
    ]
    for row in table:
        X, y = load(row["dataset"], standardise=True)
        assert X.shape == (int(row["n"]), int(row["d"]))
        spectrum = row["spectrum"]
        spectrum += f":{row['parameter']}" if row["parameter"] else ""
        model = lrisk.RiskRegressor(spectrum, alpha=1.0, fit_intercept=False, tol=1e-10)
        times = []
        for _ in range(4):
            began = time.process_time()
            model.fit(X, y)
            times.append(time.process_time() - began)
        minimum = float(row["minimum"])
        error = abs(model.objective_ - minimum) / minimum
        took = 1e3 * statistics.median(times[1:])
        lines.append(
            f"{row['dataset']:<15}{spectrum:<20}{model.objective_:>14.10f}"
            f"{error:>10.1e}{model.dual_gap_:>10.1e}{took:>8.1f}"
        )
        assert error <= 1e-9, lines[-1]
        assert -1e-13 <= model.dual_gap_ <= 1e-10, lines[-1]
    with capsys.disabled():
        print("\n" + "\n".join(lines))


@pytest.mark.numerics
@pytest.mark.parametrize("spectrum", ["superquantile:0.5", "extremile:2", "mean"])
def test_lbfgs_reaches_them_too(spectrum, shared, load):
    X, y = load("concrete", standardise=True)
    name, _, parameter = spectrum.partition(":")
    (row,) = [
        r
        for r in rows(shared)
        if r["dataset"] == "concrete"
        and r["spectrum"] == name
        and (not parameter or float(r["parameter"]) == float(parameter))
    ]
    model = lrisk.RiskRegressor(
        spectrum, fit_intercept=False, solver="lbfgs", tol=1e-7
    ).fit(X, y)
    assert model.objective_ == pytest.approx(float(row["minimum"]), rel=1e-7)
