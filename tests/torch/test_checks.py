"""Bad input is refused in the words of the package: rule, value and remedy."""

import pytest

pytest.importorskip("torch", reason="torch is not installed")
import torch

from lrisk.torch import RiskTable, SpectralRisk

GOOD = torch.arange(4.0, requires_grad=True)
ROWS = torch.arange(4)

LOSSES = [
    (torch.zeros(2, 2, requires_grad=True), ValueError, r"of shape \(n,\).*\(2, 2\)"),
    (torch.zeros((), requires_grad=True), ValueError, "reduction='none'"),
    (torch.zeros(0, requires_grad=True), ValueError, "one for each row"),
    (GOOD * torch.nan, ValueError, "must be finite, got nan; remove such rows"),
    (GOOD / 0.0, ValueError, "must be finite, got (nan|inf)"),
    (GOOD.detach(), ValueError, "requires_grad.*torch.no_grad"),
    (GOOD.half(), TypeError, r"float32 or float64, got 'torch.float16'.*losses.float"),
    (ROWS, TypeError, "float32 or float64"),
    ([1.0, 2.0], TypeError, "must be a tensor, got 'list'"),
    (None, TypeError, "must be a tensor"),
]


@pytest.mark.parametrize(("losses", "kind", "words"), LOSSES)
def test_losses(losses, kind, words):
    with pytest.raises(kind, match=f"SpectralRisk: losses must be .*{words}|{words}"):
        SpectralRisk()(losses)
    with pytest.raises(kind, match=words):
        RiskTable(4)(losses, ROWS)


WEIGHTS = [
    (torch.ones(3), ValueError, r"of shape \(4,\), got \(3,\)"),
    (torch.tensor([1.0, -2.0, 1.0, 1.0]), ValueError, "≥ 0, got -2.0"),
    (torch.tensor([1.0, torch.inf, 1.0, 1.0]), ValueError, "finite, got inf"),
    (torch.zeros(4), ValueError, "positive for some row"),
    (
        torch.ones(4, device="meta"),
        ValueError,
        r"device of the losses, cpu, got 'meta'",
    ),
    ([1.0] * 4, TypeError, "a tensor of real numbers, got 'list'"),
    (torch.ones(4, dtype=torch.complex64), TypeError, "got 'torch.complex64'"),
    (torch.full((4,), 1e308, dtype=torch.float64), ValueError, "of finite sum"),
]


@pytest.mark.parametrize(("weight", "kind", "words"), WEIGHTS)
def test_sample_weights(weight, kind, words):
    with pytest.raises(kind, match=f"SpectralRisk: sample_weight must be .*{words}"):
        SpectralRisk()(GOOD, weight)


PLACES = [
    (torch.tensor([0, 1, 2, 4]), ValueError, r"from 0 to n_rows − 1 = 3, got 4"),
    (torch.tensor([0, -1, 2, 3]), ValueError, "got -1"),
    (torch.arange(3), ValueError, r"of shape \(4,\), got '\(3,\)'"),
    (torch.arange(4.0), TypeError, "a tensor of integers, got 'torch.float32'"),
    (torch.ones(4, dtype=torch.bool), ValueError, "a mask"),
    ([0, 1, 2, 3], TypeError, "a tensor of integers, got 'list'"),
    (torch.arange(4, device="meta"), ValueError, "device of the losses"),
]


@pytest.mark.parametrize(("rows", "kind", "words"), PLACES)
def test_rows(rows, kind, words):
    table = RiskTable(4)
    with pytest.raises(kind, match=f"RiskTable: rows must be .*{words}"):
        table(GOOD, rows)
    assert table.seen == 0


@pytest.mark.parametrize(
    "kind", ["uint8", "int16", "uint16", "int32", "uint32", "uint64"]
)
def test_rows_are_integers_of_any_size(kind):
    table, kind = RiskTable(4), getattr(torch, kind)
    table(GOOD, ROWS.to(kind)).backward()
    assert table.seen == 4
    with pytest.raises(ValueError, match="from 0 to n_rows"):
        table(GOOD, (ROWS + 1).to(kind))


def test_a_table_elsewhere():
    with pytest.raises(ValueError, match=r"losses must be on the device.*got 'cpu'"):
        RiskTable(4).to("meta")(GOOD, ROWS)


SETTINGS = [
    ({"spectrum": "superquantil"}, ValueError, "did you mean 'superquantile'"),
    ({"spectrum": 3}, TypeError, "a name such as"),
    ({"smoothing": "l1"}, ValueError, "one of None, 'l2', 'entropy'"),
    ({"smoothing": "l2"}, ValueError, "nu must be a finite number > 0, got 0.0"),
    ({"nu": 0.5}, ValueError, "nu must be 0 without smoothing"),
    (
        {"spectrum": "subquantile", "smoothing": "l2", "nu": 1.0},
        ValueError,
        "None for a spectrum that is not increasing",
    ),
]


@pytest.mark.parametrize(("settings", "kind", "words"), SETTINGS)
def test_settings(settings, kind, words):
    with pytest.raises(kind, match=words):
        SpectralRisk(**settings)


def test_settings_of_a_table():
    with pytest.raises(ValueError, match="n_rows must be a whole number of at least 1"):
        RiskTable(0)
    with pytest.raises(ValueError, match="did you mean 'superquantile'"):
        RiskTable(3, "superquantil")


def test_evaluation_needs_no_gradient():
    with torch.no_grad():
        assert float(SpectralRisk("superquantile:0.5")(GOOD.detach())) == 2.5
        assert float(RiskTable(4, "mean")(GOOD.detach(), ROWS)) == 1.5
