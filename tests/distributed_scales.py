"""`distributed_scales.py SCALE ..`: run examples/many_gpus.py at these scales, one after the other in the same
ranks."""

import runpy
import sys
from pathlib import Path

import bitblas.distributed as gd

EXAMPLE = Path(__file__).parent.parent / "examples" / "many_gpus.py"

group = gd.init()
for scale in sys.argv[1:].copy():
    sys.argv = [str(EXAMPLE), scale]
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    print(f"rank {group.rank} of {group.size} done", flush=True)
