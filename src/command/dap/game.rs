//! The debugged game: it is started, or a running one is found, and the connection to it.

use super::Arrival;
use engine_foundation::panic;
use engine_foundation::sjson::SjsonTree;
use engine_remote::client::RemoteClient;
use engine_remote::endpoint_file::EndpointFile;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

/// Time in which a started game must let tools in, while its data is compiled.
const START_TIMEOUT: Duration = Duration::from_secs(120);
/// Time in which the game must answer a message that the adapter waits for.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);
/// Time that a game has to end after it was asked to.
const END_TIMEOUT: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(10);
/// Maximum length of a line that the game prints; a longer one is divided.
const LINE_BYTES_MAX: u64 = 64 << 10;

/// A game that is debugged.
pub struct DebuggedGame {
    pub client: RemoteClient,
    /// The process, if the adapter started it.
    child: Option<Child>,
    /// Lets a thread wait for the next message.
    waits: Sender<()>,
}

/// Options of a game that is started.
pub struct Launch {
    pub headless: bool,
    /// Arguments of `engine run`.
    pub engine_arguments: Vec<String>,
    /// Arguments of the game.
    pub arguments: Vec<String>,
    /// Run a file of tests in place of the game.
    pub tests: Option<DebuggedTests>,
}

/// Tests that are debugged.
pub struct DebuggedTests {
    /// The path of the file.
    pub suite: String,
    /// The full name of the only test that runs; empty for all.
    pub name: String,
}

impl Launch {
    /// Returns the arguments of the engine that starts the game or its tests.
    fn command_line(&self, folder: &Path) -> Vec<OsString> {
        let mut line: Vec<OsString> = Vec::new();
        let mut add = |argument: &str| line.push(argument.into());
        if let Some(tests) = &self.tests {
            ["test", "--debug", "--end-with-input", "--output=spec"].into_iter().for_each(&mut add);
            if !tests.name.is_empty() {
                add(&format!("--name={}", tests.name));
            }
        } else {
            ["run", "--debug", "--end-with-input"].into_iter().for_each(&mut add);
            if self.headless {
                ["--headless", "--realtime"].into_iter().for_each(&mut add);
            }
        }
        self.engine_arguments.iter().for_each(|argument| add(argument));
        match &self.tests {
            // A file whose name begins with a hyphen is no option.
            Some(tests) => {
                let last: [OsString; 3] = ["--".into(), folder.into(), tests.suite.clone().into()];
                line.extend(last);
            }
            None => {
                line.insert(1, folder.into());
                line.push("--".into());
                line.extend(self.arguments.iter().map(OsString::from));
            }
        }
        line
    }
}

impl DebuggedGame {
    /// Starts a game, which waits for its breakpoints.
    ///
    /// # Errors
    /// Returns a message if the game does not start.
    pub fn launch(
        folder: &Path,
        launch: &Launch,
        sender: &Sender<Arrival>,
    ) -> Result<DebuggedGame, String> {
        let own = std::env::current_exe().map_err(|reason| reason.to_string())?;
        let mut command = Command::new(own);
        command.args(launch.command_line(folder));
        command.current_dir(folder).env("NO_COLOR", "1");
        // The input is closed by the end of this process, however it ends, and ends the game.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            command.spawn().map_err(|reason| format!("the game cannot be started: {reason}"))?;
        if let Some(pipe) = child.stdout.take() {
            forward("stdout", pipe, sender)?;
        }
        if let Some(pipe) = child.stderr.take() {
            forward("stderr", pipe, sender)?;
        }
        let end = Instant::now() + START_TIMEOUT;
        let session = loop {
            // Another run of the folder has a session, too.
            match EndpointFile::read(folder) {
                Ok(session) if session.process == child.id() => break session,
                _ => {}
            }
            if let Ok(Some(status)) = child.try_wait() {
                return Err(format!("the game has ended before it could be debugged: {status}"));
            }
            if Instant::now() > end {
                stop(&mut child);
                return Err("the game does not let tools in".to_string());
            }
            std::thread::sleep(POLL);
        };
        match DebuggedGame::connect(&session, sender) {
            Ok(game) => Ok(DebuggedGame { child: Some(child), ..game }),
            Err(message) => {
                stop(&mut child);
                Err(message)
            }
        }
    }

    /// Connects to the running game of a folder.
    ///
    /// # Errors
    /// Returns a message if no game runs there.
    pub fn attach(folder: &Path, sender: &Sender<Arrival>) -> Result<DebuggedGame, String> {
        let session = EndpointFile::read(folder).map_err(|error| error.message)?;
        DebuggedGame::connect(&session, sender)
    }

