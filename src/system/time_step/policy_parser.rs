//! Parser of the arguments of `Application.set_time_step_policy`. Each policy that a call may name
//! is one row of `ROWS`; the parent module implements the policies.

use super::{HISTORY_FRAMES_MAX, RANGE_SECONDS_MAX, SmoothingPolicy, StepPolicy, StepRange};
use engine_foundation::suggest;

/// One argument of a call such as `("smoothing", 11, 2, 0.1, "throttle", 60)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PolicyArgument<'a> {
    Name(&'a str),
    Number(f64),
}

/// Number that follows a policy's name.
struct PolicyParameter {
    name: &'static str,
    min: f64,
    max: f64,
    whole: bool,
    /// True if `min` itself is excluded.
    above: bool,
}

impl PolicyParameter {
    fn accepts(&self, value: f64) -> bool {
        // NaN fails the first comparison.
        (self.min..=self.max).contains(&value)
            && (!self.whole || value.fract() == 0.0)
            && (!self.above || value > self.min)
    }

    fn wanted(&self) -> String {
        let kind = if self.whole { "a whole number" } else { "a number" };
        if self.above {
            format!("{kind} above {} and at most {}", self.min, self.max)
        } else {
            format!("{kind} from {} to {}", self.min, self.max)
        }
    }
}

const fn real(name: &'static str, min: f64, max: f64) -> PolicyParameter {
    PolicyParameter { name, min, max, whole: false, above: false }
}
const fn above(name: &'static str, min: f64, max: f64) -> PolicyParameter {
    PolicyParameter { name, min, max, whole: false, above: true }
}
const fn whole_number(name: &'static str, min: f64, max: f64) -> PolicyParameter {
    PolicyParameter { name, min, max, whole: true, above: false }
}

/// Function that builds a policy from values that match the row's parameters.
type BuildPolicy = fn(&[f64]) -> Result<StepPolicy, String>;

struct PolicyRow {
    name: &'static str,
    parameters: &'static [PolicyParameter],
    build: BuildPolicy,
}

const RANGE: &[PolicyParameter] =
    &[real("min", 0.0, RANGE_SECONDS_MAX), real("max", 0.0, RANGE_SECONDS_MAX)];

const ROWS: &[PolicyRow] = &[
    PolicyRow {
        name: "smoothing",
        parameters: &[
            whole_number("history", 1.0, HISTORY_FRAMES_MAX as f64),
            whole_number("outliers", 0.0, (HISTORY_FRAMES_MAX / 2 - 1) as f64),
            above("factor", 0.0, 1.0),
        ],
        build: build_smoothing,
    },
    PolicyRow { name: "no_smoothing", parameters: &[], build: |_| Ok(StepPolicy::NoSmoothing) },
    PolicyRow {
        name: "fixed",
        parameters: &[above("seconds", 0.0, 10.0)],
        build: |values| Ok(StepPolicy::Fixed(values[0])),
    },
    PolicyRow {
        name: "throttle",
        parameters: &[real("fps", 1.0, 1000.0)],
        build: |values| Ok(StepPolicy::Throttle(values[0])),
    },
    PolicyRow { name: "no_throttle", parameters: &[], build: |_| Ok(StepPolicy::NoThrottle) },
    PolicyRow {
        name: "external_step_range",
        parameters: RANGE,
        build: |values| build_range(values).map(StepPolicy::ExternalStepRange),
    },
    PolicyRow {
        name: "system_step_range",
        parameters: RANGE,
        build: |values| build_range(values).map(StepPolicy::SystemStepRange),
    },
    PolicyRow {
        name: "external_multiplier",
        parameters: &[real("multiplier", 0.0, 1000.0)],
        build: |values| Ok(StepPolicy::ExternalMultiplier(values[0])),
    },
    PolicyRow {
        name: "debt_payback",
        parameters: &[whole_number("frames", 0.0, 1000.0)],
        build: |values| Ok(StepPolicy::DebtPayback(values[0] as u32)),
    },
    PolicyRow { name: "clear_history", parameters: &[], build: |_| Ok(StepPolicy::ClearHistory) },
];

fn build_smoothing(values: &[f64]) -> Result<StepPolicy, String> {
    let (history, outliers) = (values[0] as usize, values[1] as usize);
    if 2 * outliers >= history {
        return Err(format!(
            "dropping {outliers} outliers at each end leaves nothing of a history of {history}: \
             take a history above {}",
            2 * outliers
        ));
    }
    Ok(StepPolicy::Smoothing(SmoothingPolicy { history, outliers, factor: values[2] }))
}

fn build_range(values: &[f64]) -> Result<StepRange, String> {
    let (min, max) = (values[0], values[1]);
    if min > max {
        return Err(format!("'min' is {min} and above 'max', which is {max}"));
    }
    Ok(StepRange { min, max })
}

/// Parses the arguments of one call: each policy's name followed by its numbers. Errors name the
/// policy, the parameter and its valid values; for an unknown name, they suggest the nearest one.
pub fn parse_policy(arguments: &[PolicyArgument]) -> Result<Vec<StepPolicy>, String> {
    let names = || ROWS.iter().map(|row| row.name);
    if arguments.is_empty() {
        let list = names().collect::<Vec<_>>().join(", ");
        return Err(format!("no time-step policy is named; there are {list}"));
    }
    let mut policies = Vec::new();
    let mut rest = arguments.iter();
    let mut expected_position = String::from("first");
    while let Some(word) = rest.next() {
        let name = match *word {
            PolicyArgument::Name(name) => name,
            PolicyArgument::Number(value) => {
                return Err(format!(
                    "the name of a time-step policy must come {expected_position}, got {value}"
                ));
            }
        };
        let row = ROWS.iter().find(|row| row.name == name).ok_or_else(|| {
            format!("unknown time-step policy '{name}'{}", suggest::hint(name, names()))
        })?;
        policies.push(parse_row(row, &mut rest)?);
        expected_position = format!("after the {} of '{name}'", numbers(row.parameters.len()));
    }
    Ok(policies)
}

