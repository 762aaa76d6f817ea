//! `engine completions`: prints a script that completes commands, flags and their values in a
//! shell, written from the command line's own description.

use super::command_table::{CommandEntry, FlagEntry, commands};
use engine_app::exit;
use engine_foundation::terminal;
use std::fmt::Write;

/// Print a script that completes the engine's commands in a shell
#[derive(clap::Args)]
#[command(after_help = "\
To use it from the next shell on:
  engine completions bash > ~/.local/share/bash-completion/completions/engine
  engine completions zsh > ~/.zfunc/_engine      (~/.zfunc in fpath, before compinit)
  engine completions fish > ~/.config/fish/completions/engine.fish")]
pub struct Args {
    /// The shell
    shell: Shell,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Shell {
    Bash,
    Fish,
    Zsh,
}

pub fn main(args: Args) -> i32 {
    let commands = with_help(commands());
    terminal::print(&match args.shell {
        Shell::Bash => bash(&commands),
        Shell::Fish => fish(&commands),
        Shell::Zsh => zsh(&commands),
    });
    exit::SUCCESS
}

/// Adds the command `help`, whose argument is another command.
fn with_help(mut commands: Vec<CommandEntry>) -> Vec<CommandEntry> {
    let values = commands.iter().map(|command| command.name.clone()).collect();
    let about = "Print the help of a command".to_string();
    let usage = "[COMMAND]".to_string();
    commands.push(CommandEntry { name: "help".to_string(), about, usage, flags: vec![], values });
    commands
}

/// Returns the flags of a command as people type them.
fn flag_names(command: &CommandEntry) -> String {
    let flags = command.flags.iter().map(|flag| format!("--{}", flag.long));
    flags.chain(["--help".to_string()]).collect::<Vec<_>>().join(" ")
}

fn bash(commands: &[CommandEntry]) -> String {
    let (mut values, mut names) = (String::new(), String::new());
    for command in commands {
        let name = &command.name;
        for FlagEntry { long, values: allowed, .. } in with_value(command) {
            let _ = match allowed.is_empty() {
                true => writeln!(values, "    {name}:--{long}) return ;;"),
                false => writeln!(values, "    {name}:--{long}) words='{}' ;;", allowed.join(" ")),
            };
        }
        let (flags, first) = (flag_names(command), command.values.join(" "));
        let _ = writeln!(names, "    {name}) flags='{flags}' first='{first}' ;;");
    }
    let all = commands.iter().map(|command| command.name.as_str()).collect::<Vec<_>>().join(" ");
    // Without an answer of the function, bash completes the names of files.
    format!(
        "# Completes the commands of engine {version} in bash.
_engine() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}
  local command=${{COMP_WORDS[1]}} words= flags= first=
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '{all} --help --version' -- \"$word\"))
    return
  fi
  case $command:$before in
{values}  esac
  if [[ -z $words ]]; then
    case $command in
{names}    esac
    if [[ $word == -* ]]; then words=$flags; else words=$first; fi
  fi
  if [[ -n $words ]]; then COMPREPLY=($(compgen -W \"$words\" -- \"$word\")); fi
}}
complete -o default -F _engine engine
",
        version = env!("CARGO_PKG_VERSION"),
    )
}

fn with_value(command: &CommandEntry) -> impl Iterator<Item = &FlagEntry> {
    command.flags.iter().filter(|flag| flag.value.is_some())
}

/// Returns a text in single quotes, for fish. Others need no quotes in quotes.
fn fish_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

fn fish(commands: &[CommandEntry]) -> String {
    let mut out =
        format!("# Completes the commands of engine {} in fish.\n", env!("CARGO_PKG_VERSION"));
    out += "complete -c engine -n __fish_use_subcommand -f\n";
    out += "complete -c engine -n __fish_use_subcommand -s V -l version -d 'Print the version'\n";
    for command in commands {
        let (name, about) = (&command.name, fish_quoted(&command.about));
        let _ = writeln!(out, "complete -c engine -n __fish_use_subcommand -a {name} -d {about}");
        let within = format!("complete -c engine -n '__fish_seen_subcommand_from {name}'");
        if !command.values.is_empty() {
            let _ = writeln!(out, "{within} -f -a '{}'", command.values.join(" "));
        }
        for flag in &command.flags {
            let short = flag.short.map(|letter| format!(" -s {letter}")).unwrap_or_default();
            let value = match (&flag.value, flag.values.is_empty()) {
                (None, _) => String::new(),
                (Some(_), true) => " -r".to_string(),
                (Some(_), false) => format!(" -x -a '{}'", flag.values.join(" ")),
            };
            let about = fish_quoted(&flag.about);
            let _ = writeln!(out, "{within} -l {}{short}{value} -d {about}", flag.long);
        }
    }
    out
}

