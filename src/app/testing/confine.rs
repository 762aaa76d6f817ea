//! The part of the system that a test run can reach. A process that runs tests, on its own or for
//! another one, starts no programs. A process that only starts others can start this program alone;
//! the others reach no more than it does.

use super::{COVERAGE_FILE, Options, config, discovery};
use crate::app::Game;
use crate::app::confinement::{Plan, forbid_programs};
use std::path::{Path, PathBuf};

/// Confines the process that a person has started. It has read nothing of the folder yet.
pub fn parent(root: &Path, options: &Options) {
    let mut plan = plan(root, options);
    if let Some(file) = &options.output_file {
        plan.add_file(file);
    }
    plan.add_outputs(&options.coverage);
    plan.add_outputs(&options.api_coverage);
    if options.config && root.join(config::FILE).is_file() {
        // What the folder's own file may name.
        plan.add_outputs([&root.join(COVERAGE_FILE)]);
        plan.duties.appends = Some(root.to_path_buf());
    }
    plan.reach.programs.extend(std::env::current_exe());
    // The folders of those other processes.
    plan.reach.read.push(PathBuf::from("/proc"));
    plan.begin();
    forbid_programs(true);
}

/// Confines a process that runs files for another one.
pub fn worker(root: &Path, options: &Options) {
    plan(root, options).begin();
    forbid_programs(false);
}

fn plan(root: &Path, options: &Options) -> Plan {
    let mut plan = match discovery::is_game(root) {
        true => Plan::of_game(&Game::Folder(root.to_path_buf())),
        false => Plan::of_folder(root),
    };
    plan.reach.devices = true;
    // Pictures are written beside the suites, in folders that are not there yet.
    if options.update_golden {
        plan.reach.write.push(root.to_path_buf());
    }
    plan.reach.read.extend(options.helper.iter().map(|helper| root.join(helper)));
    for folder in &options.lpath {
        // A path with the module's name in it begins with a folder.
        let folder = match folder.split_once('?') {
            None => folder,
            Some((before, _)) => before.rsplit_once('/').map_or("", |(folder, _)| folder),
        };
        plan.reach.read.push(root.join(folder));
    }
    plan
}
