//! The command line: the table of commands. Each command's behavior and flags are in src/command/.

use crate::version::{self, BuildFacts};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use engine_app::exit;
use engine_foundation::{panic, terminal};
use engine_platform as platform;
#[cfg(not(feature = "development"))]
use std::ffi::OsString;

/// A Lua-first game runtime: a game is a folder with a main.lua.
#[derive(Parser)]
#[cfg_attr(
    not(feature = "development"),
    command(
        about = "A Lua-first game runtime: plays bundles of games",
        disable_help_subcommand = true
    )
)]
#[command(
    name = "engine",
    max_term_width = 100,
    arg_required_else_help = true,
    args_conflicts_with_subcommands = true
)]
struct Cli {
    /// Print the version
    #[arg(short = 'V', long)]
    version: bool,
    /// With --version: also print the target, the features and the commit
    #[arg(long, requires = "version")]
    verbose: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

/// Returns the description of the command line, complete with the flags that all commands have.
pub(crate) fn description() -> clap::Command {
    let mut description = Cli::command();
    description.build();
    description
}

#[derive(Subcommand)]
#[cfg(feature = "development")]
enum Command {
    Check(crate::check::Args),
    Compile(crate::compile::Args),
    Completions(crate::completions::Args),
    Console(crate::console::Args),
    Cp(crate::content_change::CopyArgs),
    Dap(crate::dap::Args),
    Deps(crate::deps::Args),
    Diff(crate::diff::Args),
    Docs(crate::docs::Args),
    Explain(crate::explain::Args),
    Font(crate::font::Args),
    Merge(crate::merge::Args),
    Mv(crate::content_change::MoveArgs),
    New(crate::new::Args),
    Package(Box<crate::package::Args>),
    Replace(crate::content_change::ReplaceArgs),
    Report(crate::report::Args),
    Rm(crate::content_change::RemoveArgs),
    Run(Box<crate::run::Args>),
    Script(crate::script::Args),
    Test(Box<crate::test::Args>),
    Undo(crate::content_change::UndoArgs),
    UpgradeProject(crate::upgrade_project::Args),
}

#[derive(Subcommand)]
#[cfg(not(feature = "development"))]
enum Command {
    Run(Box<crate::run::Args>),
    /// Any other command. Those for the development of games are not in this executable.
    #[command(external_subcommand)]
    Absent(Vec<OsString>),
}

/// Plays the game that is appended to the executable, or runs the command line's command. Returns
/// the exit code.
pub fn main(facts: &BuildFacts) -> i32 {
    platform::use_small_pages();
    platform::limit_malloc_arenas();
    platform::silence_driver_warnings();
    platform::enable_terminal_colors();
    panic::install_panic_hook();
    let run = std::panic::catch_unwind(|| crate::run::appended().unwrap_or_else(|| command(facts)));
    let code = run.unwrap_or_else(|_| {
        engine_foundation::error_line!("error: {}", panic::take_panic());
        exit::ENGINE
    });
    match terminal::output_error() {
        Some(reason) if code == exit::SUCCESS => {
            engine_foundation::error_line!("error: standard output cannot be written: {reason}");
            exit::FAILED
        }
        _ => code,
    }
}

/// Prints help or a usage error. The text can repeat an argument. If an argument contains terminal
/// control characters, the text is printed without colors and with those characters escaped.
fn show(text: &clap::Error) {
    let controls_terminal = |argument: std::ffi::OsString| {
        argument.to_string_lossy().chars().any(terminal::controls_terminal)
    };
    if !std::env::args_os().any(controls_terminal) {
        // If the pipe is closed, the text is lost, because there is no other place to report it.
        let _ = text.print();
        return;
    }
    let plain = text.render().to_string();
    match text.use_stderr() {
        true => terminal::print_error(&plain),
        false => terminal::print(&plain),
    }
}

/// Returns the arguments of the process. A search of `engine docs` can begin with hyphens if it has
/// several words: `engine docs "--replay file"`.
fn arguments() -> Vec<std::ffi::OsString> {
    let mut arguments: Vec<_> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|command| command == "docs") {
        for argument in &mut arguments[2..] {
            let Some(text) = argument.to_str() else { continue };
            if text.starts_with('-') && text.contains(char::is_whitespace) {
                *argument = text.trim_start_matches('-').into();
            }
        }
    }
    arguments
}

fn command(facts: &BuildFacts) -> i32 {
    let missing = || Cli::command().error(ErrorKind::MissingSubcommand, "name a command");
    let parsed =
        Cli::try_parse_from(arguments()).and_then(|cli| match (cli.version, cli.command) {
            (true, _) => {
                terminal::print(&version::text(facts, cli.verbose));
                Ok(None)
            }
            (false, Some(command)) => Ok(Some(command)),
            (false, None) => Err(missing()),
        });
    match parsed {
        Ok(Some(command)) => run(command),
        Ok(None) => exit::SUCCESS,
        Err(message) => {
            show(&message);
            if message.use_stderr() { exit::USAGE } else { exit::SUCCESS }
        }
    }
}

/// Returns the message for a command that an executable without the parts for development lacks.
#[cfg(any(test, not(feature = "development")))]
fn absent_message(name: &str) -> String {
    format!(
        "this executable of the engine has no command '{name}': it only plays bundles, with \
         `engine run game.bundle`. An engine for development has other commands"
    )
}

#[cfg(not(feature = "development"))]
fn run(command: Command) -> i32 {
    match command {
        Command::Run(args) => crate::run::main(*args),
        Command::Absent(words) => {
            let name = words.first().map(|word| word.to_string_lossy());
            engine_foundation::error_line!("error: {}", absent_message(&name.unwrap_or_default()));
            exit::USAGE
        }
    }
}

#[cfg(feature = "development")]
fn run(command: Command) -> i32 {
    match command {
        Command::Check(args) => crate::check::main(args),
        Command::Compile(args) => crate::compile::main(args),
        Command::Completions(args) => crate::completions::main(args),
        Command::Console(args) => crate::console::main(args),
        Command::Cp(args) => crate::content_change::main_copy(args),
        Command::Dap(args) => crate::dap::main(args),
        Command::Deps(args) => crate::deps::main(args),
        Command::Diff(args) => crate::diff::main(args),
        Command::Docs(args) => crate::docs::main(args),
        Command::Explain(args) => crate::explain::main(args),
        Command::Font(args) => crate::font::main(args),
        Command::Merge(args) => crate::merge::main(args),
        Command::Mv(args) => crate::content_change::main_move(args),
        Command::New(args) => crate::new::main(args),
        Command::Package(args) => crate::package::main(*args),
        Command::Replace(args) => crate::content_change::main_replace(args),
        Command::Report(args) => crate::report::main(args),
        Command::Rm(args) => crate::content_change::main_remove(args),
        Command::Run(args) => crate::run::main(*args),
        Command::Script(args) => crate::script::main(args),
        Command::Test(args) => crate::test::main(*args),
        Command::Undo(args) => crate::content_change::main_undo(args),
        Command::UpgradeProject(args) => crate::upgrade_project::main(args),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_about_absent_commands_name_another_one() {
        let wanted = "this executable of the engine has no command 'test': it only plays bundles, \
                      with `engine run game.bundle`. An engine for development has other commands";
        assert_eq!(absent_message("test"), wanted);
    }
}
