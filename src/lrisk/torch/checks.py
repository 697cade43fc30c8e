"""Tensors as users pass them: refused in the words that arrays are refused in.

Values are looked at unless a model is being compiled: there a look would break the
graph, and NaN or infinite losses make the risk NaN.
"""

from typing import Any

import torch
from torch import Tensor

from .._params import refused

#: Types that ranks and their weights are computed in.
TYPES = (torch.float32, torch.float64)


def check_losses(owner: object, losses: Any) -> Tensor:
    """Losses of rows: a float tensor of shape (n,), finite, and part of a graph."""
    if not isinstance(losses, Tensor):
        remedy = "pass the losses that the model's output gives"
        raise TypeError(refused(owner, "losses", "a tensor", _kind(losses), remedy))
    if losses.ndim != 1 or losses.numel() == 0:
        rule, remedy = "of shape (n,), one for each row", "pass reduction='none'"
        remedy += " to the loss, and average over outputs where there are several"
        raise ValueError(refused(owner, "losses", rule, tuple(losses.shape), remedy))
    if losses.dtype not in TYPES:
        rule, remedy = "of float32 or float64", "convert them: losses.float()"
        raise TypeError(refused(owner, "losses", rule, str(losses.dtype), remedy))
    if torch.is_grad_enabled() and not losses.requires_grad:
        rule = "part of a graph (requires_grad)"
        remedy = "compute them from the model's output, or evaluate in torch.no_grad()"
        raise ValueError(refused(owner, "losses", rule, "detached losses", remedy))
    _check_finite(owner, "losses", losses)
    return losses


def check_row_weights(owner: object, weight: Any, losses: Tensor) -> Tensor | None:
    """Weights of rows, as `lrisk.ranking.check_row_weights`; None stays None."""
    name = "sample_weight"
    if weight is None:
        return None
    if not isinstance(weight, Tensor) or weight.is_complex():
        rule, remedy = "a tensor of real numbers", "pass torch.as_tensor of them"
        raise TypeError(refused(owner, name, rule, _kind(weight), remedy))
    if weight.shape != losses.shape:
        rule = f"of shape {tuple(losses.shape)}"
        remedy = "pass one weight for each row"
        raise ValueError(refused(owner, name, rule, tuple(weight.shape), remedy))
    check_device(owner, name, weight, losses.device)
    weight = weight.detach().double()
    _check_finite(owner, name, weight)
    if torch.compiler.is_compiling():
        return weight
    least, most = float(weight.min()), float(weight.max())
    if least < 0.0:
        remedy = "drop such rows or give them weight 0"
        raise ValueError(refused(owner, name, "finite and ≥ 0", least, remedy))
    if most == 0.0:
        rule, remedy = "positive for some row", "not every weight may be zero"
        raise ValueError(refused(owner, name, rule, most, remedy))
    if not bool(torch.isfinite(weight.sum())):
        raise ValueError(refused(owner, name, "of finite sum", most, "rescale it"))
    return weight


def check_rows(owner: object, rows: Any, losses: Tensor, n_rows: int) -> Tensor:
    """Places of the batch's rows in the data set, from 0 to n_rows − 1."""
    if not isinstance(rows, Tensor) or rows.is_floating_point() or rows.is_complex():
        remedy = "pass the places of the batch's rows in the data set"
        seen = _kind(rows)
        raise TypeError(refused(owner, "rows", "a tensor of integers", seen, remedy))
    if rows.dtype == torch.bool or rows.shape != losses.shape:
        rule, remedy = f"of shape {tuple(losses.shape)}", "pass one place for each loss"
        seen = "a mask" if rows.dtype == torch.bool else str(tuple(rows.shape))
        raise ValueError(refused(owner, "rows", rule, seen, remedy))
    check_device(owner, "rows", rows, losses.device)
    rows = rows.long()
    low, high = (int(end) for end in torch.aminmax(rows))
    if low < 0 or high >= n_rows:
        rule = f"from 0 to n_rows − 1 = {n_rows - 1}"
        remedy = "number the rows of the training set, or raise n_rows"
        wrong = low if low < 0 else high
        raise ValueError(refused(owner, "rows", rule, wrong, remedy))
    return rows


def check_device(
    owner: object, name: str, tensor: Tensor, device: torch.device
) -> None:
    """Refuse a tensor that lies elsewhere than the losses."""
    if tensor.device != device:
        rule = f"on the device of the losses, {device}"
        remedy = f"move it there: .to({str(device)!r})"
        raise ValueError(refused(owner, name, rule, str(tensor.device), remedy))


def _kind(value: Any) -> str:
    """What a value is that cannot be used: a tensor by its dtype."""
    return str(value.dtype) if isinstance(value, Tensor) else type(value).__name__


def _check_finite(owner: object, name: str, values: Tensor) -> None:
    if torch.compiler.is_compiling():
        return
    finite = torch.isfinite(values)
    if not bool(finite.all()):
        seen = float(values.detach()[~finite][0])
        remedy = "remove such rows; in training, lower the learning rate"
        raise ValueError(refused(owner, name, "finite", seen, remedy))
