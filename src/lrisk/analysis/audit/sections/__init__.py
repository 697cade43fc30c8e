"""Sections of an audit: each one class, registered here once.

Run, terminal, page and JSON loop over `SECTIONS`: a new section is its own module, an
entry below, and a test.
"""

from ..result import Finding
from .base import Context, Section
from .columns import ColumnValues
from .copies import Copies
from .sources import Sources

SECTIONS: tuple[Section, ...] = (ColumnValues(), Copies(), Sources())


def find_all(context: Context) -> list[Finding]:
    """What all sections find."""
    return [finding for section in SECTIONS for finding in section.find(context)]


def in_words(finding: Finding) -> str:
    """One sentence, by the section that found it."""
    return _section(finding).words(finding)


def by_section(findings: list[Finding]) -> list[tuple[str, list[Finding]]]:
    """Titles and findings of the sections that found something, in their order."""
    groups = [
        (section.title, [f for f in findings if f.section == section.name])
        for section in SECTIONS
    ]
    return [(title, found) for title, found in groups if found]


def _section(finding: Finding) -> Section:
    return next(section for section in SECTIONS if section.name == finding.section)


__all__ = ["SECTIONS", "Context", "Section", "by_section", "find_all", "in_words"]
