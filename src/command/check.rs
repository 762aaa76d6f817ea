//! `engine check`: spawns every unit, model and level of a game for a frame, finds references to
//! resources that do not exist, and reports all errors at once. It plays the script
//! core/tools/check.lua.

use super::confinement_flag::ConfinementFlag;
use super::editor_definitions;
use engine_app::confinement::{self, ConfinementPlan};
use engine_app::{self as app, Game, RunOptions, exit, missing_references, resource_reload};
use engine_foundation::file_access::{self, readers};
use engine_foundation::log;
use engine_platform as platform;
use engine_resource::folder_scan;
use engine_resource::project::Project;
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::is_script;
use engine_resource::settings::Settings;
use engine_script::lint::{self, LintScript};
use engine_script::resource::string_literals;
use engine_script::syntax_check;
use std::collections::HashSet;
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

/// Script that is played instead of the game's own.
const SCRIPT: &str = "tools.check";

/// Spawn every unit, model and level of a game for one frame, and report all errors
#[derive(clap::Args)]
pub struct Args {
    /// The game's folder
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    #[command(flatten)]
    confine: ConfinementFlag,
}

pub fn main(args: Args) -> i32 {
    let boot = boot_script(&args.folder);
    let lacks = Project::open(&args.folder).map(|project| project.missing_boot_message(&boot));
    match lacks {
        Ok(None) => {}
        Ok(Some(message)) => {
            log::error(&message);
            return exit::FAILED;
        }
        Err(error) => {
            log::error(&error.to_string());
            return exit::FAILED;
        }
    }
    editor_definitions::refresh(&args.folder);
    let game = Game::Folder(args.folder.clone());
    let confined = args.confine.is_enabled();
    if confined {
        ConfinementPlan::to_check(&game).begin();
        confinement::forbid_programs(false);
    }
    let scripts = check_scripts(&args.folder);
    let code = app::play(RunOptions {
        boot: Some(SCRIPT.to_string()),
        confined,
        ..RunOptions::headless(game)
    });
    let result = CheckResult::of(&args.folder, &scripts);
    engine_foundation::print_line!("{result}");
    match code {
        exit::SUCCESS if result.errors() > 0 => exit::FAILED,
        code => code,
    }
}

/// Returns the module that starts the game. Invalid settings are reported when it is played.
fn boot_script(folder: &Path) -> String {
    let settings = Settings::read(folder, platform::NAME).unwrap_or_else(|_| Settings::defaults());
    settings.text("boot_script").to_string()
}

/// The scripts of a game.
#[derive(Default)]
struct CheckedScripts {
    count: u64,
    /// Number of scripts with a syntax error.
    errors: u64,
    /// Number of findings of the lint.
    findings: u64,
    /// Names of textures that they create, as far as they are written out.
    textures: HashSet<String>,
}

/// Numbers of errors by type, for the last line.
struct CheckResult {
    scripts: u64,
    script_errors: u64,
    compile_errors: u64,
    missing_references: u64,
    script_findings: u64,
    other_errors: u64,
}

impl CheckResult {
    /// Finds missing references and counts the errors that were logged before.
    fn of(folder: &Path, scripts: &CheckedScripts) -> CheckResult {
        let logged = log::error_count();
        let mut store = resource_reload::open_compiled(folder);
        let missing = missing_references::find(folder, &mut store, &scripts.textures);
        missing.iter().for_each(|message| log::error(message));
        let failed = store.index().failed.iter();
        // Scripts are compiled only when they are loaded, so their errors are counted here.
        let broken_scripts =
            failed.clone().filter(|(name, _)| name.kind == kind_names::LUA).count() as u64;
        let compile_errors = scripts.errors + failed.count() as u64;
        CheckResult {
            scripts: scripts.count,
            script_errors: scripts.errors + broken_scripts,
            compile_errors,
            missing_references: missing.len() as u64,
            script_findings: scripts.findings,
            other_errors: logged.saturating_sub(compile_errors + scripts.findings),
        }
    }

    fn errors(&self) -> u64 {
        self.compile_errors + self.missing_references + self.script_findings + self.other_errors
    }
}

impl Display for CheckResult {
    fn fmt(&self, out: &mut Formatter) -> fmt::Result {
        let many =
            |count: u64, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
        let compiled = self.scripts.saturating_sub(self.script_errors);
        write!(
            out,
            "{compiled} of {} compiled, {}, {}",
            many(self.scripts, "script"),
            many(self.compile_errors, "compile error"),
            many(self.missing_references, "missing reference"),
        )?;
        if self.script_findings > 0 {
            write!(out, ", {}", many(self.script_findings, "script finding"))?;
        }
        match self.other_errors {
            0 => Ok(()),
            count => write!(out, ", {}", many(count, "other error")),
        }
    }
}

/// Reports syntax errors in all scripts. Otherwise each error would appear only when its script is
/// required.
fn check_scripts(folder: &Path) -> CheckedScripts {
    // A folder that cannot be read is reported when it is played.
    let found = folder_scan::files(folder).unwrap_or_default();
    let mut scripts = CheckedScripts::default();
    let mut texts = Vec::new();
    for file in found.files.iter().filter(|file| is_script(&file.path)) {
        scripts.count += 1;
        // The compiler reports files that cannot be read, and compiled chunks.
        let Ok(bytes) = file_access::read(folder, &file.path, &readers::SCRIPT) else { continue };
        if bytes.starts_with(b"\x1b") {
            continue;
        }
        let text = String::from_utf8_lossy(&bytes);
        match lint::created_textures(&text) {
            Some(names) => scripts.textures.extend(names),
            // A name that is computed can be made of any text of the script.
            None => {
                scripts.textures.extend(string_literals(&text).into_iter().map(str::to_string));
            }
        }
        if let Some(message) = syntax_check::problem(&file.path, &text) {
            scripts.errors += 1;
            // An error found before the text is parsed has no location.
            let placed = message.starts_with(&file.path);
            let message = if placed { message } else { format!("{}: {message}", file.path) };
            log::error(&message);
        }
        texts.push((file.path.clone(), text.into_owned()));
    }
    scripts.findings = lint_scripts(&texts);
    scripts
}

/// Reports the findings of the lint. Returns their number.
fn lint_scripts(texts: &[(String, String)]) -> u64 {
    let scripts: Vec<LintScript> =
        texts.iter().map(|(path, text)| LintScript { path, text }).collect();
    let findings = lint::lint(&scripts);
    for finding in &findings {
        log::error(&format!("{}:{}: {}", finding.path, finding.line, finding.message));
    }
    findings.len() as u64
}
