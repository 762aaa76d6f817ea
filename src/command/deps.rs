//! `engine deps`: who uses what in a game, what is missing, what is unused.

use super::content_change::{Answer, ChangeFlags, main_fixup};
use super::merge::ReportFormat;
use engine_app::{content, exit};
use engine_content::references::{ContentGraph, Problem, ReferenceUse, Target};
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::terminal;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A file that shows that a folder is a game.
const MAIN_SCRIPT: &str = "main.lua";

/// Show who uses what in a game: the uses of a resource, names that are missing, resources that
/// nothing uses
///
/// Without flags, all of a game's missing names and unused resources are listed. The exit code is 1
/// if a name is missing; with --unused or --cycles, also if there are unused resources or cycles.
#[derive(clap::Args)]
pub struct Args {
    /// The game's folder; may be left out in front of a resource if it is the current folder
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// A resource (textures/wall.texture; the type may be left out if only one resource has the
    /// name), a file, or a folder: then what is inside counts as one
    resource: Option<String>,
    /// List what the resource uses
    #[arg(long)]
    uses: bool,
    /// List what uses the resource
    #[arg(long)]
    used_by: bool,
    /// List everything that the resource uses, also indirectly, with sizes
    #[arg(long)]
    all: bool,
    /// List the names that no resource or file has
    #[arg(long)]
    missing: bool,
    /// List the resources that nothing uses
    #[arg(long)]
    unused: bool,
    /// List the resources that use each other in a cycle
    #[arg(long)]
    cycles: bool,
    /// Rewrite what uses old names of redirects.sjson, and remove the names from that file
    #[arg(long, conflicts_with_all = ["resource", "uses", "used_by", "all", "missing", "unused",
        "cycles"])]
    fixup: bool,
    /// Show what --fixup would change, and change nothing
    #[arg(long, requires = "fixup")]
    preview: bool,
    /// With --fixup, rewrite names that are only likely, too. Without this flag, the terminal asks
    #[arg(long, value_enum, requires = "fixup")]
    likely: Option<Answer>,
    /// Form of the output; dot is the whole graph for Graphviz
    #[arg(long, value_enum, default_value_t = GraphFormat::Text)]
    output: GraphFormat,
}

