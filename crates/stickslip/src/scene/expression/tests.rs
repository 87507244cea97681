//! Derivatives against hyper-dual numbers, identities, robustness against any text.

use crate::algebra::Jet;

use super::*;

/// A small generator of the xorshift family: the tests must not depend on another crate's stream.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n
    }
    fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn scope_xyz(graph: &mut Graph) -> Scope {
    let mut scope = Scope::new();
    for (k, name) in ["x", "y", "z"].into_iter().enumerate() {
        let input = graph.input(k);
        scope.define(name, input);
    }
    scope
}

fn value_at(text: &str, point: [f64; 3]) -> f64 {
    let mut graph = Graph::new();
    let scope = scope_xyz(&mut graph);
    let expression = parse(text, &mut graph, &scope).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    evaluate(&graph, &[expression], &point)[0]
}

fn evaluate(graph: &Graph, outputs: &[Expression], inputs: &[f64]) -> Vec<f64> {
    let tape = Tape::compile(graph, outputs);
    let mut registers = tape.registers();
    let mut out = vec![0.0; outputs.len()];
    tape.evaluate(inputs, &mut registers, &mut out);
    out
}

fn mistakes(text: &str) -> Vec<ExpressionError> {
    let mut graph = Graph::new();
    let mut scope = scope_xyz(&mut graph);
    scope.refuse("x'", "is a velocity, and a gap depends on positions only");
    parse(text, &mut graph, &scope).expect_err(text)
}

#[test]
fn precedence_and_association_are_the_usual_ones() {
    let at = [2.0, 3.0, 5.0];
    for (text, value) in [
        ("1 + 2*3", 7.0),
        ("2^3^2", 512.0),
        ("-x^2", -4.0),
        ("(-x)^2", 4.0),
        ("2^-1", 0.5),
        ("2**-x", 0.25),
        ("10 - 4 - 3", 3.0),
        ("24/4/3", 2.0),
        ("-x*-y", 6.0),
        ("- -x", 2.0),
        ("x*y^2/z", 3.6),
        ("1.5e1 + .5", 15.5),
        ("1e-1*10", 1.0),
        ("if(x < y and not (z <= y), 1, 0)", 1.0),
        ("if(x > y or z == 5, 1, 0)", 1.0),
        ("if(not x >= y, 1, 0)", 1.0),
        ("if(x != 2, 1, 0)", 0.0),
        ("min(z, y, x) + max(x, z, y)", 7.0),
        ("hypot(y, 4)", 5.0),
        ("pow(x, 10)", 1024.0),
        ("sign(-x) + sign(0) + abs(-y)", 2.0),
        ("atan2(0, -1) - pi", 0.0),
        ("\n x\t+\r\n 1 ", 3.0),
        ("2e", f64::NAN),
    ] {
        if value.is_nan() {
            assert!(!mistakes(text).is_empty());
        } else {
            assert_eq!(value_at(text, at), value, "{text}");
        }
    }
}

#[test]
fn functions_agree_with_the_standard_library() {
    let x = 0.37_f64;
    let at = [x, 0.0, 0.0];
    let pairs: [(&str, f64); 13] = [
        ("sin(x)", x.sin()),
        ("cos(x)", x.cos()),
        ("tan(x)", x.tan()),
        ("asin(x)", x.asin()),
        ("acos(x)", x.acos()),
        ("atan(x)", x.atan()),
        ("sinh(x)", x.sinh()),
        ("cosh(x)", x.cosh()),
        ("tanh(x)", x.tanh()),
        ("exp(x)", x.exp()),
        ("log(x)", x.ln()),
        ("sqrt(x)", x.sqrt()),
        ("x^2.5", x.powf(2.5)),
    ];
    for (text, value) in pairs {
        assert_eq!(value_at(text, at), value, "{text}");
    }
}

#[test]
fn equal_subexpressions_are_one_node() {
    let mut graph = Graph::new();
    let scope = scope_xyz(&mut graph);
    let a = parse("sin(x*y) + z", &mut graph, &scope).unwrap();
    let size = graph.len();
    let b = parse("z + sin(y*x)", &mut graph, &scope).unwrap();
    assert_eq!(a, b);
    assert_eq!(graph.len(), size);
}

