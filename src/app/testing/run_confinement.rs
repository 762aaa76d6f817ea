//! The confinement of a test run. A process that runs tests cannot start programs. A process that
//! only starts workers can start this executable alone. The workers have no more access than their
//! parent.

use super::{COVERAGE_FILE, TestOptions, config, discovery};
use crate::Game;
use crate::confinement::{ConfinementPlan, check_outputs, forbid_programs};
use engine_foundation::Error;
use std::path::{Path, PathBuf};

/// Confines the process that the user has started, before it reads the folder.
///
/// # Errors
/// Returns an error if files named by the options cannot be written.
pub fn parent(root: &Path, options: &TestOptions) -> Result<(), Error> {
    parent_plan(root, options).begin();
    forbid_programs(true);
    check_outputs()
}

fn parent_plan(root: &Path, options: &TestOptions) -> ConfinementPlan {
    let mut plan = plan(root, options);
    for (_, file) in &options.output_files {
        plan.add_file(file);
    }
    plan.add_outputs(&options.coverage);
    plan.add_outputs(&options.api_coverage);
    if options.config && root.join(config::FILE).is_file() {
        // The folder's own `.busted` file may name these outputs.
        plan.add_possible_output(root.join(COVERAGE_FILE));
        plan.duties.appends = Some(root.to_path_buf());
    }
    plan.file_access.programs.extend(std::env::current_exe());
    // The folders of the worker processes.
    plan.file_access.read.push(PathBuf::from("/proc"));
    plan
}

/// Confines a worker process.
pub fn worker(root: &Path, options: &TestOptions) {
    worker_plan(root, options).begin();
    forbid_programs(false);
}

fn worker_plan(root: &Path, options: &TestOptions) -> ConfinementPlan {
    ConfinementPlan { worker: true, ..plan(root, options) }
}

fn plan(root: &Path, options: &TestOptions) -> ConfinementPlan {
    let game = Game::Folder(root.to_path_buf());
    let mut plan = match discovery::is_game(root) {
        true => ConfinementPlan::of_game(&game, options.variants.platform()),
        false => ConfinementPlan::of_folder(root),
    };
    plan.add_devices(&game);
    // Reference images are written next to the suites, in folders that may not exist yet.
    if options.update_golden {
        plan.file_access.write.push(root.to_path_buf());
    }
    plan.file_access.read.extend(options.helper.iter().map(|helper| root.join(helper)));
    for folder in &options.lpath {
        // A path pattern with `?` for the module's name begins with a folder.
        let folder = match folder.split_once('?') {
            None => folder,
            Some((before, _)) => before.rsplit_once('/').map_or("", |(folder, _)| folder),
        };
        plan.file_access.read.push(root.join(folder));
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a folder of tests, which is a game if it has a settings file.
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
        // The root itself has no trailing separator.
        let path = |name: &&str| if name.is_empty() { root.into() } else { root.join(name) };
        names.iter().map(path).collect()
    }

    #[test]
    fn a_worker_process_can_access_the_folder_and_named_files() {
        let root = scratch("worker", Some("id = \"a\""));
        let mut options = TestOptions::new(root.clone());
        let plan = worker_plan(&root, &options);
        assert_eq!(plan.file_access.read, paths(&root, &[""]));
        assert_eq!(plan.file_access.write, paths(&root, &[".engine"]));
        assert!(plan.file_access.files.is_empty() && plan.file_access.programs.is_empty());
        assert!(plan.broker_work().is_empty() && plan.worker && plan.file_access.devices);
        assert!(!plan.file_access.abstract_sockets);
        assert_eq!(plan.file_access.driver_cache.as_deref(), Some("a"));
        options.helper = Some("spec/helper.lua".to_string());
        options.lpath = ["lib/?.lua", "/srv/lua/x?.lua", "other", "?.lua"].map(String::from).into();
        options.update_golden = true;
        let plan = worker_plan(&root, &options);
        let read = ["", "spec/helper.lua", "lib", "/srv/lua", "other"];
        let mut wanted = paths(&root, &read);
        wanted.push(root.join(""));
        assert_eq!(plan.file_access.read, wanted);
        assert_eq!(plan.file_access.write, paths(&root, &[".engine", ""]));
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn the_main_process_can_write_outputs_and_start_workers() {
        let root = scratch("parent", None);
        let report_file = root.with_extension("xml");
        let mut options = TestOptions::new(root.clone());
        let plan = parent_plan(&root, &options);
        let mut read = paths(&root, &[""]);
        read.push("/proc".into());
        assert_eq!((plan.file_access.read, plan.file_access.write.len()), (read, 0));
        assert_eq!(plan.file_access.programs, [std::env::current_exe().unwrap()]);
        assert!(plan.file_access.files.is_empty() && !plan.worker && !plan.named_outputs);
        let name = root.file_name().and_then(|name| name.to_str());
        assert_eq!(plan.file_access.driver_cache.as_deref(), name);
        assert!(plan.duties.outputs.is_empty() && plan.duties.appends.is_none());
        assert!(!plan.duties.drops && plan.duties.open_address.is_none());
        options.output_files = vec![("junit".to_string(), report_file.clone())];
        options.coverage = Some(root.join("c.info"));
        options.api_coverage = Some(root.join("api.json"));
        let plan = parent_plan(&root, &options);
        assert_eq!(plan.file_access.files, std::slice::from_ref(&report_file));
        assert_eq!(plan.duties.outputs, paths(&root, &["c.info", "api.json"]));
        assert!(plan.named_outputs && plan.duties.appends.is_none());
        // A folder's `.busted` file can name files in the folder, if it is read.
        std::fs::write(root.join(config::FILE), "return {}").unwrap();
        let mut options = TestOptions::new(root.clone());
        let plan = parent_plan(&root, &options);
        assert_eq!(plan.duties.outputs, paths(&root, &[COVERAGE_FILE]));
        assert_eq!(plan.duties.appends, Some(root.clone()));
        assert!(!plan.named_outputs);
        options.config = false;
        assert!(parent_plan(&root, &options).broker_work().is_empty());
        std::fs::remove_file(report_file).unwrap();
        std::fs::remove_dir_all(root).unwrap();
    }
}
