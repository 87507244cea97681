#!/usr/bin/env python3
"""Time of `stickslip solve` against the solvers of Siconos, in one run on one machine.

    compare_siconos.py DIRECTORY [--stickslip PATH] [--limit SECONDS] [--contacts MIN MAX] [--tolerances T...]

For every local problem in space of DIRECTORY (FCLIB files): CPU time of the solve call of each Siconos solver
and of ours, at 1e-4 and 1e-8 of the same residual (natural map, rho = 1, over the norm of q), judged here
and by no solver. For Siconos the best solver and setting of each problem counts. Needs numpy, h5py and the
Python module of Siconos (Debian: python3-siconos); without it the script says so and ends. With scipy W is given
to Siconos as sparse blocks, otherwise dense.
"""
import argparse
import json
import math
import multiprocessing
import os
import signal
import subprocess
import sys
import time

try:
    import h5py
    import numpy as np
    import siconos.numerics as sn
except ImportError as error:
    print(f"skipped: {error.name} is not installed (Debian: python3-siconos, python3-h5py)")
    sys.exit(0)
try:
    import scipy.sparse as sp
except ImportError:
    sp = None


def read(path):
    with h5py.File(path, "r") as f:
        if "fclib_local" not in f or int(f["fclib_local/spacedim"][0]) != 3:
            return None
        g = f["fclib_local"]
        m = int(g["W/m"][0])
        p, i, x = g["W/p"][()], g["W/i"][()], g["W/x"][()]
        return m, p, i, x, g["vectors/q"][()].astype(float), g["vectors/mu"][()].astype(float)


def residual(data, r):
    m, p, i, x, q, mu = data
    rows = np.repeat(np.arange(m), np.diff(p))
    u = np.bincount(rows, weights=x * r[i], minlength=m) + q
    R, U = r.reshape(-1, 3), u.reshape(-1, 3)
    z = R - U
    z[:, 0] -= mu * np.hypot(U[:, 1], U[:, 2])
    t = np.hypot(z[:, 1], z[:, 2])
    out = z.copy()
    polar = mu * t <= -z[:, 0]
    edge = ~polar & (t > mu * z[:, 0])
    out[polar] = 0
    normal = (z[:, 0] + mu * t) / (1 + mu * mu)
    out[edge, 0] = normal[edge]
    out[edge, 1:] = z[edge, 1:] * (mu * normal / np.where(t > 0, t, 1))[edge, None]
    size = np.linalg.norm(q)
    return np.linalg.norm(R - out) / (size if size > 0 else 1)


# Short solves are repeated so often, by both sides, and the shortest time counts.
REPEATS = 30

SOLVERS = [
    ("NSGS", "SICONOS_FRICTION_3D_NSGS", None),
    ("NSGS-Newton", "SICONOS_FRICTION_3D_NSGS", "SICONOS_FRICTION_3D_ONECONTACT_NSN_GP_HYBRID"),
    ("NSGS-fixed-point", "SICONOS_FRICTION_3D_NSGS", "SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnConeWithLocalIteration"),
    ("PROX-Newton", "SICONOS_FRICTION_3D_PROX", None),
    ("NSN-AC", "SICONOS_FRICTION_3D_NSN_AC", None),
    ("ADMM", "SICONOS_FRICTION_3D_ADMM", None),
    ("extragradient", "SICONOS_FRICTION_3D_EG", None),
]


