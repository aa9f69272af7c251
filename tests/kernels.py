"""Equal numbers on all processors with AVX2. Imported before numpy: on newer processors OpenBLAS has other kernels."""

import os
from pathlib import Path

if "avx2" in Path("/proc/cpuinfo").read_text():
    os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")
