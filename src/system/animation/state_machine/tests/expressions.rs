//! Tests of expressions: values, errors, limits.

use super::super::expression::ExpressionTable;
use super::super::expression_parser::{MatchGroup, parse};
use super::super::match_weight::{MatchWindow, windows};

const VARIABLES: [&str; 3] = ["speed", "x", "y"];

fn value(text: &str, variables: [f32; 3]) -> f32 {
    let mut table = ExpressionTable::default();
    let mut group = MatchGroup::default();
    let expression = match parse((text, 1), &VARIABLES, &mut table, &mut group) {
        Ok(expression) => expression,
        Err(message) => panic!("{text}: {message}"),
    };
    group.finish(&mut table).unwrap();
    table.check(expression, VARIABLES.len()).unwrap();
    let value = table.evaluate(expression, &variables);
    // Short expressions are evaluated without the stack.
    let ops = table.ops(expression);
    assert_eq!(table.evaluate_ops::<true>(ops, 0, &variables).to_bits(), value.to_bits(), "{text}");
    value
}

/// Weights of the expressions of one blend.
fn weights(texts: &[&str], variables: [f32; 3]) -> Vec<f32> {
    let mut table = ExpressionTable::default();
    let mut group = MatchGroup::default();
    let all: Vec<_> = texts
        .iter()
        .map(|text| parse((text, 1), &VARIABLES, &mut table, &mut group).unwrap())
        .collect();
    group.finish(&mut table).unwrap();
    all.iter().map(|expression| table.evaluate(*expression, &variables)).collect()
}

#[test]
fn expressions_have_the_usual_precedence() {
    for (text, wanted) in [
        ("1 + 2 * 3", 7.0),
        ("(1 + 2) * 3", 9.0),
        ("10 - 4 - 3", 3.0),
        ("12 / 2 / 3", 2.0),
        ("-2 * -3", 6.0),
        ("2 - -3", 5.0),
        ("speed / 2", 1.5),
        ("1 < 2 and 2 <= 2", 1.0),
        ("1 > 2 or 2 >= 3", 0.0),
        ("1 == 1 and 1 != 1", 0.0),
        ("not 1 < 2", 0.0),
        ("not 0 and 1", 1.0),
        ("true or false", 1.0),
        ("x + y > speed", 0.0),
        ("min(speed, 2) + max(speed, 4)", 6.0),
        ("clamp(speed, 0, 1)", 1.0),
        ("abs(0 - speed)", 3.0),
        ("lerp(10, 20, 0.25)", 12.5),
        ("match(speed, 3)", 1.0),
        ("match(speed, 3.25)", 0.75),
        ("match_range(speed, 2, 4)", 1.0),
    ] {
        assert_eq!(value(text, [3.0, 1.0, 2.0]), wanted, "{text}");
    }
}

#[test]
fn results_are_always_finite() {
    for text in [
        "speed / x",
        "x / x",
        "speed * speed * speed * speed * speed",
        "speed / (x - x)",
        "lerp(speed, speed * speed * speed * speed * speed, 1)",
        "match_2d(speed * speed, speed, 1, 1)",
        "match(speed * speed * speed * speed, 2)",
    ] {
        let result = value(text, [1e9, 0.0, 0.0]);
        assert!(result.is_finite(), "{text} is {result}");
    }
    assert_eq!(value("1 / x + 2", [0.0; 3]), 2.0);
    assert_eq!(value("speed / x", [5.0, 0.0, 0.0]), 0.0);
}