#[test]
fn simplification_leaves_no_dead_terms() {
    let mut graph = Graph::new();
    let scope = scope_xyz(&mut graph);
    for (text, simple) in [
        ("0*sin(x) + y*1", "y"),
        ("x - x + y^1", "y"),
        ("--x", "x"),
        ("x + -y", "x - y"),
        ("-(x - y)", "y - x"),
        ("2*(3*x)", "6*x"),
        ("(2*x)*(3*y)", "6*(x*y)"),
        ("x^0.5", "sqrt(x)"),
        ("cos(-x)", "cos(x)"),
        ("sin(-x)", "-sin(x)"),
        ("x/x", "1"),
        ("0/x", "0"),
        ("if(1 < 2, x, y)", "x"),
        ("if(x < 2, y, y)", "y"),
        ("2*pi/pi", "2"),
        ("x + x", "2*x"),
    ] {
        let a = parse(text, &mut graph, &scope).unwrap();
        let b = parse(simple, &mut graph, &scope).unwrap();
        assert_eq!(a, b, "{text} should become {simple}");
    }
}

/// Hyper-dual evaluation of a node, written apart from the tape and from the derivative rules.
fn hyper_dual(graph: &Graph, expression: Expression, inputs: &[Jet]) -> Jet {
    let go = |e| hyper_dual(graph, e, inputs);
    let truth = |holds: bool| Jet::from(f64::from(u8::from(holds)));
    match graph.node(expression) {
        Node::Constant(bits) => Jet::from(f64::from_bits(bits)),
        Node::Input(k) => inputs[k as usize],
        Node::Unary(operation, a) => {
            let a = go(a);
            match operation {
                Unary::Negate => -a,
                Unary::Sin => a.sin(),
                Unary::Cos => a.cos(),
                Unary::Tan => a.tan(),
                Unary::Asin => a.asin(),
                Unary::Acos => a.acos(),
                Unary::Atan => a.atan(),
                Unary::Sinh => a.sinh(),
                Unary::Cosh => a.cosh(),
                Unary::Tanh => a.tanh(),
                Unary::Exp => a.exp(),
                Unary::Log => a.ln(),
                Unary::Sqrt => a.sqrt(),
                Unary::Abs => {
                    if a.re < 0.0 {
                        -a
                    } else {
                        a
                    }
                }
                Unary::Sign => Jet::from(a.re.signum()),
                Unary::Not => truth(a.re == 0.0),
            }
        }
        Node::Binary(operation, a, b) => {
            let (a, b) = (go(a), go(b));
            match operation {
                Binary::Add => a + b,
                Binary::Subtract => a - b,
                Binary::Multiply => a * b,
                Binary::Divide => a / b,
                Binary::Power => a.powd(b),
                Binary::Atan2 => a.atan2(b),
                Binary::Min => {
                    if a.re <= b.re {
                        a
                    } else {
                        b
                    }
                }
                Binary::Max => {
                    if a.re >= b.re {
                        a
                    } else {
                        b
                    }
                }
                Binary::Hypot => (a * a + b * b).sqrt(),
                Binary::Less => truth(a.re < b.re),
                Binary::LessEqual => truth(a.re <= b.re),
                Binary::Equal => truth(a.re == b.re),
                Binary::NotEqual => truth(a.re != b.re),
                Binary::And => truth(a.re != 0.0 && b.re != 0.0),
                Binary::Or => truth(a.re != 0.0 || b.re != 0.0),
            }
        }
        Node::Sampled(..) => panic!("the reference knows no tables"),
        Node::Select(c, a, b) => {
            if go(c).re != 0.0 {
                go(a)
            } else {
                go(b)
            }
        }
    }
}

/// A random expression in x, y, z whose value stays moderate and inside every domain.
fn random_expression(random: &mut Random, depth: usize) -> String {
    if depth == 0 {
        return match random.below(5) {
            0 => "x".to_owned(),
            1 => "y".to_owned(),
            2 => "z".to_owned(),
            3 => format!("{:.3}", random.uniform(0.1, 2.0)),
            _ => "pi".to_owned(),
        };
    }
    let mut a = || random_expression(random, depth - 1);
    let (p, q, r) = (a(), a(), a());
    match random.below(22) {
        0 => format!("({p} + {q})"),
        1 => format!("({p} - {q})"),
        2 => format!("({p}*{q})/(1 + {p}^2)"),
        3 => format!("{p}/(2 + sin({q}))"),
        4 => format!("sin({p})"),
        5 => format!("cos({p})"),
        6 => format!("tan(0.5*sin({p}))"),
        7 => format!("asin(0.7*sin({p}))"),
        8 => format!("acos(0.7*cos({p}))"),
        9 => format!("atan({p})"),
        10 => format!("atan2(sin({p}) + 2, cos({q}))"),
        11 => format!("sinh(sin({p}))"),
        12 => format!("cosh(sin({p}))"),
        13 => format!("tanh({p})"),
        14 => format!("exp(-sin({p})^2)"),
        15 => format!("log(2 + cos({p}))"),
        16 => format!("sqrt(1.1 + sin({p}))"),
        17 => format!("abs({p})"),
        18 => format!("min({p}, {q}, {r})"),
        19 => format!("max({p}, sin({q}))"),
        20 => format!("hypot({p}, 1 + cos({q})^2)^1.5"),
        _ => format!("if({p} < {q} or not {r} > 0.3, {p}, {r}*{q})/(1 + abs({r}*{q}))"),
    }
}

