"""Office packages (ZIP with XML) as files: is it whole, is it encrypted, is it a trap."""

from __future__ import annotations

import zipfile
from pathlib import Path

from tools.readers.kinds import ReadProblem

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MOST_UNPACKED = 2 << 30
_MOST_RATIO = 200


def check_package(path: Path) -> list[str]:
    """Names of the parts of an Office file.

    Raises:
        ReadProblem: encrypted, an old binary file under a new name, not a package, damaged, or unpacking to far more
            than an honest file would.
    """
    with path.open("rb") as file:
        start = file.read(8)
        if start == _OLE:
            file.seek(0)
            # an encrypted package is stored in the old container, under these names in UTF-16
            if "EncryptedPackage".encode("utf-16-le") in file.read(4 << 20):
                raise ReadProblem("encrypted")
            raise ReadProblem("unsupported", "This is a file of the old binary format under a new name.")
    try:
        with zipfile.ZipFile(path) as package:
            parts = package.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise ReadProblem("corrupt", f"The file is damaged or cut: {error}") from error
    unpacked = sum(part.file_size for part in parts)
    if unpacked > _MOST_UNPACKED or (unpacked > 64 << 20 and unpacked > _MOST_RATIO * path.stat().st_size):
        raise ReadProblem("too_large", f"The file would unpack to {unpacked >> 20} MB.")
    return [part.filename for part in parts]
