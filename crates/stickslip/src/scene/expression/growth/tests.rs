//! What is told of bounds against exact answers, and of drawn expressions against their values.

use crate::algebra::splitmix::Splitmix;
use crate::scene::expression::{Domain, Expression, Graph, Scope, Tape, parse};

/// A graph with the inputs t, x, y and z, and an expression of them.
fn expression(text: &str) -> (Graph, Expression) {
    let (mut graph, mut scope) = (Graph::new(), Scope::new());
    for (k, name) in ["t", "x", "y", "z"].into_iter().enumerate() {
        let input = graph.input(k);
        scope.define(name, input);
    }
    let e = parse(text, &mut graph, &scope).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    (graph, e)
}

fn domain() -> Domain {
    Domain {
        until: 3.0,
        start: vec![0.2, 0.0, -1.0],
    }
}

/// An expression of some depth.
fn drawn(random: &mut Splitmix, depth: usize) -> String {
    let mut pick = |n: usize| (random.unit() * n as f64) as usize;
    let leaf = ["x", "z", "x", "t", "0.3", "1", "2", "(x - z)", "(1 - x)"];
    if depth == 0 {
        return leaf[pick(leaf.len())].to_string();
    }
    let (kind, depth) = (pick(21), depth - 1);
    let mut part = || drawn(random, depth);
    match kind {
        0 | 1 => format!("({} + {})", part(), part()),
        2 => format!("({} - {})", part(), part()),
        3 | 4 => format!("{}*{}", part(), part()),
        5 => format!("{}/(1 + ({})^2)", part(), part()),
        6 => format!("{}/(1 + abs({}))", part(), part()),
        7 => format!("{}/sqrt(1 + ({})^2)", part(), part()),
        8 => format!("({})^2", part()),
        9 => format!("sin({})", part()),
        10 => format!("tanh({})", part()),
        11 => format!("exp(-({})^2)", part()),
        12 => format!("min({}, {})", part(), part()),
        13 => format!("max({}, {})", part(), part()),
        14 => format!("abs({})", part()),
        15 => format!("sign({})", part()),
        16 => format!("log(1 + ({})^2)", part()),
        17 => format!("if({} < {}, {}, {})", part(), part(), part(), part()),
        18 => format!("({})/hypot({}, {})", part(), part(), part()),
        19 => format!("({})*exp({})", part(), part()),
        _ => format!(
            "if({} > 0 and {} < 1, {}, {})",
            part(),
            part(),
            part(),
            part()
        ),
    }
}

/// What is told of the expression and of its slopes.
fn told(text: &str) -> [Option<bool>; 2] {
    let (graph, e) = expression(text);
    [
        graph.is_bounded(e, &domain()),
        graph.has_bounded_slopes(e, &domain()),
    ]
}

#[test]
fn bounds_within_branches_are_found() {
    let (yes, no) = (Some(true), Some(false));
    for (text, expected) in [
        ("if(x > 0, if(x < 1, 0.1 + 0.2*x, 0.3), 0.1)", [yes, yes]),
        ("min(0.5, 0.1 + x^2)", [yes, yes]),
        ("if(x > 0, if(x < 1, x^2, 2*x - 1), 0)", [no, yes]),
        ("if(abs(x) < 1, x^2, 1)", [yes, yes]),
        ("if(x*x + z*z < 4, x^2 + z^2, 4)", [yes, yes]),
        ("if(hypot(x, z) < 2, hypot(x, z)^3, 8)", [yes, yes]),
        ("if(not (x < 0 or x > 2), x^3, 0)", [yes, yes]),
        ("if(x > 0 and x < 1, 1 - x, 1)", [yes, yes]),
        ("max(0.1, min(0.5, 0.2*x))^3", [yes, yes]),
        ("max(-1, min(1, x*z))", [yes, no]),
        ("sign(x)*min(abs(x), 1)^2", [yes, yes]),
        ("max(0.1, 0.3 - x^2)", [yes, yes]),
        ("max(min(z, t), x/sqrt(1 + x^2))", [yes, yes]),
        // A strip along a diagonal, told by the difference of what it lies between.
        ("if(x < z, if(z < x + 1, (z - x)^2, 1), 0)", [yes, yes]),
        ("if(abs(z) < 1, (1 - z^2)^2*x^2, 0)", [no, no]),
        ("if(abs(x*z) < 1, (1 - (x*z)^2)^2*x^2, 0)", [no, no]),
        ("if(abs(x - z) < 1, x^2, x^2)", [no, no]),
        ("if(exp(x) < 2, x, log(2))", [no, yes]),
        ("if(tanh(x) > 0.5, exp(-x), 0.5)", [yes, yes]),
        ("if(x^3 - 1 < t, min(x, 2), 2)", [no, yes]),
    ] {
        assert_eq!(told(text), expected, "{text}");
    }
}

