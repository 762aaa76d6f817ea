//! Parser of expressions: from text to stack code. Errors name the token.
//!
//! The match functions of one blend know each other: `match(speed, 2)` falls to 0 at the nearest
//! other value of `speed` that the same blend matches.

use super::expression::{EXPRESSION_OPS_MAX, EXPRESSION_STACK_MAX, MACHINE_OPS_MAX};
use super::expression::{Expression, ExpressionTable, Op, PlainOp};
use super::match_weight::{MatchWindow, windows};
use engine_foundation::suggest;

/// Maximum length of the text of an expression in bytes.
pub const EXPRESSION_BYTES_MAX: usize = 1024;
/// Maximum nesting depth of an expression.
pub const EXPRESSION_DEPTH_MAX: usize = 32;
/// Maximum number of points that the `match_2d` of one blend name.
pub const MATCH_POINTS_MAX: usize = 64;
/// Maximum absolute value of a number in an expression.
const NUMBER_MAX: f32 = 1e9;

const FUNCTIONS: [(&str, usize); 8] = [
    ("abs", 1),
    ("clamp", 3),
    ("lerp", 3),
    ("match", 2),
    ("match_2d", 4),
    ("match_range", 3),
    ("max", 2),
    ("min", 2),
];

/// Binary operators with their precedence.
const OPERATORS: [(&str, u8, PlainOp); 12] = [
    ("or", 1, PlainOp::Or),
    ("and", 2, PlainOp::And),
    ("<", 3, PlainOp::Less),
    ("<=", 3, PlainOp::LessOrEqual),
    (">", 3, PlainOp::Greater),
    (">=", 3, PlainOp::GreaterOrEqual),
    ("==", 3, PlainOp::Equal),
    ("!=", 3, PlainOp::NotEqual),
    ("+", 4, PlainOp::Add),
    ("-", 4, PlainOp::Subtract),
    ("*", 5, PlainOp::Multiply),
    ("/", 5, PlainOp::Divide),
];

/// Match functions of a blend, whose windows and points are known only when all its expressions
/// have been parsed.
#[derive(Default)]
pub struct MatchGroup {
    /// Code of the matched number, index of the window, range.
    ranges: Vec<(Vec<Op>, usize, (f32, f32))>,
    /// Code of the matched position, index of the operation in the table, point.
    points: Vec<(Vec<Op>, usize, [f32; 2])>,
}

/// Parses an expression at a line of its file into the table. `group` collects the match functions
/// of a blend.
///
/// # Errors
/// Returns a message that names the token and its column.
pub fn parse(
    (text, line): (&str, usize),
    variables: &[&str],
    table: &mut ExpressionTable,
    group: &mut MatchGroup,
) -> Result<Expression, String> {
    let ops = parse_ops(text, Vec::new(), variables, table, group)?;
    add_expression(ops, line, table)
}

/// Parses the expressions of the axes of a blend space and adds the weight of a point: that of
/// `match` with one axis, and of `match_2d` with two. Each axis has its text and its line.
///
/// # Errors
/// Returns a message as [`parse`] does.
pub fn parse_point(
    axes: &[(&str, usize)],
    at: [f32; 2],
    variables: &[&str],
    table: &mut ExpressionTable,
    group: &mut MatchGroup,
) -> Result<Expression, String> {
    let mut ops = Vec::new();
    for (text, _) in axes {
        ops = parse_ops(text, ops, variables, table, group)?;
    }
    let code = ops.clone();
    if axes.len() == 2 {
        group.points.push((code, table.ops.len() + ops.len(), at));
        ops.push(Op::Match2d { first: 0, count: 0, point: 0 });
    } else {
        let window = group.add_range(code, (at[0], at[0]), table);
        ops.push(Op::Match(window));
    }
    let line = axes.first().map_or(0, |axis| axis.1);
    add_expression(ops, line, table)
}

/// Parses an expression and appends its operations to others.
fn parse_ops(
    text: &str,
    ops: Vec<Op>,
    variables: &[&str],
    table: &mut ExpressionTable,
    group: &mut MatchGroup,
) -> Result<Vec<Op>, String> {
    if text.len() > EXPRESSION_BYTES_MAX {
        let length = text.len();
        return Err(format!(
            "it has {length} bytes: at most {EXPRESSION_BYTES_MAX} (EXPRESSION_BYTES_MAX)"
        ));
    }
    let tokens = tokens(text)?;
    let mut parser = Parser { text, tokens, next: 0, depth: 0, variables, ops, table, group };
    parser.binary(0)?;
    if let Some(token) = parser.peek() {
        return Err(parser.error(Some(token), "the expression is complete before it"));
    }
    Ok(parser.ops)
}

