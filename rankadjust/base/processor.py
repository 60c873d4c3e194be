"""The same numbers on every processor: what numpy and BLAS choose by the processor, chosen for all of them.

numpy has several versions of exp, log and others, and BLAS several orders of a sum; which one runs depends on what the
processor can do, and the last digits with it. Both are told by environment variables, which they read once, when they
are loaded. docs/architecture.md, "The same bytes", says what this does not reach.
"""

import platform
from itertools import chain

import numpy as np

# The oldest kernels that numpy's own BLAS and that of scipy have in common with what numpy requires of a processor.
_CORE = "Nehalem"


def same_everywhere() -> dict[str, str]:
    """Return the environment of a process whose numbers do not depend on which processor of its family runs it.

    Every version of a function but numpy's first is switched off, whether this processor has it or not. Threads would
    split the sums of BLAS.
    """
    chosen = {"OPENBLAS_NUM_THREADS": "1"}
    versions = np.show_config(mode="dicts")["SIMD Extensions"]
    newer = sorted(chain(versions.get("found", ()), versions.get("not found", ())))
    if newer:
        chosen["NPY_DISABLE_CPU_FEATURES"] = " ".join(newer)
    if platform.machine().lower() in {"x86_64", "amd64"}:
        chosen["OPENBLAS_CORETYPE"] = _CORE
    return chosen
