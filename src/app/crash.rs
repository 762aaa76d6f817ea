//! What happens to an unexpected error: where it is told, what is written, how the process ends.

use super::exit;
use crate::engine::{Build, Engine};
use crate::foundation::{fault, files, log, terminal};
use crate::script::{Report, Stuck, Vm};
use crate::system::platform;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// How long a stuck process waits for a line to be printed, and for its report to be written.
const LAST_PRINT: Duration = Duration::from_millis(200);
const LAST_REPORT: Duration = Duration::from_secs(1);

/// Tells an unexpected error, by the way the game is run: the exit code.
///
/// Development and test: the whole report on the terminal. Release: one line, and the report in a
/// file in the game's save folder.
pub fn tell(vm: &mut Vm, report: &Report) -> i32 {
    let engine = vm.engine();
    if engine.build != Build::Release {
        log::error(&format!("{}\n{report}", headline(engine)));
        return exit_code(report);
    }
    match write(engine, &report.to_string()) {
        Ok(path) => {
            log::error(&format!("{}: {}", headline(engine), line(report)));
            log::error(&format!("the report is in {}", path.display()));
        }
        Err(words) => {
            log::error(&format!("{}\n{report}", headline(engine)));
            log::error(&format!("the report could not be written: {words}"));
        }
    }
    exit_code(report)
}

/// How a process ends that an error ended.
fn exit_code(report: &Report) -> i32 {
    if report.engine_fault { exit::ENGINE } else { exit::FAILED }
}

/// A report in one line: where, and what.
fn line(report: &Report) -> String {
    let place = report.place.as_ref().map(|place| format!("{}:{}: ", place.file, place.line));
    let words = report.message.lines().next().unwrap_or_default();
    format!("{}{words}", place.unwrap_or_default())
}

fn headline(engine: &Engine) -> String {
    match engine.frame.index {
        0 => "the game stopped before its first frame".to_string(),
        frame => format!("the game stopped in frame {frame}"),
    }
}

/// What a crash report holds beside the error: versions, the frame, the last lines of the log.
pub fn text(engine: &Engine, report: &str) -> String {
    let adapter = match engine.picture.adapter.as_str() {
        "" => "none, for nothing was drawn",
        adapter => adapter,
    };
    let mut text = format!(
        "Crash report\n\n{}\nEngine: {} ({}, {})\nAdapter: {adapter}\nFrame: {}\n\n{report}\n\
         Last lines of the log:\n",
        game_line(engine),
        env!("CARGO_PKG_VERSION"),
        platform::NAME,
        engine.build.name(),
        engine.frame.index,
    );
    for line in log::last_lines() {
        text += &format!("  {line}\n");
    }
    text
}

/// Which game it is.
fn game_line(engine: &Engine) -> String {
    let settings = &engine.settings;
    format!("Game: {} {}", settings.text("name"), settings.text("version")).trim_end().to_string()
}

/// Writes a crash report into the game's save folder: its path.
pub fn write(engine: &Engine, report: &str) -> Result<PathBuf, String> {
    let folder = engine.save_folder.as_ref().ok_or("this game has no save folder")?;
    write_in(folder, &text(engine, report))
}

fn write_in(folder: &Path, text: &str) -> Result<PathBuf, String> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seconds = now.map_or(0, |since| since.as_secs());
    let path = folder.join(format!("crash-{seconds}-{}.txt", std::process::id()));
    files::write_safely(&path, terminal::escape(text).as_bytes())
        .map_err(|reason| reason.to_string())?;
    Ok(path)
}

/// Does some work, but waits at most `limit` for it: a terminal or a disk that takes nothing more
/// must not keep the process from ending. Returns what came of it, if that came in time.
fn within<T: Send + 'static>(
    limit: Duration,
    work: impl Fn() -> T + Send + Sync + 'static,
) -> Option<T> {
    let work = Arc::new(work);
    let (done, ended) = mpsc::channel();
    let shared = work.clone();
    let run = move || {
        // Nobody waits any more where it took too long.
        let _ = done.send(shared());
    };
    match fault::spawn("last words", run) {
        Ok(_) => ended.recv_timeout(limit).ok(),
        // Without a thread it is done here, though nothing bounds it.
        Err(_) => Some(work()),
    }
}

fn print_within(limit: Duration, text: String) {
    within(limit, move || terminal::print_error(&text));
}

/// Has the watchdog write a report and end the process where it does not end by itself.
pub fn watch(vm: &mut Vm) {
    let (folder, game) = (vm.engine().save_folder.clone(), game_line(vm.engine()));
    vm.interrupt().set_last_words(Box::new(move |stuck| {
        let who = match stuck {
            Stuck::Script => "a script",
            Stuck::Engine => "the engine",
        };
        let words = format!("the process was asked to end, and {who} did not let it for a second");
        print_within(LAST_PRINT, format!("error: {words}\n"));
        let (folder, game) = (folder.clone(), game.clone());
        let report = within(LAST_REPORT, move || {
            let folder = folder.as_ref()?;
            let lines = log::last_lines();
            let lines: String = lines.iter().map(|line| format!("  {line}\n")).collect();
            let text = format!(
                "Crash report\n\n{game}\nEngine: {} ({})\n\n{words}\n\nLast lines of the log:\n\
                 {lines}",
                env!("CARGO_PKG_VERSION"),
                platform::NAME
            );
            Some(match write_in(folder, &text) {
                Ok(path) => format!("error: the report is in {}\n", path.display()),
                Err(reason) => format!("error: the report could not be written: {reason}\n"),
            })
        });
        if let Some(report) = report.flatten() {
            print_within(LAST_PRINT, report);
        }
        platform::end_now(exit::ENGINE);
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_of_the_engines_own_has_an_exit_code_of_its_own() {
        let report = Report::of_words("boom");
        assert_eq!(exit_code(&report), exit::FAILED);
        assert_eq!(exit_code(&Report { engine_fault: true, ..report }), exit::ENGINE);
    }
}
