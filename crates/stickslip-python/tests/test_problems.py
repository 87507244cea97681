"""Contact problems from arrays and files, and verdicts on impulses."""

import pickle

import numpy as np
import pytest

import stickslip
from stickslip import ContactProblem


def random_problem(rng, contacts, dimension=3, bodies=3, freedoms=6):
    n = bodies * freedoms
    root = rng.normal(size=(n, n))
    M = np.zeros((n, n))
    for k in range(bodies):
        part = slice(freedoms * k, freedoms * (k + 1))
        M[part, part] = root[part, part] @ root[part, part].T + freedoms * np.eye(freedoms)
    H = rng.normal(size=(n, dimension * contacts))
    # Normals with a positive part keep the problem feasible.
    f = rng.normal(size=n)
    mu = rng.uniform(0.1, 0.9, size=contacts)
    return M, H, f, mu


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_solutions_obey_the_law_written_out_by_hand(dimension, seed):
    rng = np.random.default_rng(seed)
    M, H, f, mu = random_problem(rng, 3, dimension)
    problem = ContactProblem.from_mass(M, H, f, mu=mu)
    W = H.T @ np.linalg.solve(M, H)
    q = H.T @ np.linalg.solve(M, f)
    assert np.abs(problem.W - W).max() < 1e-12 * np.abs(W).max()
    assert np.abs(problem.q.reshape(-1) - q).max() < 1e-12 * np.abs(q).max()
    solution = problem.solve(1e-12)
    assert solution.solved and solution.residual <= 1e-11
    r, u = solution.impulses, solution.velocities
    assert np.abs(u.reshape(-1) - (W @ r.reshape(-1) + q)).max() < 1e-11
    v = np.linalg.solve(M, H @ r.reshape(-1) + f)
    assert np.abs(solution.generalized_velocity - v).max() < 1e-11
    slide = np.linalg.norm(u[:, 1:], axis=1)
    grip = np.linalg.norm(r[:, 1:], axis=1)
    assert (u[:, 0] > -1e-10).all() and (r[:, 0] > -1e-10).all()
    assert np.abs(u[:, 0] * r[:, 0]).max() < 1e-9
    assert (grip <= mu * r[:, 0] + 1e-9).all()
    # Sliding contacts: full friction against the velocity.
    power = np.einsum("ij,ij->i", r[:, 1:], u[:, 1:])
    assert np.abs(power + mu * r[:, 0] * slide).max() < 1e-8
    assert problem.judge(r).accepted(1e-10)


def test_sparse_and_dense_matrices_are_the_same_problem():
    sparse = pytest.importorskip("scipy.sparse")
    M, H, f, mu = random_problem(np.random.default_rng(7), 4)
    dense = ContactProblem.from_mass(M, H, f, mu=mu)
    for form in (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix, sparse.csr_array):
        other = ContactProblem.from_mass(form(M), form(H), f, mu=mu)
        assert other.W.tobytes() == dense.W.tobytes()
        assert other.solve().impulses.tobytes() == dense.solve().impulses.tobytes()
    local = ContactProblem(sparse.csr_matrix(dense.W), dense.q, mu)
    assert np.abs(local.solve(1e-12).velocities - dense.solve(1e-12).velocities).max() < 1e-9


def test_files_keep_problem_and_solution(tmp_path):
    M, H, f, mu = random_problem(np.random.default_rng(3), 2)
    problem = ContactProblem.from_mass(M, H, f, mu=mu)
    r = problem.solve(1e-12).impulses
    problem.save(tmp_path / "global.hdf5", title="two contacts", impulses=r)
    again = ContactProblem.load(tmp_path / "global.hdf5")
    assert again.stored.tobytes() == r.tobytes()
    assert np.abs(again.W - problem.W).max() < 1e-13
    local = ContactProblem(problem.W, problem.q, mu)
    local.save(tmp_path / "local.hdf5")
    assert ContactProblem.load(tmp_path / "local.hdf5").W.tobytes() == local.W.tobytes()
    with pytest.raises(stickslip.ProblemError):
        ContactProblem.load(tmp_path / "none.hdf5")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"W": np.eye(4), "q": np.zeros(3), "mu": [0.1]}, "expected 3"),
        ({"W": np.eye(3), "q": [0, np.nan, 0], "mu": [0.1]}, "q is not finite at row 1"),
        ({"W": np.diag([1, np.inf, 1]), "q": np.zeros(3), "mu": [0.1]}, "W is not finite at row 1"),
        ({"W": np.eye(3), "q": np.zeros(3), "mu": [-0.1]}, "negative"),
        ({"W": np.eye(5), "q": np.zeros(5), "mu": [0.1]}, "rows per contact"),
        ({"W": np.zeros(3), "q": np.zeros(3), "mu": [0.1]}, "expected a matrix"),
    ],
)
def test_wrong_data_are_refused_by_name(keys, message):
    with pytest.raises(stickslip.ProblemError, match=message):
        ContactProblem(**keys)


def test_impulses_of_the_wrong_number_are_refused():
    problem = ContactProblem(np.eye(3), [-1, 0, 0], 0.5)
    with pytest.raises(stickslip.ProblemError, match="expected 3"):
        problem.judge([1, 0])
    with pytest.raises(stickslip.ProblemError, match="impulse 1 is NaN"):
        problem.judge([1, np.nan, 0])
    with pytest.raises(ValueError, match="known: "):
        problem.solve(method="magic")


