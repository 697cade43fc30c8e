"""Every Python block of the page on other learners runs, given what it leaves open."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor

PAGE = Path(__file__).parents[2] / "docs" / "any_learner.md"
pytestmark = pytest.mark.skipif(
    not PAGE.is_file(), reason="the pages are not part of an sdist"
)
X, Y = load_diabetes(return_X_y=True)


def _blocks(word: str) -> list[str]:
    """Those in which a word is found."""
    text = PAGE.read_text(encoding="utf-8")
    found = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [block for block in found if word in block]


def test_of_torch():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from lrisk.torch import RiskTable, SpectralRisk

    inputs = torch.from_numpy(X).float()
    targets = torch.from_numpy(Y).float()
    names = {"torch": torch, "SpectralRisk": SpectralRisk, "RiskTable": RiskTable}
    blocks = _blocks("torch.nn")
    assert len(blocks) == 2
    for block, places in zip(blocks, ([], [torch.arange(len(Y))]), strict=True):
        data = torch.utils.data.TensorDataset(*places, inputs, targets)
        loader = torch.utils.data.DataLoader(data, batch_size=100)
        model = torch.nn.Linear(X.shape[1], 1)
        exec(block, {**names, "data": data, "loader": loader, "model": model})
        assert float(model.weight.grad.abs().sum()) > 0.0


@pytest.mark.filterwarnings("ignore:The argument 'eval_set'")  # from LightGBM 4.7 on
def test_of_trees():
    pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    (block,) = _blocks("import lightgbm\n")
    names = {"X_train": X[::2], "y_train": Y[::2]}
    names |= {"X_valid": X[1::2], "y_valid": Y[1::2]}
    exec(block, names)
    assert names["model"].best_iteration_ > 1


def test_of_the_rest():
    meta, compare = _blocks("RiskMeta(")[0], _blocks("compare_risks(")[0]
    few, others = slice(60), slice(60, None)  # of which trees are small
    names = {"X": X[few], "y": Y[few], "X_test": X[others], "y_test": Y[others]}
    exec(meta, names)
    names["ordinary"] = HistGradientBoostingRegressor().fit(X[few], Y[few])
    with pytest.warns(UserWarning, match="the tail holds") as told:
        exec(compare, names)
    assert len(told) == 2
    assert np.isfinite(names["ours"]).all()
