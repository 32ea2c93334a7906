"""The facts: tables of `data/` as typed frames and frozen specs, looked up by name.

`table` reads one table with the types its schema declares, refuses it if it breaks the data package
or holds what cannot be, and notes that it was read; `accelerator` and `model` hand out typed specs
and offer the nearest name when one is unknown. A chapter ends with `data_record`, which shows
source, license and date of every table it has read.
"""

from scaleright.catalog import proportions as _proportions  # registers its judges
from scaleright.catalog.configs import Config, ConfigError, UnsupportedArchitectureError
from scaleright.catalog.memory import fitted, of_chip, remembered, shared
from scaleright.catalog.own import (
    SUFFIXES,
    add_model,
    drop_models,
    own_models,
    own_source,
    read_config,
    retold,
)
from scaleright.catalog.package import DataError, Problem, data_dir, package, resource
from scaleright.catalog.reach import architecture, best_matmul, of_kin
from scaleright.catalog.reading import read_csv
from scaleright.catalog.record import (
    DATED,
    DataRecord,
    data_record,
    html_table,
)
from scaleright.catalog.specs import (
    Accelerator,
    accelerator,
    accelerators,
    decoders,
    model,
    models,
    release_format,
)
from scaleright.catalog.tables import (
    examine,
    fact,
    forget,
    judges,
    reading,
    sealed,
    table,
    undated,
    unnoted,
)

__all__ = [
    "DATED",
    "SUFFIXES",
    "Accelerator",
    "Config",
    "ConfigError",
    "DataError",
    "DataRecord",
    "Problem",
    "UnsupportedArchitectureError",
    "accelerator",
    "accelerators",
    "add_model",
    "architecture",
    "best_matmul",
    "data_dir",
    "data_record",
    "decoders",
    "drop_models",
    "examine",
    "fact",
    "fitted",
    "forget",
    "html_table",
    "judges",
    "model",
    "models",
    "of_chip",
    "of_kin",
    "own_models",
    "own_source",
    "package",
    "read_config",
    "read_csv",
    "reading",
    "release_format",
    "remembered",
    "resource",
    "retold",
    "sealed",
    "shared",
    "table",
    "undated",
    "unnoted",
]
