"""The package page: README.md, with links that lead somewhere from outside.

Links of the README are relative, to files beside it. Where ``project.urls`` has a
``Source``, the package page links to the files there; where it has none, the words stay
and the links go, so that none is dead.
"""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)")


def package_page(readme: str, source: str | None) -> str:
    """README as it can be read away from its files."""

    def absolute(found: re.Match[str]) -> str:
        picture, words, path = found.groups()
        if source is None:
            return "" if picture else words
        kind = "raw" if picture else "blob"
        return f"{picture}[{words}]({source.rstrip('/')}/{kind}/HEAD/{path})"

    return _LINK.sub(absolute, readme)


class PackagePage(MetadataHookInterface):
    """Called by hatchling, which finds the one hook of this file."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the package's description."""
        readme = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        source = metadata.get("urls", {}).get("Source")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": package_page(readme, source),
        }
