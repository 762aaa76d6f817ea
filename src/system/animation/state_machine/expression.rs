//! Expressions of state machines: the stack code, its evaluation and its check. Every result is a
//! finite number: a division by zero gives 0, and so does a result beyond the range of numbers. The
//! parser is in `expression_parser`.

use super::compiled::{read_u16, write_floats};
use super::match_weight::{MatchWindow, point_weight};
use engine_foundation::blob::{BlobReader, BlobWriter};
use engine_foundation::{Error, error};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Maximum number of values on the stack of an expression.
pub const EXPRESSION_STACK_MAX: usize = 16;
/// Maximum number of operations of an expression.
pub const EXPRESSION_OPS_MAX: usize = 128;
/// Maximum number of operations of all expressions of a state machine.
pub const MACHINE_OPS_MAX: usize = 1 << 16;

/// Operation of the stack code. An operation takes its arguments from the stack, the last one from
/// the top, and puts its result there.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Op {
    Number(f32),
    Variable(u16),
    Plain(PlainOp),
    /// Weight of a number in a window of the table.
    Match(u16),
    /// Weight of the point `point` of the `count` points from `first` on.
    Match2d {
        first: u16,
        count: u8,
        point: u8,
    },
}

/// Operation without data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlainOp {
    Add,
    Subtract,
    Multiply,
    Divide,
    Negate,
    Not,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    And,
    Or,
    Minimum,
    Maximum,
    Clamp,
    Absolute,
    Interpolate,
}

impl PlainOp {
    const ALL: [PlainOp; 19] = [
        PlainOp::Add,
        PlainOp::Subtract,
        PlainOp::Multiply,
        PlainOp::Divide,
        PlainOp::Negate,
        PlainOp::Not,
        PlainOp::Less,
        PlainOp::LessOrEqual,
        PlainOp::Greater,
        PlainOp::GreaterOrEqual,
        PlainOp::Equal,
        PlainOp::NotEqual,
        PlainOp::And,
        PlainOp::Or,
        PlainOp::Minimum,
        PlainOp::Maximum,
        PlainOp::Clamp,
        PlainOp::Absolute,
        PlainOp::Interpolate,
    ];

    /// Returns the number of arguments.
    pub fn arguments(self) -> usize {
        match self {
            PlainOp::Negate | PlainOp::Not | PlainOp::Absolute => 1,
            PlainOp::Clamp | PlainOp::Interpolate => 3,
            _ => 2,
        }
    }

    /// Computes the result of up to three arguments, which is not finite if it exceeds the range of
    /// numbers. Missing arguments are 0.
    #[inline]
    fn apply(self, [a, b, c]: [f32; 3]) -> f32 {
        let truth = |condition: bool| if condition { 1.0 } else { 0.0 };
        match self {
            PlainOp::Add => a + b,
            PlainOp::Subtract => a - b,
            PlainOp::Multiply => a * b,
            PlainOp::Divide if b == 0.0 => 0.0,
            PlainOp::Divide => a / b,
            PlainOp::Negate => -a,
            PlainOp::Not => truth(a == 0.0),
            PlainOp::Less => truth(a < b),
            PlainOp::LessOrEqual => truth(a <= b),
            PlainOp::Greater => truth(a > b),
            PlainOp::GreaterOrEqual => truth(a >= b),
            PlainOp::Equal => truth(a == b),
            PlainOp::NotEqual => truth(a != b),
            PlainOp::And => truth(a != 0.0 && b != 0.0),
            PlainOp::Or => truth(a != 0.0 || b != 0.0),
            PlainOp::Minimum => least(a, b),
            PlainOp::Maximum => most(a, b),
            PlainOp::Clamp => least(most(a, b), c),
            PlainOp::Absolute => most(a, -a),
            PlainOp::Interpolate => a + (b - a) * c,
        }
    }
}

/// Returns the number, or 0 if it is not finite.
#[inline]
pub fn finite(number: f32) -> f32 {
    if number.is_finite() { number } else { 0.0 }
}

#[inline]
pub fn least(a: f32, b: f32) -> f32 {
    if b < a { b } else { a }
}