def run_siconos(path, solver, local, tolerance, limit, out):
    data = read(path)
    m, p, i, x, q, mu = data
    nc = m // 3
    if sp is not None:
        # Sparse blocks: the storage Siconos is fastest with.
        matrix = sp.csr_matrix((x, i, p), shape=(m, m)).tocsc()
        matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
        built = sn.SBM_from_csparse(3, matrix)
        matrix = built[1] if isinstance(built, (tuple, list)) else built
    else:
        matrix = np.zeros((m, m))
        matrix[np.repeat(np.arange(m), np.diff(p)), i] = x
    problem = sn.FrictionContactProblem(3, nc, matrix, q, mu)
    options = sn.SolverOptions(getattr(sn, solver))
    if local is not None:
        sn.solver_options_update_internal(options, 0, getattr(sn, local))
    options.iparam[0] = 10_000_000
    # Stopping tests differ: the loosest setting that reaches the residual counts.
    for factor in (100.0, 10.0, 1.0, 0.1, 0.01):
        options.dparam[0] = tolerance * factor
        # The process is ended when the solve call has used this much CPU time.
        signal.setitimer(signal.ITIMER_PROF, max(limit, 0.05))
        seconds, elapsed, repeat = math.inf, 0.0, 0
        # Short solves: the counter of CPU time is too coarse; the shortest of several elapsed times counts, as for ours.
        while repeat == 0 or (elapsed < 0.05 and repeat < REPEATS):
            r, u = np.zeros(m), np.zeros(m)
            start, wall = time.process_time(), time.perf_counter()
            sn.fc3d_driver(problem, r, u, options)
            elapsed = time.perf_counter() - wall
            seconds = min(seconds, elapsed if elapsed < 0.05 else time.process_time() - start)
            repeat += 1
        signal.setitimer(signal.ITIMER_PROF, 0)
        error = residual(data, r)
        if error <= 1.01 * tolerance:
            out.put((seconds, error))
            return
    out.put((None, error))


def siconos(path, solver, local, tolerance, limit):
    """Runs in a child process, which can be ended at the limit."""
    out = multiprocessing.Queue()
    child = multiprocessing.Process(target=run_siconos, args=(path, solver, local, tolerance, limit, out))
    devnull = os.open(os.devnull, os.O_WRONLY)
    saved = os.dup(1)
    sys.stdout.flush()
    os.dup2(devnull, 1)
    child.start()
    os.dup2(saved, 1)
    os.close(saved)
    os.close(devnull)
    child.join()
    try:
        return out.get(timeout=0.2)[0]
    except Exception:
        return None


def ours(path, stickslip, tolerance, limit, repeat=1):
    done = subprocess.run(
        [stickslip, "solve", "--json", "--repeat", str(repeat), "--tolerance", str(tolerance),
         "--time-limit", str(20 * limit), path],
        capture_output=True, text=True)
    try:
        row = json.loads(done.stdout.splitlines()[0])
    except (IndexError, ValueError):
        return None
    if row["residual"] > 1.01 * tolerance:
        return None
    if row["seconds"] > 0.05 and row["cpu_seconds"]:
        return row["cpu_seconds"] if row["cpu_seconds"] <= limit else None
    # Short solves: the counter of CPU time is too coarse; the shortest of several elapsed times is no less.
    return row["seconds"] if repeat > 1 else ours(path, stickslip, tolerance, limit, REPEATS)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory")
    parser.add_argument("--stickslip", default="target/release/stickslip")
    parser.add_argument("--limit", type=float, default=3.0)
    parser.add_argument("--contacts", type=int, nargs=2, default=(20, 2000))
    parser.add_argument("--tolerances", type=float, nargs="+", default=(1e-4, 1e-8))
    arguments = parser.parse_args()
    for tolerance in arguments.tolerances:
        ratios, only_ours, only_theirs, slower = [], [], [], []
        for name in sorted(os.listdir(arguments.directory)):
            path = os.path.join(arguments.directory, name)
            data = read(path) if name.endswith(".hdf5") else None
            if data is None or not arguments.contacts[0] < data[0] // 3 <= arguments.contacts[1]:
                continue
            mine = ours(path, arguments.stickslip, tolerance, arguments.limit)
            best, who = None, "-"
            for label, solver, local in SOLVERS:
                seconds = siconos(path, solver, local, tolerance, best or arguments.limit)
                if seconds is not None and (best is None or seconds < best):
                    best, who = seconds, label
            if mine is not None and best is not None:
                ratios.append(best / mine)
                if best < mine:
                    slower.append(name)
            elif mine is not None:
                only_ours.append(name)
            elif best is not None:
                only_theirs.append(name)
            shown = lambda s: "-" if s is None else f"{s:.5f}"
            print(f"{tolerance:.0e} {name:<55} ours {shown(mine):>9} s  Siconos {shown(best):>9} s ({who})", flush=True)
        if ratios:
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            print(f"{tolerance:.0e}: {len(ratios)} problems solved by both, geometric mean of the ratio {mean:.1f}, smallest {min(ratios):.2f}")
        print(f"{tolerance:.0e}: only ours {only_ours}; only Siconos {only_theirs}; slower than Siconos {slower}")


if __name__ == "__main__":
    main()