def test_each_measure_sees_its_own_departure():
    problem = ContactProblem(np.eye(2), [-1.0, -5.0], 0.5)
    exact = problem.judge([1.0, 0.5])
    assert exact.residual < 1e-15 and exact.modes == ("slip",)
    # by hand: u = r + q
    weak = problem.judge([0.8, 0.4])
    assert weak.worst == "penetration_velocity"
    assert weak.penetration_velocity[0] == pytest.approx(0.2)
    assert weak.complementarity[0] == pytest.approx(0.16)
    outside = problem.judge([1.0, 2.0])
    assert outside.worst == "outside_cone" and outside.outside_cone[0] == pytest.approx(1.5)
    pulling = ContactProblem(np.eye(2), [1.0, 0.0], 0.5).judge([-0.3, 0.0])
    assert pulling.outside_cone[0] == pytest.approx(0.3)
    lazy = problem.judge([1.0, 0.0])
    assert lazy.worst == "dissipation_defect" and lazy.dissipation_defect[0] == pytest.approx(2.5)
    strong = problem.judge([3.0, 0.5])
    # work (r.(u + q)/2) = (3·(2 − 1) + 0.5·(−4.5 − 5))/2
    assert strong.contact_work == pytest.approx((3 * 1 - 0.5 * 9.5) / 2)
    gains = ContactProblem(np.eye(2), [-1.0, 0.0], 0.5).judge([4.0, 0.0])
    assert gains.energy_gain == pytest.approx(4.0) and "energy gained" in str(gains)


def test_verdict_as_dict_with_our_solution_beside_it():
    problem = ContactProblem(np.eye(2), [-1.0, -5.0], 0.5)
    verdict = problem.judge([0.9, 0.45])
    numbers = dict(verdict)
    assert numbers["residual"] == verdict.residual and "problem" not in numbers
    ours, impulses, velocities = verdict.nearest()
    assert ours.solved and impulses == pytest.approx(0.1) and velocities == pytest.approx(0.1)


def test_a_problem_with_several_answers_says_so():
    # Painleve: W_tn large and mu beyond W_nn/W_tn gives take-off or jam.
    problem = ContactProblem([[1.0, 2.0], [2.0, 5.0]], [0.1, 1.0], 1.0)
    found = problem.branches()
    assert found["verdict"] == "indeterminate" and len(found["solutions"]) >= 2
    assert found["margins"][0] < 0
    for solution in found["solutions"]:
        assert problem.judge(solution["impulse"]).accepted(1e-9)
    assert ContactProblem(np.eye(2), [-1, 0], 0.5).branches()["verdict"] == "regular"


def test_a_problem_without_contacts_is_solved_by_nothing():
    empty = ContactProblem(W=np.zeros((0, 0)), q=[], mu=[])
    assert empty.contacts == 0 and empty.solve().solved
    assert empty.judge([]).accepted(0.0) and empty.judge([]).contact_work == 0.0


def test_letters_come_in_the_order_of_fclib():
    M, H, f, mu = random_problem(np.random.default_rng(11), 2)
    w = 0.1 * np.arange(6)
    problem = ContactProblem.from_mass(M, H, f, w, mu)
    assert np.abs(problem.q.reshape(-1) - (H.T @ np.linalg.solve(M, f) + w)).max() < 1e-12
    with pytest.raises(stickslip.ProblemError, match="mu is missing"):
        ContactProblem.from_mass(M, H, f, w)
    again = pickle.loads(pickle.dumps(problem))
    assert (again.solve().generalized_velocity == problem.solve().generalized_velocity).all()


def test_each_contact_has_its_own_measures():
    # Two blocks that do not touch each other: the second one's impulses are exact.
    problem = ContactProblem(np.eye(4), [-1.0, -5.0, -1.0, -5.0], [0.5, 0.5])
    verdict = problem.judge([0.8, 0.4, 1.0, 0.5])
    assert verdict.natural_map[0] > 1e-2 and verdict.natural_map[1] < 1e-15
    assert verdict.work.sum() == pytest.approx(verdict.contact_work)
    # by hand: r.(u + q)/2 of the exact one, u = (0, -4.5)
    assert verdict.work[1] == pytest.approx(0.5 * (1.0 * -1.0 + 0.5 * -9.5))
    assert verdict.explain().count("\n") == 2 and "several" not in verdict.explain()
    several = ContactProblem([[1.0, 2.0], [2.0, 5.0]], [0.1, 1.0], 1.0)
    assert "another answer than ours is not wrong" in several.judge([0, 0]).explain()


def test_problems_and_solutions_are_pickled():
    problem = ContactProblem(np.eye(3), [-1, -5, 0], 0.5)
    again = pickle.loads(pickle.dumps(problem))
    assert again.solve().impulses.tobytes() == problem.solve().impulses.tobytes()


def test_branches_and_inspection_of_scenes():
    found = stickslip.scene("painleve-start").branches(gap=1e-3)
    assert found["verdict"] == "indeterminate" and found["method"]
    seen = stickslip.inspect("painleve-rod", gap=10, theta=1.05)
    assert seen["constraints"][0]["active"]
    with pytest.raises(KeyError, match="known: x, y, theta"):
        stickslip.inspect("slender-rod", z=1)
    box = stickslip.scene("tipping-box")
    assert box.branches()["motions"] == 1
    assert all("|" in contact["name"] for contact in box.inspect()["contacts"])
