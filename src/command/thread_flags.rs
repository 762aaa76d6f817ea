//! Flags for the number of threads, shared by every command that runs frames.

use engine_foundation::tasks::THREADS_MAX;

/// Flags that set the number of threads of a frame.
#[derive(clap::Args)]
pub struct ThreadFlags {
    /// Number of threads that work on a frame; results are the same [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = threads, allow_negative_numbers = true)]
    threads: Option<usize>,
    /// Use one thread for the whole frame: --threads 1
    #[arg(long, conflicts_with = "threads")]
    single_threaded: bool,
}

impl ThreadFlags {
    /// Returns the number of threads if a flag sets it.
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
    fn invalid_thread_counts_are_refused() {
        assert_eq!(threads("1"), Ok(1));
        assert_eq!(threads("33"), Ok(33));
        for text in ["0", "34", "-1", "many", "", "1.5"] {
            let message = "must be a number of threads, from 1 to 33".to_string();
            assert_eq!(threads(text), Err(message), "{text}");
        }
    }
}
