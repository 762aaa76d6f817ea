//! `engine console`: a line of Lua at a time, run in a game that is being played, with what the
//! game logs around it. The game is found by the session file in its folder. The line's editing is
//! line.rs.

#[path = "console/line.rs"]
mod line;

use super::confine::Confine;
use crate::app::confinement::{self, Plan};
use crate::app::exit;
use crate::foundation::Error;
use crate::foundation::file_access::{self, readers};
use crate::foundation::sjson::Tree;
use crate::foundation::terminal::{self, Styled, steers};

use crate::system::platform::RawTerminal;
use crate::system::tools::caller::{Caller, Received};
use crate::system::tools::json;
use crate::system::tools::session::Session;
use line::{Asked, Line};
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Talk to a game that is being played
#[derive(clap::Args)]
pub struct Args {
    /// The game's folder
    folder: PathBuf,
    /// Run this, print its values, and end
    #[arg(long, value_name = "LUA")]
    eval: Option<String>,
    /// Show what the game logs, and read nothing
    #[arg(long, conflicts_with = "eval")]
    log: bool,
    /// CPU seconds that a line may take
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0, value_parser = seconds)]
    seconds: f64,
    #[command(flatten)]
    confine: Confine,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.001..=60.0).contains(&seconds) => Ok(seconds),
        _ => Err("must be a number of seconds, from 0.001 to 60".to_string()),
    }
}

/// How long an answer is waited for, beyond the time that a line may take: a game that is being
/// loaded answers nothing.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long each of keys and messages is waited for in turn.
const TURN: Duration = Duration::from_millis(15);
const PROMPT: &str = "> ";
/// Where lines are remembered, in the game's folder.
const HISTORY: &str = ".engine/console_history.txt";
/// The most words that are shown for a name.
const WORDS_SHOWN: usize = 60;

/// Colours of a terminal, where there is one and nobody minds.
#[derive(Clone, Copy)]
struct Colors(bool);

impl Colors {
    fn paint(self, color: &'static str, text: &str) -> Styled {
        match self.0 {
            true => Styled::colored(color, text),
            false => Styled::plain(text),
        }
    }

    /// A line of the log.
    fn line(self, message: &Tree) -> Option<Styled> {
        let words = |key: &str| match message.get(key) {
            Some(Tree::String(text)) => text.as_str(),
            _ => "",
        };
        if words("type") != "message" {
            return None;
        }
        // A line of the game's own for tools says of what it is.
        let line = match words("system") {
            "" => words("message").to_string(),
            system => format!("{system}: {}", words("message")),
        };
        Some(match words("level") {
            "error" => self.paint("31", &format!("error: {line}")),
            "warning" => self.paint("33", &format!("warning: {line}")),
            _ => Styled::plain(&line),
        })
    }
}

pub fn main(args: Args) -> i32 {
    if args.confine.is_wanted() {
        // The game that answers may be another one than its maker thinks.
        Plan::of_folder(&args.folder).begin();
        confinement::forbid_programs(false);
    }
    let connected = Session::read(&args.folder).and_then(|session| Caller::connect(&session));
    let mut caller = match connected {
        Ok(caller) => caller,
        Err(error) => {
            crate::error_line!("error: {error}");
            return exit::FAILED;
        }
    };
    if let Some(text) = &args.eval {
        return evaluate(&mut caller, text, args.seconds);
    }
    let outcome = match RawTerminal::open().filter(|_| !args.log) {
        Some(terminal) => talk(&mut caller, &terminal, &args),
        None => read_plainly(&mut caller, &args),
    };
    match outcome {
        Ok(()) => exit::SUCCESS,
        Err(error) => {
            crate::error_line!("error: {error}");
            exit::FAILED
        }
    }
}

/// Runs one text: the exit code.
fn evaluate(caller: &mut Caller, text: &str, seconds: f64) -> i32 {
    match print(ask(caller, text, seconds, |_| ())) {
        true => exit::SUCCESS,
        false => exit::FAILED,
    }
}

/// What came of a text: what was logged meanwhile, and its values, a line each, or the words of its
/// error.
struct Said {
    logged: String,
    outcome: Result<String, String>,
}

/// Prints it for whoever does not follow the log: whether it went well.
fn print(said: Said) -> bool {
    terminal::print(&said.logged);
    match said.outcome {
        Ok(words) => {
            terminal::print(&words);
            true
        }
        Err(words) => {
            crate::error_line!("{words}");
            false
        }
    }
}

/// The texts of a list, a line each.
fn lines(answer: &Tree, name: &str) -> String {
    let Some(Tree::Array(items)) = answer.get(name) else { return String::new() };
    let line = |item: &Tree| match item {
        Tree::String(text) => format!("{text}\n"),
        other => format!("{}\n", json::write(other)),
    };
    items.iter().map(line).collect()
}

