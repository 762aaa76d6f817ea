//! `engine console`: runs Lua line by line in a running game and shows the game's log. The endpoint
//! file in the game's folder says where the game listens. line.rs implements line editing.

#[path = "console/line.rs"]
mod line;

use super::confinement_flag::ConfinementFlag;
use engine_app::confinement::{self, ConfinementPlan};
use engine_app::exit;
use engine_foundation::Error;
use engine_foundation::file_access::{self, readers};
use engine_foundation::sjson::SjsonTree;
use engine_foundation::terminal::{self, StyledText, controls_terminal};

use engine_foundation::json;
use engine_platform::RawTerminal;
use engine_remote::client::{ClientMessage, RemoteClient};
use engine_remote::endpoint_file::EndpointFile;
use engine_resource::project::Project;
use line::{Line, LineEvent};
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Run Lua in a running game
#[derive(clap::Args)]
pub struct Args {
    /// The game's folder
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// Run this Lua, print its values, and exit
    lua: Option<String>,
    /// The same, with a name
    #[arg(long, value_name = "LUA", conflicts_with = "lua")]
    eval: Option<String>,
    /// Show the game's log, and read no input
    #[arg(long, conflicts_with_all = ["eval", "lua"])]
    log: bool,
    /// CPU time limit of a line, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0, value_parser = seconds,
          allow_negative_numbers = true)]
    seconds: f64,
    #[command(flatten)]
    confine: ConfinementFlag,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.001..=60.0).contains(&seconds) => Ok(seconds),
        _ => Err("must be a number of seconds, from 0.001 to 60".to_string()),
    }
}

/// Maximum time to wait for an answer, in addition to the time that a line may take. A game that is
/// loading does not answer.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Time to wait for keys before checking for messages.
const POLL_INTERVAL: Duration = Duration::from_millis(15);
const PROMPT: &str = "> ";
/// Path of the line history in the game's folder.
const HISTORY: &str = ".engine/console_history.txt";
/// Maximum number of completions that are shown.
const COMPLETIONS_SHOWN: usize = 60;

/// Terminal colors, if there is a terminal and colors are not disabled.
#[derive(Clone, Copy)]
struct Colors(bool);

impl Colors {
    fn paint(self, color: &'static str, text: &str) -> StyledText {
        match self.0 {
            true => StyledText::colored(color, text),
            false => StyledText::plain(text),
        }
    }

    /// Formats a log message as a line.
    fn line(self, message: &SjsonTree) -> Option<StyledText> {
        let field = |key: &str| match message.get(key) {
            Some(SjsonTree::String(text)) => text.as_str(),
            _ => "",
        };
        if field("type") != "message" {
            return None;
        }
        // A message that the game sends to tools is prefixed with its system.
        let line = match field("system") {
            "" => field("message").to_string(),
            system => format!("{system}: {}", field("message")),
        };
        Some(match field("level") {
            "error" => self.paint("31", &format!("error: {line}")),
            "warning" => self.paint("33", &format!("warning: {line}")),
            _ => StyledText::plain(&line),
        })
    }
}

pub fn main(args: Args) -> i32 {
    if let Err(message) = check_folder(&args) {
        engine_foundation::error_line!("error: {message}");
        return exit::FAILED;
    }
    if args.confine.is_enabled() {
        // The answering game may not be the one that the user expects.
        ConfinementPlan::of_folder(&args.folder).begin();
        confinement::forbid_programs(false);
    }
    let connected =
        EndpointFile::read(&args.folder).and_then(|session| RemoteClient::connect(&session));
    let mut caller = match connected {
        Ok(caller) => caller,
        Err(error) => {
            engine_foundation::error_line!("error: {error}");
            return exit::FAILED;
        }
    };
    if let Some(text) = args.eval.as_ref().or(args.lua.as_ref()) {
        return evaluate(&mut caller, text, args.seconds);
    }
    let outcome = match RawTerminal::open().filter(|_| !args.log) {
        Some(terminal) => run_interactive(&mut caller, &terminal, &args),
        None => read_plainly(&mut caller, &args),
    };
    match outcome {
        Ok(()) => exit::SUCCESS,
        Err(error) => {
            engine_foundation::error_line!("error: {error}");
            exit::FAILED
        }
    }
}