/// Adds the operations of an expression at a line to the table.
fn add_expression(
    mut ops: Vec<Op>,
    line: usize,
    table: &mut ExpressionTable,
) -> Result<Expression, String> {
    check_size(&ops)?;
    if is_constant(&ops) {
        ops = vec![Op::Number(table.evaluate_ops::<true>(&ops, 0, &[]))];
    }
    if table.ops.len() + ops.len() > MACHINE_OPS_MAX {
        return Err(format!(
            "all expressions have more than {MACHINE_OPS_MAX} operations (MACHINE_OPS_MAX)"
        ));
    }
    let start = table.ops.len();
    let expression = Expression { start: start as u32, count: ops.len() as u32 };
    table.ops.extend(ops);
    table.lines.push((expression.start, line as u32));
    Ok(expression)
}

/// Names that are no variables in expressions.
pub(super) const RESERVED_NAMES: [&str; 5] = ["and", "false", "not", "or", "true"];
/// Part of the message about a name that is no variable.
pub(super) const NO_VARIABLE: &str = "there is no variable";

/// Returns true if the operations depend on no variable.
fn is_constant(ops: &[Op]) -> bool {
    ops.iter().all(|op| matches!(op, Op::Number(_) | Op::Plain(_)))
}

fn check_size(ops: &[Op]) -> Result<(), String> {
    if ops.len() > EXPRESSION_OPS_MAX {
        let count = ops.len();
        return Err(format!(
            "it has {count} operations: at most {EXPRESSION_OPS_MAX} (EXPRESSION_OPS_MAX)"
        ));
    }
    let mut depth = 0;
    for op in ops {
        depth = depth + 1
            - match op {
                Op::Number(_) | Op::Variable(_) => 0,
                Op::Plain(plain) => plain.arguments(),
                Op::Match(_) => 1,
                Op::Match2d { .. } => 2,
            };
        if depth > EXPRESSION_STACK_MAX {
            return Err(format!(
                "it needs more than {EXPRESSION_STACK_MAX} values at once (EXPRESSION_STACK_MAX)"
            ));
        }
    }
    Ok(())
}

impl MatchGroup {
    /// Adds a range of the number that `code` computes. Returns the index of its window.
    fn add_range(
        &mut self,
        code: Vec<Op>,
        (from, to): (f32, f32),
        table: &mut ExpressionTable,
    ) -> u16 {
        let window = table.windows.len();
        table.windows.push(MatchWindow { from, to, fall_before: 1.0, fall_after: 1.0 });
        self.ranges.push((code, window, (from, to)));
        window as u16
    }

    /// Computes the windows and points of all match functions of the group.
    ///
    /// # Errors
    /// Returns a message if there are too many points.
    pub fn finish(self, table: &mut ExpressionTable) -> Result<(), String> {
        let mut finished = vec![false; self.ranges.len()];
        for first in 0..self.ranges.len() {
            if finished[first] {
                continue;
            }
            let same = |index: &usize| self.ranges[*index].0 == self.ranges[first].0;
            let members: Vec<usize> = (first..self.ranges.len()).filter(same).collect();
            let ranges: Vec<(f32, f32)> = members.iter().map(|it| self.ranges[*it].2).collect();
            for (member, window) in members.iter().zip(windows(&ranges)) {
                table.windows[self.ranges[*member].1] = window;
                finished[*member] = true;
            }
        }
        let mut finished = vec![false; self.points.len()];
        for first in 0..self.points.len() {
            if finished[first] {
                continue;
            }
            let same = |index: &usize| self.points[*index].0 == self.points[first].0;
            let members: Vec<usize> = (first..self.points.len()).filter(same).collect();
            let start = u16::try_from(table.points.len());
            let (Ok(start), true) = (start, members.len() <= MATCH_POINTS_MAX) else {
                let count = members.len();
                return Err(format!(
                    "match_2d has {count} points: at most {MATCH_POINTS_MAX} (MATCH_POINTS_MAX)"
                ));
            };
            table.points.extend(members.iter().map(|it| self.points[*it].2));
            for (point, member) in members.iter().enumerate() {
                let (count, point) = (members.len() as u8, point as u8);
                table.ops[self.points[*member].1] = Op::Match2d { first: start, count, point };
                finished[*member] = true;
            }
        }
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq)]
enum TokenKind {
    Number(f32),
    Name,
    Symbol,
}

#[derive(Clone, Copy)]
struct Token<'a> {
    text: &'a str,
    /// Offset in bytes.
    start: usize,
    kind: TokenKind,
}

