//! Handling of unexpected errors: prints the report or writes it to a file, and chooses the exit
//! code.

use super::exit;
use engine_foundation::{atomic_file, log, panic, terminal, utc_date};
use engine_platform as platform;
use engine_resource::project::Project;
use engine_resource::settings::Settings;
use engine_runtime::{BuildMode, Engine};
use engine_script::{ErrorReport, HangCause, Vm};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Maximum time that a hung process waits for a line to be printed.
const PRINT_TIMEOUT: Duration = Duration::from_millis(200);
/// Maximum time that a hung process waits for its report to be written.
const REPORT_TIMEOUT: Duration = Duration::from_secs(1);

/// True if the window of the game has shown an error to the player.
static SHOWN: AtomicBool = AtomicBool::new(false);

/// Notes that the window of the game has shown an error to the player.
pub fn mark_shown() {
    SHOWN.store(true, Ordering::Relaxed);
}

/// Returns true if the window of the game has shown an error to the player, who needs no other
/// message.
pub fn was_shown() -> bool {
    SHOWN.load(Ordering::Relaxed)
}

/// Returns the address that players send crash reports to; empty if the settings have none.
pub fn address(settings: &Settings) -> &str {
    let keys = ["error_window.address", "package.email", "package.website"];
    keys.into_iter().map(|key| settings.text(key).trim()).find(|it| !it.is_empty()).unwrap_or("")
}

/// An error that was reported.
pub struct ReportedError {
    /// Exit code of a process that the error ends.
    pub code: i32,
    /// File of the report, if one was written.
    pub file: Option<PathBuf>,
}

/// Reports an unexpected error.
///
/// In development and test builds, prints the whole report on the terminal. In a release, prints
/// one line and writes the report to a file in the game's save folder.
pub fn report_error(vm: &mut Vm, report: &ErrorReport) -> ReportedError {
    let (engine, code) = (vm.engine(), exit_code(report));
    if engine.game.build != BuildMode::Release {
        log::error(&format!("{}\n{report}", headline(engine.frame.index)));
        return ReportedError { code, file: None };
    }
    match write(engine, &report.to_string()) {
        Ok(path) => {
            log::error(&format!("{}: {}", headline(engine.frame.index), line(report)));
            log::error(&format!("the report is in {}", path.display()));
            ReportedError { code, file: Some(path) }
        }
        Err(message) => {
            log::error(&format!("{}\n{report}", headline(engine.frame.index)));
            log::error(&format!("the report could not be written: {message}"));
            ReportedError { code, file: None }
        }
    }
}

/// Returns the exit code of a process that an error ended.
fn exit_code(report: &ErrorReport) -> i32 {
    if report.engine_fault { exit::ENGINE } else { exit::FAILED }
}

/// Returns a report as one line: location and message.
pub fn line(report: &ErrorReport) -> String {
    let location =
        report.location.as_ref().map(|location| format!("{}:{}: ", location.file, location.line));
    let message = report.message.lines().next().unwrap_or_default();
    format!("{}{message}", location.unwrap_or_default())
}

fn headline(frame_index: u64) -> String {
    match frame_index {
        0 => "the game stopped before its first frame".to_string(),
        frame => format!("the game stopped in frame {frame}"),
    }
}

/// Returns the facts about a run that reports and logs begin with: date, game, engine and machine.
/// Each fact has a line.
pub fn facts(engine: &Engine) -> String {
    dated_facts(engine, "Date")
}

/// Returns the facts about a run, with this label for the current date.
fn dated_facts(engine: &Engine, date_label: &str) -> String {
    let adapter = match engine.drawing.builder.adapter.as_str() {
        "" => "none, because nothing was drawn",
        adapter => adapter,
    };
    let machine = platform::machine::facts();
    // The author of a game in development needs no address.
    let address = match engine.game.build {
        BuildMode::Release => address(&engine.game.settings),
        _ => "",
    };
    let address = match address {
        "" => String::new(),
        address => format!("Send to: {address}\n"),
    };
    format!(
        "{address}{}\nEngine: {} ({}, {})\n{date_label}: {}\nSystem: {}\nProcessor: {}\n\
         Memory: {}\nAdapter: {adapter}",
        game_line(&engine.game.settings, &engine.game.project),
        env!("CARGO_PKG_VERSION"),
        platform::NAME,
        engine.game.build.name(),
        utc_date::text(SystemTime::now()),
        machine.system,
        machine.processor,
        machine.memory,
    )
}

/// Returns the text of a crash report: the facts about the run, the error, the last lines of the
/// log.
pub fn text(engine: &Engine, report: &str) -> String {
    let frame = format!("Frame: {}\n\n{report}", engine.frame.index);
    compose(&facts(engine), &frame)
}