/// Refuses what is not the folder of a game, among it Lua in place of the folder.
fn check_folder(args: &Args) -> Result<(), String> {
    let folder = args.folder.display();
    if args.folder.is_dir() {
        return Ok(());
    }
    match args.folder.exists() || args.lua.is_some() || args.eval.is_some() || args.log {
        true => Project::open(&args.folder).map(|_| ()).map_err(|error| error.message),
        false => Err(format!(
            "there is no folder '{folder}': give the folder of the game that runs, and Lua after \
             it: engine console . \"{folder}\""
        )),
    }
}

/// Runs one text and returns the exit code.
fn evaluate(caller: &mut RemoteClient, text: &str, seconds: f64) -> i32 {
    match print(send_eval(caller, text, seconds, |_| ())) {
        true => exit::SUCCESS,
        false => exit::FAILED,
    }
}

/// Result of running a text: the messages logged meanwhile, and its values, one per line, or the
/// error message.
struct EvalResult {
    logged: String,
    outcome: Result<String, String>,
}

/// Prints a result with its log, for users who do not follow the log. Returns true on success.
fn print(result: EvalResult) -> bool {
    terminal::print(&result.logged);
    match result.outcome {
        Ok(text) => {
            terminal::print(&text);
            true
        }
        Err(text) => {
            engine_foundation::error_line!("{text}");
            false
        }
    }
}

/// Returns the texts of a list, one per line.
fn lines(answer: &SjsonTree, name: &str) -> String {
    let Some(SjsonTree::Array(items)) = answer.get(name) else { return String::new() };
    let line = |item: &SjsonTree| match item {
        SjsonTree::String(text) => format!("{text}\n"),
        other => format!("{}\n", json::write(other)),
    };
    items.iter().map(line).collect()
}

/// Returns the lines of a value that is one text of several lines, such as `"a\nb"`; `None` for
/// other values.
fn lines_of_text(value: &str) -> Option<String> {
    let inner = value.strip_prefix('"')?.strip_suffix('"')?;
    let mut text = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(char) = chars.next() {
        match char {
            '"' => return None,
            '\\' => match chars.next()? {
                'n' => text.push('\n'),
                other @ ('"' | '\\') => text.push(other),
                other => text.extend(['\\', other]),
            },
            _ => text.push(char),
        }
    }
    text.contains('\n').then_some(text)
}

/// Returns the values of an answer, a text of several lines as these.
fn values(answer: &SjsonTree) -> String {
    let shown = lines(answer, "values");
    let only = shown.strip_suffix('\n').and_then(lines_of_text);
    only.map_or(shown, |text| format!("{text}\n"))
}

/// Runs a text in the game.
fn send_eval(
    caller: &mut RemoteClient,
    text: &str,
    seconds: f64,
    other: impl FnMut(SjsonTree),
) -> EvalResult {
    let fields = vec![("text", json::text(text)), ("seconds", SjsonTree::Number(seconds))];
    let timeout = TIMEOUT + Duration::from_secs_f64(seconds);
    match caller.request("eval", fields, timeout, other) {
        Ok(answer) => EvalResult { logged: lines(&answer, "logged"), outcome: Ok(values(&answer)) },
        Err(answer) => {
            let text = match answer.get("report").or(answer.get("message")) {
                Some(SjsonTree::String(text)) => text.strip_prefix("Error: ").unwrap_or(text),
                _ => "the game returned no message",
            };
            let outcome = Err(format!("error: {text}"));
            EvalResult { logged: lines(&answer, "logged"), outcome }
        }
    }
}

/// Reads lines from a pipe or a file, or only shows the log.
fn read_plainly(caller: &mut RemoteClient, args: &Args) -> Result<(), Error> {
    let colors = Colors(terminal::is_terminal() && std::env::var_os("NO_COLOR").is_none());
    let show = |message: SjsonTree| {
        if let Some(line) = colors.line(&message) {
            terminal::print_styled(&line.then(&StyledText::plain("\n")));
        }
    };
    if args.log {
        follow(caller)?;
        loop {
            match caller.receive(Duration::from_secs(3600)) {
                ClientMessage::Message(message) => show(message),
                ClientMessage::Ended(_) => return Ok(()),
                ClientMessage::Bytes(_) | ClientMessage::Nothing => {}
            }
        }
    }
    let mut failed = 0;
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|reason| engine_foundation::error!("standard input: {reason}"))?;
        if line.trim().is_empty() {
            continue;
        }
        if !print(send_eval(caller, &line, args.seconds, show)) {
            failed += 1;
        }
    }
    match failed {
        0 => Ok(()),
        1 => Err(engine_foundation::error!("one line failed")),
        failed => Err(engine_foundation::error!("{failed} lines failed")),
    }
}

