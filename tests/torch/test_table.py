"""The table's weights are those of all rows by their last losses."""

import copy
import io

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed")
import torch

from lrisk import risk, risk_weights
from lrisk.spectra import FAMILIES, CustomSpectrum
from lrisk.torch import RiskTable, SpectralRisk

SPECTRA = [
    *(family() for family in FAMILIES.values()),
    CustomSpectrum(weights=[1, 0, 3]),
]
every = pytest.mark.parametrize("spectrum", SPECTRA, ids=repr)


def epoch(table, losses, size, seed=0):
    """One pass of batches; the mean of what they give."""
    order = torch.randperm(len(losses), generator=torch.Generator().manual_seed(seed))
    with torch.no_grad():
        told = [table(losses[rows], rows) * len(rows) for rows in order.split(size)]
    return float(sum(told)) / len(losses)


def drawn(n, seed=0, kind="lognormal"):
    rng = np.random.default_rng(seed)
    values = getattr(rng, kind)(size=n)
    return torch.from_numpy(values).float()


@every
def test_exact_in_the_limit_where_every_loss_has_a_bin(spectrum):
    losses = torch.arange(60.0)[torch.randperm(60)]
    table = RiskTable(60, spectrum)
    for seed in range(3):
        value = epoch(table, losses, 7, seed)
    wanted = risk_weights(losses.numpy(), spectrum)
    found = table._relative_weights(table._bins.of(losses)) / 60
    np.testing.assert_allclose(found, wanted, atol=1e-14)
    np.testing.assert_allclose(table.weights(), wanted, atol=1e-14)
    assert value == pytest.approx(risk(losses.numpy(), spectrum), rel=1e-6)
    assert table.risk() == pytest.approx(value, rel=1e-6)
    assert table.seen == 60


@pytest.mark.parametrize("offset", [0.0, 1e4, -50.0])
@pytest.mark.parametrize("kind", ["lognormal", "standard_cauchy", "normal"])
def test_bins_cost_little_whatever_the_losses_are(kind, offset):
    losses = drawn(3000, kind=kind)
    losses = (losses.abs() if kind == "standard_cauchy" else losses) + offset
    for spectrum in ("superquantile:0.95", "esrm:3", "subquantile:0.8"):
        table = RiskTable(3000, spectrum)
        for seed in range(2):
            epoch(table, losses, 64, seed)
        binned = (
            float(table._relative_weights(table._bins.of(losses)) @ losses.double())
            / 3000
        )
        exact = risk(losses.numpy(), spectrum)
        spread = exact - risk(losses.numpy(), "mean")
        assert binned == pytest.approx(exact, abs=1e-3 * abs(spread))


def test_weights_average_to_one_over_all_rows():
    losses = drawn(1000)
    for spectrum in SPECTRA:
        table = RiskTable(1000, spectrum)
        epoch(table, losses, 64)
        relative = table._relative_weights(table._bins.of(losses))
        assert float(relative.mean()) == pytest.approx(1.0, abs=1e-12)


def test_a_batch_of_the_table_is_an_unbiased_estimate_where_its_own_tail_is_not():
    losses = drawn(2000)
    exact = risk(losses.numpy(), "superquantile:0.99")
    table = RiskTable(2000, "superquantile:0.99")
    epoch(table, losses, 100)
    own, ranked = SpectralRisk("superquantile:0.99"), []
    by_itself = []
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for _ in range(4000):
            rows = torch.randint(0, 2000, (16,), generator=generator)
            ranked.append(float(table(losses[rows], rows)))
            by_itself.append(float(own(losses[rows])))
    error = np.std(ranked) / np.sqrt(len(ranked))
    assert abs(np.mean(ranked) - exact) < 4 * error
    assert np.mean(by_itself) < exact - 10 * error


def test_first_batch_is_weighted_by_itself():
    losses, rows = torch.tensor([3.0, 1.0, 2.0, 10.0]), torch.tensor([7, 0, 99, 4])
    table = RiskTable(100, "superquantile:0.5")
    with torch.no_grad():
        assert float(table(losses, rows)) == 6.5
    assert table.seen == 4
    assert table.weights()[[7, 0, 99, 4]].tolist() == [0.5, 0.0, 0.0, 0.5]


def test_an_empty_table_has_no_risk():
    table = RiskTable(3)
    assert np.isnan(table.risk()) and table.weights().tolist() == [0.0, 0.0, 0.0]


def test_counts_stay_those_of_the_losses():
    """Rows repeat, losses jump, shrink, tie and change their sign."""
    generator = torch.Generator().manual_seed(0)
    table = RiskTable(200, "esrm:2")
    for k in range(80):
        rows = torch.randint(0, 200, (1 + k % 50,), generator=generator)
        losses = torch.randn(len(rows), generator=generator) * 10.0 ** (k % 7 - 3)
        losses[: k % 5] = 0.25
        with torch.no_grad():
            table(losses, rows)
        counted = table._counts.clone()
        table._count(table._known())
        assert torch.equal(table._counts, counted)
        assert int(counted.sum()) == table.seen


