//! Output of a check: lines for people, JSON, JUnit XML, and annotations of GitHub's actions. The
//! forms for programs are described in docs/tools.md.

use super::CheckReport;
use engine_app::check::{CheckFinding, CheckRule};
use engine_foundation::json;
use engine_foundation::log::{self, LogLevel};
use engine_foundation::sjson::SjsonTree;
use engine_foundation::terminal;
use engine_foundation::xml::{escape_for_display, escape_lines_for_display};
use std::path::Path;

/// Form of the output.
#[derive(Clone, Copy, PartialEq, Debug, clap::ValueEnum)]
pub enum OutputFormat {
    Text,
    Json,
    Junit,
    Github,
}

/// Version of the JSON output. It changes if a key changes its meaning or disappears.
const JSON_VERSION: f64 = 1.0;

/// Prints the findings, and the summary.
pub fn print(format: OutputFormat, folder: &Path, report: &CheckReport) {
    match format {
        OutputFormat::Text => {
            print_errors(report);
            engine_foundation::print_line!("{}", work_summary(report));
            engine_foundation::print_line!("{}", summary(report));
        }
        OutputFormat::Json => engine_foundation::print_line!("{}", json(report)),
        OutputFormat::Junit => terminal::print(&junit(report)),
        OutputFormat::Github => {
            terminal::print(&github(folder, report));
            engine_foundation::print_line!("{}", summary(report));
        }
    }
}

/// Prints the findings as lines for people.
pub fn print_errors(report: &CheckReport) {
    for finding in &report.findings {
        let level = if finding.is_warning { LogLevel::Warning } else { LogLevel::Error };
        log::write(level, &finding.text);
    }
}

fn severity(finding: &CheckFinding) -> &'static str {
    if finding.is_warning { "warning" } else { "error" }
}

fn many(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Returns the line with the numbers of what was checked.
fn work_summary(report: &CheckReport) -> String {
    let spawned = report.spawned;
    format!(
        "{}, {}, {} and {} checked",
        many(report.scripts as usize, "script"),
        many(spawned.units, "unit"),
        many(spawned.models, "model"),
        many(spawned.levels, "level"),
    )
}

/// Errors of a summary with a noun of their own, in this order. All others are other errors.
const COUNTED: [(CheckRule, &str); 4] = [
    (CheckRule::Compile, "compile error"),
    (CheckRule::Reference, "missing reference"),
    (CheckRule::Script, "script error"),
    (CheckRule::Spawn, "spawn error"),
];

/// Returns the last line: the number of errors, which is the sum of the numbers after it, and the
/// number of warnings.
fn summary(report: &CheckReport) -> String {
    let errors = report.errors();
    let counted = COUNTED.map(|(rule, noun)| (report.count(rule), noun));
    let others = errors - counted.iter().map(|(count, _)| count).sum::<usize>();
    let noun = if others == errors { "error" } else { "other error" };
    let parts = counted.into_iter().chain([(others, noun)]);
    let parts: Vec<String> =
        parts.filter(|(count, _)| *count > 0).map(|(count, noun)| many(count, noun)).collect();
    let mut line = match &parts[..] {
        [] => "no errors".to_string(),
        [only] => only.clone(),
        parts => format!("{}: {}", many(errors, "error"), parts.join(", ")),
    };
    if report.warnings() > 0 {
        line += if parts.len() > 1 { "; " } else { ", " };
        line += &many(report.warnings(), "warning");
    }
    line
}

fn json(report: &CheckReport) -> String {
    let finding = |finding: &CheckFinding| {
        let mut fields = vec![
            ("severity".to_string(), json::text(severity(finding))),
            ("rule".to_string(), json::text(finding.rule.name())),
            ("message".to_string(), json::text(finding.message())),
        ];
        let mut add = |key: &str, value: SjsonTree| fields.push((key.to_string(), value));
        if let Some(file) = &finding.file {
            add("file", json::text(file.as_str()));
        }
        if let Some(line) = finding.line {
            add("line", json::count(line));
        }
        if let Some(platform) = finding.platform {
            add("platform", json::text(platform));
        }
        if !finding.variant.is_empty() {
            add("variant", json::text(finding.variant.as_str()));
        }
        SjsonTree::Object(fields)
    };
    let spawned = report.spawned;
    json::write_indented(&json::object([
        ("version", SjsonTree::Number(JSON_VERSION)),
        ("errors", json::count(report.errors())),
        ("warnings", json::count(report.warnings())),
        ("scripts", json::count(report.scripts as usize)),
        ("units", json::count(spawned.units)),
        ("models", json::count(spawned.models)),
        ("levels", json::count(spawned.levels)),
        ("findings", SjsonTree::Array(report.findings.iter().map(finding).collect())),
    ]))
}

/// Returns one case for each finding. A warning is a case that was skipped. Without findings, there
/// is one case that passed, because build servers take a report without cases for an error.
fn junit(report: &CheckReport) -> String {
    let case = |finding: &CheckFinding| {
        let line = finding.line.map_or(String::new(), |line| format!(":{line}"));
        let file = finding.file.as_deref().unwrap_or("game");
        let tag = if finding.is_warning { "skipped" } else { "failure" };
        format!(
            "    <testcase name=\"{}{line}\" classname=\"check.{}\" time=\"0\">\n      <{tag} \
             message=\"{}\"/>\n    </testcase>\n",
            escape_for_display(file),
            finding.rule.name(),
            escape_lines_for_display(&finding.text),
        )
    };
    let mut cases: String = report.findings.iter().map(case).collect();
    if report.findings.is_empty() {
        cases += "    <testcase name=\"game\" classname=\"check\" time=\"0\"/>\n";
    }
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"0\"",
        report.findings.len().max(1),
        report.errors(),
    );
    let skipped = report.warnings();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts} time=\"0\">\n  \
         <testsuite name=\"engine check\" {counts} skipped=\"{skipped}\" time=\"0\">\n\
         {cases}  </testsuite>\n</testsuites>\n"
    )
}

