//! The commands and their flags as plain data, read from the command line's description: for
//! completions of shells and the manual page.

use super::cli;

/// A command of the engine.
pub struct CommandEntry {
    pub name: String,
    /// First sentence of the help.
    pub about: String,
    /// The usage line, without the name of the program.
    pub usage: String,
    /// Flags that people see, without those of every command.
    pub flags: Vec<FlagEntry>,
    /// Values of the first argument without a flag; empty if any text or path can be there.
    pub values: Vec<String>,
}

/// A flag of a command.
pub struct FlagEntry {
    pub long: String,
    pub short: Option<char>,
    /// Name of the value; `None` for flags without one.
    pub value: Option<String>,
    /// The values that are accepted; empty if any text or path can be there.
    pub values: Vec<String>,
    /// The effect of the flag, on one line.
    pub about: String,
}

/// Returns all commands that people see, in order.
pub fn commands() -> Vec<CommandEntry> {
    let description = cli::description();
    let shown = description.get_subcommands().filter(|it| !it.is_hide_set());
    shown.filter(|it| it.get_name() != "help").map(entry).collect()
}

fn entry(command: &clap::Command) -> CommandEntry {
    let first = command.get_positionals().next();
    let usage = command.clone().render_usage().to_string();
    let usage = usage.split_whitespace().skip_while(|word| *word != command.get_name());
    CommandEntry {
        name: command.get_name().to_string(),
        about: command.get_about().map(|text| one_line(&text.to_string())).unwrap_or_default(),
        usage: usage.skip(1).collect::<Vec<_>>().join(" "),
        flags: command.get_arguments().filter_map(flag).collect(),
        values: first.map(values).unwrap_or_default(),
    }
}

fn flag(argument: &clap::Arg) -> Option<FlagEntry> {
    let long = argument.get_long().filter(|name| *name != "help" && !argument.is_hide_set())?;
    let takes_value = argument.get_action().takes_values();
    let names = argument.get_value_names().unwrap_or_default();
    let name = names.first().map_or_else(|| long.to_uppercase(), ToString::to_string);
    Some(FlagEntry {
        long: long.to_string(),
        short: argument.get_short(),
        value: takes_value.then_some(name),
        values: if takes_value { values(argument) } else { Vec::new() },
        about: argument.get_help().map(|text| one_line(&text.to_string())).unwrap_or_default(),
    })
}

fn values(argument: &clap::Arg) -> Vec<String> {
    let shown = argument.get_possible_values().into_iter().filter(|value| !value.is_hide_set());
    shown.map(|value| value.get_name().to_string()).collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_commands_with_flags_and_values() {
        let commands = commands();
        let names: Vec<&str> = commands.iter().map(|command| command.name.as_str()).collect();
        assert!(names.is_sorted() && names.contains(&"run") && !names.contains(&"help"));
        let run = commands.iter().find(|command| command.name == "run").unwrap();
        assert_eq!(run.about, "Play a game");
        assert!(run.usage.starts_with("[OPTIONS] [FOLDER|BUNDLE]"), "{}", run.usage);
        let flag = |name: &str| run.flags.iter().find(|flag| flag.long == name).unwrap();
        assert_eq!(flag("headless").value, None);
        assert_eq!(flag("frames").value.as_deref(), Some("N"));
        assert!(flag("frames").values.is_empty());
        assert_eq!(flag("renderer").values, ["auto", "gpu", "software", "null"]);
        assert!(run.flags.iter().all(|flag| flag.long != "help"));
        for command in &commands {
            assert!(!command.about.is_empty(), "{}", command.name);
            for flag in &command.flags {
                assert!(!flag.about.is_empty(), "{} --{}", command.name, flag.long);
            }
        }
    }
}
