"""An audit without the data: no cell values, no names of groups."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ..analysis.audit import AuditResult, Cause, Repair

#: What replaces a sentence that would tell a value.
WITHHELD = "(left out: it names a value)"


def redacted(result: AuditResult) -> AuditResult:
    """The same findings without cell values and names of groups.

    Names of columns, counts, scores, residuals, coefficients and losses stay. Reasons
    and causes are reduced to the columns they name, repairs to column and kind.
    """
    columns = [column.name for column in result.columns]
    secrets = _secrets(result, columns)

    def words(text: str) -> str:
        # An equation, as in "year = 1970", is where a number tells a value.
        return WITHHELD if "=" in text or secrets.within(text) else text

    name_columns = _Lexicon(columns)
    return replace(
        result,
        columns=[replace(column, note="") for column in result.columns],
        summary=words(result.summary),
        tail_note=words(result.tail_note),
        sampling=words(result.sampling),
        next_steps=[words(step) for step in result.next_steps],
        reasons=[name_columns.within_all(reasons) for reasons in result.reasons],
        flagged=[
            replace(
                row,
                observed="",
                expected="",
                values={},
                reasons=name_columns.within_all(row.reasons),
            )
            for row in result.flagged
        ],
        coefficients=[
            replace(shift, name=name_columns.leading(shift.name, f"feature {i + 1}"))
            for i, shift in enumerate(result.coefficients)
        ],
        groups=[
            replace(g, group=f"group {i + 1}") for i, g in enumerate(result.groups)
        ],
        times=[replace(g, group=f"period {i + 1}") for i, g in enumerate(result.times)],
        causes=[_cause(cause, name_columns) for cause in result.causes],
        repairs=[_repair(repair) for repair in result.repairs],
        comparison=_numbers(result.comparison),
        options={
            k: v if _plain(v) else words(str(v)) for k, v in result.options.items()
        },
    )


class _Lexicon:
    """Finds words of a list in sentences, as whole words, however long the list is."""

    def __init__(self, words: Iterable[str]) -> None:
        self._by_token: dict[str, list[tuple[int, str]]] = {}
        self._odd: list[str] = []
        for word in sorted({word for word in words if word}, key=len, reverse=True):
            token = re.search(r"\w+", word)
            if token is None:
                self._odd.append(word)
            else:
                entry = (token.start(), word)
                self._by_token.setdefault(token.group(), []).append(entry)

    def within(self, text: str) -> list[str]:
        """Words that occur in the text, in order, those with no letters last."""
        found = []
        for token in re.finditer(r"\w+", text):
            for offset, word in self._by_token.get(token.group(), ()):
                start = token.start() - offset
                after = text[start + len(word) : start + len(word) + 1]
                whole = not (word[-1].isalnum() and after.isalnum())
                if start >= 0 and text.startswith(word, start) and whole:
                    found.append(word)
                    break
        return [*found, *(word for word in self._odd if word in text)]

    def within_all(self, sentences: list[str]) -> list[str]:
        """Words that occur in any of the sentences, each once."""
        return list(dict.fromkeys(w for text in sentences for w in self.within(text)))

    def leading(self, text: str, otherwise: str) -> str:
        """The word a text begins with: one-hot names hold a column and a value."""
        for word in self.within(text):
            if text.startswith(word):
                return word if text == word else f"{word} (one of its values)"
        return otherwise


def _cause(cause: Cause, columns: _Lexicon) -> Cause:
    named = ", ".join(columns.within(cause.text)) or "a column"
    text = (
        f"{cause.flagged_with} of {cause.flagged} flagged rows have the same in {named}"
    )
    return replace(cause, text=text)


def _repair(repair: Repair) -> Repair:
    return replace(repair, text=f"{repair.kind} in {repair.column}")


def _secrets(result: AuditResult, columns: list[str]) -> _Lexicon:
    """The words that would tell a value: cells shown, names of groups.

    Numbers are left out: every number of a sentence would look like some cell.
    """
    cells = {row.observed for row in result.flagged}
    cells |= {value for row in result.flagged for value in row.values.values()}
    cells |= {rate.group for rate in [*result.groups, *result.times]}
    cells |= {cause.text for cause in result.causes}
    cells |= {repair.text for repair in result.repairs}
    words = {cell.strip() for cell in cells} - set(columns)
    return _Lexicon(word for word in words if not _numeric(word))


def _numeric(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float)


def _numbers(comparison: dict[str, Any] | None) -> dict[str, Any] | None:
    if comparison is None:
        return None
    return {key: value for key, value in comparison.items() if _plain(value)}