impl Args {
    /// Returns true if no list of problems was chosen.
    fn is_all(&self) -> bool {
        !self.missing && !self.unused && !self.cycles
    }
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum GraphFormat {
    Text,
    Json,
    Dot,
}

pub fn main(mut args: Args) -> i32 {
    // `engine deps textures/wall` in the game's folder.
    if args.resource.is_none() && !args.folder.is_dir() && Path::new(MAIN_SCRIPT).exists() {
        args.resource = Some(args.folder.display().to_string());
        args.folder = PathBuf::from(".");
    }
    if args.resource.is_none() && (args.uses || args.used_by || args.all) {
        engine_foundation::error_line!(
            "error: --uses, --used-by and --all need a resource: engine deps {} RESOURCE",
            args.folder.display()
        );
        return exit::USAGE;
    }
    if args.fixup {
        let output = match args.output {
            GraphFormat::Json => ReportFormat::Json,
            _ => ReportFormat::Text,
        };
        return main_fixup(&args.folder, &ChangeFlags::new(args.preview, args.likely, output));
    }
    show(&args).unwrap_or_else(|message| {
        engine_foundation::error_line!("error: {message}");
        exit::FAILED
    })
}

fn show(args: &Args) -> Result<i32, String> {
    content::check_folder(&args.folder).map_err(|error| error.to_string())?;
    let graph = content::graph(&args.folder).map_err(|error| error.to_string())?;
    for problem in graph.problems.iter().chain(&graph.redirect_problems()) {
        engine_foundation::error_line!("warning: {problem}");
    }
    for note in graph.search_notes() {
        engine_foundation::error_line!("note: {note}");
    }
    if args.output == GraphFormat::Dot {
        terminal::print(&graph.to_dot());
        return Ok(exit::SUCCESS);
    }
    match &args.resource {
        Some(resource) => of_resource(&graph, resource, args),
        None => of_game(&graph, args),
    }
}

fn text(text: &str) -> SjsonTree {
    SjsonTree::String(text.to_string())
}

fn print_json(entries: Vec<(String, SjsonTree)>) {
    terminal::print(&format!("{}\n", json::write_indented(&SjsonTree::Object(entries))));
}

/// Formats a number of bytes for people.
pub fn size_text(bytes: u64) -> String {
    match bytes {
        0..=9_999 => format!("{bytes} bytes"),
        10_000..=9_999_999 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}

/// A use, and the resource on its other side.
type Use<'g> = (&'g Target, ReferenceUse);

fn of_resource<'g>(graph: &'g ContentGraph, name: &str, args: &Args) -> Result<i32, String> {
    let targets = match (graph.find_all(name), graph.renamed(name)) {
        (Ok(targets), _) => targets,
        (Err(_), Some((old, new))) => {
            engine_foundation::error_line!("note: '{old}' is an old name of '{new}'");
            vec![Target::Resource(new.clone())]
        }
        (Err(message), None) => return Err(message),
    };
    let title = match &targets[..] {
        [target] => target.to_string(),
        _ => format!("{}/ with {} resources and files", name.trim_end_matches('/'), targets.len()),
    };
    let inside: BTreeSet<&Target> = targets.iter().collect();
    // Without a flag, both directions.
    let is_both = !args.uses && !args.used_by && !args.all;
    let arrows = |is_wanted: bool, of: fn(&'g ContentGraph, &Target) -> Vec<Use<'g>>| {
        let from = targets.iter().filter(|_| is_wanted);
        let all = from.flat_map(|target| of(graph, target).into_iter().map(move |it| (target, it)));
        // Inside of a folder, uses are of no interest.
        let is_alone = targets.len() == 1;
        all.filter(|(_, it)| is_alone || !inside.contains(it.0)).collect::<Vec<_>>()
    };
    let uses = arrows(args.uses || is_both, ContentGraph::uses);
    let used_by = arrows(args.used_by || is_both, ContentGraph::used_by);
    let all: Vec<&Target> = match args.all {
        true => graph.reachable(targets.iter()).into_iter().collect(),
        false => Vec::new(),
    };
    let bytes: u64 = targets.iter().map(|target| graph.size_of(target)).sum();
    if args.output == GraphFormat::Json {
        let arrow = |(from, (to, at)): &(&Target, Use)| graph.use_json(from, to, *at);
        let back = |(to, (from, at)): &(&Target, Use)| graph.use_json(from, to, *at);
        let sized = |it: &&Target| {
            let bytes = SjsonTree::Number(graph.size_of(it) as f64);
            let name = text(&it.to_string());
            SjsonTree::Object(vec![("name".into(), name), ("bytes".into(), bytes)])
        };
        print_json(vec![
            ("version".into(), SjsonTree::Number(1.0)),
            ("name".into(), text(&title)),
            ("bytes".into(), SjsonTree::Number(bytes as f64)),
            ("uses".into(), SjsonTree::Array(uses.iter().map(arrow).collect())),
            ("used_by".into(), SjsonTree::Array(used_by.iter().map(back).collect())),
            ("all".into(), SjsonTree::Array(all.iter().map(sized).collect())),
        ]);
        return Ok(exit::SUCCESS);
    }
    engine_foundation::print_line!("{title}, {}", size_text(bytes));
    for file in targets.iter().flat_map(|target| graph.files_of(target)) {
        engine_foundation::print_line!("  {}", graph.files[*file].path);
    }
    if args.uses || is_both {
        print_uses(graph, "Uses", uses.iter().map(|row| row.1));
    }
    if args.used_by || is_both {
        print_uses(graph, "Used by", used_by.iter().map(|row| row.1));
    }
    if args.all {
        let bytes: u64 = all.iter().map(|it| graph.size_of(it)).sum();
        let total = size_text(bytes);
        let count = all.len();
        engine_foundation::print_line!("\nWith all that it uses: {count}, of {total}");
        for it in all {
            engine_foundation::print_line!("  {it}  {}", size_text(graph.size_of(it)));
        }
    }
    Ok(exit::SUCCESS)
}

fn print_uses<'g>(graph: &ContentGraph, title: &str, uses: impl Iterator<Item = Use<'g>>) {
    let mut by_target: BTreeMap<&Target, Vec<String>> = BTreeMap::new();
    for (target, at) in uses {
        let certainty = match graph.reference(at).certainty {
            engine_content::references::Certainty::Certain => String::new(),
            other => format!(" ({})", other.name()),
        };
        by_target.entry(target).or_default().push(graph.location(at) + &certainty);
    }
    engine_foundation::print_line!("\n{title}: {}", by_target.len());
    for (target, locations) in by_target {
        engine_foundation::print_line!("  {target}  {}", locations.join(", "));
    }
}

