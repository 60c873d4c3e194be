"""The entry of the command `rankadjust`, and of `python -m rankadjust`: an interrupt ends it in one line."""

import os
import sys

# A command would spend a sixth of its processor time on starting threads for products of matrices. These products are
# too small to gain from threads (rankadjust.evaluation.weighting).
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def main() -> None:
    """Run the command line; an interrupt is not an error of the program, from the first import on."""
    try:
        from rankadjust.cli.commands import main as run  # noqa: PLC0415 - so that the import can be interrupted, too

        run()
    except KeyboardInterrupt:
        print("Aborted!", file=sys.stderr, flush=True)  # noqa: T201
        # No clean-up of modules, which a second interrupt would stop in the middle; files are clean already.
        os._exit(130)


if __name__ == "__main__":
    main()