#[test]
fn first_and_second_derivatives_agree_with_hyper_dual_numbers() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut compared = 0;
    for round in 0..400 {
        let text = random_expression(&mut random, 1 + round % 4);
        let mut graph = Graph::new();
        let scope = scope_xyz(&mut graph);
        let f = parse(&text, &mut graph, &scope).unwrap_or_else(|e| panic!("{text}: {e:?}"));
        let gradient = graph.gradient(f, &[0, 1, 2]);
        let hessian = graph.hessian(f, &[0, 1, 2]);
        let mut outputs = vec![f];
        outputs.extend(&gradient);
        outputs.extend(&hessian);
        let point: Vec<f64> = (0..3).map(|_| random.uniform(-1.5, 1.5)).collect();
        let got = evaluate(&graph, &outputs, &point);
        for i in 0..3 {
            for j in 0..3 {
                let inputs: Vec<Jet> = (0..3)
                    .map(|k| {
                        let one = |hit: bool| f64::from(u8::from(hit));
                        Jet::new(point[k], one(k == i), one(k == j), 0.0)
                    })
                    .collect();
                let want = hyper_dual(&graph, f, &inputs);
                for (name, got, want) in [
                    ("value", got[0], want.re),
                    ("first", got[1 + i], want.eps1),
                    ("second", got[4 + 3 * i + j], want.eps1eps2),
                ] {
                    // Rounding of at most a few hundred operations, amplified by cancellation.
                    let tolerance = 1e-9 * (1.0 + want.abs());
                    assert!(
                        (got - want).abs() <= tolerance,
                        "{name} of {text} at {point:?} in {i},{j}: {got} against {want}"
                    );
                    compared += 1;
                }
            }
        }
    }
    assert_eq!(compared, 400 * 27);
}

#[test]
fn the_directional_derivative_is_the_gradient_along_the_direction() {
    let mut random = Random(42);
    for _ in 0..100 {
        let text = random_expression(&mut random, 3);
        let mut graph = Graph::new();
        let scope = scope_xyz(&mut graph);
        let f = parse(&text, &mut graph, &scope).unwrap();
        let gradient = graph.gradient(f, &[0, 1, 2]);
        let rates: Vec<Expression> = (3..6).map(|k| graph.input(k)).collect();
        let along = graph.directional_derivative(&[f], |k| rates.get(k).copied())[0];
        let point: Vec<f64> = (0..6).map(|_| random.uniform(-1.0, 1.0)).collect();
        let mut outputs = gradient.clone();
        outputs.push(along);
        let got = evaluate(&graph, &outputs, &point);
        let want: f64 = (0..3).map(|k| got[k] * point[3 + k]).sum();
        assert!(
            (got[3] - want).abs() <= 1e-10 * (1.0 + want.abs()),
            "{text}"
        );
    }
}

#[test]
fn derivatives_at_corners_follow_the_stated_branch() {
    let mut graph = Graph::new();
    let scope = scope_xyz(&mut graph);
    for (text, at, want) in [
        ("abs(x)", 0.0, 0.0),
        ("abs(x)", -2.0, -1.0),
        ("min(x, -x)", 0.0, 1.0),
        ("max(x, -x)", 0.0, 1.0),
        ("if(x < 0, x^2, 3*x)", 0.0, 3.0),
        // The unused branch is not differentiable here and must not leak.
        ("if(x <= 0, 2*x, sqrt(x))", 0.0, 2.0),
        ("if(x <= 0, 2*x, log(x))", -1.0, 2.0),
    ] {
        let f = parse(text, &mut graph, &scope).unwrap();
        let df = graph.gradient(f, &[0])[0];
        assert_eq!(
            evaluate(&graph, &[df], &[at, 0.0, 0.0])[0],
            want,
            "{text} at {at}"
        );
    }
}

