//! What a run is measured for: reports, traces and tables that the command line asks for, written
//! at its end. What is measured is in src/foundation/profile and src/foundation/counters.

use super::output_files;
use crate::foundation::counters::{self, Form};
use crate::foundation::{Error, log, profile};
use crate::script::{Vm, count_all_calls};
use std::path::{Path, PathBuf};

/// What is wanted of a run beside the game.
#[derive(Clone, Debug, Default)]
pub struct Measures {
    /// Print the table of scopes.
    pub report: bool,
    /// Frames at the beginning that its averages and extremes leave out.
    pub skip: u64,
    /// Where the last frames go, in Chrome's trace format.
    pub trace: Option<PathBuf>,
    /// The same as a flame graph in SVG.
    pub flame: Option<PathBuf>,
    /// The same as folded stacks.
    pub folded: Option<PathBuf>,
    /// Ask the scripts where they are, and print it.
    pub scripts: bool,
    /// Where the stacks that were met go.
    pub script_stacks: Option<PathBuf>,
    /// Where every counter of every frame goes, and in which form.
    pub statistics: Option<(PathBuf, Form)>,
}

impl Measures {
    /// The files that are written at the end.
    pub fn outputs(&self) -> impl Iterator<Item = &PathBuf> {
        let files = [&self.trace, &self.flame, &self.folded, &self.script_stacks];
        let statistics = self.statistics.as_ref().map(|(file, _)| file);
        files.into_iter().flatten().chain(statistics)
    }

    /// The run begins.
    pub fn begin(&self) {
        let files = [&self.trace, &self.flame, &self.folded];
        if self.report || files.iter().any(|file| file.is_some()) || self.statistics.is_some() {
            profile::set_enabled(true);
        }
        if self.statistics.is_some() {
            counters::begin_export();
        }
        if self.scripts {
            count_all_calls();
        }
    }

    /// The game is open.
    pub fn begin_with(&self, vm: &mut Vm) -> Result<(), Error> {
        if self.scripts || self.script_stacks.is_some() {
            vm.begin_sampling(true)?;
        }
        Ok(())
    }

    /// So many frames were played.
    pub fn after_frame(&self, played: u64) {
        if played == self.skip && self.skip > 0 {
            profile::reset(None);
        }
    }

    /// The run has ended: whether everything could be written.
    pub fn end(&self, vm: &mut Vm) -> bool {
        if self.report {
            log::info(profile::report().trim_end_matches('\n'));
        }
        let mut whole = true;
        if let Some(samples) = vm.samples() {
            if self.scripts {
                log::info(samples.report().trim_end_matches('\n'));
            }
            if let Some(file) = &self.script_stacks {
                whole &= write(file, &samples.folded());
            }
        }
        let mut put = |file: &Option<PathBuf>, text: fn() -> String| {
            if let Some(file) = file {
                whole &= write(file, &text());
            }
        };
        put(&self.trace, profile::chrome_trace);
        put(&self.flame, profile::flame_graph);
        put(&self.folded, profile::folded_stacks);
        if let Some((file, form)) = &self.statistics {
            let (text, dropped) = counters::exported(*form);
            if dropped > 0 {
                log::warning(&format!(
                    "{}: the last {dropped} frames are not in it: {} values are kept \
                     (EXPORT_VALUES_MAX)",
                    file.display(),
                    counters::EXPORT_VALUES_MAX
                ));
            }
            whole &= write(file, &text);
        }
        whole
    }
}

fn write(file: &Path, text: &str) -> bool {
    match output_files::write(file, text.as_bytes()) {
        Ok(()) => true,
        Err(reason) => {
            log::error(&format!("{} cannot be written: {reason}", file.display()));
            false
        }
    }
}
