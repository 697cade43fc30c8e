"""What the three papers prove, as numbers: bounds to hold measurements against.

A function has the valid constants. Where the printed ones differ, ``printed=True``
gives those, so that both can be drawn. docs/papers.md says how tight each was found.
"""

from .noisy import (
    kernel_regret,
    one_copy_regret,
    online_to_batch_bound,
    two_copy_regret,
)
from .spectral import (
    LSVRGTheory,
    SGDBound,
    distance_to_mean,
    largest_density,
    lsvrg_theory,
    minibatch_bias_bound,
    risk_error_bound,
    sgd_bound,
)
from .subquantile import (
    contamination_ratio,
    covariance_error_bound,
    covariance_norm_bound,
    largest_gaussian_bound,
    largest_norm_bound,
    noise_norm_bound,
    trimmed_binary_rate,
    trimmed_descent_bound,
    trimmed_descent_steps,
    trimmed_multiclass_rate,
    trimmed_regression_rate,
)

__all__ = [
    "LSVRGTheory",
    "SGDBound",
    "contamination_ratio",
    "covariance_error_bound",
    "covariance_norm_bound",
    "distance_to_mean",
    "kernel_regret",
    "largest_density",
    "largest_gaussian_bound",
    "largest_norm_bound",
    "lsvrg_theory",
    "minibatch_bias_bound",
    "noise_norm_bound",
    "one_copy_regret",
    "online_to_batch_bound",
    "risk_error_bound",
    "sgd_bound",
    "trimmed_binary_rate",
    "trimmed_descent_bound",
    "trimmed_descent_steps",
    "trimmed_multiclass_rate",
    "trimmed_regression_rate",
    "two_copy_regret",
]