#[test]
fn kinetic_energy_gives_its_mass_matrix_without_rests() {
    // Double pendulum, inputs x, y the angles and rates as inputs 3 and 4.
    let mut graph = Graph::new();
    let mut scope = scope_xyz(&mut graph);
    for (name, k) in [("x'", 3), ("y'", 4)] {
        let input = graph.input(k);
        scope.define(name, input);
    }
    let text = "((cos(x)*x')^2 + (sin(x)*x')^2)/2 + ((cos(x)*x' + cos(y)*y')^2 + (sin(x)*x' + sin(y)*y')^2)/2";
    let energy = parse(text, &mut graph, &scope).unwrap();
    let mass = graph.hessian(energy, &[3, 4]);
    for &entry in &mass {
        assert!(
            graph.inputs_of(entry).iter().all(|&k| k < 3),
            "mass depends on velocity"
        );
    }
    let got = evaluate(&graph, &mass, &[0.4, -0.9, 0.0, 7.0, 8.0]);
    let coupling = (0.4_f64 + 0.9).cos();
    for (got, want) in got.iter().zip([2.0, coupling, coupling, 1.0]) {
        assert!((got - want).abs() < 1e-15);
    }
}

#[test]
fn substitution_replaces_and_folds() {
    let mut graph = Graph::new();
    let scope = scope_xyz(&mut graph);
    let f = parse("x*sin(y) + z^2", &mut graph, &scope).unwrap();
    let two = graph.constant(2.0);
    let zero = graph.constant(0.0);
    let g = graph.substitute(&[f], |k| match k {
        0 => Some(two),
        2 => Some(zero),
        _ => None,
    })[0];
    let want = parse("2*sin(y)", &mut graph, &scope).unwrap();
    assert_eq!(g, want);
}

#[test]
fn the_tape_joins_products_without_changing_bits() {
    let mut random = Random(7);
    for text in [
        "x*y + z",
        "x*y - z",
        "z - x*y",
        "x*y + z*x",
        "x*y - z*x",
        "x*y + x*y*z",
    ] {
        let mut graph = Graph::new();
        let scope = scope_xyz(&mut graph);
        let f = parse(text, &mut graph, &scope).unwrap();
        for _ in 0..50 {
            let p: [f64; 3] = std::array::from_fn(|_| random.uniform(-3.0, 3.0));
            let [x, y, z] = p;
            let want = match text {
                "x*y + z" => x * y + z,
                "x*y - z" => x * y - z,
                "z - x*y" => z - x * y,
                "x*y + z*x" => x * y + z * x,
                "x*y - z*x" => x * y - z * x,
                _ => x * y + x * y * z,
            };
            assert_eq!(
                evaluate(&graph, &[f], &p)[0].to_bits(),
                want.to_bits(),
                "{text}"
            );
        }
    }
    let mut graph = Graph::new();
    let scope = scope_xyz(&mut graph);
    let f = parse("x*y + z", &mut graph, &scope).unwrap();
    assert_eq!(Tape::compile(&graph, &[f]).instructions_count(), 1);
}

#[test]
fn outputs_may_be_constants_inputs_and_repeats() {
    let mut graph = Graph::new();
    let x = graph.input(0);
    let three = graph.constant(3.0);
    assert_eq!(
        evaluate(&graph, &[three, x, x, three], &[5.0]),
        [3.0, 5.0, 5.0, 3.0]
    );
    assert!(evaluate(&graph, &[], &[]).is_empty());
}

