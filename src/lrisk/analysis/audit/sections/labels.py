"""Which class is mistaken for which, where rows are flagged."""

import numpy as np

from ..facts import Change, Finding
from ..numbers import counted, percent
from .base import Context, first_rows

#: Flagged rows of one label that look like one other class, at least.
FEWEST = 3


class Labels:
    """Pairs of classes: what flagged rows are labelled, and what they look like."""

    name, title = "labels", "Labels that look mistaken"
    kinds = ("mistaken",)
    advice = "Look at the labels that seem mistaken; rows.csv has the suggested ones."

    def find(self, context: Context) -> list[Finding]:
        """Pairs of enough flagged rows, the commonest first."""
        table, found, flags = context.table, context.found, context.flags
        if table.task != "classification" or found is None or flags is None:
            return []
        pairs: dict[tuple[int, int], list[int]] = {}
        for i in np.flatnonzero(flags):
            label, likely = int(table.y[found.rows[i]]), int(found.suggested[i])
            if label != likely:
                pairs.setdefault((label, likely), []).append(int(found.rows[i]))
        findings, name = [], table.target.name
        for (label, likely), rows in sorted(pairs.items(), key=lambda p: -len(p[1])):
            if len(rows) < FEWEST:
                continue
            own, other = table.classes[label], table.classes[likely]
            share = {"share": float(found.noise[likely, label])}
            changes = [Change(row, name, own, other) for row in first_rows(rows)]
            shown = {"label": own[:60], "likely": other[:60]}
            findings.append(Finding("labels", "mistaken", [name], first_rows(rows),
                                    len(rows), share, shown, changes))  # fmt: skip
        return findings

    def words(self, finding: Finding) -> str:
        """How many rows, which class, and how common the mistake is."""
        label = finding.values.get("label", "one class")
        likely = finding.values.get("likely", "another")
        text = f"{counted(finding.count, 'row')} labelled {label} look like {likely}"
        share = finding.numbers["share"]
        if not share > 0.0:
            return f"{text}."
        return f"{text}: about {percent(share)} of rows that are {likely} have this " \
            "label."  # fmt: skip