#[inline]
pub fn most(a: f32, b: f32) -> f32 {
    if b > a { b } else { a }
}

/// Expression: a range of operations of an [`ExpressionTable`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Expression {
    pub(super) start: u32,
    pub(super) count: u32,
}

/// Expressions of a table that had one kind of fault, each for one message. Threads that evaluate
/// at the same time agree on the next one, which has the lowest index.
#[derive(Debug)]
struct FaultyExpressions {
    /// Index of the expression for the next message, or [`FaultyExpressions::NONE`].
    next: AtomicU32,
    /// Expressions that have had their message, one bit each; none before the first message.
    taken: OnceLock<Box<[AtomicU32]>>,
}

impl FaultyExpressions {
    const NONE: u32 = u32::MAX;

    fn is_taken(&self, index: u32) -> bool {
        let word = self.taken.get().and_then(|taken| taken.get(index as usize / 32));
        word.is_some_and(|word| word.load(Ordering::Relaxed) & 1 << (index % 32) != 0)
    }

    fn note(&self, index: u32) {
        if index < self.next.load(Ordering::Relaxed) && !self.is_taken(index) {
            self.next.fetch_min(index, Ordering::Relaxed);
        }
    }

    /// Returns the index of the next of `count` expressions, once.
    fn take(&self, count: usize) -> Option<u32> {
        let index = self.next.load(Ordering::Relaxed);
        if index == FaultyExpressions::NONE {
            return None;
        }
        self.next.store(FaultyExpressions::NONE, Ordering::Relaxed);
        self.keep_taken(index, count);
        Some(index)
    }

    /// Lets an expression have no further message.
    fn keep_taken(&self, index: u32, count: usize) {
        let unset = || (0..=count / 32).map(|_| AtomicU32::new(0)).collect();
        if let Some(word) = self.taken.get_or_init(unset).get(index as usize / 32) {
            word.fetch_or(1 << (index % 32), Ordering::Relaxed);
        }
    }
}

impl Default for FaultyExpressions {
    fn default() -> FaultyExpressions {
        FaultyExpressions { next: AtomicU32::new(FaultyExpressions::NONE), taken: OnceLock::new() }
    }
}

/// A copy has had no faults.
impl Clone for FaultyExpressions {
    fn clone(&self) -> FaultyExpressions {
        FaultyExpressions::default()
    }
}

/// The data of two tables is equal whatever was evaluated.
impl PartialEq for FaultyExpressions {
    fn eq(&self, _: &FaultyExpressions) -> bool {
        true
    }
}

/// Operations of all expressions of a state machine, with the data of the match functions.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ExpressionTable {
    pub(super) ops: Vec<Op>,
    /// First operation and line in the file of each expression, in ascending order.
    pub(super) lines: Vec<(u32, u32)>,
    zero_divisions: FaultyExpressions,
    /// Results beyond the range of numbers.
    overflows: FaultyExpressions,
    pub(super) windows: Vec<MatchWindow>,
    pub(super) points: Vec<[f32; 2]>,
}

impl ExpressionTable {
    pub(super) fn ops(&self, expression: Expression) -> &[Op] {
        let start = expression.start as usize;
        &self.ops[start..start + expression.count as usize]
    }

    /// Returns the value of an expression. It is finite if the variables are.
    #[inline]
    pub fn evaluate(&self, expression: Expression, variables: &[f32]) -> f32 {
        self.evaluate_with::<true>(expression, variables)
    }

    /// Returns the value of an expression, as [`ExpressionTable::evaluate`] does. `NOTES`: its
    /// faults are noted.
    #[inline]
    pub fn evaluate_with<const NOTES: bool>(
        &self,
        expression: Expression,
        variables: &[f32],
    ) -> f32 {
        // Weights of clips are mostly one of these, which need no stack.
        match *self.ops(expression) {
            [Op::Number(number)] => number,
            [Op::Variable(variable)] => variables[usize::from(variable)],
            [Op::Variable(variable), Op::Match(window)] => {
                self.windows[usize::from(window)].weight(variables[usize::from(variable)])
            }
            ref ops => self.evaluate_ops::<NOTES>(ops, expression.start as usize, variables),
        }
    }

