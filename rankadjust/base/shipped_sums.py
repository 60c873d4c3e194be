"""SHA256SUMS of the tables that ship with the project: `make sums` renews them, `rankadjust verify` compares them."""

from rankadjust.base.io import SUMS, shipped, write_sums

FOLDERS = ("resources/database", "resources/published")
_NO_TABLES = (SUMS, "README.md")


def renew() -> None:
    """Write SHA256SUMS of the tables as they are now."""
    for folder in (shipped(name) for name in FOLDERS):
        tables = sorted(path for path in folder.iterdir() if path.is_file() and path.name not in _NO_TABLES)
        write_sums(tables, folder / SUMS)


if __name__ == "__main__":
    renew()
