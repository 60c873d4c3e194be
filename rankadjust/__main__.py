"""The entry of the command `rankadjust`, and of `python -m rankadjust`: an interrupt ends it in one line."""

import sys


def main() -> None:
    """Run the command line; an interrupt is not an error of the program, from the first import on."""
    try:
        from rankadjust.cli import main as run  # noqa: PLC0415 - so that the import can be interrupted, too

        run()
    except KeyboardInterrupt:
        sys.exit("Aborted!")


if __name__ == "__main__":
    main()
