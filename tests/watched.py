"""How every_kernel.py runs under compute-sanitizer on a GPU: memory, loops and clusters, and planted faults."""

from bitblas import device


def watch(where: device.Device) -> None:
    """For compute-sanitizer: each array is a separate allocation, not part of a pool's, and the host makes the
    launches of loops, because the kernels of a while node do not run under it (they read at address 0)."""
    type(where).captures = False
    where.xp.cuda.set_allocator()


def shrink_clusters(where: device.Device, size: str) -> None:
    """Clusters of BLOCKSxTHREADS, on a device that has clusters: racecheck watches one block of 64. If blocks read each
    other's shared memory it ends with a hardware exception, which memcheck does not find, and a barrier of 8 blocks of
    1024 threads takes 0.1 s under it. The emulator checks accesses between blocks."""
    blocks, threads = (int(x) for x in size.split("x"))
    if where.cluster is not None:
        where.cluster = where.cluster._replace(blocks=blocks, threads=threads)


PLANTED = """
extern "C" __global__ void reduce(long long* out) {
    __shared__ long long sums[256];
    sums[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = sums[255 - threadIdx.x];
}
"""


def plant(where: device.Device) -> None:
    """What the sanitizer must find, else it does not watch: a race in shared memory, and a write behind an array."""
    where.xp.RawKernel(PLANTED, "reduce")((1,), (256,), (where.xp.zeros(200, "int64"),))