    /// Notes a fault of an operation.
    #[cold]
    fn note(&self, faulty: &FaultyExpressions, op: usize) {
        let known = self.lines.partition_point(|(start, _)| *start as usize <= op);
        faulty.note(known.saturating_sub(1) as u32);
    }

    /// Returns the line of the next expression with a fault: once for each line, the first in the
    /// file before the others.
    fn take(&self, faulty: &FaultyExpressions) -> Option<u32> {
        let index = faulty.take(self.lines.len())?;
        let line = self.lines.get(index as usize).map_or(0, |(_, line)| *line);
        for (same, _) in (0..).zip(&self.lines).filter(|(_, (_, other))| *other == line) {
            faulty.keep_taken(same, self.lines.len());
        }
        Some(line)
    }

    /// Returns the line of an expression that has divided by zero: once for each line, the first in
    /// the file before the others. `None` if there is no further one.
    pub fn take_zero_division(&self) -> Option<u32> {
        self.take(&self.zero_divisions)
    }

    /// Returns the line of an expression that has exceeded the range of numbers, as
    /// [`ExpressionTable::take_zero_division`] does for divisions.
    pub fn take_overflow(&self) -> Option<u32> {
        self.take(&self.overflows)
    }

    /// Returns the value of an optional expression, or `default`.
    #[inline]
    pub fn value_or(&self, it: Option<Expression>, variables: &[f32], default: f32) -> f32 {
        it.map_or(default, |expression| self.evaluate(expression, variables))
    }

    /// Returns the value of operations, the first of which has the index `start`. `NOTES`: faults
    /// are noted.
    pub(super) fn evaluate_ops<const NOTES: bool>(
        &self,
        ops: &[Op],
        start: usize,
        variables: &[f32],
    ) -> f32 {
        // The check of the code limits `top`; the mask spares a second check for each access.
        const MASK: usize = EXPRESSION_STACK_MAX - 1;
        let mut stack = [0.0f32; EXPRESSION_STACK_MAX];
        let mut top = 0usize;
        for (index, op) in ops.iter().enumerate() {
            let (arguments, result) = match *op {
                Op::Number(number) => (0, number),
                Op::Variable(variable) => (0, variables[usize::from(variable)]),
                Op::Plain(PlainOp::Divide) => {
                    let [a, b] = [2, 1].map(|depth| stack[top.wrapping_sub(depth) & MASK]);
                    if NOTES && b == 0.0 {
                        self.note(&self.zero_divisions, start + index);
                    }
                    (2, PlainOp::Divide.apply([a, b, 0.0]))
                }
                Op::Plain(plain) => {
                    let count = plain.arguments();
                    let base = top.wrapping_sub(count);
                    let argument = |index: usize| match index < count {
                        true => stack[base.wrapping_add(index) & MASK],
                        false => 0.0,
                    };
                    (count, plain.apply([argument(0), argument(1), argument(2)]))
                }
                Op::Match(window) => {
                    let value = stack[top.wrapping_sub(1) & MASK];
                    (1, self.windows[usize::from(window)].weight(value))
                }
                Op::Match2d { first, count, point } => {
                    let first = usize::from(first);
                    let points = &self.points[first..first + usize::from(count)];
                    let x = stack[top.wrapping_sub(2) & MASK];
                    let y = stack[top.wrapping_sub(1) & MASK];
                    (2, point_weight(points, usize::from(point), x, y))
                }
            };
            if NOTES && !result.is_finite() {
                self.note(&self.overflows, start + index);
            }
            top = top.wrapping_sub(arguments);
            stack[top & MASK] = finite(result);
            top = top.wrapping_add(1);
        }
        stack[top.wrapping_sub(1) & MASK]
    }

    /// Returns true if constant operations exceed the range of numbers.
    pub(super) fn overflows(ops: &[Op]) -> bool {
        let mut stack = Vec::new();
        ops.iter().any(|op| {
            let result = match *op {
                Op::Number(number) => number,
                Op::Plain(plain) => {
                    let mut arguments = [0.0; 3];
                    for argument in arguments[..plain.arguments()].iter_mut().rev() {
                        *argument = stack.pop().unwrap_or(0.0);
                    }
                    plain.apply(arguments)
                }
                _ => return false,
            };
            stack.push(result);
            !result.is_finite()
        })
    }