/// Returns workflow commands. Their files are relative to the current folder.
fn github(folder: &Path, report: &CheckReport) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let folder = folder.strip_prefix(&here).unwrap_or(folder);
    let folder = folder.strip_prefix(".").unwrap_or(folder);
    let line = |finding: &CheckFinding| {
        let title = format!("engine check ({})", finding.rule.name());
        let mut properties = vec![format!("title={}", escape_property(&title))];
        if let Some(file) = &finding.file {
            let path = folder.join(file).to_string_lossy().replace('\\', "/");
            properties.push(format!("file={}", escape_property(&path)));
        }
        properties.extend(finding.line.map(|line| format!("line={line}")));
        let (command, properties) = (severity(finding), properties.join(","));
        format!("::{command} {properties}::{}\n", escape_data(finding.message()))
    };
    report.findings.iter().map(line).collect()
}

/// Escapes the text of a workflow command, as GitHub's toolkit does.
fn escape_data(text: &str) -> String {
    let text = text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    terminal::escape(&text).into_owned()
}

fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::xml::{XmlEvent, XmlReader};

    fn report() -> CheckReport {
        let error =
            CheckFinding::error(CheckRule::Compile, "a,b/ü.unit:3: it's \"<&\" 5%\nno".into());
        let warning = CheckFinding::warning(CheckRule::Variant, "a.png: it has no base".into());
        let spawned = CheckFinding {
            file: Some("a.gltf".to_string()),
            platform: Some("windows"),
            variant: "fr".to_string(),
            ..CheckFinding::error(CheckRule::Spawn, "a.model: spawning it: no".to_string())
        };
        CheckReport {
            findings: vec![error, warning, spawned],
            scripts: 2,
            ..CheckReport::default()
        }
    }

    #[test]
    fn json_output_has_the_documented_keys() {
        let tree = json::read(&json(&report())).expect("it is JSON");
        assert_eq!(tree.get("version"), Some(&SjsonTree::Number(1.0)));
        assert_eq!(tree.get("errors"), Some(&SjsonTree::Number(2.0)));
        assert_eq!(tree.get("warnings"), Some(&SjsonTree::Number(1.0)));
        let Some(SjsonTree::Array(findings)) = tree.get("findings") else { panic!("no findings") };
        let keys = |finding: &SjsonTree| match finding {
            SjsonTree::Object(entries) => {
                entries.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>().join(" ")
            }
            _ => panic!("no object"),
        };
        let all: Vec<String> = findings.iter().map(keys).collect();
        let wanted = [
            "severity rule message file line",
            "severity rule message file",
            "severity rule message file platform variant",
        ];
        assert_eq!(all, wanted);
        assert_eq!(findings[0].get("file"), Some(&json::text("a,b/ü.unit")));
        assert_eq!(findings[0].get("message"), Some(&json::text("it's \"<&\" 5%\nno")));
        assert_eq!(findings[1].get("severity"), Some(&json::text("warning")));
    }

    #[test]
    fn junit_output_is_xml_with_a_case_for_each_finding() {
        let names = |report: &CheckReport| {
            let text = junit(report);
            let mut reader = XmlReader::new(&text);
            let mut names = Vec::new();
            while let Ok(Some(event)) = reader.next_event() {
                if let XmlEvent::Open(element) = event {
                    element.attributes().expect("they are valid");
                    names.push(element.name.to_string());
                }
            }
            names.join(" ")
        };
        let wanted = "testsuites testsuite testcase failure testcase skipped testcase failure";
        assert_eq!(names(&report()), wanted);
        assert_eq!(names(&CheckReport::default()), "testsuites testsuite testcase");
        let text = junit(&report());
        let counts = "<testsuite name=\"engine check\" tests=\"3\" failures=\"2\" errors=\"0\" \
                      skipped=\"1\" time=\"0\">";
        assert!(text.contains(counts), "{text}");
        assert!(text.contains("&lt;&amp;&quot; 5%&#10;no\"/>"), "{text}");
    }

    #[test]
    fn github_output_is_workflow_commands() {
        let text = github(Path::new("./games/rat"), &report());
        let lines: Vec<&str> = text.lines().collect();
        let wanted = [
            "::error title=engine check (compile),file=games/rat/a%2Cb/ü.unit,line=3::it's \"<&\" \
             5%25%0Ano",
            "::warning title=engine check (variant),file=games/rat/a.png::it has no base",
            "::error title=engine check (spawn),file=games/rat/a.gltf::a.model: spawning it: no",
        ];
        assert_eq!(lines, wanted);
    }
}
