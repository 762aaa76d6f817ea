//! Expressions of the lint's parser: operators, operands, tables, functions and variables.

use super::parser::{InitialValue, Operand, Parser, UseContext, UseEnding, VariableUse};
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
        while let Some(operator) = self.operator() {
            self.at += 1;
            self.bind(&operand, is_bare, before, operator);
            (operand, is_bare) = self.operand(context, methods)?;
            if operator != UseContext::Condition {
                self.bind(&operand, is_bare, None, operator);
            }
            before = Some(operator);
        }
        let is_alone = before.is_none() && !self.is("?");
        if self.take("?") {
            self.bind(&operand, is_bare, before, UseContext::Condition);
            self.nested(|parser| parser.expression_with(context, false))?;
            self.expect(":")?;
            self.nested(|parser| parser.expression_with(context, methods))?;
        }
        Some((is_alone && is_bare).then_some(operand))
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
                self.function_body(false)?;
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

    pub fn function_body(&mut self, is_method: bool) -> Option<()> {
        self.functions += 1;
        let done = self.scope(|parser| {
            if is_method {
                parser.declare("self", InitialValue::Other);
            }
            parser.expect("(")?;
            parser.parameters(")")?;
            parser.block()?;
            parser.expect("end")
        });
        self.functions -= 1;
        done
    }

    fn parameters(&mut self, end: &str) -> Option<()> {
        while !self.is(end) {
            if !self.take("...") {
                let name = self.name()?;
                self.declare(name, InitialValue::Other);
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
        let done = self.scope(|parser| {
            if parser.take("|") {
                parser.parameters("|")?;
            } else if !parser.take("||") {
                let name = parser.name()?;
                parser.declare(name, InitialValue::Other);
            }
            parser.expect("->")?;
            if parser.take("do") {
                parser.block()?;
                return parser.expect("end");
            }
            parser.expression(UseContext::Stored).map(drop)
        });
        self.functions -= 1;
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

    /// Parses the arguments of a call. Returns the string literals among them.
    fn arguments(&mut self) -> Option<Vec<Option<&'a str>>> {
        let text = |operand: Option<Operand<'a>>| match operand {
            Some(Operand::Text(text)) => Some(text),
            _ => None,
        };
        if self.take("(") {
            if self.take(")") {
                return Some(Vec::new());
            }
            let values = self.values(UseContext::Argument)?;
            self.expect(")")?;
            return Some(values.into_iter().map(text).collect());
        }
        if self.is("{") {
            self.nested(Self::table)?;
            return Some(vec![None]);
        }
        let token = *self.tokens.get(self.at)?;
        self.at += 1;
        (token.kind == SourceTokenKind::Text).then(|| vec![Some(unquoted(token.text))])
    }
}

/// Returns the content of a string literal, as it is written.
fn unquoted(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('[') else { return &text[1..text.len() - 1] };
    let level = inner.bytes().take_while(|byte| *byte == b'=').count();
    &text[level + 2..text.len() - level - 2]
}