#[test]
fn quotients_and_exponentials_are_held_by_what_outweighs_them() {
    let (yes, no) = (Some(true), Some(false));
    for (text, expected) in [
        ("0.3 + 0.2*exp(-(x/0.01)^2)", [yes, yes]),
        ("x^2/(1 + x^2)", [yes, yes]),
        ("x*z/(1 + x^2 + z^2)", [yes, yes]),
        ("x^2*z^2/(1 + x^2*z^2)", [yes, no]),
        ("x/(1 + abs(x))", [yes, yes]),
        ("x/sqrt(1 + x^2)", [yes, yes]),
        ("x/hypot(1, x)", [yes, yes]),
        ("x/hypot(x, z)", [yes, no]),
        ("(x + 1)/hypot(x, z)", [no, no]),
        ("1/(1 + x + x^2)", [yes, yes]),
        ("1/(1 + exp(-x))", [yes, yes]),
        ("x/(1 + (1 - x)^2)", [yes, yes]),
        ("sqrt(x^2 + z^2)/(1 + sqrt(x^2 + z^2))", [yes, yes]),
        ("hypot(x, z)/(1 + hypot(x, z))", [yes, yes]),
        ("(x - z)/sqrt(1 + (x - z)^2)", [yes, yes]),
        // Slopes grow where x − z stays small only, which rounding hides far away.
        ("x/(1 + abs(x - z))", [no, None]),
        ("x^5*exp(-abs(x))", [yes, yes]),
        ("x*z*exp(-x^2 - z^2)", [yes, yes]),
        ("x*z*exp(-x^2)", [no, no]),
        ("x*exp(x)", [no, no]),
        ("sqrt(x^2 + 1)", [no, yes]),
        ("sqrt(x^2 + z^2)", [no, yes]),
        ("log(1 + x^2)", [no, yes]),
        ("1e-20*log(1 + x^2)", [no, yes]),
        ("sin(x*z)", [yes, no]),
        ("sin(x^2)", [yes, no]),
        ("x*cos(z)", [no, no]),
        ("exp(-t)*x + 3*sin(x)*cos(z)", [no, yes]),
        ("1/abs(x - 1)", [no, no]),
        ("0.1/hypot(x - 3, z + 1)", [no, no]),
        // Powers that cancel leave rounding, which is no growth.
        ("(x + 1)^3 - x^3 - 3*x^2 - 3*x", [None, None]),
    ] {
        assert_eq!(told(text), expected, "{text}");
    }
}

/// What is added to, multiplied with and put around a drawn expression decides, whatever is drawn.
#[test]
fn what_holds_by_construction_is_never_denied() {
    let mut random = Splitmix(5);
    let mut decided = [0; 2];
    let drawings = 400;
    for number in 0..drawings {
        let e = drawn(&mut random, 1 + number % 3);
        for (text, bounded) in [
            (format!("tanh({e})"), true),
            (format!("min(1, max(-2, {e}))"), true),
            (format!("({e})/(1 + abs({e}))"), true),
            (format!("({e})*exp(-({e})^2)"), true),
            (format!("if(abs({e}) < 3, {e}, 0)"), true),
            (format!("2*x + tanh({e})"), false),
            (format!("x^2 + ({e})^2"), false),
            (format!("hypot(z, {e})"), false),
        ] {
            let told = told(&text)[0];
            assert!(told.is_none_or(|told| told == bounded), "{text}: {told:?}");
            decided[usize::from(bounded)] += usize::from(told.is_some());
        }
    }
    // Nearly all of them are decided.
    assert!(decided[1] * 10 > 9 * 5 * drawings, "{decided:?}");
    assert!(decided[0] * 10 > 9 * 3 * drawings, "{decided:?}");
}

/// What is told bounded is no larger far away than nearby, over places drawn apart from the proof.
#[test]
fn what_is_told_bounded_stays() {
    let mut random = Splitmix(5);
    let mut unknown = 0;
    for number in 0..3000 {
        let text = drawn(&mut random, 1 + number % 4);
        let (graph, e) = expression(&text);
        let told = graph.is_bounded(e, &domain());
        unknown += usize::from(told.is_none());
        if told != Some(true) {
            continue;
        }
        let tape = Tape::compile(&graph, &[e]);
        let mut registers = tape.registers();
        let mut largest = |powers: [f64; 2], random: &mut Splitmix| {
            let mut largest = 0.0f64;
            for draw in 0..1500 {
                let mut size = || {
                    let power = powers[0] + (powers[1] - powers[0]) * random.unit();
                    let sign = if random.unit() < 0.5 { 1.0 } else { -1.0 };
                    sign * 10f64.powf(power)
                };
                let mut x = [0.0, size(), 0.0, size()];
                x[0] = 3.0 * random.unit();
                match draw % 5 {
                    0 => x[3] = x[1] + 2.0 * random.unit() - 1.0,
                    1 => x[3] = 4.0 * random.unit() - 2.0,
                    2 => x[1] = 4.0 * random.unit() - 2.0,
                    _ => {}
                }
                let mut out = [0.0];
                tape.evaluate(&x, &mut registers, &mut out);
                if !out[0].is_nan() {
                    largest = largest.max(out[0].abs());
                }
            }
            largest
        };
        let near = largest([-3.0, 1.0], &mut random);
        let far = largest([2.0, 6.0], &mut random);
        assert!(far <= 100.0 * (1.0 + near), "{text}: {near}, {far}");
    }
    assert!(unknown < 200, "{unknown}");
}

/// A hundred independent choices are a hundred small proofs, not one of 2^100 cases; choices within choices are as many as there are.
#[test]
fn many_branches_are_decided_one_by_one() {
    let term = |k: usize| format!("if(x > {k} and x < {k} + 1, (x - {k})^2, sin(x*{k}))");
    let sum: Vec<String> = (1..100).map(term).collect();
    assert_eq!(told(&sum.join(" + "))[0], Some(true));
    let nested = (1..60).fold("0.5".to_string(), |inner, k| {
        format!("if(x > {k}, {inner}, {k}*x/({k} + x^2))")
    });
    assert_eq!(told(&nested), [Some(true), Some(true)]);
    let product: Vec<String> = (1..9).map(|k| format!("max(min(x, {k}), z)")).collect();
    assert_eq!(told(&product.join("*"))[0], Some(false));
}
