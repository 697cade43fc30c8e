"""Minimisers are certified, ERM is ridge, and the extremile lowers the tail."""

import numpy as np
from experiments._spectral import PARAMETERS, halves, problem, reference
from experiments.quantiles import LEVELS, RISKS, TAIL, _sharp, run
from sklearn.linear_model import Ridge

NAME = "quantiles"


def test_a_table_and_a_figure_for_each_level_of_the_parameters(miniature):
    found = miniature(NAME)
    tables = found.tables()
    assert len(tables) == 3
    for table in tables:
        assert table[0][0] == "data, risk"
        assert len(table) == 1 + len(RISKS)
    assert [path.stem.removeprefix("quantiles-") for path in found.figures] == [
        name for level in PARAMETERS for name in (level, f"{level}-tail")
    ]
    # The paper says it of q = 0.5 only.
    assert found.text.count("of the superquantile at q = 0.5") == 1


def test_stronger_risks_lower_the_tail_on_average(miniature):
    records = miniature(NAME).records
    assert max(record["gap"] for record in records) <= 1e-10

    def tail(level, risk):
        lines = [
            np.array(r["differences"][risk])[TAIL].mean()
            for r in records
            if r["cell"]["level"] == level
        ]
        return np.mean(lines)

    for risk in RISKS:
        assert tail("hard", risk) > 0
        assert tail("hard", risk) > tail("easy", risk)


def test_erm_is_ridge_and_quantiles_are_order_statistics():
    data = halves("simulated", seed=3)
    ridge = Ridge(alpha=1.0, fit_intercept=False).fit(data.X, data.y)
    found = reference(problem(data.X, data.y, "mean"))
    np.testing.assert_allclose(found.theta, ridge.coef_, rtol=1e-7)
    cell = {"level": "medium", "data": "simulated", "seed": 3}
    worst = reference(problem(data.X, data.y, "esrm:1"))
    losses = [
        np.sort(0.5 * (data.test_y - data.test_X @ theta) ** 2)
        for theta in (ridge.coef_, worst.theta)
    ]
    places = np.ceil(len(data.test_y) * LEVELS - 1e-9).astype(int) - 1
    wanted = losses[0][places] - losses[1][places]
    got = run(cell)["differences"]["ESRM"]
    np.testing.assert_allclose(got, wanted, rtol=1e-3, atol=1e-6)


def test_energy_is_examined():
    cell = {"level": "medium", "data": "energy_cooling", "seed": 0}
    line = np.where(LEVELS > 0.5, -0.3, 5.0)
    records = [
        {"cell": cell, "mean": 2.0, "differences": {"superquantile": line.tolist()}},
        {"cell": cell, "mean": 6.0, "differences": {"superquantile": line.tolist()}},
    ]
    words = _sharp(records, [-0.1, 0.2])
    assert "on 1 of 2 data sets" in words
    assert "-0.100 ± 0.071 mean losses" in words
    assert "in 1 of 2 splits" in words