/// Has the game run a text.
fn ask(caller: &mut Caller, text: &str, seconds: f64, other: impl FnMut(Tree)) -> Said {
    let fields = vec![("text", json::text(text)), ("seconds", Tree::Number(seconds))];
    let patience = PATIENCE + Duration::from_secs_f64(seconds);
    match caller.ask("eval", fields, patience, other) {
        Ok(answer) => {
            Said { logged: lines(&answer, "logged"), outcome: Ok(lines(&answer, "values")) }
        }
        Err(answer) => {
            let words = match answer.get("report").or(answer.get("message")) {
                Some(Tree::String(words)) => words.strip_prefix("Error: ").unwrap_or(words),
                _ => "the game gave no words",
            };
            let outcome = Err(format!("error: {words}"));
            Said { logged: lines(&answer, "logged"), outcome }
        }
    }
}

/// Reads lines from a pipe or a file, or only shows the log.
fn read_plainly(caller: &mut Caller, args: &Args) -> Result<(), Error> {
    let colors = Colors(terminal::is_watched() && std::env::var_os("NO_COLOR").is_none());
    let show = |message: Tree| {
        if let Some(line) = colors.line(&message) {
            terminal::print_styled(&line.then(&Styled::plain("\n")));
        }
    };
    if args.log {
        follow(caller)?;
        loop {
            match caller.receive(Duration::from_secs(3600)) {
                Received::Message(message) => show(message),
                Received::Ended(_) => return Ok(()),
                Received::Bytes(_) | Received::Nothing => {}
            }
        }
    }
    let mut failed = 0;
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|reason| crate::error!("standard input: {reason}"))?;
        if line.trim().is_empty() {
            continue;
        }
        if !print(ask(caller, &line, args.seconds, show)) {
            failed += 1;
        }
    }
    match failed {
        0 => Ok(()),
        1 => Err(crate::error!("one line failed")),
        failed => Err(crate::error!("{failed} lines failed")),
    }
}

/// Follows the log, and what the game itself sends.
fn follow(caller: &mut Caller) -> Result<(), Error> {
    for stream in ["log", "game"] {
        caller.send("subscribe", vec![("stream", json::text(stream))])?;
    }
    Ok(())
}

/// Empties the line that the cursor is in.
fn clear_line() -> Styled {
    Styled::command("\r\x1b[K")
}

/// What a terminal shows: the log above, the line that is typed below.
struct Screen<'a> {
    terminal: &'a RawTerminal,
    colors: Colors,
}

impl Screen<'_> {
    /// Writes lines above the one that is typed.
    fn write(&self, text: &Styled, line: &Line) {
        terminal::print_styled(&clear_line().then(text).then(&Styled::plain("\n")));
        self.show(line);
    }

    /// Shows the line that is typed: the part of it around the cursor that fits.
    fn show(&self, line: &Line) {
        let room = self.terminal.columns().saturating_sub(PROMPT.len() + 1).max(8);
        let letters: Vec<char> = line.text().chars().collect();
        let start = line.cursor().saturating_sub(room);
        // What steers has no place of its own, and the cursor's is counted: one letter for another.
        let shown = letters.iter().skip(start).take(room);
        let shown: String = shown.map(|c| if steers(*c) { '\u{fffd}' } else { *c }).collect();
        let column = PROMPT.len() + line.cursor() - start;
        let prompt = clear_line().then(&self.colors.paint("36", PROMPT));
        let shown = prompt.then(&Styled::plain(&shown)).then(&Styled::to_column(column));
        // A terminal that is gone is noticed when it is read from.
        terminal::print_styled(&shown);
    }
}

/// Talks through a terminal, until there is no more.
fn talk(caller: &mut Caller, terminal: &RawTerminal, args: &Args) -> Result<(), Error> {
    let screen = Screen { terminal, colors: Colors(std::env::var_os("NO_COLOR").is_none()) };
    follow(caller)?;
    let mut line = Line::new(remembered(&args.folder));
    crate::print_line!("Lua runs in the game. Tab completes, Ctrl+D ends.");
    screen.show(&line);
    let ended = loop {
        let Some(typed) = terminal.read(TURN) else { break Ok(()) };
        if typed.is_empty() {
            line.settle();
        }
        let mut done = false;
        line.take(&typed);
        while let Some(asked) = line.next() {
            match asked {
                Asked::End => done = true,
                Asked::Clear => terminal::print_styled(&Styled::command("\x1b[2J\x1b[H")),
                Asked::Line(text) => run(caller, &screen, &line, &text, args.seconds),
                Asked::Complete(before) => complete(caller, &screen, &mut line, &before),
            }
        }
        if done {
            break Ok(());
        }
        if !typed.is_empty() {
            screen.show(&line);
        }
        match hear(caller, &screen, &line) {
            Some(reason) => break Err(crate::error!("the game has ended{reason}")),
            None => continue,
        }
    };
    terminal::print_styled(&clear_line());
    remember(&args.folder, line.history());
    ended
}

