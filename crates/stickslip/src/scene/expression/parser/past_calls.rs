//! Calls that read the past: operands, lengths and what else a functional needs.

use std::cell::RefCell;

use crate::systems::past_motion::quadrature::integral;

use super::super::error::{ExpressionError, Mistake};
use super::super::graph::{Expression, Node};
use super::super::past::{Functional, PastDetail, PastTerm};
use super::super::tape::Tape;
use super::{Parser, Sort, Value};

impl Parser<'_> {
    /// A value of the past: operands first, then the delay or the length of the window.
    pub(super) fn past(
        &mut self,
        functional: Functional,
        name: &str,
        arguments: &[Value],
    ) -> Result<(Expression, Sort), Mistake> {
        let Some(coordinates) = self.scope.coordinates_with_past() else {
            let reason = "reads the past, and only forces and friction may".to_owned();
            return Err(Mistake::RefusedName {
                name: name.to_owned(),
                reason,
            });
        };
        let found = arguments.len();
        let (fits, expected) = match functional {
            Functional::Deviation => (found >= 2, "2 arguments or more"),
            Functional::Fading | Functional::Weighted => (found == 3, "3 arguments"),
            Functional::VaryingDelay => (found == 4, "4 arguments"),
            _ => (found == 2, "2 arguments"),
        };
        if !fits {
            return Err(Mistake::ArgumentCount {
                name: name.to_owned(),
                expected,
                found,
            });
        }
        // Operands first, then the length; what else is needed stands between or behind.
        let (operands, length) = match functional {
            Functional::Deviation => (&arguments[..found - 1], &arguments[found - 1]),
            Functional::VaryingDelay => (&arguments[..1], &arguments[3]),
            _ => (&arguments[..1], &arguments[1]),
        };
        let before = self.errors.len();
        let (inputs, operand) = self.past_operands(functional, name, operands, coordinates);
        let value = self.graph.constant_value(length.expression);
        let length_value = value.filter(|&tau| tau > 0.0 && tau.is_finite());
        if length_value.is_none() && length.sort != Sort::Unknown {
            let mistake = Mistake::PastLength {
                name: name.to_owned(),
            };
            self.errors.push(ExpressionError {
                span: length.span.clone(),
                mistake,
            });
        }
        let detail = match length_value {
            Some(length) => self.past_detail(functional, name, arguments, (coordinates, length)),
            None => PastDetail::None,
        };
        match length_value {
            Some(length) if self.errors.len() == before && !inputs.is_empty() => {
                let term = PastTerm {
                    functional,
                    inputs,
                    operand,
                    length,
                    detail,
                };
                Ok((self.past_value(term), Sort::Number))
            }
            _ => Ok((self.graph.constant(f64::NAN), Sort::Unknown)),
        }
    }

    /// A term as an expression. A delay of an expression is the expression of the delays of its inputs.
    fn past_value(&mut self, term: PastTerm) -> Expression {
        let delays = matches!(
            term.functional,
            Functional::Delay | Functional::VaryingDelay
        );
        let Some(expression) = term.operand.filter(|_| delays) else {
            return self.graph.past(term);
        };
        let mut delayed = Vec::new();
        for &input in &term.inputs {
            let one = PastTerm {
                inputs: vec![input],
                operand: None,
                ..term.clone()
            };
            delayed.push((input, self.graph.past(one)));
        }
        let replacement = |k: usize| delayed.iter().find(|d| d.0 == k).map(|d| d.1);
        self.graph.substitute(&[expression], replacement)[0]
    }

    /// What a functional is read of: inputs, or the inputs of an expression with the expression; mistakes are reported.
    fn past_operands(
        &mut self,
        functional: Functional,
        name: &str,
        operands: &[Value],
        coordinates: usize,
    ) -> (Vec<usize>, Option<Expression>) {
        // A delay may also be of a velocity; a distance is one of coordinates.
        let (last, expected) = match functional {
            Functional::Delay => (
                2 * coordinates,
                "coordinates and velocities, or an expression of them",
            ),
            Functional::Deviation => (coordinates, "coordinates"),
            _ => (coordinates, "a coordinate, or an expression of coordinates"),
        };
        let readable = |k: usize| (1..=last).contains(&k);
        let (mut inputs, mut function) = (Vec::new(), None);
        for operand in operands
            .iter()
            .filter(|operand| operand.sort != Sort::Unknown)
        {
            let read = self.graph.inputs_of(operand.expression);
            let plain = matches!(self.graph.node(operand.expression), Node::Input(_));
            let allowed = plain || functional != Functional::Deviation;
            if allowed && !read.is_empty() && read.iter().all(|&k| readable(k)) {
                inputs.extend(read);
                function = (!plain).then_some(operand.expression);
                continue;
            }
            let mistake = Mistake::PastOperand {
                name: name.to_owned(),
                expected,
            };
            self.errors.push(ExpressionError {
                span: operand.span.clone(),
                mistake,
            });
        }
        (inputs, function)
    }

    /// The further arguments of a functional; mistakes are reported.
    fn past_detail(
        &mut self,
        functional: Functional,
        name: &str,
        arguments: &[Value],
        (coordinates, length): (usize, f64),
    ) -> PastDetail {
        let constant = |k: usize| {
            let value = self.graph.constant_value(arguments[k].expression);
            value.filter(|x| x.is_finite())
        };
        let reads = |k: usize| self.graph.inputs_of(arguments[k].expression);
        let (place, expected, detail) = match functional {
            Functional::Fading => {
                let detail = constant(2).map(PastDetail::Rate);
                (2, "a constant: the rate of decay", detail)
            }
            Functional::Weighted => {
                let kernel = arguments[2].expression;
                let fits = reads(2).iter().all(|&input| input == 0);
                let detail = fits.then(|| PastDetail::Kernel {
                    kernel,
                    mass: self.integral_over(kernel, length),
                });
                (2, "an expression of t, the age, and of constants", detail)
            }
            Functional::VaryingDelay => {
                let shortest = constant(2).filter(|&min| min > 0.0 && min <= length);
                if shortest.is_none() {
                    (2, "a positive constant, at most the largest delay", None)
                } else {
                    let delay = arguments[1].expression;
                    let fits = reads(1).iter().all(|&input| input <= coordinates);
                    let shortest = shortest.filter(|_| fits);
                    let detail = shortest.map(|shortest| PastDetail::Varying { delay, shortest });
                    (1, "an expression of t and coordinates", detail)
                }
            }
            _ => return PastDetail::None,
        };
        detail.unwrap_or_else(|| {
            if arguments[place].sort != Sort::Unknown {
                let name = name.to_owned();
                self.errors.push(ExpressionError {
                    span: arguments[place].span.clone(),
                    mistake: Mistake::PastArgument { name, expected },
                });
            }
            PastDetail::None
        })
    }

    /// Integral of an expression of input 0 over [0, length].
    fn integral_over(&self, expression: Expression, length: f64) -> f64 {
        let tape = Tape::compile(self.graph, &[expression]);
        let registers = RefCell::new(Vec::new());
        let value = |age: f64| {
            let mut out = [0.0];
            tape.evaluate_with(|_| age, &mut registers.borrow_mut(), &mut out);
            out[0]
        };
        // In parts, so that nothing narrow is missed.
        let edge = |k: u32| length * f64::from(k) / 64.0;
        let parts = (0..64).map(|k| integral((edge(k), edge(k + 1)), value));
        parts.sum()
    }
}
