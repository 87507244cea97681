"""20,000 runs of the Painleve rod over angle and friction on a local Dask cluster of two workers, one of which is killed.

    python crates/stickslip-python/benches/painleve_cluster.py [POINTS_PER_AXIS_X POINTS_PER_AXIS_Y]

The map equals that of `stickslip study map` bit for bit, or the script fails.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
from distributed import Client, LocalCluster

import stickslip


def grid(start, end, count):
    return [start + (end - start) * k / (count - 1) for k in range(count)]


def main():
    nx, ny = (int(x) for x in sys.argv[1:3]) if len(sys.argv) > 2 else (200, 100)
    scene = stickslip.scene("painleve-rod")
    axes = {"theta0": grid(0.2, 1.5, nx), "mu": grid(0.5, 3, ny)}
    folder = tempfile.mkdtemp()
    killed = []

    def kill(done, total):
        if not killed and done > total // 3:
            killed.append(sorted(client.run(os.getpid).values())[0])
            os.kill(killed[0], signal.SIGKILL)
            print(f"worker {killed[0]} killed after {done} of {total} points", flush=True)

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        began = time.perf_counter()
        ds = stickslip.sweep(scene, axes, of={"e": "energy.end"}, client=client, path=f"{folder}/sweep.npz", progress=kill)
        seconds = time.perf_counter() - began
    print(f"{nx * ny} points on Dask: {seconds:.1f} s wall, {int(ds.certified.sum())} certified, {1e3 * float(ds.seconds.mean()):.2f} ms a point")
    words = [sys.executable, "-m", "stickslip", "study", "map", "painleve-rod", "--of", "energy.end"]
    words += ["--x", f"theta0=0.2:1.5:{nx}", "--y", f"mu=0.5:3:{ny}", "--output", folder]
    began = time.perf_counter()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    print(f"study map: {time.perf_counter() - began:.1f} s wall")
    found = stickslip.read_sweep(f"{folder}/map.npz")["energy.end"].values
    same = found.tobytes() == np.ascontiguousarray(ds.e.values).tobytes()
    print(f"bit for bit equal: {same}; missing points: {int((~ds.done).sum())}")
    return 0 if same and killed and bool(ds.done.all()) else 1


if __name__ == "__main__":
    sys.exit(main())
