//! Expressions of the lint's parser: operators, operands, tables, functions and variables.

use super::parser::{
    CallArgument, FunctionRange, InitialValue, Operand, Parser, UseContext, UseEnding, VariableUse,
    unquoted,
};
use crate::source_scanner::SourceTokenKind;

impl<'a> Parser<'a> {
    /// Parses a list of expressions. An element is `None` if it is more than one operand.
    pub fn values(&mut self, context: UseContext) -> Option<Vec<Option<Operand<'a>>>> {
        let mut operands = vec![self.expression(context)?];
        while self.take(",") {
            operands.push(self.expression(context)?);
        }
        Some(operands)
    }

    pub fn condition(&mut self) -> Option<()> {
        self.expression(UseContext::Condition).map(drop)
    }

    /// Parses an expression, whose value is used in `context`. Returns its operand if it has only
    /// one.
    pub fn expression(&mut self, context: UseContext) -> Option<Option<Operand<'a>>> {
        self.nested(|parser| parser.expression_with(context, true))
    }

    fn expression_with(
        &mut self,
        context: UseContext,
        methods: bool,
    ) -> Option<Option<Operand<'a>>> {
        let (mut operand, mut is_bare) = self.operand(context, methods)?;
        // The operator before the last operand.
        let mut before = None;
        // The operands, as long as they are variables joined by `or`.
        let mut either = self.read_of(&operand, is_bare).map(|index| vec![index]);
        while let Some(operator) = self.operator() {
            let is_or = ["or", "||"].contains(&self.text(0));
            self.at += 1;
            self.bind(&operand, is_bare, before, operator);
            (operand, is_bare) = self.operand(context, methods)?;
            if operator != UseContext::Condition {
                self.bind(&operand, is_bare, None, operator);
            }
            before = Some(operator);
            let next = self.read_of(&operand, is_bare).filter(|_| is_or);
            either = either.zip(next).map(|(mut uses, next)| {
                uses.push(next);
                uses
            });
        }
        let has_choice = self.is("?");
        let is_alone = before.is_none() && !has_choice;
        if self.take("?") {
            self.bind(&operand, is_bare, before, UseContext::Condition);
            self.nested(|parser| parser.expression_with(context, false))?;
            self.expect(":")?;
            self.nested(|parser| parser.expression_with(context, methods))?;
        }
        Some(match either {
            Some(uses) if before.is_some() && !has_choice => Some(Operand::Either(uses)),
            _ => (is_alone && is_bare).then_some(operand),
        })
    }

    /// Returns the use of a variable that is the whole operand, and that is only read.
    fn read_of(&self, operand: &Operand<'a>, is_bare: bool) -> Option<usize> {
        match operand {
            Operand::Variable(index) if is_bare => {
                (self.script.uses[*index].ending == UseEnding::Read).then_some(*index)
            }
            _ => None,
        }
    }

    /// Returns what the operator ahead does with its operands.
    fn operator(&self) -> Option<UseContext> {
        let sign = self.text(0);
        match sign {
            "and" | "or" | "&&" | "||" | "??" => Some(UseContext::Condition),
            "==" | "~=" | "!=" => Some(UseContext::Compared),
            "+" | "-" | "*" | "/" | "%" | "^" | ".." | "<" | "<=" | ">" | ">=" | "&" | "|"
            | "~" | "<<" | ">>" | "~>>" => Some(UseContext::Operand),
            _ => None,
        }
    }

    /// Sets the context of an operand between two operators. The one that binds more tightly
    /// decides. An operand with unary operators has its context already.
    fn bind(
        &mut self,
        operand: &Operand<'a>,
        is_bare: bool,
        before: Option<UseContext>,
        operator: UseContext,
    ) {
        let rank = |context: UseContext| match context {
            UseContext::Operand => 2,
            UseContext::Compared => 1,
            _ => 0,
        };
        let is_tighter = before.is_none_or(|before| rank(operator) >= rank(before));
        if let (Operand::Variable(index), true) = (operand, is_bare && is_tighter) {
            self.script.uses[*index].context = operator;
        }
    }

    /// Parses an operand with its unary operators. Also returns true if it has
    /// none.
    fn operand(&mut self, context: UseContext, methods: bool) -> Option<(Operand<'a>, bool)> {
        let mut used = context;
        let mut is_alone = true;
        loop {
            used = match self.text(0) {
                "not" | "!" => UseContext::Condition,
                "-" | "#" | "~" => UseContext::Operand,
                _ => break,
            };
            self.at += 1;
            is_alone = false;
        }
        let token = *self.tokens.get(self.at)?;
        let operand = match (token.kind, token.text) {
            (SourceTokenKind::Text, text) => {
                self.at += 1;
                Operand::Text(unquoted(text))
            }
            (SourceTokenKind::Number, _) | (_, "nil" | "true" | "false" | "...") => {
                self.at += 1;
                Operand::Other
            }
            // `.5`
            (_, ".") => {
                self.at += 2;
                let number = self.tokens.get(self.at - 1)?;
                (number.kind == SourceTokenKind::Number).then_some(Operand::Other)?
            }
            (_, "{") => self.nested(Self::table)?,
            (_, "function") => {
                self.at += 1;
                self.function_body(None)?;
                Operand::Other
            }
            (_, "|" | "||") => {
                self.short_function()?;
                Operand::Other
            }
            _ if self.is_name(0) && self.text(1) == "->" => {
                self.short_function()?;
                Operand::Other
            }
            _ => match self.variable(methods)? {
                Some(index) => {
                    self.script.uses[index].context = used;
                    Operand::Variable(index)
                }
                None => Operand::Other,
            },
        };
        Some((operand, is_alone))
    }

    /// Parses a table constructor. Returns its fields if all have names.
    fn table(&mut self) -> Option<Operand<'a>> {
        self.expect("{")?;
        let mut fields = Some(Vec::new());
        while !self.is("}") {
            if self.take("[") {
                fields = None;
                self.expression(UseContext::Stored)?;
                self.expect("]")?;
                self.expect("=")?;
            } else if self.is_name(0) && self.text(1) == "=" {
                let name = self.name()?;
                self.at += 1;
                if let Some(fields) = &mut fields {
                    fields.push(name);
                }
            } else {
                fields = None;
            }
            self.expression(UseContext::Stored)?;
            if !(self.take(",") || self.take(";")) {
                break;
            }
        }
        self.expect("}")?;
        Some(Operand::Table(fields))
    }

    /// Parses a function from its parameters on. `this` is the value of `self` in a method.
    pub fn function_body(&mut self, this: Option<InitialValue<'a>>) -> Option<()> {
        self.functions += 1;
        let outer = self.function;
        let name = self.function_name();
        self.script.functions.push(FunctionRange { name, ..FunctionRange::default() });
        self.function = self.script.functions.len();
        let own = self.function - 1;
        let done = self.scope(|parser| {
            let first = match this {
                Some(this) => {
                    parser.declare("self", this);
                    InitialValue::Other
                }
                None => InitialValue::FirstParameter,
            };
            parser.expect("(")?;
            parser.parameters(")", first)?;
            let body = match parser.is_block_end() {
                true => parser.tokens.get(parser.at - 1)?.start + 1,
                false => parser.tokens.get(parser.at)?.start,
            };
            parser.script.functions[own].body = body;
            parser.look_up(body);
            parser.block()?;
            parser.script.functions[own].end = parser.tokens.get(parser.at)?.start;
            parser.expect("end")
        });
        self.functions -= 1;
        self.function = outer;
        done
    }

    fn parameters(&mut self, end: &str, first: InitialValue<'a>) -> Option<()> {
        let mut value = first;
        while !self.is(end) {
            if !self.take("...") {
                let name = self.name()?;
                self.declare(name, std::mem::replace(&mut value, InitialValue::Other));
            }
            if !self.take(",") {
                break;
            }
        }
        self.expect(end)
    }

    /// Parses `x -> value`, `|x, y| -> value` or `|| -> do … end`.
    fn short_function(&mut self) -> Option<()> {
        self.functions += 1;
        let outer = self.function;
        let (body, name) = (self.tokens.get(self.at)?.start, String::new());
        self.script.functions.push(FunctionRange { name, body, end: body });
        self.function = self.script.functions.len();
        let own = self.function - 1;
        let done = self.scope(|parser| {
            if parser.take("|") {
                parser.parameters("|", InitialValue::FirstParameter)?;
            } else if !parser.take("||") {
                let name = parser.name()?;
                parser.declare(name, InitialValue::FirstParameter);
            }
            parser.expect("->")?;
            if parser.take("do") {
                parser.block()?;
                return parser.expect("end");
            }
            parser.expression(UseContext::Stored).map(drop)
        });
        self.functions -= 1;
        self.function = outer;
        self.script.functions[own].end = self.tokens.get(self.at - 1)?.start + 1;
        done
    }

    /// Parses a variable or an expression in parentheses with all that follows it. Returns the use
    /// of the variable, if the value is its own or that of one call or index.
    pub fn variable(&mut self, methods: bool) -> Option<Option<usize>> {
        let mut use_index = None;
        if self.take("(") {
            self.expression(UseContext::Stored)?;
            self.expect(")")?;
        } else {
            let at = self.tokens.get(self.at)?.start;
            let name = self.name()?;
            use_index = Some(self.script.uses.len());
            self.script.uses.push(VariableUse {
                path: vec![name],
                local: self.find(name),
                at,
                ending: UseEnding::Read,
                context: UseContext::Stored,
            });
        }
        // The path grows until something else than a field follows.
        let mut path = use_index;
        loop {
            let optional = self.take("?.");
            let ending = if self.take("[") {
                self.expression(UseContext::Operand)?;
                self.expect("]")?;
                UseEnding::Indexed
            } else if self.is(":") && methods {
                self.at += 1;
                let name = self.name()?;
                self.take("?.");
                self.arguments()?;
                UseEnding::Method(name)
            } else if self.is_argument_start() {
                UseEnding::Called(self.arguments()?)
            } else if optional || self.take(".") {
                let name = self.name()?;
                if let Some(index) = path {
                    self.script.uses[index].path.push(name);
                }
                continue;
            } else {
                break;
            };
            if let Some(index) = path.take() {
                self.script.uses[index].ending = ending;
            }
            // After a call or an index, the value is no longer that of the path.
            let is_continued =
                [".", "[", "?."].contains(&self.text(0)) || (methods && self.is(":"));
            if is_continued || self.is_argument_start() {
                use_index = None;
            }
        }
        Some(use_index)
    }

    fn is_argument_start(&self) -> bool {
        let is_text =
            self.tokens.get(self.at).is_some_and(|token| token.kind == SourceTokenKind::Text);
        is_text || self.is("(") || self.is("{")
    }

    fn arguments(&mut self) -> Option<Vec<CallArgument<'a>>> {
        self.script.calls += 1;
        if self.take("(") {
            let mut values = Vec::new();
            if self.take(")") {
                return Some(values);
            }
            loop {
                values.push(self.argument()?);
                if !self.take(",") {
                    break;
                }
            }
            self.expect(")")?;
            return Some(values);
        }
        if self.is("{") {
            self.nested(Self::table)?;
            return Some(vec![CallArgument::Other]);
        }
        let token = *self.tokens.get(self.at)?;
        self.at += 1;
        let is_text = token.kind == SourceTokenKind::Text;
        is_text.then(|| vec![CallArgument::Text(unquoted(token.text))])
    }

    fn argument(&mut self) -> Option<CallArgument<'a>> {
        let first = *self.tokens.get(self.at)?;
        let is_prefix = first.kind == SourceTokenKind::Text && self.text(1) == "..";
        Some(match self.expression(UseContext::Argument)? {
            Some(Operand::Text(text)) => CallArgument::Text(text),
            _ if is_prefix => CallArgument::Prefixed(unquoted(first.text)),
            _ => CallArgument::Other,
        })
    }
}