fn compose(facts: &str, report: &str) -> String {
    let lines: String = log::last_lines().iter().map(|line| format!("  {line}\n")).collect();
    format!("Crash report\n\n{facts}\n{report}\nLast lines of the log:\n{lines}")
}

/// Returns a line with the game's name and version. A game without a name has that of its folder.
fn game_line(settings: &Settings, project: &Project) -> String {
    let name = match settings.text("name") {
        "" => project.folder_name(),
        name => name.to_string(),
    };
    format!("Game: {name} {}", settings.text("version")).trim_end().to_string()
}

/// Writes a crash report into the game's save folder and returns its path.
pub fn write(engine: &Engine, report: &str) -> Result<PathBuf, String> {
    let folder = engine.game.save_folder.as_ref().ok_or("this game has no save folder")?;
    write_in(folder, &text(engine, report))
}

fn write_in(folder: &Path, text: &str) -> Result<PathBuf, String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = now.map_or(0, |since| since.as_secs());
    let path = folder.join(format!("crash-{seconds}-{}.txt", std::process::id()));
    atomic_file::write_durably(&path, terminal::escape(text).as_bytes())
        .map_err(|reason| reason.to_string())?;
    Ok(path)
}

/// Runs `work` on another thread and waits at most `limit` for its result. A blocked terminal or
/// disk must not keep the process from ending. Returns `None` if the limit is exceeded.
fn run_within<T: Send + 'static>(
    limit: Duration,
    work: impl Fn() -> T + Send + Sync + 'static,
) -> Option<T> {
    let work = Arc::new(work);
    let (done, ended) = mpsc::channel();
    let shared = work.clone();
    let run = move || {
        // The receiver is gone if the limit was exceeded.
        let _ = done.send(shared());
    };
    match panic::spawn("last words", run) {
        Ok(_) => ended.recv_timeout(limit).ok(),
        // If no thread can be started, the work runs here without a limit.
        Err(_) => Some(work()),
    }
}

fn print_within(limit: Duration, text: String) {
    run_within(limit, move || terminal::print_error(&text));
}

/// Lets the watchdog write a report and end the process if the process hangs when it is asked to
/// end.
pub fn watch(vm: &mut Vm) {
    let folder = vm.engine().game.save_folder.clone();
    // The date in the facts is that of the start; the report of a hang has its own.
    let facts = dated_facts(vm.engine(), "Started");
    vm.interrupt().set_on_hang(Box::new(move |cause| {
        let who = match cause {
            HangCause::Script => "a script",
            HangCause::Engine => "the engine",
        };
        let message =
            format!("the process was asked to end, and {who} did not let it end within a second");
        print_within(PRINT_TIMEOUT, format!("error: {message}\n"));
        let (folder, facts) = (folder.clone(), facts.clone());
        let report = run_within(REPORT_TIMEOUT, move || {
            let folder = folder.as_ref()?;
            let date = utc_date::text(SystemTime::now());
            let text = compose(&facts, &format!("Date: {date}\n\n{message}\n"));
            Some(match write_in(folder, &text) {
                Ok(path) => format!("error: the report is in {}\n", path.display()),
                Err(reason) => format!("error: the report could not be written: {reason}\n"),
            })
        });
        if let Some(report) = report.flatten() {
            print_within(PRINT_TIMEOUT, report);
        }
        platform::exit_immediately(exit::ENGINE);
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_without_a_name_is_called_like_its_folder() {
        let line = |settings: &str| {
            let settings = Settings::parse(settings.as_bytes().to_vec(), "linux").unwrap();
            game_line(&settings, &Project::from_bundle("yard", Vec::new()))
        };
        assert_eq!(line("version = \"0.1.0\""), "Game: yard 0.1.0");
        assert_eq!(line("name = \"My Yard\", version = \"2\""), "Game: My Yard 2");
    }

    #[test]
    fn reports_are_sent_to_the_most_specific_address() {
        let check = |text: &str, wanted: &str| {
            let settings = Settings::parse(text.as_bytes().to_vec(), "linux").unwrap();
            assert_eq!(address(&settings), wanted, "{text}");
        };
        let website = "https://example.com";
        check("", "");
        check("package = { website = \"https://example.com\" }", website);
        let both = "package = { email = \"a@example.com\", website = \"https://example.com\" }";
        check(both, "a@example.com");
        check(&format!("{both}\nerror_window.address = \" b@example.com \""), "b@example.com");
    }

    #[test]
    fn internal_errors_have_their_own_exit_code() {
        let report = ErrorReport::from_message("boom");
        assert_eq!(exit_code(&report), exit::FAILED);
        assert_eq!(exit_code(&ErrorReport { engine_fault: true, ..report }), exit::ENGINE);
    }
}
