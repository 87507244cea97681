"""Runs as datasets of xarray, with named dimensions instead of flat column names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._extras import needed

if TYPE_CHECKING:
    import xarray

    from .run import Run


#: Units of what has the same in every scene.
UNITS = {
    "t": "s",
    "dt": "s",
    "gap": "m",
    "p_n": "N s",
    "p_t": "N s",
    "u_n": "m/s",
    "u_t": "m/s",
    "kinetic": "J",
    "potential": "J",
    "energy": "J",
    "x": "m",
    "y": "m",
    "z": "m",
    "angle": "rad",
    "vx": "m/s",
    "vy": "m/s",
    "vz": "m/s",
    "w": "rad/s",
    "wx": "rad/s",
    "wy": "rad/s",
    "wz": "rad/s",
}
#: Columns of a body of a world.
BODY = ("x", "y", "z", "angle", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "w", "wx", "wy", "wz")


def run_dataset(run: Run) -> xarray.Dataset:
    """The dataset of a run; columns without a better place keep their names."""
    datasets: Any = needed("xarray", "xarray")
    rest = [name for name in run.columns if name != "t"]
    variables: dict[str, Any] = {}
    ends = (".gap", ".mode", ".p_n", ".u_n", ".gamma", ".margin")
    contacts = [name[:-4] for name in rest if name.endswith(".gap") and name[:-4] + ".p_n" in rest]
    coordinates: dict[str, Any] = {"t": run.t}
    if contacts:
        coordinates["contact"] = contacts
        for end in ends:
            names = [contact + end for contact in contacts]
            kept = [run[name] for name in names]
            variables[end[1:]] = (("t", "contact"), np.stack(kept, axis=1))
            rest = [name for name in rest if name not in names]
        tangents = max(sum(f"{c}.p_t{k}" in run.columns for k in (1, 2, 3)) for c in contacts)
        if tangents:
            coordinates["tangent"] = np.arange(1, tangents + 1)
        for letter in "pu" if tangents else "":
            full = np.full((len(run.t), len(contacts), tangents), np.nan)
            for i, contact in enumerate(contacts):
                for k in range(tangents):
                    name = f"{contact}.{letter}_t{k + 1}"
                    if name in rest:
                        full[:, i, k] = run[name]
                        rest.remove(name)
            variables[f"{letter}_t"] = (("t", "contact", "tangent"), full)
    bodies = [name for name in run.scene.bodies if f"{name}.x" in rest] if run.scene.is_world else []
    if bodies:
        coordinates["body"] = bodies
        for end in BODY:
            names = [f"{body}.{end}" for body in bodies]
            if names[0] in rest:
                variables[end] = (("t", "body"), np.stack([run[name] for name in names], axis=1))
        taken = {f"{body}.{end}" for body in bodies for end in BODY}
        rest = [name for name in rest if name not in taken]
    terms = [name for name in run.summary["energy"]["totals"] if f"energy.{name}" in rest]
    if terms:
        coordinates["term"] = terms
        stacked = np.stack([run[f"energy.{name}"] for name in terms], axis=1)
        variables["energy"] = (("t", "term"), stacked)
        rest = [name for name in rest if name.removeprefix("energy.") not in terms]
    for name in rest:
        variables[name] = (("t",), run[name])
    settings = run.scene.settings
    attributes = {key: value for key, value in settings.items() if not isinstance(value, dict)}
    attributes.update({f"parameter {k}": v for k, v in run.scene.parameters.items()})
    attributes["certified"] = int(run.certified)
    dataset: xarray.Dataset = datasets.Dataset(variables, coordinates, attributes)
    for name, unit in UNITS.items():
        # Coordinates of a mechanism have units of their own.
        if name in dataset.variables and (bodies or name not in BODY):
            dataset[name].attrs["units"] = unit
    return dataset