    /// Connects to a game. A thread waits for its messages, once for each call of
    /// [`DebuggedGame::wait_for_messages`]: the adapter reads them.
    fn connect(session: &EndpointFile, sender: &Sender<Arrival>) -> Result<DebuggedGame, String> {
        let client = RemoteClient::connect(session).map_err(|error| error.message)?;
        let arrivals = client.arrivals().map_err(|reason| reason.to_string())?;
        let (waits, wait) = channel();
        let sender = sender.clone();
        let watch = move || {
            while wait.recv().is_ok() {
                arrivals.wait();
                if sender.send(Arrival::Game).is_err() {
                    return;
                }
            }
        };
        let spawned = panic::spawn("dap-game", watch);
        spawned.map_err(|reason| format!("no thread is left: {reason}"))?;
        Ok(DebuggedGame { client, child: None, waits })
    }

    /// Lets the adapter know when the game sends a message.
    pub fn wait_for_messages(&self) {
        // The thread ends with this game.
        let _ = self.waits.send(());
    }

    /// Sends a message and waits for its answer. Returns the message of an error.
    pub fn request(
        &mut self,
        kind: &str,
        fields: Vec<(&str, SjsonTree)>,
    ) -> Result<SjsonTree, String> {
        self.client.request(kind, fields, ANSWER_TIMEOUT, |_| ()).map_err(|error| {
            match error.get("message") {
                Some(SjsonTree::String(message)) => message.clone(),
                _ => "the game refuses this".to_string(),
            }
        })
    }

    /// Returns true if the adapter started the game.
    pub fn is_own(&self) -> bool {
        self.child.is_some()
    }

    /// Waits for the end of the game's process, and returns its exit code.
    pub fn wait(self) -> Option<i32> {
        let mut child = self.child?;
        let end = Instant::now() + END_TIMEOUT;
        while Instant::now() < end {
            if let Ok(Some(status)) = child.try_wait() {
                return status.code();
            }
            std::thread::sleep(POLL);
        }
        stop(&mut child);
        None
    }

    /// Lets the game play on without the adapter.
    pub fn release(mut self) {
        if let Some(input) = self.child.as_mut().and_then(|child| child.stdin.as_mut()) {
            // If it has ended meanwhile, nothing reads this.
            let _ = input.write_all(b"\n").and_then(|()| input.flush());
        }
    }

    /// Ends the game if the adapter started it.
    pub fn end(mut self) {
        if self.is_own() {
            // If the game does not answer, its process is ended.
            let _ = self.client.send("quit", Vec::new());
            self.wait();
        }
    }
}

/// Ends a process that does not end itself.
fn stop(child: &mut Child) {
    // It may have ended meanwhile.
    let _ = child.kill();
    let _ = child.wait();
}

/// Reads the lines that the game prints, on a thread of their own.
fn forward(
    category: &'static str,
    pipe: impl Read + Send + 'static,
    sender: &Sender<Arrival>,
) -> Result<(), String> {
    let sender = sender.clone();
    let read = move || {
        let mut pipe = BufReader::new(pipe);
        let mut line = Vec::new();
        loop {
            line.clear();
            match pipe.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line) {
                Ok(bytes) if bytes > 0 => {}
                _ => return,
            }
            let text = String::from_utf8_lossy(&line).trim_end().to_string();
            if sender.send(Arrival::Printed(category, text)).is_err() {
                return;
            }
        }
    };
    let spawned = panic::spawn("dap-output", read);
    spawned.map(drop).map_err(|reason| format!("no thread is left: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(launch: &Launch) -> Vec<String> {
        let line = launch.command_line(Path::new("/game"));
        line.into_iter().map(|it| it.into_string().expect("text")).collect()
    }

    #[test]
    fn games_and_tests_have_their_own_commands() {
        let texts = |texts: &[&str]| texts.iter().map(|text| text.to_string()).collect();
        let mut launch = Launch {
            headless: true,
            engine_arguments: texts(&["--seed", "7"]),
            arguments: texts(&["--level", "2"]),
            tests: None,
        };
        let game = ["run", "/game", "--debug", "--end-with-input", "--headless", "--realtime"];
        let game = [&game[..], &["--seed", "7", "--"]].concat();
        assert_eq!(line(&launch), [&game[..], &["--level", "2"]].concat());
        let (suite, name) = ("-x_test.lua".to_string(), "--help".to_string());
        launch.tests = Some(DebuggedTests { suite, name });
        let tests = ["test", "--debug", "--end-with-input", "--output=spec", "--name=--help"];
        let tests = [&tests[..], &["--seed", "7", "--"]].concat();
        assert_eq!(line(&launch), [&tests[..], &["/game", "-x_test.lua"]].concat());
    }
}
