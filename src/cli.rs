//! The command line: the one table of commands. What each does, and its flags, are in src/tool/.

use crate::app::exit;
use crate::foundation::{fault, terminal};
use crate::system::platform;
use crate::tool;
use clap::{Parser, Subcommand};

/// A Lua-first game runtime: a game is a folder with a main.lua.
#[derive(Parser)]
#[command(name = "engine", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Check(tool::check::Args),
    Compile(tool::compile::Args),
    Console(tool::console::Args),
    Docs(tool::docs::Args),
    Explain(tool::explain::Args),
    Font(tool::font::Args),
    New(tool::new::Args),
    Report(tool::report::Args),
    Run(Box<tool::run::Args>),
    Test(Box<tool::test::Args>),
}

/// Plays the game that was appended to the executable, or runs the command that the process was
/// started with: its exit code.
pub fn main() -> i32 {
    platform::use_small_pages();
    platform::keep_c_heap_small();
    platform::quiet_drivers();
    fault::keep_panics();
    let run = std::panic::catch_unwind(|| tool::run::appended().unwrap_or_else(command));
    let code = run.unwrap_or_else(|_| {
        crate::error_line!("error: {}", fault::take_panic());
        exit::ENGINE
    });
    match terminal::lost() {
        Some(reason) if code == exit::SUCCESS => {
            crate::error_line!("error: standard output cannot be written: {reason}");
            exit::FAILED
        }
        _ => code,
    }
}

/// Shows help, or what is wrong with the command line. The text may repeat an argument; one that
/// steers the terminal has it shown without colours, where only what is escaped gets through.
fn show(text: &clap::Error) {
    let steers =
        |argument: std::ffi::OsString| argument.to_string_lossy().chars().any(terminal::steers);
    if !std::env::args_os().any(steers) {
        // A closed pipe takes the text along; there is nobody left to tell.
        let _ = text.print();
        return;
    }
    let plain = text.render().to_string();
    match text.use_stderr() {
        true => terminal::print_error(&plain),
        false => terminal::print(&plain),
    }
}

fn command() -> i32 {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(words) => {
            show(&words);
            return if words.use_stderr() { exit::USAGE } else { exit::SUCCESS };
        }
    };
    match cli.command {
        Command::Check(args) => tool::check::main(args),
        Command::Compile(args) => tool::compile::main(args),
        Command::Console(args) => tool::console::main(args),
        Command::Docs(args) => tool::docs::main(args),
        Command::Explain(args) => tool::explain::main(args),
        Command::Font(args) => tool::font::main(args),
        Command::New(args) => tool::new::main(args),
        Command::Report(args) => tool::report::main(args),
        Command::Run(args) => tool::run::main(*args),
        Command::Test(args) => tool::test::main(*args),
    }
}