#[test]
fn mistakes_carry_place_and_advice() {
    for (text, underlined, message, help) in [
        (
            "x + yy",
            "yy",
            "unknown name `yy`",
            Some("did you mean `y`?"),
        ),
        (
            "x + banana",
            "banana",
            "unknown name `banana`",
            Some("known here: x, y, z"),
        ),
        (
            "2 x",
            "x",
            "expected an operator before `x`",
            Some("write a product as `a*b`"),
        ),
        (
            "2(x)",
            "(",
            "expected an operator before `(`",
            Some("write a product as `a*b`"),
        ),
        (
            "(2 x)",
            "x",
            "expected an operator before `x`",
            Some("write a product as `a*b`"),
        ),
        (
            "x(2)",
            "x",
            "`x` is a value, not a function",
            Some("write a product as `x*(...)`"),
        ),
        (
            "sn(x)",
            "sn",
            "unknown function `sn`",
            Some("did you mean `sin`?"),
        ),
        (
            "ln(x)",
            "ln",
            "unknown function `ln`",
            Some("did you mean `log`?"),
        ),
        (
            "sin",
            "sin",
            "`sin` is a function and needs its arguments in parentheses",
            Some("sin(a): sine, a in radians"),
        ),
        (
            "sin(x, y)",
            "sin(x, y)",
            "`sin` takes 1 argument, found 2",
            Some("sin(a): sine, a in radians"),
        ),
        (
            "atan2(x)",
            "atan2(x)",
            "`atan2` takes 2 arguments, found 1",
            Some("atan2(y, x): angle of the point (x, y)"),
        ),
        (
            "if(x, 1, 2)",
            "x",
            "expected a condition, found a number",
            Some("a condition compares numbers, as in `x > 0`"),
        ),
        (
            "1 + (x < y)",
            "(x < y)",
            "expected a number, found a condition",
            Some("`if(condition, 1, 0)` turns a condition into a number"),
        ),
        (
            "x < y < z",
            "<",
            "comparisons cannot be chained",
            Some("write `a < b and b < c`"),
        ),
        (
            "x = y",
            "=",
            "unexpected character `=`",
            Some("write `==` to compare"),
        ),
        (
            "x + ",
            "+",
            "expected a number, a name or `(`, found the end of the expression",
            None,
        ),
        (
            "(x + y",
            "(",
            "expected a closing `)` for this parenthesis, found the end of the expression",
            None,
        ),
        (
            "x + y)",
            ")",
            "expected an operator (this parenthesis was never opened), found `)`",
            None,
        ),
        (
            "x * / y",
            "/",
            "expected a number, a name or `(`, found `/`",
            None,
        ),
        ("1.2.3", "1.2.3", "`1.2.3` is not a number", None),
        ("1e999", "1e999", "`1e999` is not a number", None),
        ("", "", "the expression is empty", None),
        (
            "θ + x",
            "θ",
            "unexpected character `θ`",
            Some("expressions are written in ASCII: `theta`, `sqrt(2)`, `x^2`"),
        ),
        (
            "x'",
            "x'",
            "`x'` is a velocity, and a gap depends on positions only",
            None,
        ),
        (
            "delay(x, 1)",
            "delay",
            "`delay` reads the past, and only forces and friction may",
            None,
        ),
    ] {
        let errors = mistakes(text);
        assert_eq!(errors.len(), 1, "{text}: {errors:?}");
        assert_eq!(&text[errors[0].span.clone()], underlined, "{text}");
        assert_eq!(errors[0].to_string(), message, "{text}");
        assert_eq!(errors[0].mistake.help().as_deref(), help, "{text}");
    }
}

#[test]
fn values_of_the_past_are_inputs_of_their_own() {
    let mut graph = Graph::new();
    let mut scope = scope_xyz(&mut graph);
    // Inputs 0, 1, 2 are x, y, z; the past is kept of y and z and their rates 3 and 4.
    scope.allow_past(2);
    let rate = graph.input(3);
    scope.define("y'", rate);
    let text =
        "delay(y, 0.5) + 2*delay(y', 0.5) + window_max(z, 1) - window_min(z, 2/2) + delay(y, 1/2)";
    let f = parse(text, &mut graph, &scope).unwrap();
    assert_eq!(graph.past_terms().len(), 4);
    assert!(graph.reads_past(f));
    assert_eq!(graph.past_terms()[1].inputs, [3]);
    let zero = graph.constant(0.0);
    assert_eq!(graph.gradient(f, &[0, 1, 2, 3]), [zero; 4]);
    // An expression is read as a whole by a window, and through its inputs by a delay.
    let square = parse("y^2 + z^2", &mut graph, &scope).unwrap();
    parse("window_max(y^2 + z^2, 1)", &mut graph, &scope).unwrap();
    let term = &graph.past_terms()[4];
    assert_eq!(
        (&term.inputs[..], term.operand),
        (&[1, 2][..], Some(square))
    );
    let one = parse("delay(y*y' + z, 0.5)", &mut graph, &scope).unwrap();
    let other = parse(
        "delay(y, 0.5)*delay(y', 0.5) + delay(z, 0.5)",
        &mut graph,
        &scope,
    );
    assert_eq!(one, other.unwrap());
    for (text, message) in [
        (
            "delay(y + x, 0.5)",
            "`delay` reads the past of coordinates and velocities, or an expression of them",
        ),
        (
            "window_max(y', 0.5)",
            "`window_max` reads the past of a coordinate, or an expression of coordinates",
        ),
        (
            "window_max(2, 0.5)",
            "`window_max` reads the past of a coordinate, or an expression of coordinates",
        ),
        (
            "window_max(y^2 + delay(z, 1), 0.5)",
            "`window_max` reads the past of a coordinate, or an expression of coordinates",
        ),
        (
            "deviation_from_rest(y^2, 0.5)",
            "`deviation_from_rest` reads the past of coordinates",
        ),
        (
            "delay(y, x)",
            "the last argument of `delay` must be a positive constant: a time, in seconds",
        ),
        (
            "delay(y, -1)",
            "the last argument of `delay` must be a positive constant: a time, in seconds",
        ),
        ("delay(y)", "`delay` takes 2 arguments, found 1"),
        (
            "delay(x, 1)",
            "`delay` reads the past of coordinates and velocities, or an expression of them",
        ),
    ] {
        let errors = parse(text, &mut graph, &scope).unwrap_err();
        assert_eq!(errors.len(), 1, "{text}: {errors:?}");
        assert_eq!(errors[0].to_string(), message, "{text}");
    }
}

