"""The version of the project: of the code, and of the database that it makes."""

VERSION = "1.0.0"

# The day on which the registry of data sets (config/datasets.yaml) and the list of benchmarks were last changed: the
# date of a release, which does not depend on when it is made.
REGISTRY_DATE = "2026-11-23"

# Where the project is found, as pyproject.toml says.
HOMEPAGE = "https://github.com/rankadjust/rankadjust"
