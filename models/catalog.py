"""The catalogue of models that can be fetched."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated

import msgspec

from engine.protocol.errors import UserError

BUILT_IN = Path(__file__).with_name("catalog.toml")


class RegistryParts(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="registry_parts"):
    """Wheels on the Python package registry, each holding one part of the file in its ``data`` folder.

    Attributes:
        package: distribution name with ``{part}`` for the number, from 1.
        version: exact version.
        parts: how many.
        part_bytes: length of every part but the last.
    """

    package: str
    version: str
    parts: int
    part_bytes: int


class HuggingFace(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="hugging_face"):
    """A file of a Hugging Face repository (``HF_ENDPOINT`` names a mirror)."""

    repo: str
    file: str
    revision: str = "main"


class LocalFile(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="local"):
    """A file that is already on this computer; it is copied, never moved."""

    path: str


Source = RegistryParts | HuggingFace | LocalFile


class CatalogEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A model file.

    Attributes:
        name: how people and profiles call it.
        licence: SPDX name.
        size_bytes: exact size.
        sha256: of the whole file, hex.
        context_tokens: longest window the model was made for.
        file_name: its name in the cache folder.
        sources: where to get it, best first.
        title: for people.
    """

    name: str
    licence: str
    size_bytes: int
    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
    context_tokens: int
    file_name: str
    sources: tuple[Source, ...] = ()
    title: str = ""


class Catalog(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All entries in the order of the file."""

    models: tuple[CatalogEntry, ...]

    def entry(self, name: str) -> CatalogEntry:
        """The entry of that name.

        Raises:
            UserError: there is none.
        """
        for entry in self.models:
            if entry.name == name:
                return entry
        raise UserError(
            "model.not_in_catalog",
            "There is no model {name} in the catalogue.",
            todo="Use one of: {names}.",
            name=name,
            names=", ".join(entry.name for entry in self.models),
        )


def load_catalog(path: Path = BUILT_IN) -> Catalog:
    """Read a catalogue.

    Args:
        path: a TOML file.

    Raises:
        UserError: it cannot be read; the field at fault is named.
    """
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Catalog)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise UserError(
            "catalog.invalid",
            "The catalogue {path} cannot be used: {reason}.",
            todo="Correct it, or reinstall the program.",
            path=str(path),
            reason=str(error),
        ) from error