    /// Returns an error if the operations of an expression do not leave one value, need too much
    /// stack, or refer to data that does not exist.
    pub(super) fn check(&self, expression: Expression, variables: usize) -> Result<(), Error> {
        let damaged = || error!("it is damaged: an expression of the state machine is not valid");
        let end = expression.start as usize + expression.count as usize;
        if expression.count as usize > EXPRESSION_OPS_MAX || end > self.ops.len() {
            return Err(damaged());
        }
        let mut depth = 0usize;
        for op in self.ops(expression) {
            let (valid, arguments) = match *op {
                Op::Number(number) => (number.is_finite(), 0),
                Op::Variable(variable) => (usize::from(variable) < variables, 0),
                Op::Plain(plain) => (true, plain.arguments()),
                Op::Match(window) => (usize::from(window) < self.windows.len(), 1),
                Op::Match2d { first, count, point } => {
                    let end = usize::from(first) + usize::from(count);
                    (end <= self.points.len() && point < count, 2)
                }
            };
            depth = depth.checked_sub(arguments).ok_or_else(damaged)? + 1;
            if !valid || depth > EXPRESSION_STACK_MAX {
                return Err(damaged());
            }
        }
        if depth == 1 { Ok(()) } else { Err(damaged()) }
    }

    pub(super) fn write(&self, writer: &mut BlobWriter) {
        writer.list(&self.ops, |writer, op| match *op {
            Op::Number(number) => {
                writer.u8(0);
                writer.u32(number.to_bits());
            }
            Op::Variable(variable) => {
                writer.u8(1);
                writer.u32(u32::from(variable));
            }
            Op::Plain(plain) => {
                writer.u8(2);
                writer.u8(PlainOp::ALL.iter().position(|it| *it == plain).unwrap_or(0) as u8);
            }
            Op::Match(window) => {
                writer.u8(3);
                writer.u32(u32::from(window));
            }
            Op::Match2d { first, count, point } => {
                writer.u8(4);
                writer.u32(u32::from(first));
                writer.u8(count);
                writer.u8(point);
            }
        });
        writer.list(&self.windows, |writer, window| {
            let MatchWindow { from, to, fall_before, fall_after } = *window;
            write_floats(writer, &[from, to, fall_before, fall_after]);
        });
        writer.list(&self.points, |writer, point| write_floats(writer, point));
        writer.list(&self.lines, |writer, (start, line)| {
            writer.u32(*start);
            writer.u32(*line);
        });
    }

    pub(super) fn read(reader: &mut BlobReader) -> Result<ExpressionTable, Error> {
        let limit = (MACHINE_OPS_MAX, "MACHINE_OPS_MAX");
        let ops = reader.list_at_most(limit, |reader| {
            Ok(match reader.u8()? {
                0 => Op::Number(reader.finite()?),
                1 => Op::Variable(read_u16(reader)?),
                2 => Op::Plain(reader.choice(&PlainOp::ALL)?),
                3 => Op::Match(read_u16(reader)?),
                4 => Op::Match2d {
                    first: read_u16(reader)?,
                    count: reader.u8()?,
                    point: reader.u8()?,
                },
                other => return Err(error!("it is damaged: there is no operation {other}")),
            })
        })?;
        let windows = reader.list_at_most(limit, |reader| {
            Ok(MatchWindow {
                from: reader.finite()?,
                to: reader.finite()?,
                fall_before: reader.finite()?,
                fall_after: reader.finite()?,
            })
        })?;
        let points =
            reader.list_at_most(limit, |reader| Ok([reader.finite()?, reader.finite()?]))?;
        let lines = reader.list_at_most(limit, |reader| Ok((reader.u32()?, reader.u32()?)))?;
        if !lines.is_sorted() {
            return Err(error!("it is damaged: the lines of the expressions are not in order"));
        }
        Ok(ExpressionTable { ops, windows, points, lines, ..ExpressionTable::default() })
    }
}
