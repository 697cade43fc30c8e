"""Sections of an audit: each one class, registered here once.

Run, summary, terminal, page, notebook and JSON loop over `SECTIONS`: a new section is
its own module, an entry below, and a test.
"""

from ..facts import Finding
from .base import FALSE_CLAIMS, Context, Section
from .columns import ColumnValues
from .copies import Copies
from .labels import Labels
from .noise import LargerNoise
from .shared import Shared
from .slips import Slips
from .sources import Sources

SECTIONS: tuple[Section, ...] = (
    Slips(), Labels(), Shared(), ColumnValues(), LargerNoise(), Copies(), Sources(),
)  # fmt: skip


def part_of_false_claims() -> float:
    """The level of one section: the false claims of all, divided equally."""
    return FALSE_CLAIMS / len(SECTIONS)


def find_all(context: Context) -> list[Finding]:
    """What all sections find, each knowing what those before it found."""
    found: list[Finding] = []
    for section in SECTIONS:
        found += section.find(context._replace(earlier=tuple(found)))
    return found


def in_words(finding: Finding) -> str:
    """One sentence, by the section that found it."""
    own = next(section for section in SECTIONS if section.name == finding.section)
    return own.words(finding)


def by_section(findings: list[Finding]) -> list[tuple[Section, list[Finding]]]:
    """Sections that found something, in their order, and what they found."""
    groups = [
        (section, [f for f in findings if f.section == section.name])
        for section in SECTIONS
    ]
    return [(section, found) for section, found in groups if found]


__all__ = [
    "SECTIONS",
    "Context",
    "Section",
    "by_section",
    "find_all",
    "in_words",
    "part_of_false_claims",
]
