//! Messages of a game for tools, and commands of its console for the run. They are collected during
//! a frame, and taken at the point of the frame where tools are answered. Knows no connection.

/// The most messages of one frame; further messages are dropped and counted.
pub const SENT_MAX: usize = 256;
/// The most bytes of all messages of one frame.
pub const SENT_BYTES_MAX: usize = 4 << 20;

/// A command of the console for the run.
#[derive(Clone, Debug, PartialEq)]
pub enum ConsoleCommand {
    /// Pauses the run, or resumes it.
    Pause,
    /// Takes the changes of the game's folder.
    Refresh,
    /// Reloads the resources of this kind.
    Reload(String),
}

/// Messages and commands that wait to be taken.
#[derive(Default)]
pub struct RemoteOutbox {
    /// True if a tool follows the messages of the game; otherwise none are kept.
    pub is_heard: bool,
    messages: Vec<String>,
    bytes: usize,
    dropped: usize,
    commands: Vec<ConsoleCommand>,
}

impl RemoteOutbox {
    /// Keeps a message, if a tool listens and there is room.
    pub fn send(&mut self, message: String) {
        if !self.is_heard {
            return;
        }
        if self.messages.len() >= SENT_MAX || self.bytes + message.len() > SENT_BYTES_MAX {
            self.dropped += 1;
            return;
        }
        self.bytes += message.len();
        self.messages.push(message);
    }

    /// Takes the messages since the last call, and the number of messages that did not fit.
    pub fn take(&mut self) -> (Vec<String>, usize) {
        self.bytes = 0;
        (std::mem::take(&mut self.messages), std::mem::take(&mut self.dropped))
    }

    /// Adds a command, unless it already waits.
    pub fn push_command(&mut self, command: ConsoleCommand) {
        if !self.commands.contains(&command) {
            self.commands.push(command);
        }
    }

    pub fn take_commands(&mut self) -> Vec<ConsoleCommand> {
        std::mem::take(&mut self.commands)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_without_clients_are_discarded_and_counted() {
        let mut outbox = RemoteOutbox::default();
        outbox.send("unheard".to_string());
        assert_eq!(outbox.take(), (Vec::new(), 0));
        outbox.is_heard = true;
        for _ in 0..SENT_MAX + 3 {
            outbox.send("{}".to_string());
        }
        let (messages, dropped) = outbox.take();
        assert_eq!((messages.len(), dropped), (SENT_MAX, 3));
        outbox.send("x".repeat(SENT_BYTES_MAX + 1));
        outbox.send("y".to_string());
        assert_eq!(outbox.take(), (vec!["y".to_string()], 1));
    }

    #[test]
    fn a_pending_command_is_queued_once() {
        let mut outbox = RemoteOutbox::default();
        outbox.push_command(ConsoleCommand::Refresh);
        outbox.push_command(ConsoleCommand::Refresh);
        outbox.push_command(ConsoleCommand::Reload("unit".to_string()));
        assert_eq!(
            outbox.take_commands(),
            [ConsoleCommand::Refresh, ConsoleCommand::Reload("unit".to_string())]
        );
        assert!(outbox.take_commands().is_empty());
    }
}
