//! The words of test suites, which the test library (lua/test/) puts around a suite's file and no
//! game sees. What `test.frames` and its kin take is read off their comments.

use super::model::{FunctionDoc, Source};
use super::prelude_docs::{self, Block};
use super::standard::Declared;
use crate::script::prelude;

const NAME: (&str, &str, &str) = ("name", "string", "what it is about; `#words` are tags");
const TO_RUN: (&str, &str, &str) = ("callback", "fun()", "the function to run");
const BODY: (&str, &str, &str) = ("body", "fun()", "the blocks and tests in it");
const TEST: (&str, &str, &str) = ("body", "fun()", "the test, which fails where it raises");
const CODE: (&str, &str, &str) = ("body", "fun()?", "what it will be");

const fn word(
    name: &'static str,
    params: &'static [(&'static str, &'static str, &'static str)],
    doc: &'static str,
) -> Declared {
    Declared { name, params, returns: &[], doc }
}

/// Functions that stand alone, in the order in which one meets them.
pub const WORDS: &[Declared] = &[
    word("describe", &[NAME, BODY], "A block of tests that belong together. Blocks nest."),
    word("context", &[NAME, BODY], "The same as `describe`."),
    word("it", &[NAME, TEST], "A test."),
    word("spec", &[NAME, TEST], "The same as `it`."),
    word("pending", &[NAME, CODE], "A test that is still to be written, or the end of one."),
    word("before_each", &[TO_RUN], "Runs before each test of the block."),
    word("after_each", &[TO_RUN], "Runs after each test of the block, also one that failed."),
    word("setup", &[TO_RUN], "Runs once, before the block's tests."),
    word("teardown", &[TO_RUN], "Runs once, after the block's tests."),
    word("strict_setup", &[TO_RUN], "The same as `setup`."),
    word("strict_teardown", &[TO_RUN], "The same as `teardown`."),
    word("lazy_setup", &[TO_RUN], "Runs once, before the first test of the block that is run."),
    word("lazy_teardown", &[TO_RUN], "Runs once, at the end, where a test of the block was run."),
    word("insulate", &[NAME, BODY], "A block after which globals and modules are as before it."),
    word("expose", &[NAME, BODY], "A block whose globals and modules stay after it."),
    word("finally", &[TO_RUN], "In a test: runs when the test is over, also where it failed."),
];

/// Assertions of one word. Each also follows `is_`, `are_`, `has_`, and `is_not_` or `no_`.
pub const ASSERTIONS: &[(&str, &str, &str)] = &[
    ("equals", "expected: any, passed: any", "`==` holds"),
    ("same", "expected: any, passed: any", "both hold the same, tables key by key"),
    ("near", "expected: number, passed: number, tolerance: number", "they differ by no more"),
    ("matches", "pattern: string, passed: string", "a Lua pattern is found in the text"),
    ("unique", "list: table", "no item is there twice"),
    ("truthy", "passed: any", "it is neither nil nor false"),
    ("falsy", "passed: any", "it is nil or false"),
    ("is_true", "passed: any", "it is true"),
    ("is_false", "passed: any", "it is false"),
    ("is_nil", "passed: any", "it is nil"),
    ("is_not_nil", "passed: any", "it is not nil"),
    ("is_number", "passed: any", "it is a number; string, table, function and the others alike"),
    ("has_error", "body: fun(), message?: any", "the function raises, with exactly this message"),
    ("has_no_error", "body: fun()", "the function does not raise"),
    ("error_matches", "body: fun(), pattern: string", "it raises, with a message of this pattern"),
];

/// The functions of the table `test`.
pub fn functions() -> Vec<FunctionDoc> {
    let files = prelude::TEST_FILES.iter();
    let blocks = files.flat_map(|(file, text)| prelude_docs::read(file, text).0);
    let mut functions: Vec<FunctionDoc> = blocks
        .filter_map(|block| match block {
            Block::Function(function) if function.module == "engine_test" => Some(function),
            _ => None,
        })
        .collect();
    for function in &mut functions {
        function.module = "test".to_string();
        if let Source::Lua(file, _) = &mut function.source {
            *file = format!("lua/{file}.lua");
        }
    }
    functions
}

/// The definitions of the table `assert`, and of those that only a suite's author will ask for.
pub fn definitions() -> String {
    let mut text = String::from(
        "\n---@class Assertions\n---@overload fun(value: any, message?: any): any\n\
         ---@field [string] any modifiers (is, has, no) and assertions, joined by underscores\n",
    );
    for (name, params, words) in ASSERTIONS {
        text += &format!("---@field {name} fun({params}) {words}\n");
    }
    text + "\n---@type Assertions\nassert = {}\n\n---@type any\nspy = nil\n---@type any\nstub = nil\n\
            ---@type any\nmock = nil\n---@type any\nmatch = nil\n\n---@class TestModule\n\
            ---@overload fun(name: string, body: fun())\ntest = {}\n"
}
