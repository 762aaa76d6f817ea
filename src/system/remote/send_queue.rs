//! The bounded queue of messages to one client. A client that does not read costs the game neither
//! time nor memory. Knows no sockets.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard};
use tungstenite::Bytes;

/// The most waiting messages up to which a stream message is queued; further stream messages are
/// dropped and counted.
pub const STREAM_ITEMS_MAX: usize = 512;
/// The most waiting bytes up to which a stream message is queued.
pub const STREAM_BYTES_MAX: usize = 4 << 20;
/// The most messages and bytes of all kinds that wait for one client. A client that exceeds them is
/// disconnected, because an answer is never dropped.
pub const ITEMS_MAX: usize = 4096;
pub const BYTES_MAX: usize = 64 << 20;

/// One item to send.
#[derive(Clone, Debug, PartialEq)]
pub enum OutgoingMessage {
    Text(Bytes),
    Binary(Bytes),
    /// Complete WebSocket frames, ready to send.
    Frames(Vec<u8>),
    /// The end of the connection, with a close code of WebSocket (RFC 6455, 7.4) and a reason.
    Close(u16, String),
}

impl OutgoingMessage {
    pub fn bytes(&self) -> usize {
        match self {
            OutgoingMessage::Text(bytes) | OutgoingMessage::Binary(bytes) => bytes.len(),
            OutgoingMessage::Frames(frames) => frames.len(),
            OutgoingMessage::Close(_, reason) => reason.len(),
        }
    }
}

#[derive(Default)]
struct QueueState {
    items: VecDeque<OutgoingMessage>,
    bytes: usize,
    dropped: u64,
    ended: bool,
}

/// The send queue of one client.
#[derive(Default)]
pub struct SendQueue {
    waiting: Mutex<QueueState>,
    news: Condvar,
}

impl SendQueue {
    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.waiting.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    fn add(&self, mut waiting: MutexGuard<QueueState>, item: OutgoingMessage) {
        waiting.bytes += item.bytes();
        waiting.items.push_back(item);
        drop(waiting);
        self.news.notify_one();
    }

    /// Adds a message of a stream. Returns false if it does not fit; it is then dropped and
    /// counted.
    pub fn offer(&self, item: OutgoingMessage) -> bool {
        let mut waiting = self.lock();
        if waiting.ended {
            return false;
        }
        if waiting.items.len() >= STREAM_ITEMS_MAX
            || waiting.bytes + item.bytes() > STREAM_BYTES_MAX
        {
            waiting.dropped += 1;
            return false;
        }
        self.add(waiting, item);
        true
    }

    /// Adds a message that must arrive. If it does not fit, the client does not read: the queue
    /// ends, and false is returned.
    pub fn push(&self, item: OutgoingMessage) -> bool {
        let mut waiting = self.lock();
        if waiting.ended {
            return false;
        }
        if waiting.items.len() >= ITEMS_MAX || waiting.bytes + item.bytes() > BYTES_MAX {
            waiting.ended = true;
            waiting.items.clear();
            drop(waiting);
            self.news.notify_all();
            return false;
        }
        self.add(waiting, item);
        true
    }

    /// Returns the next item, and blocks until there is one. Returns `None` when the queue has
    /// ended.
    pub fn next(&self) -> Option<OutgoingMessage> {
        let mut waiting = self.lock();
        loop {
            if let Some(item) = waiting.items.pop_front() {
                waiting.bytes -= item.bytes();
                return Some(item);
            }
            if waiting.ended {
                return None;
            }
            waiting = self.news.wait(waiting).unwrap_or_else(|poison| poison.into_inner());
        }
    }

    /// Ends the queue: nothing more is added, and waiting items are still sent.
    pub fn end(&self) {
        self.lock().ended = true;
        self.news.notify_all();
    }

    pub fn has_ended(&self) -> bool {
        self.lock().ended
    }

    /// Returns the number of stream messages dropped so far.
    pub fn dropped(&self) -> u64 {
        self.lock().dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(bytes: usize) -> OutgoingMessage {
        OutgoingMessage::Text(Bytes::from(vec![b'x'; bytes]))
    }

    #[test]
    fn only_stream_messages_are_dropped_and_counted() {
        let queue = SendQueue::default();
        for _ in 0..STREAM_ITEMS_MAX {
            assert!(queue.offer(item(1)));
        }
        assert!(!queue.offer(item(1)));
        assert_eq!(queue.dropped(), 1);
        assert!(queue.push(item(2)));
        assert_eq!(queue.next(), Some(item(1)));
        // The answer is in the queue, so it is still one too many.
        assert!(!queue.offer(item(1)));
        assert_eq!(queue.dropped(), 2);
    }

    #[test]
    fn an_overlong_stream_message_leaves_the_queue_unchanged() {
        let queue = SendQueue::default();
        assert!(queue.offer(item(STREAM_BYTES_MAX)));
        assert!(!queue.offer(item(1)));
        assert_eq!(queue.next(), Some(item(STREAM_BYTES_MAX)));
        assert!(queue.offer(item(1)));
    }

    #[test]
    fn a_client_with_too_many_unread_answers_is_disconnected() {
        let queue = SendQueue::default();
        for _ in 0..ITEMS_MAX {
            assert!(queue.push(item(1)));
        }
        assert!(!queue.has_ended());
        assert!(!queue.push(item(1)));
        assert!(queue.has_ended());
        assert_eq!(queue.next(), None);
    }

    #[test]
    fn queued_messages_are_sent_before_closing() {
        let queue = SendQueue::default();
        queue.push(OutgoingMessage::Close(1000, "bye".into()));
        queue.end();
        assert!(!queue.push(item(1)) && !queue.offer(item(1)));
        assert_eq!(queue.next(), Some(OutgoingMessage::Close(1000, "bye".into())));
        assert_eq!(queue.next(), None);
    }
}
