//! The scripts of a game in a check: their syntax, the resources that they create, and the lint.

use engine_app::check::references::ReferenceFinder;
use engine_app::check::{CheckFinding, CheckRule, CheckedPlatform};
use engine_foundation::file_access::{self, readers};
use engine_resource::folder_scan;
use engine_resource::resource_name::is_script;
use engine_script::lint::{
    self, CreatedResources, LintFinding, LintGame, LintScript, OTHER_LANGUAGES, ResourceCreators,
};
use engine_script::syntax_check;
use std::cell::RefCell;
use std::path::Path;

/// The scripts of a game.
#[derive(Default)]
pub struct CheckedScripts {
    pub count: u64,
    /// Messages of syntax errors, at most one for each script.
    syntax_errors: Vec<String>,
    /// Resources that they create.
    pub created: CreatedResources,
    /// Paths and texts.
    texts: Vec<(String, String)>,
    has_other_languages: bool,
}

impl CheckedScripts {
    /// Reads all scripts. Their syntax is checked here, because otherwise each error would appear
    /// only when its script is required.
    pub fn read(folder: &Path) -> CheckedScripts {
        // A folder that cannot be read is reported when it is compiled.
        let found = folder_scan::files(folder).unwrap_or_default();
        let is_other = |path: &str| {
            path.rsplit_once('.').is_some_and(|(_, ending)| OTHER_LANGUAGES.contains(&ending))
        };
        let mut scripts = CheckedScripts {
            has_other_languages: found.files.iter().any(|file| is_other(&file.path)),
            ..CheckedScripts::default()
        };
        for file in found.files.iter().filter(|file| is_script(&file.path)) {
            scripts.count += 1;
            // The compiler reports files that cannot be read, and compiled chunks.
            let Ok(bytes) = file_access::read(folder, &file.path, &readers::SCRIPT) else {
                continue;
            };
            if !bytes.starts_with(b"\x1b") {
                scripts.add(&file.path, String::from_utf8_lossy(&bytes).into_owned());
            }
        }
        let texts: Vec<&str> = scripts.texts.iter().map(|(_, text)| text.as_str()).collect();
        scripts.created = ResourceCreators::of_api().created_by(&texts);
        scripts
    }

    fn add(&mut self, path: &str, text: String) {
        if let Some(message) = syntax_check::problem(path, &text) {
            // An error found before the text is parsed has no location.
            let is_located = message.starts_with(path);
            let message = if is_located { message } else { format!("{path}: {message}") };
            self.syntax_errors.push(message);
        }
        self.texts.push((path.to_string(), text));
    }

    pub fn syntax_errors(&self) -> Vec<CheckFinding> {
        let finding = |text: &String| CheckFinding::error(CheckRule::Compile, text.clone());
        self.syntax_errors.iter().map(finding).collect()
    }

    /// Returns the findings of the lint.
    pub fn lint(&self, folder: &Path, platforms: &[CheckedPlatform]) -> Vec<CheckFinding> {
        let scripts: Vec<LintScript> =
            self.texts.iter().map(|(path, text)| LintScript { path, text }).collect();
        let finders = platforms.iter().map(|one| ReferenceFinder::new(folder, one, &self.created));
        let finders: RefCell<Vec<ReferenceFinder>> = RefCell::new(finders.collect());
        // A resource of any platform exists.
        let missing = |kinds: &[&str], name: &str| {
            let mut finders = finders.borrow_mut();
            let messages: Option<Vec<String>> =
                finders.iter_mut().map(|finder| finder.missing_of_kinds(kinds, name)).collect();
            messages?.into_iter().next()
        };
        let has_other_languages = self.has_other_languages;
        let game = LintGame { scripts: &scripts, has_other_languages, missing: &missing };
        let finding = |LintFinding { path, line, message, is_warning }: LintFinding| CheckFinding {
            is_warning,
            ..CheckFinding::error(CheckRule::Script, format!("{path}:{line}: {message}"))
        };
        lint::lint(&game).into_iter().map(finding).collect()
    }
}
