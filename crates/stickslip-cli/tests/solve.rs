//! `stickslip solve` through the real binary: rows, files, exit codes.

use crate::common::Folder;

fn problem(name: &str) -> String {
    format!(
        "{}/../stickslip/tests/data/fclib/{name}.hdf5",
        env!("CARGO_MANIFEST_DIR")
    )
}

#[test]
fn a_problem_is_solved_written_and_recognised_again() {
    let folder = Folder::new("solve");
    let file = problem("boxcol10-00040-k0013");
    let (out, _) = folder.expect(
        0,
        &["solve", &file, "--tolerance", "1e-8", "--output", "solved"],
    );
    assert!(out.contains("converged"), "{out}");
    let (out, _) = folder.expect(0, &["solve", "solved/boxcol10-00040-k0013.hdf5", "--json"]);
    let row: serde_json::Value = serde_json::from_str(out.trim()).expect("one JSON object");
    assert!(row["residual"].as_f64().expect("a number") <= 1e-8);
    assert_eq!(row["contacts"], 40);
}

#[test]
fn least_impulses_come_with_the_rank_deficiency() {
    let folder = Folder::new("least");
    let file = problem("boxcol10-00040-k0013");
    let (out, _) = folder.expect(0, &["solve", &file, "--minimum-norm", "--json"]);
    let row: serde_json::Value = serde_json::from_str(out.trim()).expect("one JSON object");
    // Ten boxes have 60 freedoms, 40 contacts 120 rows.
    assert!(row["rank_deficiency"].as_u64().expect("a count") >= 60);
    assert!(row["norm_ratio"].as_f64().expect("a ratio") <= 1.0);
    assert!(row["residual"].as_f64().expect("a number") <= 1e-8);
}

#[test]
fn exit_codes_tell_bad_files_from_problems_not_solved() {
    let folder = Folder::new("codes");
    let file = problem("jam30-00142-k0020");
    let (_, complaint) = folder.expect(1, &["solve", "absent.hdf5"]);
    assert!(complaint.contains("absent.hdf5"), "{complaint}");
    let (_, complaint) = folder.expect(1, &["solve", &file, "--solver", "magic"]);
    assert!(complaint.contains("cascade"), "{complaint}");
    let (out, _) = folder.expect(2, &["solve", &file, "--time-limit", "0"]);
    assert!(out.contains("limit"), "{out}");
    let (out, _) = folder.expect(0, &["solve", "--help"]);
    assert!(out.contains("Example"), "{out}");
}
