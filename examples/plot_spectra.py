"""
How spectra weigh sorted losses
===============================

A spectrum says how much the smallest, the middle and the largest losses count.
"""

import matplotlib.pyplot as plt

from lrisk.displays import SpectrumDisplay

figure, axes = plt.subplots(layout="constrained")
spectra = {
    "mean": "#555555",
    "superquantile:0.75": "#d55e00",
    "extremile:2": "#0072b2",
    "esrm:1": "#009e73",
    "subquantile:0.8": "#cc79a7",
}
lines = [
    SpectrumDisplay.from_spectrum(name, ax=axes, color=colour, label=name).line_
    for name, colour in spectra.items()
]
axes.legend(handles=lines)

# %%
# What to see: three curves rise, so that large losses count more than in the mean; the
# subquantile falls to zero, so that the worst fifth of the rows does not count at all.