fn tokens(text: &str) -> Result<Vec<Token<'_>>, String> {
    let mut tokens = Vec::new();
    let mut start = 0;
    while let Some(first) = text[start..].chars().next() {
        let rest = &text[start..];
        let until = |end: fn(char) -> bool| rest.find(end).unwrap_or(rest.len());
        let (length, kind) = match first {
            c if c.is_whitespace() => {
                start += c.len_utf8();
                continue;
            }
            '0'..='9' | '.' => {
                let length = until(|c| !(c.is_ascii_alphanumeric() || c == '.'));
                let number = rest[..length].parse::<f32>();
                match number {
                    Ok(number) if number <= NUMBER_MAX => (length, TokenKind::Number(number)),
                    _ => {
                        let column = text[..start].chars().count() + 1;
                        return Err(format!(
                            "column {column}: '{}' is no number from 0 to {NUMBER_MAX}",
                            &rest[..length]
                        ));
                    }
                }
            }
            c if c.is_alphabetic() || c == '_' => {
                (until(|c| !(c.is_alphanumeric() || c == '_')), TokenKind::Name)
            }
            '<' | '>' | '=' | '!' if rest[1..].starts_with('=') => (2, TokenKind::Symbol),
            '<' | '>' | '+' | '-' | '*' | '/' | '(' | ')' | ',' => (1, TokenKind::Symbol),
            other => {
                let column = text[..start].chars().count() + 1;
                let remedy = match other {
                    '=' => ": a comparison is '=='",
                    '!' => ": the negation is 'not'",
                    _ => "",
                };
                return Err(format!("column {column}: unexpected '{other}'{remedy}"));
            }
        };
        tokens.push(Token { text: &rest[..length], start, kind });
        start += length;
    }
    Ok(tokens)
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token<'a>>,
    next: usize,
    depth: usize,
    variables: &'a [&'a str],
    ops: Vec<Op>,
    table: &'a mut ExpressionTable,
    group: &'a mut MatchGroup,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.next).copied()
    }

    fn error(&self, token: Option<Token>, message: &str) -> String {
        match token {
            Some(token) => {
                let column = self.text[..token.start].chars().count() + 1;
                format!("column {column}: unexpected '{}': {message}", token.text)
            }
            None => format!("column {}: it ends early: {message}", self.text.chars().count() + 1),
        }
    }

    fn symbol(&mut self, symbol: &str) -> Result<(), String> {
        match self.peek() {
            Some(token) if token.text == symbol => {
                self.next += 1;
                Ok(())
            }
            other => Err(self.error(other, &format!("'{symbol}' is missing"))),
        }
    }

    /// Parses operators of a precedence above `least`.
    fn binary(&mut self, least: u8) -> Result<(), String> {
        self.depth += 1;
        if self.depth > EXPRESSION_DEPTH_MAX {
            return Err(format!(
                "it is nested more than {EXPRESSION_DEPTH_MAX} deep (EXPRESSION_DEPTH_MAX)"
            ));
        }
        let start = self.ops.len();
        self.unary()?;
        while let Some(token) = self.peek() {
            let operator = OPERATORS.iter().find(|(symbol, ..)| *symbol == token.text);
            let Some(&(_, precedence, op)) = operator.filter(|(_, it, _)| *it > least) else {
                break;
            };
            self.next += 1;
            let divisor = self.ops.len();
            self.binary(precedence)?;
            if op == PlainOp::Divide && self.is_zero(divisor)? {
                return Err(self.error(Some(token), "it divides by 0"));
            }
            self.ops.push(Op::Plain(op));
            self.check_range(start, token)?;
        }
        self.depth -= 1;
        Ok(())
    }

    /// Returns an error if the operations from `start` on, which end with that of `token`, are
    /// constant and exceed the range of numbers.
    fn check_range(&self, start: usize, token: Token) -> Result<(), String> {
        let ops = &self.ops[start..];
        if is_constant(ops) && ExpressionTable::overflows(ops) {
            return Err(self.error(Some(token), "its result is too large"));
        }
        Ok(())
    }

    /// Returns true if the operations from `start` on are a constant that is 0.
    fn is_zero(&self, start: usize) -> Result<bool, String> {
        let ops = &self.ops[start..];
        if !is_constant(ops) {
            return Ok(false);
        }
        check_size(ops)?;
        Ok(self.table.evaluate_ops::<true>(ops, 0, &[]) == 0.0)
    }

    fn unary(&mut self) -> Result<(), String> {
        let Some(token) = self.peek() else {
            return Err(self.error(None, "a number, a variable or a function is missing"));
        };
        self.next += 1;
        match (token.kind, token.text) {
            (TokenKind::Number(number), _) => self.ops.push(Op::Number(number)),
            (_, "-") => {
                // Tighter than every binary operator.
                self.binary(5)?;
                self.ops.push(Op::Plain(PlainOp::Negate));
            }
            (_, "not") => {
                // Looser than a comparison: `not a < b` negates the comparison.
                self.binary(2)?;
                self.ops.push(Op::Plain(PlainOp::Not));
            }
            (_, "(") => {
                self.binary(0)?;
                self.symbol(")")?;
            }
            (TokenKind::Name, "and" | "or") | (TokenKind::Symbol, _) => {
                return Err(
                    self.error(Some(token), "a number, a variable or a function belongs here")
                );
            }
            (TokenKind::Name, "true") => self.ops.push(Op::Number(1.0)),
            (TokenKind::Name, "false") => self.ops.push(Op::Number(0.0)),
            (TokenKind::Name, name) => match self.peek() {
                Some(token) if token.text == "(" => self.function(name)?,
                _ => self.variable(token)?,
            },
        }
        Ok(())
    }

    fn variable(&mut self, token: Token) -> Result<(), String> {
        let index = self.variables.iter().position(|known| *known == token.text);
        let Some(index) = index else {
            let hint = suggest::hint(token.text, self.variables.iter().copied());
            let column = self.text[..token.start].chars().count() + 1;
            let name = token.text;
            return Err(format!("column {column}: {NO_VARIABLE} '{name}'{hint}"));
        };
        self.ops.push(Op::Variable(index as u16));
        Ok(())
    }

    fn function(&mut self, name: &str) -> Result<(), String> {
        let token = self.tokens[self.next - 1];
        let Some(&(_, wanted)) = FUNCTIONS.iter().find(|(known, _)| *known == name) else {
            let hint = suggest::hint(name, FUNCTIONS.iter().map(|(known, _)| *known));
            let column = self.text[..token.start].chars().count() + 1;
            return Err(format!("column {column}: there is no function '{name}'{hint}"));
        };
        self.symbol("(")?;
        let mut starts = Vec::new();
        loop {
            starts.push(self.ops.len());
            self.binary(0)?;
            match self.peek() {
                Some(token) if token.text == "," => self.next += 1,
                _ => break,
            }
        }
        self.symbol(")")?;
        if starts.len() != wanted {
            let column = self.text[..token.start].chars().count() + 1;
            let count = starts.len();
            return Err(format!(
                "column {column}: '{name}' takes {wanted} arguments, and got {count}"
            ));
        }
        match name {
            "abs" => self.ops.push(Op::Plain(PlainOp::Absolute)),
            "clamp" => self.ops.push(Op::Plain(PlainOp::Clamp)),
            "lerp" => {
                self.ops.push(Op::Plain(PlainOp::Interpolate));
                self.check_range(starts[0], token)?;
            }
            "max" => self.ops.push(Op::Plain(PlainOp::Maximum)),
            "min" => self.ops.push(Op::Plain(PlainOp::Minimum)),
            _ => self.match_function(token, &starts)?,
        }
        Ok(())
    }

    /// Ends a match function: its constant arguments are taken out of the code.
    fn match_function(&mut self, token: Token, starts: &[usize]) -> Result<(), String> {
        let matched = if token.text == "match_2d" { 2 } else { 1 };
        let mut constants = Vec::new();
        for (index, start) in starts.iter().enumerate().skip(matched) {
            let end = starts.get(index + 1).copied().unwrap_or(self.ops.len());
            let ops = &self.ops[*start..end];
            if !is_constant(ops) {
                let number = index + 1;
                let message = format!("argument {number} must be a number without variables");
                return Err(self.error(Some(token), &message));
            }
            check_size(ops)?;
            constants.push(self.table.evaluate_ops::<true>(ops, 0, &[]));
        }
        self.ops.truncate(starts[matched]);
        let code = self.ops[starts[0]..].to_vec();
        if let [x, y] = constants[..]
            && matched == 2
        {
            let at = self.table.ops.len() + self.ops.len();
            self.group.points.push((code, at, [x, y]));
            self.ops.push(Op::Match2d { first: 0, count: 0, point: 0 });
            return Ok(());
        }
        let (from, to) = (constants[0], constants[constants.len() - 1]);
        if from > to {
            let message = format!("the range from {from} to {to} is empty: swap its ends");
            return Err(self.error(Some(token), &message));
        }
        let window = self.group.add_range(code, (from, to), self.table);
        self.ops.push(Op::Match(window));
        Ok(())
    }
}
