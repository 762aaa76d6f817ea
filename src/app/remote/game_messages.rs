//! Requests of the game to remote tools: messages that scripts send, and console commands that
//! control the run (src/system/remote/outbox.rs).

use super::RemoteTools;
use crate::App;
use engine_foundation::log;
use engine_remote::Bytes;
use engine_remote::outbox::ConsoleCommand;
use engine_resource::resource_name::ResourceName;

impl RemoteTools {
    /// Sends the game's messages to the clients that follow the game.
    pub(super) fn send_game_messages(&mut self, app: &mut App) {
        let outbox = &mut app.vm.engine().devices.outbox;
        let (messages, dropped) = outbox.take();
        outbox.is_heard = self.clients.iter().any(|client| client.streams.game);
        for message in messages {
            let bytes = Bytes::from(message);
            for client in self.clients.iter().filter(|client| client.streams.game) {
                client.peer.offer(&bytes);
            }
        }
        if dropped > 0 {
            log::warn(
                "Application.console_send",
                "more was sent in a frame than is passed on to tools (SENT_MAX, SENT_BYTES_MAX)",
            );
        }
    }

    /// Pauses or resumes the game.
    fn toggle_pause(&mut self, app: &mut App) {
        let state = &mut self.state;
        if state.is_paused() {
            state.resume();
            app.vm.engine().worlds.flow.get_mut().resume(false);
            log::info("the game continues");
        } else {
            state.pictures.capture_next_frame(app.vm.engine());
            (state.paused, state.steps) = (true, 0);
            log::info("the game is paused: pause, from a tool's line, resumes it");
        }
    }
}

/// Returns the log message of a reload.
fn reload_message(names: &[ResourceName]) -> String {
    const NAMED: usize = 8;
    if names.is_empty() {
        return "reload: nothing has changed since the last reload".to_string();
    }
    let first: Vec<_> = names.iter().take(NAMED).map(ToString::to_string).collect();
    let more = match names.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} others"),
    };
    format!("reload: {}{more}", first.join(", "))
}

impl App {
    /// Performs pending console commands.
    pub(super) fn run_console_commands(&mut self, mut tools: Option<&mut RemoteTools>) {
        for command in self.vm.engine().devices.outbox.take_commands() {
            let outcome = match (command, tools.as_deref_mut()) {
                (ConsoleCommand::Pause, Some(tools)) => {
                    tools.toggle_pause(self);
                    continue;
                }
                (ConsoleCommand::Pause, None) => {
                    log::error("pause: no tools can connect, so nothing could resume the game");
                    continue;
                }
                (ConsoleCommand::Refresh, Some(tools)) => self.take_changes(&tools.state.folder),
                (ConsoleCommand::Refresh, None) => Ok((Vec::new(), Vec::new())),
                (ConsoleCommand::Reload(kind), _) => {
                    let entries = &self.vm.engine().assets.store.index().entries;
                    let all = entries.iter().map(|entry| &entry.resource);
                    let mut all: Vec<ResourceName> =
                        all.filter(|name| name.kind == kind).cloned().collect();
                    all.dedup();
                    self.reload_selected(all)
                }
            };
            match outcome {
                Ok((names, problems)) => {
                    for problem in problems {
                        log::error(&problem);
                    }
                    log::info(&reload_message(&names));
                }
                Err(report) => log::error(&report.to_string()),
            }
        }
    }
}
