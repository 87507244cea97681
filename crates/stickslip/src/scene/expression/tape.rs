//! Straight-line code on `f64`.
//!
//! # What it computes
//! The values of any number of expressions of one [`Graph`] from a slice of inputs. Every distinct
//! subexpression is computed once, in a fixed order, into its own register; constants sit in
//! registers filled beforehand.
//!
//! # Guarantees
//! No allocation, no panic for slices of the stated lengths, the same bits as constant folding.
//!
//! # Behaviour to know
//! Both branches of an `if` are computed and one is chosen. A product whose only use is a sum or
//! difference is joined with it into one instruction; the two roundings stay.
//!
//! # Cost
//! About one nanosecond per instruction that is not a transcendental function.
//!
//! # Tested by
//! `scene/expression/tests.rs`

use std::sync::Arc;

use super::graph::{Expression, Graph, Node};
use super::operation::{Binary, Unary};
use super::sampled::SampledFunction;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operation {
    Negate,
    Add,
    Subtract,
    Multiply,
    Divide,
    /// a b + c
    MultiplyAdd,
    /// a b − c
    MultiplySubtract,
    /// c − a b
    SubtractProduct,
    Sin,
    Cos,
    Sqrt,
    Select,
    Sampled(u16, u8),
    Unary(Unary),
    Binary(Binary),
}

#[derive(Clone, Copy, Debug)]
struct Instruction {
    operation: Operation,
    a: u32,
    b: u32,
    c: u32,
}

/// Compiled expressions; see the module page.
#[derive(Clone, Debug)]
pub struct Tape {
    constants: Vec<f64>,
    /// Input k is copied into the register behind the constants, in this order.
    inputs: Vec<u32>,
    instructions: Vec<Instruction>,
    /// Register of each output.
    outputs: Vec<u32>,
    /// The sampled functions of the graph.
    functions: Vec<Arc<SampledFunction>>,
}

/// Working memory of one [`Tape`]; made by [`Tape::registers`], reusable for any number of
/// evaluations of that tape.
#[derive(Clone, Debug)]
pub struct Registers {
    values: Vec<f64>,
}

/// The instruction of a node whose operands have registers; none for constants, inputs, and products that a sum takes in.
fn instruction(
    graph: &Graph,
    expression: Expression,
    register: &[u32],
    fused: &[bool],
) -> Option<Instruction> {
    let at = |e: Expression| register[e.index()];
    let (operation, [a, b, c]) = match graph.node(expression) {
        Node::Constant(_) | Node::Input(_) => return None,
        _ if fused[expression.index()] => return None,
        Node::Unary(operation, a) => {
            let operation = match operation {
                Unary::Negate => Operation::Negate,
                Unary::Sin => Operation::Sin,
                Unary::Cos => Operation::Cos,
                Unary::Sqrt => Operation::Sqrt,
                other => Operation::Unary(other),
            };
            (operation, [at(a), 0, 0])
        }
        Node::Binary(operation, a, b) => {
            let product = |e: Expression| match graph.node(e) {
                Node::Binary(Binary::Multiply, x, y) if fused[e.index()] => Some((at(x), at(y))),
                _ => None,
            };
            match (operation, product(a), product(b)) {
                (Binary::Add, Some((x, y)), _) => (Operation::MultiplyAdd, [x, y, at(b)]),
                (Binary::Add, None, Some((x, y))) => (Operation::MultiplyAdd, [x, y, at(a)]),
                (Binary::Subtract, Some((x, y)), _) => (Operation::MultiplySubtract, [x, y, at(b)]),
                (Binary::Subtract, None, Some((x, y))) => {
                    (Operation::SubtractProduct, [x, y, at(a)])
                }
                _ => {
                    let operation = match operation {
                        Binary::Add => Operation::Add,
                        Binary::Subtract => Operation::Subtract,
                        Binary::Multiply => Operation::Multiply,
                        Binary::Divide => Operation::Divide,
                        other => Operation::Binary(other),
                    };
                    (operation, [at(a), at(b), 0])
                }
            }
        }
        Node::Sampled(function, order, a) => (Operation::Sampled(function, order), [at(a), 0, 0]),
        Node::Select(c, a, b) => (Operation::Select, [at(a), at(b), at(c)]),
    };
    Some(Instruction { operation, a, b, c })
}

impl Tape {
    /// Compiles the outputs of a graph.
    #[must_use]
    pub fn compile(graph: &Graph, outputs: &[Expression]) -> Self {
        let order = graph.reachable(outputs);
        let size = order.last().map_or(0, |e| e.index() + 1);
        let fused = fused_products(graph, &order, outputs, size);

        // Registers: constants, inputs, then one per instruction.
        let mut register = vec![u32::MAX; size];
        let mut constants = Vec::new();
        let mut inputs = Vec::new();
        for &expression in &order {
            if let Node::Constant(bits) = graph.node(expression) {
                register[expression.index()] = constants.len() as u32;
                constants.push(f64::from_bits(bits));
            }
        }
        for &expression in &order {
            if let Node::Input(k) = graph.node(expression) {
                register[expression.index()] = (constants.len() + inputs.len()) as u32;
                inputs.push(k);
            }
        }
        let mut instructions = Vec::new();
        for &expression in &order {
            let Some(instruction) = instruction(graph, expression, &register, &fused) else {
                continue;
            };
            register[expression.index()] =
                (constants.len() + inputs.len() + instructions.len()) as u32;
            instructions.push(instruction);
        }
        Self {
            outputs: outputs.iter().map(|e| register[e.index()]).collect(),
            constants,
            inputs,
            instructions,
            functions: graph.functions().to_vec(),
        }
    }