/// Subscribes to the log and to the game's own messages.
fn follow(caller: &mut RemoteClient) -> Result<(), Error> {
    for stream in ["log", "game"] {
        caller.send("subscribe", vec![("stream", json::text(stream))])?;
    }
    Ok(())
}

/// Clears the current terminal line.
fn clear_line() -> StyledText {
    StyledText::command("\r\x1b[K")
}

/// Terminal output: the log above, the edited line below.
struct ConsoleScreen<'a> {
    terminal: &'a RawTerminal,
    colors: Colors,
}

impl ConsoleScreen<'_> {
    /// Writes lines above the edited line.
    fn write(&self, text: &StyledText, line: &Line) {
        terminal::print_styled(&clear_line().then(text).then(&StyledText::plain("\n")));
        self.show(line);
    }

    /// Shows the part of the edited line around the cursor that fits.
    fn show(&self, line: &Line) {
        let room = self.terminal.columns().saturating_sub(PROMPT.len() + 1).max(8);
        let letters: Vec<char> = line.text().chars().collect();
        let start = line.cursor().saturating_sub(room);
        // Each control character is replaced by one visible character, so that the cursor column
        // stays correct.
        let shown = letters.iter().skip(start).take(room);
        let shown: String =
            shown.map(|c| if controls_terminal(*c) { '\u{fffd}' } else { *c }).collect();
        let column = PROMPT.len() + line.cursor() - start;
        let prompt = clear_line().then(&self.colors.paint("36", PROMPT));
        let shown = prompt.then(&StyledText::plain(&shown)).then(&StyledText::to_column(column));
        // A closed terminal is detected by the next read.
        terminal::print_styled(&shown);
    }
}

/// Runs the interactive session until the input or the game ends.
fn run_interactive(
    caller: &mut RemoteClient,
    terminal: &RawTerminal,
    args: &Args,
) -> Result<(), Error> {
    let screen = ConsoleScreen { terminal, colors: Colors(std::env::var_os("NO_COLOR").is_none()) };
    follow(caller)?;
    let mut line = Line::new(read_history(&args.folder));
    engine_foundation::print_line!("Lua runs in the game. Tab completes, Ctrl+D ends.");
    screen.show(&line);
    let ended = loop {
        let Some(typed) = terminal.read(POLL_INTERVAL) else { break Ok(()) };
        if typed.is_empty() {
            line.drop_incomplete_key();
        }
        let mut done = false;
        line.take(&typed);
        while let Some(asked) = line.next() {
            match asked {
                LineEvent::End => done = true,
                LineEvent::Clear => terminal::print_styled(&StyledText::command("\x1b[2J\x1b[H")),
                LineEvent::Line(text) => run(caller, &screen, &line, &text, args.seconds),
                LineEvent::Complete(before) => complete(caller, &screen, &mut line, &before),
            }
        }
        if done {
            break Ok(());
        }
        if !typed.is_empty() {
            screen.show(&line);
        }
        match receive_line(caller, &screen, &line) {
            Some(reason) => break Err(engine_foundation::error!("the game has ended{reason}")),
            None => continue,
        }
    };
    terminal::print_styled(&clear_line());
    remember(&args.folder, line.history());
    ended
}

/// Shows the messages received so far. Returns the reason if the game has ended.
fn receive_line(caller: &mut RemoteClient, screen: &ConsoleScreen, line: &Line) -> Option<String> {
    loop {
        match caller.receive(Duration::from_millis(1)) {
            ClientMessage::Message(message) => {
                if let Some(text) = screen.colors.line(&message) {
                    screen.write(&text, line);
                }
            }
            ClientMessage::Bytes(_) => {}
            ClientMessage::Nothing => return None,
            ClientMessage::Ended(reason) if reason.is_empty() => return Some(String::new()),
            ClientMessage::Ended(reason) => return Some(format!(": {reason}")),
        }
    }
}

