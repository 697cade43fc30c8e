"""Noise: what is known of the observation noise in the features."""

from .base import Noise
from .constructors import (
    from_reliability,
    from_replicates,
    local_differential_privacy,
)
from .models import (
    CharacteristicNoise,
    Exact,
    GaussianNoise,
    KnownCovariance,
    LaplaceNoise,
    Replicates,
)

NOISES: dict[str, type[Noise]] = {
    noise.name: noise
    for noise in (
        Exact,
        Replicates,
        KnownCovariance,
        GaussianNoise,
        LaplaceNoise,
        CharacteristicNoise,
    )
}

__all__ = [
    "NOISES",
    "CharacteristicNoise",
    "Exact",
    "GaussianNoise",
    "KnownCovariance",
    "LaplaceNoise",
    "Noise",
    "Replicates",
    "from_reliability",
    "from_replicates",
    "local_differential_privacy",
]