fn of_game(graph: &ContentGraph, args: &Args) -> Result<i32, String> {
    let is_all = args.is_all();
    let missing = if args.missing || is_all { content::missing(graph) } else { Vec::new() };
    let unused = match args.unused || is_all {
        true => content::unused(graph).map_err(|error| error.to_string())?,
        false => Vec::new(),
    };
    let cycles = if args.cycles { graph.cycles() } else { Vec::new() };
    match args.output {
        GraphFormat::Json => print_game_json(graph, is_all, &missing, &unused, &cycles),
        _ => print_game(graph, args, &missing, &unused, &cycles),
    }
    let is_wrong = !missing.is_empty() || args.unused && !unused.is_empty() || !cycles.is_empty();
    Ok(if is_wrong { exit::FAILED } else { exit::SUCCESS })
}

fn print_game(
    graph: &ContentGraph,
    args: &Args,
    missing: &[Problem],
    unused: &[&Target],
    cycles: &[Vec<&Target>],
) {
    for problem in missing {
        engine_foundation::print_line!("{}: {}", problem.location, problem.message());
    }
    for target in unused {
        let files = graph.files_of(target);
        let path = files.first().map_or("", |file| &graph.files[*file].path[..]);
        let more = match files.len() {
            0 | 1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        let size = size_text(graph.size_of(target));
        engine_foundation::print_line!("unused: {target}, {size} ({path}{more})");
    }
    for cycle in cycles {
        let names: Vec<String> = cycle.iter().map(|it| it.to_string()).collect();
        engine_foundation::print_line!("cycle: {}", names.join(", "));
    }
    let bytes: u64 = unused.iter().map(|target| graph.size_of(target)).sum();
    let is_all = args.is_all();
    let parts = [
        (is_all || args.missing, format!(", {} missing names", missing.len())),
        (is_all || args.unused, format!(", {} unused with {}", unused.len(), size_text(bytes))),
        (args.cycles, format!(", {} cycles", cycles.len())),
    ];
    let parts: String = parts.into_iter().filter(|part| part.0).map(|part| part.1).collect();
    engine_foundation::print_line!("{} resources and files{parts}", graph.targets().count());
}

fn print_game_json(
    graph: &ContentGraph,
    is_all: bool,
    missing: &[Problem],
    unused: &[&Target],
    cycles: &[Vec<&Target>],
) {
    let problem = |problem: &Problem| {
        let near = problem.near.as_deref().map_or(SjsonTree::Null, text);
        let reference = graph.reference(problem.at);
        SjsonTree::Object(vec![
            ("file".into(), text(&graph.files[problem.at.file].path)),
            ("line".into(), SjsonTree::Number(f64::from(reference.line))),
            ("kind".into(), text(&problem.kind)),
            ("name".into(), text(&problem.name)),
            ("near".into(), near),
            ("message".into(), text(&problem.message())),
        ])
    };
    let names = |targets: &[&Target]| {
        SjsonTree::Array(targets.iter().map(|target| text(&target.to_string())).collect())
    };
    let mut entries = match (is_all, graph.to_json()) {
        (true, SjsonTree::Object(entries)) => entries,
        _ => vec![("version".to_string(), SjsonTree::Number(1.0))],
    };
    entries.push(("missing".into(), SjsonTree::Array(missing.iter().map(problem).collect())));
    entries.push(("unused".into(), names(unused)));
    let cycles = cycles.iter().map(|cycle| names(cycle)).collect();
    entries.push(("cycles".into(), SjsonTree::Array(cycles)));
    print_json(entries);
}
