//! Profiling outputs of a run: reports, traces and tables that the command line asks for, written
//! at the end of the run. The profiler is in src/foundation/profile, the counters are in
//! src/foundation/counters.

use super::output_files;
use engine_foundation::counters::{self, ExportFormat};
use engine_foundation::{Error, log, profile};
use engine_script::{Vm, count_all_calls};
use std::path::{Path, PathBuf};

/// The profiling outputs requested for a run.
#[derive(Clone, Debug, Default)]
pub struct ProfileOutputs {
    /// Print the table of scopes.
    pub report: bool,
    /// Number of frames at the beginning that the report's averages and extremes leave out.
    pub skip: u64,
    /// Output file for the last frames, in Chrome's trace format.
    pub trace: Option<PathBuf>,
    /// Output file for the last frames, as a flame graph in SVG.
    pub flame: Option<PathBuf>,
    /// Output file for the last frames, as folded stacks.
    pub folded: Option<PathBuf>,
    /// Sample the scripts' stacks, and print a report.
    pub scripts: bool,
    /// Output file for the sampled stacks of scripts.
    pub script_stacks: Option<PathBuf>,
    /// Output file for every counter of every frame, and its format.
    pub statistics: Option<(PathBuf, ExportFormat)>,
}

impl ProfileOutputs {
    /// Returns the files that are written at the end.
    pub fn outputs(&self) -> impl Iterator<Item = &PathBuf> {
        let files = [&self.trace, &self.flame, &self.folded, &self.script_stacks];
        let statistics = self.statistics.as_ref().map(|(file, _)| file);
        files.into_iter().flatten().chain(statistics)
    }

    /// Starts measuring, before the game is opened.
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

    /// Starts sampling the scripts, once the game is open.
    pub fn begin_sampling(&self, vm: &mut Vm) -> Result<(), Error> {
        if self.scripts || self.script_stacks.is_some() {
            vm.begin_sampling(true)?;
        }
        Ok(())
    }

    /// Resets the report's statistics when `played` reaches the number of skipped frames.
    pub fn after_frame(&self, played: u64) {
        if played == self.skip && self.skip > 0 {
            profile::reset(None);
        }
    }

    /// Writes all outputs at the end of the run. Returns true if every file could be written.
    pub fn end(&self, vm: &mut Vm) -> bool {
        if self.report {
            log::info(profile::report().trim_end_matches('\n'));
        }
        let mut all_written = true;
        if let Some(samples) = vm.samples() {
            if self.scripts {
                log::info(samples.report().trim_end_matches('\n'));
            }
            if let Some(file) = &self.script_stacks {
                all_written &= write(file, &samples.folded());
            }
        }
        let mut write_output = |file: &Option<PathBuf>, text: fn() -> String| {
            if let Some(file) = file {
                all_written &= write(file, &text());
            }
        };
        write_output(&self.trace, profile::chrome_trace);
        write_output(&self.flame, profile::flame_graph);
        write_output(&self.folded, profile::folded_stacks);
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
            all_written &= write(file, &text);
        }
        all_written
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
