//! `engine check`: compiles all variants of a game, spawns every unit, model and level for a frame,
//! finds references to resources that do not exist, lints the scripts, and reports all findings at
//! once. `engine compile --bundle` does the same before it makes a bundle.

pub mod output;
mod scripts;

use super::confinement_flag::ConfinementFlag;
use super::editor_definitions;
use super::git;
use super::variant_flags::VariantFlags;
use engine_app::check::{self, CheckFinding, CheckRule, SpawnCounts};
use engine_app::confinement::{self, ConfinementPlan};
use engine_app::{Game, content, exit};
use engine_content::references::{Certainty, ContentGraph, neighbours_text};
use engine_foundation::file_access;
use engine_foundation::log;
use engine_platform as platform;
use engine_resource::redirects;
use engine_resource::settings::Settings;
use engine_resource::variant::VariantProperties;
use engine_script::lint::CreatedResources;
use output::OutputFormat;
use scripts::CheckedScripts;
use std::cell::OnceCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Check a game: compile all variants, spawn every unit, model and level for one frame, find
/// missing resources and unknown names in scripts, and report everything at once
///
/// The exit code is 0 if there are no errors (warnings do not count), 1 if there are, 2 for a wrong
/// command line.
#[derive(clap::Args)]
pub struct Args {
    /// The game's folder
    #[arg(value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
    /// Output: lines for people, or json, junit or github (annotations) for programs
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    output: OutputFormat,
    #[command(flatten)]
    variants: VariantFlags,
    #[command(flatten)]
    confine: ConfinementFlag,
}

pub fn main(args: Args) -> i32 {
    if let Err(error) = content::check_boot_script(&args.folder) {
        log::error(&error.to_string());
        return exit::FAILED;
    }
    editor_definitions::refresh(&args.folder);
    let game = Game::Folder(args.folder.clone());
    let choice = match args.variants.choice_for(&game) {
        Ok(choice) => choice,
        Err(error) => {
            log::error(&error.to_string());
            return exit::FAILED;
        }
    };
    // Without a choice, all platforms and all sets of variants are checked.
    let platforms = match &choice.source_platform {
        Some(platform) => vec![check::static_name(platform)],
        None => check::platform_names(&args.folder),
    };
    let names = choice.preferences.properties().iter().map(String::as_str);
    let preferred = VariantProperties::of(names).expect("no preference is given twice");
    let preferred = (!preferred.is_base()).then_some(preferred);
    // The settings of git can be outside of what a confined process reads.
    let driver = git::missing_driver(&args.folder);
    let is_merged = git::names_driver(&args.folder);
    if args.confine.is_enabled() {
        ConfinementPlan::to_check(&game, &platforms).begin();
        confinement::forbid_programs(false);
    }
    let is_text = args.output == OutputFormat::Text;
    // Only the findings go to the standard output of a program that reads them.
    log::set_silent(!is_text);
    let references = References::of(&args.folder);
    let mut report = find_faults(&references, &platforms, preferred.as_ref());
    let merge = driver.map(|text| CheckFinding::warning(CheckRule::Merge, text));
    report.findings.extend(merge);
    if is_merged && let Some(graph) = references.graph() {
        let lists = content::lists_without_ids(graph).into_iter();
        report.findings.extend(lists.map(|text| CheckFinding::warning(CheckRule::Merge, text)));
    }
    log::set_silent(false);
    output::print(args.output, &args.folder, &report);
    let is_stopped = platform::end_requested().is_some();
    match report.errors() > 0 || is_stopped {
        true => exit::FAILED,
        false => exit::SUCCESS,
    }
}

/// Maximum number of ends of a message that are compared with those of others.
const ENDS_MAX: usize = 8;

/// The findings in a game, and the numbers for the summary.
#[derive(Default)]
pub struct CheckReport {
    pub findings: Vec<CheckFinding>,
    scripts: u64,
    spawned: SpawnCounts,
}

/// Returns the resources that the scripts of a game create.
pub(super) fn created_resources(folder: &Path) -> CreatedResources {
    CheckedScripts::read(folder).created
}

/// References between the files of a folder, read when a rule first needs them.
pub struct References<'a> {
    folder: &'a Path,
    graph: OnceCell<Option<ContentGraph>>,
}

impl References<'_> {
    pub fn of(folder: &Path) -> References<'_> {
        References { folder, graph: OnceCell::new() }
    }

    /// Returns `None` if there are files or settings that cannot be read: other rules report them.
    fn graph(&self) -> Option<&ContentGraph> {
        self.graph.get_or_init(|| content::graph(self.folder).ok()).as_ref()
    }
}

