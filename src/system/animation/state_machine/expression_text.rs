//! Texts of compiled expressions for people, as a file has them: operators by their precedence, and
//! parentheses where they are needed.

use super::data::StateMachine;
use super::expression::{Expression, Op, PlainOp};
use super::match_weight::MatchWindow;

/// Part of an expression with the precedence of its last operation: higher binds tighter.
struct Part {
    text: String,
    precedence: u8,
}

const ATOM: u8 = 9;

impl Part {
    fn atom(text: String) -> Part {
        Part { text, precedence: ATOM }
    }

    /// Returns the text, in parentheses if it binds less than `least`.
    fn within(&self, least: u8) -> String {
        match self.precedence < least {
            true => format!("({})", self.text),
            false => self.text.clone(),
        }
    }
}

/// Form of an operation: between two arguments, before one, or a function.
enum Form {
    Between(&'static str, u8),
    Before(&'static str, u8),
    Function(&'static str),
}

fn form(op: PlainOp) -> Form {
    match op {
        PlainOp::Or => Form::Between("or", 1),
        PlainOp::And => Form::Between("and", 2),
        PlainOp::Not => Form::Before("not ", 3),
        PlainOp::Less => Form::Between("<", 4),
        PlainOp::LessOrEqual => Form::Between("<=", 4),
        PlainOp::Greater => Form::Between(">", 4),
        PlainOp::GreaterOrEqual => Form::Between(">=", 4),
        PlainOp::Equal => Form::Between("==", 4),
        PlainOp::NotEqual => Form::Between("!=", 4),
        PlainOp::Add => Form::Between("+", 5),
        PlainOp::Subtract => Form::Between("-", 5),
        PlainOp::Multiply => Form::Between("*", 6),
        PlainOp::Divide => Form::Between("/", 6),
        PlainOp::Negate => Form::Before("-", 7),
        PlainOp::Minimum => Form::Function("min"),
        PlainOp::Maximum => Form::Function("max"),
        PlainOp::Clamp => Form::Function("clamp"),
        PlainOp::Absolute => Form::Function("abs"),
        PlainOp::Interpolate => Form::Function("lerp"),
    }
}

/// Returns an operation with its arguments.
fn apply(op: PlainOp, arguments: &[Part]) -> Part {
    match (form(op), arguments) {
        (Form::Between(sign, precedence), [a, b]) => {
            // Comparisons do not follow each other.
            let left = precedence + u8::from(precedence == 4);
            let (a, b) = (a.within(left), b.within(precedence + 1));
            Part { text: format!("{a} {sign} {b}"), precedence }
        }
        (Form::Before(sign, precedence), [a]) => {
            Part { text: format!("{sign}{}", a.within(precedence)), precedence }
        }
        (Form::Function(name), arguments) => call(name, arguments, &[]),
        (Form::Between(sign, _) | Form::Before(sign, _), arguments) => call(sign, arguments, &[]),
    }
}

/// Returns a call of a function with arguments and constant numbers.
fn call(name: &str, arguments: &[Part], numbers: &[f32]) -> Part {
    let texts = arguments.iter().map(|part| part.text.clone());
    let all: Vec<String> = texts.chain(numbers.iter().map(f32::to_string)).collect();
    Part::atom(format!("{name}({})", all.join(", ")))
}

impl StateMachine {
    /// Returns the text of an expression.
    pub(super) fn expression_text(&self, expression: Expression) -> String {
        let last = self.expression_parts(self.table.ops(expression)).pop();
        last.map_or(String::new(), |part| part.text)
    }

    /// Returns the texts of the axes of a blend space and the position of a point from the weight
    /// of the point.
    pub(super) fn space_point(&self, weight: Expression) -> (Vec<String>, Vec<f32>) {
        let Some((last, axes)) = self.table.ops(weight).split_last() else {
            return (Vec::new(), Vec::new());
        };
        let at = match *last {
            Op::Match(window) => {
                let window = self.table.windows.get(usize::from(window));
                window.map(|window| vec![window.from])
            }
            Op::Match2d { first, point, .. } => {
                let index = usize::from(first) + usize::from(point);
                self.table.points.get(index).map(|at| at.to_vec())
            }
            _ => None,
        };
        let axes = self.expression_parts(axes).into_iter().map(|part| part.text);
        (axes.collect(), at.unwrap_or_default())
    }

    /// Returns the texts of the values that operations leave.
    fn expression_parts(&self, ops: &[Op]) -> Vec<Part> {
        let mut stack: Vec<Part> = Vec::new();
        for op in ops {
            let count = match op {
                Op::Number(_) | Op::Variable(_) => 0,
                Op::Plain(plain) => plain.arguments(),
                Op::Match(_) => 1,
                Op::Match2d { .. } => 2,
            };
            let arguments = stack.split_off(stack.len().saturating_sub(count));
            stack.push(match *op {
                Op::Number(number) if number < 0.0 => {
                    Part { text: number.to_string(), precedence: 7 }
                }
                Op::Number(number) => Part::atom(number.to_string()),
                Op::Variable(variable) => {
                    let variable = self.variables.get(usize::from(variable));
                    Part::atom(variable.map_or(String::new(), |it| it.name.clone()))
                }
                Op::Plain(plain) => apply(plain, &arguments),
                Op::Match(window) => {
                    let windows = &self.table.windows;
                    match windows.get(usize::from(window)) {
                        Some(MatchWindow { from, to, .. }) if from == to => {
                            call("match", &arguments, &[*from])
                        }
                        Some(MatchWindow { from, to, .. }) => {
                            call("match_range", &arguments, &[*from, *to])
                        }
                        None => call("match", &arguments, &[]),
                    }
                }
                Op::Match2d { first, point, .. } => {
                    let index = usize::from(first) + usize::from(point);
                    let at = self.table.points.get(index);
                    call("match_2d", &arguments, at.map_or(&[][..], |at| &at[..]))
                }
            });
        }
        stack
    }
}