#[test]
fn matches_of_one_blend_are_linear_between_neighbours() {
    let texts = ["match(speed, 2)", "match(speed, 5)", "match(speed, 6)"];
    for (speed, wanted) in [
        (-3.0, [1.0, 0.0, 0.0]),
        (2.0, [1.0, 0.0, 0.0]),
        (3.5, [0.5, 0.5, 0.0]),
        (5.0, [0.0, 1.0, 0.0]),
        (5.25, [0.0, 0.75, 0.25]),
        (90.0, [0.0, 0.0, 1.0]),
    ] {
        assert_eq!(weights(&texts, [speed, 0.0, 0.0]), wanted, "at {speed}");
    }
    // Another number is another group, and other factors do not matter.
    let texts = ["match(speed, 0) * 2", "match(speed, 4)", "match(x + 1, 1)", "match(x + 1, 2)"];
    assert_eq!(weights(&texts, [1.0, 0.5, 0.0]), [1.5, 0.25, 0.5, 0.5]);
}

#[test]
fn ranges_fall_to_the_nearest_other_range() {
    let texts = ["match_range(speed, 0, 1)", "match_range(speed, 3, 4)", "match(speed, 8)"];
    assert_eq!(weights(&texts, [0.5, 0.0, 0.0]), [1.0, 0.0, 0.0]);
    assert_eq!(weights(&texts, [2.0, 0.0, 0.0]), [0.5, 0.5, 0.0]);
    assert_eq!(weights(&texts, [6.0, 0.0, 0.0]), [0.0, 0.5, 0.5]);
    let overlapping = windows(&[(0.0, 3.0), (2.0, 5.0)]);
    let second = MatchWindow { from: 2.0, to: 5.0, fall_before: 2.0, fall_after: 0.0 };
    assert_eq!(overlapping[1], second);
}

#[test]
fn points_have_their_own_weight_alone() {
    let texts = [
        "match_2d(x, y, 0, 0)",
        "match_2d(x, y, 1, 0)",
        "match_2d(x, y, 0, 1)",
        "match_2d(x, y, 0 - 1, 0)",
    ];
    assert_eq!(weights(&texts, [0.0, 0.0, 0.0]), [1.0, 0.0, 0.0, 0.0]);
    assert_eq!(weights(&texts, [0.0, 1.0, 0.0]), [0.0, 1.0, 0.0, 0.0]);
    assert_eq!(weights(&texts, [0.0, 0.5, 0.0]), [0.5, 0.5, 0.0, 0.0]);
    let far = weights(&texts, [0.0, 90.0, 0.0]);
    assert!(far[1] == 1.0 && far[3] == 0.0, "{far:?}");
    // Points in the same position do not divide by zero.
    assert_eq!(weights(&["match_2d(x, y, 1, 1)", "match_2d(x, y, 1, 1)"], [0.0; 3]), [1.0, 1.0]);
}