#[test]
fn all_unknown_names_are_reported_at_once() {
    let errors = mistakes("a + sin(b) * cose(x) - x'");
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), 4, "{texts:?}");
}

#[test]
fn absurd_expressions_end_in_an_error() {
    let deep = format!("{}x{}", "(".repeat(10_000), ")".repeat(10_000));
    let signs = format!("{}x", "-".repeat(10_000));
    let powers = vec!["x"; 10_000].join("^");
    let nots = format!("if({} x < 1, 1, 2)", "not ".repeat(1000));
    for text in [&deep, &signs, &powers, &nots] {
        assert!(
            matches!(mistakes(text)[0].mistake, Mistake::TooDeep { .. }),
            "{}",
            &text[..20]
        );
    }
    let long = vec!["x"; 40_000].join("+");
    assert!(matches!(
        mistakes(&long)[0].mistake,
        Mistake::TooLong { .. }
    ));
    // Flat and long within the limit is fine, however deep its graph.
    let flat = vec!["x"; 30_000].join("*");
    assert_eq!(value_at(&flat, [1.0, 0.0, 0.0]), 1.0);
}

#[test]
fn a_full_graph_reports_instead_of_growing() {
    let mut graph = Graph::new();
    let x = graph.input(0);
    for k in 0..=Graph::NODES_MAX {
        let c = graph.constant(k as f64 + 0.5);
        let _ = graph.add(x, c);
        if graph.check_size().is_err() {
            break;
        }
    }
    assert!(graph.check_size().is_err());
    assert_eq!(graph.len(), Graph::NODES_MAX);
    let scope = Scope::new();
    assert!(parse("1234.75", &mut graph, &scope).is_err());
}

#[test]
fn no_text_makes_the_parser_panic() {
    let mut random = Random(2024);
    let pieces = [
        "x", "y'", "(", ")", "+", "-", "*", "/", "^", "**", ",", "<", "<=", "==", "!", "!=", "and",
        "or", "not", "if(", "sin(", "min(", "1", "2.5", ".", "1e", "e5", "'", " ", "θ", "\u{0}",
        "pi", "delay(", "a_b", "🙂", "=", "&", "|", "\"", "\\", "\n",
    ];
    for round in 0..20_000 {
        let text: String = if round % 2 == 0 {
            (0..random.below(14))
                .map(|_| pieces[random.below(pieces.len())])
                .collect()
        } else {
            let bytes: Vec<u8> = (0..random.below(24)).map(|_| random.next() as u8).collect();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let mut graph = Graph::new();
        let scope = scope_xyz(&mut graph);
        match parse(&text, &mut graph, &scope) {
            Ok(f) => {
                let outputs = graph.gradient(f, &[0, 1, 2]);
                evaluate(&graph, &outputs, &[0.5, 0.25, 2.0]);
            }
            Err(errors) => {
                assert!(!errors.is_empty());
                for error in errors {
                    // Spans are on character boundaries, or slicing would panic here.
                    let _ = (
                        &text[error.span.clone()],
                        error.to_string(),
                        error.mistake.help(),
                    );
                }
            }
        }
    }
}