/// Returns a text for a specification in single quotes, where zsh interprets brackets and colons.
fn zsh_quoted(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\'' => out += "'\\''",
            '[' | ']' | ':' | '\\' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

fn zsh(commands: &[CommandEntry]) -> String {
    let (mut names, mut cases) = (String::new(), String::new());
    for command in commands {
        let (name, about) = (&command.name, zsh_quoted(&command.about));
        let _ = writeln!(names, "    '{name}:{about}'");
        let _ = writeln!(cases, "    {name})\n      _arguments \\");
        for flag in &command.flags {
            let (long, about) = (&flag.long, zsh_quoted(&flag.about));
            let value = flag.value.as_ref().map(|value| match flag.values.is_empty() {
                true => format!(":{}:_files", zsh_quoted(value)),
                false => format!(":{}:({})", zsh_quoted(value), flag.values.join(" ")),
            });
            let (equals, value) = (if value.is_some() { "=" } else { "" }, value);
            let value = value.unwrap_or_default();
            let _ = writeln!(cases, "        '*--{long}{equals}[{about}]{value}' \\");
        }
        let first = match command.values.is_empty() {
            true => "*:file:_files".to_string(),
            false => format!("1:value:({})", command.values.join(" ")),
        };
        let _ = writeln!(cases, "        '--help[Print help]' \\\n        '{first}' ;;");
    }
    format!(
        "#compdef engine
# Completes the commands of engine {version} in zsh.
_engine() {{
  local -a commands=(
{names}  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
{cases}  esac
}}
_engine \"$@\"
",
        version = env!("CARGO_PKG_VERSION"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flag(long: &str, value: Option<&str>, values: &[&str], about: &str) -> FlagEntry {
        FlagEntry {
            long: long.to_string(),
            short: None,
            value: value.map(String::from),
            values: values.iter().map(ToString::to_string).collect(),
            about: about.to_string(),
        }
    }

    fn sample() -> [CommandEntry; 2] {
        let flags = vec![
            flag("kind", Some("KIND"), &["a", "b"], "It's [one: two]"),
            flag("out", Some("FILE"), &[], "A file"),
            flag("quiet", None, &[], "No text"),
        ];
        let shell = CommandEntry {
            name: "shell".to_string(),
            about: "Print".to_string(),
            usage: "<SHELL>".to_string(),
            flags: Vec::new(),
            values: vec!["x".to_string(), "y".to_string()],
        };
        let run = CommandEntry {
            name: "run".to_string(),
            about: "Play".to_string(),
            usage: "[OPTIONS]".to_string(),
            flags,
            values: Vec::new(),
        };
        [run, shell]
    }

    #[test]
    fn help_completes_the_names_of_commands() {
        let all = with_help(sample().into_iter().collect());
        assert!(bash(&all).contains("    help) flags='--help' first='run shell' ;;"));
        let wanted = "complete -c engine -n '__fish_seen_subcommand_from help' -f -a 'run shell'\n";
        assert!(fish(&all).contains(wanted));
        assert!(zsh(&all).contains("    'help:Print the help of a command'\n"));
    }

    #[test]
    fn scripts_have_flags_values_and_quoted_texts() {
        let bash = bash(&sample());
        for wanted in [
            "    run:--kind) words='a b' ;;\n    run:--out) return ;;\n  esac",
            "    run) flags='--kind --out --quiet --help' first='' ;;",
            "    shell) flags='--help' first='x y' ;;",
        ] {
            assert!(bash.contains(wanted), "{bash}");
        }
        let fish = fish(&sample());
        let within = "complete -c engine -n '__fish_seen_subcommand_from";
        for wanted in [
            format!("{within} run' -l kind -x -a 'a b' -d 'It\\'s [one: two]'\n"),
            format!("{within} run' -l out -r -d 'A file'\n"),
            format!("{within} shell' -f -a 'x y'\n"),
        ] {
            assert!(fish.contains(&wanted), "{fish}");
        }
        let zsh = zsh(&sample());
        for wanted in [
            "        '*--kind=[It'\\''s \\[one\\: two\\]]:KIND:(a b)' \\\n",
            "        '*--out=[A file]:FILE:_files' \\\n        '*--quiet[No text]' \\\n",
            "        '1:value:(x y)' ;;\n",
        ] {
            assert!(zsh.contains(wanted), "{zsh}");
        }
    }
}
