//! What the game itself has for tools: messages that scripts send, and what commands of the console
//! ask of the run (src/system/tools/outbox.rs).

use super::Tools;
use crate::app::App;
use crate::foundation::log;
use crate::resource::name::ResourceName;
use crate::system::tools::Bytes;
use crate::system::tools::outbox::Wish;

impl Tools {
    /// Tells those who follow the game what it has sent.
    pub(super) fn tell_sent(&mut self, app: &mut App) {
        let outbox = &mut app.vm.engine().outbox;
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
                "more was sent in a frame than tools are told (SENT_MAX, SENT_BYTES_MAX)",
            );
        }
    }

    /// Has the game stand, or go on.
    fn turn(&mut self, app: &mut App) {
        let state = &mut self.state;
        if state.paused {
            state.paused = false;
            log::info("the game goes on");
        } else {
            state.pictures.hold_next(app.vm.engine());
            (state.paused, state.steps) = (true, 0);
            log::info("the game stands: pause, from a tool's line, has it go on");
        }
    }
}

/// What was taken, for the log.
fn in_short(names: &[ResourceName]) -> String {
    const NAMED: usize = 8;
    if names.is_empty() {
        return "reload: nothing had changed that was not taken already".to_string();
    }
    let first: Vec<_> = names.iter().take(NAMED).map(ToString::to_string).collect();
    let more = match names.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} others"),
    };
    format!("reload: {}{more}", first.join(", "))
}

impl App {
    /// Does what commands of the console asked for.
    pub(super) fn do_wishes(&mut self, mut tools: Option<&mut Tools>) {
        for wish in self.vm.engine().outbox.take_wishes() {
            let outcome = match (wish, tools.as_deref_mut()) {
                (Wish::Pause, Some(tools)) => {
                    tools.turn(self);
                    continue;
                }
                (Wish::Pause, None) => {
                    log::error("pause: no tools are let in, so nothing could have the game go on");
                    continue;
                }
                (Wish::Refresh, Some(tools)) => self.take_changes(&tools.state.folder),
                (Wish::Refresh, None) => Ok((Vec::new(), Vec::new())),
                (Wish::Reload(kind), _) => {
                    let entries = &self.vm.engine().store.index().entries;
                    let all = entries.iter().map(|entry| &entry.resource);
                    let mut all: Vec<ResourceName> =
                        all.filter(|name| name.kind == kind).cloned().collect();
                    all.dedup();
                    self.take_again(all)
                }
            };
            match outcome {
                Ok((names, problems)) => {
                    for problem in problems {
                        log::error(&problem);
                    }
                    log::info(&in_short(&names));
                }
                Err(report) => log::error(&report.to_string()),
            }
        }
    }
}