/// Shows what came meanwhile; why the game has ended, where it has.
fn hear(caller: &mut Caller, screen: &Screen, line: &Line) -> Option<String> {
    loop {
        match caller.receive(Duration::from_millis(1)) {
            Received::Message(message) => {
                if let Some(words) = screen.colors.line(&message) {
                    screen.write(&words, line);
                }
            }
            Received::Bytes(_) => {}
            Received::Nothing => return None,
            Received::Ended(reason) if reason.is_empty() => return Some(String::new()),
            Received::Ended(reason) => return Some(format!(": {reason}")),
        }
    }
}

fn run(caller: &mut Caller, screen: &Screen, line: &Line, text: &str, seconds: f64) {
    let prompt = clear_line().then(&screen.colors.paint("36", PROMPT));
    terminal::print_styled(&prompt.then(&Styled::plain(&format!("{text}\n"))));
    if text.trim().is_empty() {
        return;
    }
    let mut told = Vec::new();
    let said = ask(caller, text, seconds, |message| told.extend(screen.colors.line(&message)));
    for words in told {
        screen.write(&words, line);
    }
    match said.outcome {
        Ok(words) if words.is_empty() => {}
        Ok(words) => screen.write(&Styled::plain(words.trim_end_matches('\n')), line),
        Err(words) => screen.write(&screen.colors.paint("31", &words), line),
    }
}

/// Puts in what all words have in common, and shows them where there is more than one.
fn complete(caller: &mut Caller, screen: &Screen, line: &mut Line, before: &str) {
    let fields = vec![("text", json::text(before))];
    let mut told = Vec::new();
    let answer = caller
        .ask("complete", fields, PATIENCE, |message| told.extend(screen.colors.line(&message)));
    for words in told {
        screen.write(&words, line);
    }
    let Ok(answer) = answer else { return };
    let (Some(Tree::String(start)), Some(Tree::Array(words))) =
        (answer.get("start"), answer.get("words"))
    else {
        return;
    };
    let words: Vec<&str> = words
        .iter()
        .filter_map(|word| match word {
            // What is put into the line must be what is shown.
            Tree::String(word) if !word.chars().any(steers) => Some(word.as_str()),
            _ => None,
        })
        .collect();
    let common = common_start(&words);
    if common.len() > start.len() {
        line.complete(start, common);
    } else if words.len() > 1 {
        let more = match words.len() > WORDS_SHOWN {
            true => format!("  … {} more", words.len() - WORDS_SHOWN),
            false => String::new(),
        };
        let shown = words[..words.len().min(WORDS_SHOWN)].join("  ");
        screen.write(&screen.colors.paint("2", &format!("{shown}{more}")), line);
    }
}

/// What all words begin with.
fn common_start<'a>(words: &[&'a str]) -> &'a str {
    let Some(first) = words.first() else { return "" };
    let shared = |word: &&str| {
        let pairs = first.char_indices().zip(word.chars());
        let differs = pairs.clone().find(|((_, a), b)| a != b).map(|((at, _), _)| at);
        differs.unwrap_or(first.len().min(word.len()))
    };
    &first[..words.iter().map(shared).min().unwrap_or(0)]
}

fn remembered(game: &Path) -> Vec<String> {
    let text = file_access::read_text(game, HISTORY, &readers::HISTORY).unwrap_or_default();
    // The file is in the game's folder, so anybody may have written it.
    text.lines().filter(|line| !line.chars().any(steers)).map(String::from).collect()
}

/// Remembers lines for the next time. Where they cannot be written, they are lost, and no more.
fn remember(game: &Path, lines: &[String]) {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let _ = file_access::write(game, HISTORY, text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_share_their_start() {
        assert_eq!(common_start(&["local_pose", "local_position"]), "local_pos");
        assert_eq!(common_start(&["é", "éa"]), "é");
        assert_eq!(common_start(&["a", "b"]), "");
        assert_eq!(common_start(&["alone"]), "alone");
        assert_eq!(common_start(&[]), "");
    }

    #[test]
    fn a_line_of_the_log_has_its_level() {
        let message = |level: &str| {
            json::object([
                ("type", json::text("message")),
                ("level", json::text(level)),
                ("message", json::text("boom")),
            ])
        };
        let plain = Colors(false);
        let shown = |line: Option<Styled>| line.map(|line| line.as_str().to_string());
        assert_eq!(shown(plain.line(&message("error"))), Some("error: boom".to_string()));
        assert_eq!(shown(plain.line(&message("info"))), Some("boom".to_string()));
        let own = json::object([
            ("type", json::text("message")),
            ("system", json::text("Editor")),
            ("message", json::text("saved")),
        ]);
        assert_eq!(shown(plain.line(&own)), Some("Editor: saved".to_string()));
        let colored = Colors(true).line(&message("warning")).unwrap();
        assert_eq!(colored.as_str(), "\x1b[33mwarning: boom\x1b[0m");
        assert_eq!(plain.line(&json::object([("type", json::text("dropped"))])), None);
    }
}