    /// Working memory for this tape.
    #[must_use]
    pub fn registers(&self) -> Registers {
        let size = self.constants.len() + self.inputs.len() + self.instructions.len();
        let mut values = vec![0.0; size];
        values[..self.constants.len()].copy_from_slice(&self.constants);
        Registers { values }
    }

    /// Number of outputs.
    #[must_use]
    pub fn outputs_count(&self) -> usize {
        self.outputs.len()
    }

    /// Number of instructions, a measure of the cost.
    #[must_use]
    #[cfg(test)]
    pub fn instructions_count(&self) -> usize {
        self.instructions.len()
    }

    /// Evaluates all outputs from inputs that `read` looks up, in working memory that may have
    /// served any tape before; it grows to the size of the largest.
    ///
    /// # Panics
    /// If `out` is shorter than the number of outputs.
    #[inline]
    pub fn evaluate_with(
        &self,
        read: impl Fn(usize) -> f64,
        registers: &mut Vec<f64>,
        out: &mut [f64],
    ) {
        let constants = self.constants.len();
        let size = constants + self.inputs.len() + self.instructions.len();
        if registers.len() < size {
            registers.resize(size, 0.0);
        }
        registers[..constants].copy_from_slice(&self.constants);
        self.run(read, &mut registers[..size], out);
    }

    /// Evaluates all outputs.
    ///
    /// # Panics
    /// If `inputs` lacks one that is read, `out` is shorter than the number of
    /// outputs, or `registers` were made by a tape of another size.
    pub fn evaluate(&self, inputs: &[f64], registers: &mut Registers, out: &mut [f64]) {
        let size = self.constants.len() + self.inputs.len() + self.instructions.len();
        let values = registers.values.as_mut_slice();
        assert_eq!(values.len(), size, "registers of another tape");
        self.run(|k| inputs[k], values, out);
    }

    /// The constants are in place.
    #[inline]
    fn run(&self, read: impl Fn(usize) -> f64, values: &mut [f64], out: &mut [f64]) {
        let first = self.constants.len() + self.inputs.len();
        for (value, &k) in values[self.constants.len()..first]
            .iter_mut()
            .zip(&self.inputs)
        {
            *value = read(k as usize);
        }
        for (k, instruction) in self.instructions.iter().enumerate() {
            let value = match instruction.operation {
                Operation::Sampled(function, order) => {
                    let x = values[instruction.a as usize];
                    self.functions[usize::from(function)].value(order, x)
                }
                _ => instruction.run(values),
            };
            values[first + k] = value;
        }
        let out = &mut out[..self.outputs.len()];
        for (value, &register) in out.iter_mut().zip(&self.outputs) {
            *value = values[register as usize];
        }
    }
}

impl Instruction {
    #[inline(always)]
    fn run(&self, values: &[f64]) -> f64 {
        let a = values[self.a as usize];
        let b = values[self.b as usize];
        let c = || values[self.c as usize];
        match self.operation {
            Operation::Negate => -a,
            Operation::Add => a + b,
            Operation::Subtract => a - b,
            Operation::Multiply => a * b,
            Operation::Divide => a / b,
            Operation::MultiplyAdd => a * b + c(),
            Operation::MultiplySubtract => a * b - c(),
            Operation::SubtractProduct => c() - a * b,
            Operation::Sin => a.sin(),
            Operation::Cos => a.cos(),
            Operation::Sqrt => a.sqrt(),
            Operation::Select => {
                if c() != 0.0 {
                    a
                } else {
                    b
                }
            }
            // Evaluated by the tape, which owns the functions.
            Operation::Sampled(..) => f64::NAN,
            Operation::Unary(operation) => operation.apply(a),
            Operation::Binary(operation) => operation.apply(a, b),
        }
    }
}

/// Products that are computed inside the one sum or difference that uses them.
fn fused_products(
    graph: &Graph,
    order: &[Expression],
    outputs: &[Expression],
    size: usize,
) -> Vec<bool> {
    let mut uses = vec![0_u32; size];
    for &output in outputs {
        uses[output.index()] += 2;
    }
    for &expression in order {
        for operand in graph.operands(expression) {
            uses[operand.index()] += 1;
        }
    }
    let mut fused = vec![false; size];
    for &expression in order {
        let Node::Binary(Binary::Add | Binary::Subtract, a, b) = graph.node(expression) else {
            continue;
        };
        // At most one of the two: a b + c d keeps one of its products as an instruction.
        for candidate in [a, b] {
            let is_product = matches!(graph.node(candidate), Node::Binary(Binary::Multiply, _, _));
            if is_product && uses[candidate.index()] == 1 {
                fused[candidate.index()] = true;
                break;
            }
        }
    }
    fused
}