#[test]
fn errors_name_the_token() {
    let deep = format!("{}1{}", "(".repeat(40), ")".repeat(40));
    let long = "1 + ".repeat(100) + "speed";
    let wide = "1 + speed * ".repeat(12) + "(speed + (speed * (1 + (speed)))) * speed";
    let text = "x".repeat(2000);
    let right = format!("{}speed{}", "min(1, ".repeat(17), ")".repeat(17));
    for (text, wanted) in [
        ("", "column 1: it ends early: a number, a variable or a function is missing"),
        ("speed +", "column 8: it ends early"),
        ("sped * 2", "column 1: there is no variable 'sped', did you mean 'speed'?"),
        ("2 * mach(speed, 2)", "column 5: there is no function 'mach', did you mean 'match'?"),
        ("match(speed)", "column 1: 'match' takes 2 arguments, and got 1"),
        ("match(speed, x)", "argument 2 must be a number without variables"),
        ("match_range(speed, 4, 2)", "the range from 4 to 2 is empty: swap its ends"),
        ("speed = 2", "column 7: unexpected '=': a comparison is '=='"),
        ("!speed", "column 1: unexpected '!': the negation is 'not'"),
        ("(speed", "column 7: it ends early: ')' is missing"),
        ("speed 2", "column 7: unexpected '2': the expression is complete before it"),
        ("1e99", "column 1: '1e99' is no number from 0 to 1000000000"),
        ("1.2.3", "column 1: '1.2.3' is no number"),
        ("speed # 2", "column 7: unexpected '#'"),
        ("1 / 0", "column 3: unexpected '/': it divides by 0"),
        ("2 + speed / (3 - 3) * x", "column 11: unexpected '/': it divides by 0"),
        ("match(speed, 1 / 0)", "column 16: unexpected '/': it divides by 0"),
        ("1e9 * 1e9 * 1e9 * 1e9 * 1e9", "column 23: unexpected '*': its result is too large"),
        ("speed * (1e9 / (1 / 1e9 / 1e9 / 1e9 / 1e9))", "column 14: unexpected '/': its result is"),
        ("lerp(0 - 1e9 * 1e9 * 1e9 * 1e9, 1e9, 1e9)", "column 1: unexpected 'lerp': its result"),
        ("and 1", "column 1: unexpected 'and'"),
        (&deep, "nested more than 32 deep (EXPRESSION_DEPTH_MAX)"),
        (&long, "at most 128 (EXPRESSION_OPS_MAX)"),
        (&text, "at most 1024 (EXPRESSION_BYTES_MAX)"),
        (&right, "needs more than 16 values at once (EXPRESSION_STACK_MAX)"),
    ] {
        let mut table = ExpressionTable::default();
        let error =
            parse((text, 1), &VARIABLES, &mut table, &mut MatchGroup::default()).unwrap_err();
        assert!(error.contains(wanted), "{text}: {error}");
    }
    assert!(
        parse(
            (wide.as_str(), 1),
            &VARIABLES,
            &mut ExpressionTable::default(),
            &mut MatchGroup::default()
        )
        .is_ok()
    );
}

#[test]
fn each_division_by_zero_is_reported_once() {
    let text = "variables = { x = 0 y = 1 }\nlayers = [ { weight = \"1 / y\" states = {\n\
                a = { clip = \"a\" speed = \"2 / x + 1 / x\" }\n b = { clip = \"b\" } } } ]";
    let mut it = super::Character::new(text, &[]);
    assert_eq!(it.machine.take_zero_division(), None);
    it.set("y", 0.0);
    it.update(0.1);
    // The weight of the layer is before the speed in the file.
    assert_eq!(it.machine.take_zero_division(), Some(2));
    // The other one divides again in the next update.
    assert_eq!(it.machine.take_zero_division(), None);
    it.update(0.1);
    assert_eq!(it.machine.take_zero_division(), Some(3));
    it.update(0.1);
    assert_eq!(it.machine.take_zero_division(), None, "once");
    let read = super::read_state_machine(&it.machine.write()).unwrap();
    assert_eq!(read, it.machine, "lines are stored");
    it.machine = read;
    it.set("y", 1.0);
    it.update(0.1);
    assert_eq!(it.machine.take_zero_division(), Some(3));
}

#[test]
fn each_overflow_is_reported_once_and_gives_zero() {
    let text = "variables = { x = 1e9 y = 1e9 }\nlayers = [ { weight = \"1 + y / 1e9\" states = {\n\
                a = { clip = \"a\"\n speed = \"1 + x * x * x * x * x\" } } } ]";
    let mut it = super::Character::new(text, &[]);
    assert_eq!(it.machine.take_overflow(), None);
    it.update(0.1);
    assert_eq!(it.machine.take_overflow(), Some(4));
    assert_eq!(it.machine.take_zero_division(), None);
    it.update(0.1);
    assert_eq!(it.machine.take_overflow(), None, "once");
    // 1 + 0: a second of the clip passes in a second.
    let table = &it.machine.table;
    let speed = it.machine.states[0].speeds[0];
    assert_eq!(table.evaluate(speed, &[1e9, 1e9]), 1.0);
    assert_eq!(table.evaluate(speed, &[2.0, 1e9]), 33.0);
}