def test_huge_and_tiny_losses_do_not_upset_it():
    losses = torch.tensor([0.0, 1e-300, 1.0, 2.0, 1e300], dtype=torch.float64)
    table = RiskTable(5, "subquantile:0.8")
    for seed in range(2):
        epoch(table, losses, 2, seed)
    assert table._relative_weights(table._bins.of(table.losses))[-1] == 0.0
    assert table.risk() == pytest.approx(0.75)


def test_gradient_is_the_relative_weight_over_the_batch():
    table = RiskTable(8, "superquantile:0.5")
    epoch(table, torch.arange(8.0), 4)
    losses = torch.tensor([0.0, 7.0], requires_grad=True)
    table(losses, torch.tensor([0, 7])).backward()
    assert losses.grad.tolist() == [0.0, 1.0]


def test_training_goes_on_from_a_checkpoint_to_the_bit():
    losses = drawn(300)
    first = RiskTable(300, "esrm:2")
    epoch(first, losses, 30)
    file = io.BytesIO()
    torch.save(first.state_dict(), file)
    file.seek(0)
    second = RiskTable(300, "esrm:2")
    second.load_state_dict(torch.load(file, weights_only=True))
    third = copy.deepcopy(first)
    for seed in range(1, 4):
        told = [epoch(t, losses * seed, 30, seed) for t in (first, second, third)]
        assert told[0] == told[1] == told[2]
    with pytest.raises(RuntimeError, match="size mismatch"):
        RiskTable(10).load_state_dict(first.state_dict())


@pytest.mark.parametrize("size", [1.0, 1e6])  # beyond what 16 bits hold
def test_conversions_of_a_model_that_holds_it_leave_it_as_it_is(size):
    table, same = (RiskTable(1000, "superquantile:0.9") for _ in range(2))
    losses = size * drawn(1000)
    wanted = [epoch(same, losses, 50, seed) for seed in range(5)]
    model = torch.nn.ModuleDict({"table": table, "layer": torch.nn.Linear(1, 1)})
    assert epoch(table, losses, 50) == wanted[0]
    for seed, name in enumerate(("double", "half", "bfloat16", "float"), start=1):
        getattr(model, name)()
        assert table.losses.dtype == torch.float32
        assert epoch(table, losses, 50, seed) == wanted[seed]


def test_a_checkpoint_of_16_bits_is_taken_in_32():
    table = RiskTable(5, "superquantile:0.5")
    epoch(table, torch.tensor([1.0, 2.0, 1e6, 3.0, 4.0]), 5)
    state = {
        name: value.half() if torch.is_tensor(value) else value
        for name, value in table.state_dict().items()
    }
    for assign in (False, True):
        other = RiskTable(5, "superquantile:0.5")
        other.load_state_dict(state, assign=assign)
        assert other.losses.dtype == torch.float32 and other.seen == 5
        assert np.isfinite(other.risk())
        epoch(other, torch.arange(5.0), 2)
        assert other.risk() == pytest.approx(3.2)


def test_minus_zero_is_zero():
    """What `cross_entropy` gives for a row that a model is sure of."""
    sure = torch.nn.functional.cross_entropy(
        torch.tensor([[0.0, 1e3]]), torch.tensor([1]), reduction="none"
    )
    assert torch.signbit(sure).all()
    losses, rows = torch.arange(500.0), torch.arange(40)
    losses[:100] = 0.0
    table = RiskTable(500, "superquantile:0.9")
    for seed in range(2):
        epoch(table, losses, 50, seed)
    with torch.no_grad():
        assert float(table(sure.expand(40), rows)) == 0.0
    counted = table._counts.clone()
    assert table._relative_weights(table._bins.of(table.losses))[:100].max() == 0.0
    table._count(table._known())
    assert torch.equal(table._counts, counted)


@pytest.mark.filterwarnings("ignore")  # of torch's own compiler
def test_in_a_compiled_step_the_table_is_left_as_it_is():
    losses, tables = drawn(100), [RiskTable(100, "esrm:2") for _ in range(2)]
    whole = torch.compile(lambda x, rows: tables[1](x * 2.0, rows), backend="eager")
    for rows in torch.arange(100).split(20):
        own = losses[rows].requires_grad_()
        told = tables[0](own * 2.0, rows), whole(own, rows)
        slopes = [torch.autograd.grad(value, own)[0] for value in told]
        assert torch.equal(*told) and torch.equal(*slopes)


def test_a_training_loop_lowers_the_risk():
    torch.manual_seed(0)
    X = torch.randn(400, 3)
    y = X @ torch.tensor([1.0, -2.0, 0.5]) + torch.randn(400).exp()
    model, table = torch.nn.Linear(3, 1), RiskTable(400, "superquantile:0.9")
    steps = torch.optim.SGD(model.parameters(), lr=0.02)
    exact = SpectralRisk("superquantile:0.9")
    with torch.no_grad():
        before = float(exact((model(X)[:, 0] - y) ** 2))
    for _ in range(30):
        for rows in torch.randperm(400).split(32):
            steps.zero_grad()
            table((model(X[rows])[:, 0] - y[rows]) ** 2, rows).backward()
            steps.step()
    with torch.no_grad():
        after = float(exact((model(X)[:, 0] - y) ** 2))
    assert after < 0.6 * before
    assert table.risk() == pytest.approx(after, rel=0.2)
