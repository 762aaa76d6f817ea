//! The flags for the number of threads, the same in every command that plays frames.

use crate::foundation::tasks::THREADS_MAX;

/// How many threads work on a frame.
#[derive(clap::Args)]
pub struct Threads {
    /// Let N threads work on a frame; results are the same [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = threads)]
    threads: Option<usize>,
    /// Let one thread do everything in a frame: --threads 1
    #[arg(long, conflicts_with = "threads")]
    single_threaded: bool,
}

impl Threads {
    /// The number, where one was given.
    pub fn number(&self) -> Option<usize> {
        if self.single_threaded { Some(1) } else { self.threads }
    }
}

fn threads(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(threads) if (1..=THREADS_MAX).contains(&threads) => Ok(threads),
        _ => Err(format!("must be a number of threads, from 1 to {THREADS_MAX}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_threads_and_too_many_and_words_are_refused() {
        assert_eq!(threads("1"), Ok(1));
        assert_eq!(threads("33"), Ok(33));
        for text in ["0", "34", "-1", "many", "", "1.5"] {
            let words = "must be a number of threads, from 1 to 33".to_string();
            assert_eq!(threads(text), Err(words), "{text}");
        }
    }
}