fn numbers(count: usize) -> String {
    if count == 1 { "1 number".into() } else { format!("{count} numbers") }
}

fn parse_row<'a>(
    row: &PolicyRow,
    rest: &mut impl Iterator<Item = &'a PolicyArgument<'a>>,
) -> Result<StepPolicy, String> {
    let at = |message: String| format!("time-step policy '{}': {message}", row.name);
    let mut values = Vec::with_capacity(row.parameters.len());
    for parameter in row.parameters {
        let (name, wanted) = (parameter.name, parameter.wanted());
        match rest.next() {
            Some(PolicyArgument::Number(value)) if parameter.accepts(*value) => values.push(*value),
            Some(PolicyArgument::Number(value)) => {
                return Err(at(format!("'{name}' must be {wanted}, got {value}")));
            }
            Some(PolicyArgument::Name(word)) => {
                return Err(at(format!("'{name}' must be {wanted}, got '{word}'")));
            }
            None => return Err(at(format!("'{name}' is missing, {wanted}"))),
        }
    }
    (row.build)(&values).map_err(at)
}

#[cfg(test)]
mod tests {
    use super::PolicyArgument::{Name, Number};
    use super::*;

    #[test]
    fn policies_chain_in_one_call() {
        let arguments = [
            Name("smoothing"),
            Number(11.0),
            Number(2.0),
            Number(0.1),
            Name("debt_payback"),
            Number(10.0),
            Name("throttle"),
            Number(60.0),
            Name("external_step_range"),
            Number(0.0),
            Number(100.0),
            Name("clear_history"),
        ];
        let wanted = [
            StepPolicy::Smoothing(SmoothingPolicy::DEFAULT),
            StepPolicy::DebtPayback(10),
            StepPolicy::Throttle(60.0),
            StepPolicy::ExternalStepRange(StepRange { min: 0.0, max: 100.0 }),
            StepPolicy::ClearHistory,
        ];
        assert_eq!(parse_policy(&arguments).unwrap(), wanted);
    }

    #[test]
    fn every_row_parses_its_arguments() {
        for row in ROWS {
            let mut arguments = vec![Name(row.name)];
            // Largest first is valid for a history and its outliers, smallest first for a range.
            arguments.extend(row.parameters.iter().map(|parameter| Number(parameter.max)));
            assert_eq!(
                parse_policy(&arguments).map(|policies| policies.len()),
                Ok(1),
                "{}",
                row.name
            );
        }
    }

    fn check(arguments: &[PolicyArgument], wanted: &str) {
        assert_eq!(parse_policy(arguments).unwrap_err(), wanted);
    }

    #[test]
    fn unknown_policy_names_are_reported() {
        check(
            &[Name("smothing"), Number(11.0)],
            "unknown time-step policy 'smothing', did you mean 'smoothing'?",
        );
        check(&[Name("vsync")], "unknown time-step policy 'vsync'");
        check(&[Number(3.0)], "the name of a time-step policy must come first, got 3");
        check(
            &[Name("throttle"), Number(60.0), Number(2.0)],
            "the name of a time-step policy must come after the 1 number of 'throttle', got 2",
        );
        check(
            &[Name("no_smoothing"), Number(2.0)],
            "the name of a time-step policy must come after the 0 numbers of 'no_smoothing', got \
             2",
        );
        check(
            &[],
            "no time-step policy is named; there are smoothing, no_smoothing, fixed, throttle, \
             no_throttle, external_step_range, system_step_range, external_multiplier, \
             debt_payback, clear_history",
        );
    }

    #[test]
    fn numbers_out_of_range_are_reported_with_the_range() {
        check(
            &[Name("smoothing"), Number(11.0)],
            "time-step policy 'smoothing': 'outliers' is missing, a whole number from 0 to 127",
        );
        check(
            &[Name("throttle"), Name("debt_payback"), Number(1.0)],
            "time-step policy 'throttle': 'fps' must be a number from 1 to 1000, \
             got 'debt_payback'",
        );
        check(
            &[Name("throttle"), Number(f64::NAN)],
            "time-step policy 'throttle': 'fps' must be a number from 1 to 1000, got NaN",
        );
        check(
            &[Name("fixed"), Number(0.0)],
            "time-step policy 'fixed': 'seconds' must be a number above 0 and at most 10, got 0",
        );
        check(
            &[Name("debt_payback"), Number(2.5)],
            "time-step policy 'debt_payback': 'frames' must be a whole number from 0 to 1000, \
             got 2.5",
        );
        check(
            &[Name("external_multiplier"), Number(f64::INFINITY)],
            "time-step policy 'external_multiplier': 'multiplier' must be a number from 0 to 1000, \
             got inf",
        );
        check(
            &[Name("system_step_range"), Number(0.2), Number(0.1)],
            "time-step policy 'system_step_range': 'min' is 0.2 and above 'max', which is 0.1",
        );
        check(
            &[Name("smoothing"), Number(4.0), Number(2.0), Number(0.1)],
            "time-step policy 'smoothing': dropping 2 outliers at each end leaves nothing of a \
             history of 4: take a history above 4",
        );
    }
}