/// Finds the faults of a game on some platforms, the one that this is first. `preferred` is the
/// only set of variants if there is one.
pub fn find_faults(
    references: &References,
    platforms: &[&'static str],
    preferred: Option<&VariantProperties>,
) -> CheckReport {
    let folder = references.folder;
    let scripts = CheckedScripts::read(folder);
    let (platforms, compile_errors) = check::compile_all(folder, platforms);
    let mut findings = scripts.syntax_errors();
    findings.extend(compile_errors);
    findings.extend(check::check_resources(folder, &platforms, &scripts.created));
    findings.extend(scripts.lint(folder, &platforms));
    findings.extend(unused(references));
    findings.extend(redirect_findings(references));
    let (spawned, counts) = check::spawn_all(folder, &platforms, preferred);
    let known: HashSet<String> = findings.iter().map(|finding| finding.text.clone()).collect();
    let compiling = findings.iter().filter(|finding| finding.rule == CheckRule::Compile);
    let causes: Vec<String> =
        compiling.filter(|finding| can_be_cause(finding)).map(|it| it.text.clone()).collect();
    let is_new = |finding: &CheckFinding| {
        !is_known(&finding.text, &known)
            && !is_of_known(finding, &known)
            && !is_caused_by(finding, &causes)
    };
    findings.extend(spawned.into_iter().filter(is_new));
    CheckReport { scripts: scripts.count, findings, spawned: counts }
}

/// Returns true if a logged error is that a file could not be used, whose own error is known.
fn is_of_known(finding: &CheckFinding, known: &HashSet<String>) -> bool {
    let ends =
        finding.text.match_indices(": ").map(|(at, colon)| &finding.text[at + colon.len()..]);
    finding.rule == CheckRule::Log && ends.take(ENDS_MAX).any(|end| known.contains(end))
}

/// Returns true if an error of the compiler can be the cause of others. A unit can fail with a
/// script for a reason of its own.
fn can_be_cause(finding: &CheckFinding) -> bool {
    let file = finding.file.as_deref();
    !finding.is_warning && file.is_some_and(|file| !file.ends_with(".lua"))
}

/// Returns true if a resource cannot be spawned because a file that it uses was not compiled, whose
/// own error is known. The message can go on with the number of further errors.
fn is_caused_by(finding: &CheckFinding, causes: &[String]) -> bool {
    let ends =
        finding.text.match_indices(": ").map(|(at, colon)| &finding.text[at + colon.len()..]);
    let is_cause = |end: &str, cause: &String| {
        let rest = end.strip_prefix(cause.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("))
    };
    finding.rule == CheckRule::Spawn
        && ends.take(ENDS_MAX).any(|end| causes.iter().any(|cause| is_cause(end, cause)))
}

/// Returns true if a message is among others, or ends with one of them for the same line: a graph
/// with a missing subgraph names the node, too. Two nodes on one line that miss the same subgraph
/// are one finding.
fn is_known(text: &str, known: &HashSet<String>) -> bool {
    if known.contains(text) {
        return true;
    }
    let Some((location, message)) = text.split_once(": ") else { return false };
    let ends = message.match_indices(": ").map(|(at, colon)| &message[at + colon.len()..]);
    ends.take(ENDS_MAX).any(|end| known.contains(&format!("{location}: {end}")))
}

/// Returns a warning about the resources that nothing uses, if the settings show that the game
/// cares: without `content.roots`, names that scripts compute would be false alarms.
fn unused(references: &References) -> Option<CheckFinding> {
    let settings = Settings::read(references.folder, platform::NAME).ok()?;
    if settings.list("content.roots").is_empty() && !settings.boolean("bundle.reachable") {
        return None;
    }
    let unused = content::unused(references.graph()?).ok()?;
    (!unused.is_empty()).then(|| {
        let (count, names) = (unused.len(), neighbours_text(&unused));
        let text = format!(
            "{count} resources that 'engine deps --unused' lists are used by nothing: {names} \
             (content.roots in settings.sjson keeps those whose names scripts compute)"
        );
        CheckFinding::warning(CheckRule::Unused, text)
    })
}

/// Returns warnings about the table of redirects: entries that lead nowhere, and old names that the
/// game's own files use.
fn redirect_findings(references: &References) -> Vec<CheckFinding> {
    if !file_access::is_file(references.folder, redirects::FILE) {
        return Vec::new();
    }
    let Some(graph) = references.graph() else { return Vec::new() };
    let mut texts = graph.redirect_problems();
    for (at, entry) in graph.redirected() {
        if graph.reference(at).certainty == Certainty::Certain {
            texts.push(format!(
                "{}: '{}' is an old name: run 'engine deps --fixup'",
                graph.location(at),
                entry.old
            ));
        }
    }
    let finding = |text| CheckFinding::warning(CheckRule::Redirect, text);
    texts.into_iter().map(finding).collect()
}

impl CheckReport {
    /// Returns the number of findings that are no warnings.
    pub fn errors(&self) -> usize {
        self.findings.iter().filter(|finding| !finding.is_warning).count()
    }

    fn warnings(&self) -> usize {
        self.findings.len() - self.errors()
    }

    /// Returns the number of errors of a rule.
    fn count(&self, rule: CheckRule) -> usize {
        let counts = |finding: &&CheckFinding| finding.rule == rule && !finding.is_warning;
        self.findings.iter().filter(counts).count()
    }
}
