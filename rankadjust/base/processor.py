"""The same numbers on every processor: what numpy and BLAS choose by the processor, chosen for all of them.

numpy has several versions of exp, log and others, and BLAS several orders of a sum; the processor decides which
of them runs, and with it the last digits. Environment variables set both; the libraries read them once, when they
are loaded. docs/architecture.md, "The same bytes", names the code that this does not reach.
"""

import platform
from itertools import chain

import numpy as np

# The oldest kernels that the BLAS of numpy and of scipy both have, and that numpy's minimal processor can run.
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
