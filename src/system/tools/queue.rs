//! What waits to be sent to one client: bounded, so that a client that does not read costs the game
//! neither time nor memory. Knows no sockets.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard};
use tungstenite::Bytes;

/// The most messages of streams that wait for one client; what is more is dropped and counted.
pub const STREAM_ITEMS_MAX: usize = 512;
/// And the most bytes with which a stream's message may still join.
pub const STREAM_BYTES_MAX: usize = 4 << 20;
/// The most answers and bytes of all that wait for one client: one that lets more pile up is
/// disconnected, for an answer is never dropped.
pub const ITEMS_MAX: usize = 4096;
pub const BYTES_MAX: usize = 64 << 20;

/// One thing to send.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    Text(Bytes),
    Binary(Bytes),
    /// Whole frames, as they go over the wire.
    Frames(Vec<u8>),
    /// The end, with a reason of WebSocket's (RFC 6455, 7.4) and words.
    Close(u16, String),
}

impl Item {
    pub fn bytes(&self) -> usize {
        match self {
            Item::Text(bytes) | Item::Binary(bytes) => bytes.len(),
            Item::Frames(frames) => frames.len(),
            Item::Close(_, words) => words.len(),
        }
    }
}

#[derive(Default)]
struct Waiting {
    items: VecDeque<Item>,
    bytes: usize,
    dropped: u64,
    ended: bool,
}

/// The queue of one client.
#[derive(Default)]
pub struct Queue {
    waiting: Mutex<Waiting>,
    news: Condvar,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    fn add(&self, mut waiting: MutexGuard<Waiting>, item: Item) {
        waiting.bytes += item.bytes();
        waiting.items.push_back(item);
        drop(waiting);
        self.news.notify_one();
    }

    /// A message of a stream: dropped and counted where it does not fit. Whether it fitted.
    pub fn offer(&self, item: Item) -> bool {
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

    /// What must arrive. Where it does not fit, the client does not read, and the queue ends.
    pub fn push(&self, item: Item) -> bool {
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

    /// The next thing to send, once there is one; none when the queue has ended.
    pub fn next(&self) -> Option<Item> {
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

    /// Nothing is taken from now on; what waits is still sent.
    pub fn end(&self) {
        self.lock().ended = true;
        self.news.notify_all();
    }

    pub fn has_ended(&self) -> bool {
        self.lock().ended
    }

    /// How many messages of streams were dropped so far.
    pub fn dropped(&self) -> u64 {
        self.lock().dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(bytes: usize) -> Item {
        Item::Text(Bytes::from(vec![b'x'; bytes]))
    }

    #[test]
    fn streams_are_dropped_and_counted_and_answers_are_not() {
        let queue = Queue::default();
        for _ in 0..STREAM_ITEMS_MAX {
            assert!(queue.offer(item(1)));
        }
        assert!(!queue.offer(item(1)));
        assert_eq!(queue.dropped(), 1);
        assert!(queue.push(item(2)));
        assert_eq!(queue.next(), Some(item(1)));
        // Still one too many, with the answer.
        assert!(!queue.offer(item(1)));
        assert_eq!(queue.dropped(), 2);
    }

    #[test]
    fn a_stream_that_is_too_long_for_the_queue_leaves_it_as_it_is() {
        let queue = Queue::default();
        assert!(queue.offer(item(STREAM_BYTES_MAX)));
        assert!(!queue.offer(item(1)));
        assert_eq!(queue.next(), Some(item(STREAM_BYTES_MAX)));
        assert!(queue.offer(item(1)));
    }

    #[test]
    fn a_client_that_lets_answers_pile_up_is_at_its_end() {
        let queue = Queue::default();
        for _ in 0..ITEMS_MAX {
            assert!(queue.push(item(1)));
        }
        assert!(!queue.has_ended());
        assert!(!queue.push(item(1)));
        assert!(queue.has_ended());
        assert_eq!(queue.next(), None);
    }

    #[test]
    fn what_waits_is_sent_before_the_end() {
        let queue = Queue::default();
        queue.push(Item::Close(1000, "bye".into()));
        queue.end();
        assert!(!queue.push(item(1)) && !queue.offer(item(1)));
        assert_eq!(queue.next(), Some(Item::Close(1000, "bye".into())));
        assert_eq!(queue.next(), None);
    }
}
