//! The part of the system that a test run can reach. A process that runs tests, on its own or for
//! another one, starts no programs. A process that only starts others can start this program alone;
//! the others reach no more than it does.

use super::{COVERAGE_FILE, Options, config, discovery};
use crate::app::Game;
use crate::app::confinement::{Plan, check_outputs, forbid_programs};
use crate::foundation::Error;
use std::path::{Path, PathBuf};

/// Confines the process that a person has started. It has read nothing of the folder yet.
///
/// # Errors
/// Files that the options name could not be written.
pub fn parent(root: &Path, options: &Options) -> Result<(), Error> {
    parent_plan(root, options).begin();
    forbid_programs(true);
    check_outputs()
}

fn parent_plan(root: &Path, options: &Options) -> Plan {
    let mut plan = plan(root, options);
    if let Some(file) = &options.output_file {
        plan.add_file(file);
    }
    plan.add_outputs(&options.coverage);
    plan.add_outputs(&options.api_coverage);
    if options.config && root.join(config::FILE).is_file() {
        // What the folder's own file may name.
        plan.add_possible_output(root.join(COVERAGE_FILE));
        plan.duties.appends = Some(root.to_path_buf());
    }
    plan.reach.programs.extend(std::env::current_exe());
    // The folders of those other processes.
    plan.reach.read.push(PathBuf::from("/proc"));
    plan
}

/// Confines a process that runs files for another one.
pub fn worker(root: &Path, options: &Options) {
    worker_plan(root, options).begin();
    forbid_programs(false);
}

fn worker_plan(root: &Path, options: &Options) -> Plan {
    Plan { worker: true, ..plan(root, options) }
}

fn plan(root: &Path, options: &Options) -> Plan {
    let game = Game::Folder(root.to_path_buf());
    let mut plan = match discovery::is_game(root) {
        true => Plan::of_game(&game),
        false => Plan::of_folder(root),
    };
    plan.add_devices(&game);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of tests, a game if it has a settings file.
    fn scratch(name: &str, settings: Option<&str>) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("engine-{}-reach-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("a_test.lua"), "").unwrap();
        if let Some(settings) = settings {
            std::fs::write(folder.join("settings.sjson"), settings).unwrap();
            std::fs::write(folder.join("main.lua"), "").unwrap();
        }
        folder
    }

    fn paths(root: &Path, names: &[&str]) -> Vec<PathBuf> {
        // No separator at the end of the folder itself.
        let path = |name: &&str| if name.is_empty() { root.into() } else { root.join(name) };
        names.iter().map(path).collect()
    }

    #[test]
    fn a_process_that_runs_tests_reaches_the_folder_and_what_the_command_line_names() {
        let root = scratch("worker", Some("id = \"a\""));
        let mut options = Options::new(root.clone());
        let plan = worker_plan(&root, &options);
        assert_eq!(plan.reach.read, paths(&root, &[""]));
        assert_eq!(plan.reach.write, paths(&root, &[".engine"]));
        assert!(plan.reach.files.is_empty() && plan.reach.programs.is_empty());
        assert!(plan.broker_work().is_empty() && plan.worker && plan.reach.devices);
        assert!(!plan.reach.abstract_sockets);
        assert_eq!(plan.reach.driver_cache.as_deref(), Some("a"));
        options.helper = Some("spec/helper.lua".to_string());
        options.lpath = ["lib/?.lua", "/srv/lua/x?.lua", "other", "?.lua"].map(String::from).into();
        options.update_golden = true;
        let plan = worker_plan(&root, &options);
        let read = ["", "spec/helper.lua", "lib", "/srv/lua", "other"];
        let mut wanted = paths(&root, &read);
        wanted.push(root.join(""));
        assert_eq!(plan.reach.read, wanted);
        assert_eq!(plan.reach.write, paths(&root, &[".engine", ""]));
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn the_process_that_a_person_starts_reaches_its_outputs_and_starts_this_program() {
        let root = scratch("parent", None);
        let beside = root.with_extension("xml");
        let mut options = Options::new(root.clone());
        let plan = parent_plan(&root, &options);
        let mut read = paths(&root, &[""]);
        read.push("/proc".into());
        assert_eq!((plan.reach.read, plan.reach.write.len()), (read, 0));
        assert_eq!(plan.reach.programs, [std::env::current_exe().unwrap()]);
        assert!(plan.reach.files.is_empty() && !plan.worker && !plan.named_outputs);
        let name = root.file_name().and_then(|name| name.to_str());
        assert_eq!(plan.reach.driver_cache.as_deref(), name);
        assert!(plan.duties.outputs.is_empty() && plan.duties.appends.is_none());
        assert!(!plan.duties.drops && plan.duties.open_address.is_none());
        options.output_file = Some(beside.clone());
        options.coverage = Some(root.join("c.info"));
        options.api_coverage = Some(root.join("api.json"));
        let plan = parent_plan(&root, &options);
        assert_eq!(plan.reach.files, std::slice::from_ref(&beside));
        assert_eq!(plan.duties.outputs, paths(&root, &["c.info", "api.json"]));
        assert!(plan.named_outputs && plan.duties.appends.is_none());
        // A folder's own file may name files in the folder, if it is read.
        std::fs::write(root.join(config::FILE), "return {}").unwrap();
        let mut options = Options::new(root.clone());
        let plan = parent_plan(&root, &options);
        assert_eq!(plan.duties.outputs, paths(&root, &[COVERAGE_FILE]));
        assert_eq!(plan.duties.appends, Some(root.clone()));
        assert!(!plan.named_outputs);
        options.config = false;
        assert!(parent_plan(&root, &options).broker_work().is_empty());
        std::fs::remove_file(beside).unwrap();
        std::fs::remove_dir_all(root).unwrap();
    }
}