fn run(caller: &mut RemoteClient, screen: &ConsoleScreen, line: &Line, text: &str, seconds: f64) {
    let prompt = clear_line().then(&screen.colors.paint("36", PROMPT));
    terminal::print_styled(&prompt.then(&StyledText::plain(&format!("{text}\n"))));
    if text.trim().is_empty() {
        return;
    }
    let mut log_lines = Vec::new();
    let result =
        send_eval(caller, text, seconds, |message| log_lines.extend(screen.colors.line(&message)));
    for log_line in log_lines {
        screen.write(&log_line, line);
    }
    match result.outcome {
        Ok(output) if output.is_empty() => {}
        Ok(output) => screen.write(&StyledText::plain(output.trim_end_matches('\n')), line),
        Err(output) => screen.write(&screen.colors.paint("31", &output), line),
    }
}

/// Inserts the common prefix of all completions, or shows them if there are several.
fn complete(caller: &mut RemoteClient, screen: &ConsoleScreen, line: &mut Line, before: &str) {
    let fields = vec![("text", json::text(before))];
    let mut log_lines = Vec::new();
    let answer = caller.request("complete", fields, TIMEOUT, |message| {
        log_lines.extend(screen.colors.line(&message))
    });
    for log_line in log_lines {
        screen.write(&log_line, line);
    }
    let Ok(answer) = answer else { return };
    let (Some(SjsonTree::String(start)), Some(SjsonTree::Array(completions))) =
        (answer.get("start"), answer.get("words"))
    else {
        return;
    };
    let completions: Vec<&str> = completions
        .iter()
        .filter_map(|word| match word {
            // The inserted text must look the same as the shown text.
            SjsonTree::String(word) if !word.chars().any(controls_terminal) => Some(word.as_str()),
            _ => None,
        })
        .collect();
    let common = common_prefix(&completions);
    if common.len() > start.len() {
        line.complete(start, common);
    } else if completions.len() > 1 {
        let more = match completions.len() > COMPLETIONS_SHOWN {
            true => format!("  … {} more", completions.len() - COMPLETIONS_SHOWN),
            false => String::new(),
        };
        let shown = completions[..completions.len().min(COMPLETIONS_SHOWN)].join("  ");
        screen.write(&screen.colors.paint("2", &format!("{shown}{more}")), line);
    }
}

/// Returns the common prefix of all words.
fn common_prefix<'a>(completions: &[&'a str]) -> &'a str {
    let Some(first) = completions.first() else { return "" };
    let shared = |word: &&str| {
        let pairs = first.char_indices().zip(word.chars());
        let differs = pairs.clone().find(|((_, a), b)| a != b).map(|((at, _), _)| at);
        differs.unwrap_or(first.len().min(word.len()))
    };
    &first[..completions.iter().map(shared).min().unwrap_or(0)]
}

fn read_history(game: &Path) -> Vec<String> {
    let text = file_access::read_text(game, HISTORY, &readers::HISTORY).unwrap_or_default();
    // The file is in the game's folder, so its content is untrusted.
    text.lines().filter(|line| !line.chars().any(controls_terminal)).map(String::from).collect()
}

/// Saves the line history for the next session. A failed write is ignored.
fn remember(game: &Path, lines: &[String]) {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let _ = file_access::write(game, HISTORY, text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completions_have_a_common_prefix() {
        assert_eq!(common_prefix(&["local_pose", "local_position"]), "local_pos");
        assert_eq!(common_prefix(&["é", "éa"]), "é");
        assert_eq!(common_prefix(&["a", "b"]), "");
        assert_eq!(common_prefix(&["alone"]), "alone");
        assert_eq!(common_prefix(&[]), "");
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
        let shown = |line: Option<StyledText>| line.map(|line| line.as_str().to_string());
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

    #[test]
    fn text_of_several_lines_is_shown_as_lines() {
        assert_eq!(lines_of_text(r#""a\nb \"c\" d\\n\9""#).unwrap(), "a\nb \"c\" d\\n\\9");
        for other in [r#""a""#, "5", "", "\"", r#""a\n", "b""#, r#""a\n"#, r#""a\\n""#] {
            assert_eq!(lines_of_text(other), None, "{other}");
        }
    }
}
