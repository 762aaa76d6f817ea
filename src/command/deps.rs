//! `engine deps`: who uses what in a game, what is missing, what is unused.

use engine_app::{content, exit};
use engine_content::references::{ContentGraph, Problem, ReferenceUse, Target};
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::terminal;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Show who uses what in a game: the uses of a resource, names that are missing, resources that
/// nothing uses
///
/// Without flags, all of a game's missing names and unused resources are listed. The exit code is 1
/// if a name is missing; with --unused or --cycles, also if there are unused resources or cycles.
#[derive(clap::Args)]
pub struct Args {
    /// The game's folder
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// A resource (textures/wall.texture; the type may be left out if only one resource has the
    /// name), or a file
    resource: Option<String>,
    /// List what the resource uses
    #[arg(long, requires = "resource")]
    uses: bool,
    /// List what uses the resource
    #[arg(long, requires = "resource")]
    used_by: bool,
    /// List everything that the resource uses, also indirectly, with sizes
    #[arg(long, requires = "resource")]
    all: bool,
    /// List the names that no resource or file has
    #[arg(long)]
    missing: bool,
    /// List the resources that nothing uses
    #[arg(long)]
    unused: bool,
    /// List the resources that use each other in a ring
    #[arg(long)]
    cycles: bool,
    /// Form of the output; dot is the whole graph for Graphviz
    #[arg(long, value_enum, default_value_t = GraphFormat::Text)]
    output: GraphFormat,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum GraphFormat {
    Text,
    Json,
    Dot,
}

pub fn main(args: Args) -> i32 {
    show(&args).unwrap_or_else(|message| {
        engine_foundation::error_line!("error: {message}");
        exit::FAILED
    })
}

fn show(args: &Args) -> Result<i32, String> {
    let graph = content::graph(&args.folder).map_err(|error| error.to_string())?;
    for problem in &graph.problems {
        engine_foundation::error_line!("warning: {problem}");
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

fn of_resource(graph: &ContentGraph, name: &str, args: &Args) -> Result<i32, String> {
    let target = graph.find(name)?;
    // Without a flag, both directions.
    let is_both = !args.uses && !args.used_by && !args.all;
    let uses = if args.uses || is_both { graph.uses(&target) } else { Vec::new() };
    let used_by = if args.used_by || is_both { graph.used_by(&target) } else { Vec::new() };
    let all = match args.all {
        true => graph.reachable([&target].into_iter()).into_iter().collect(),
        false => Vec::new(),
    };
    if args.output == GraphFormat::Json {
        let arrow = |(to, at): &(&Target, ReferenceUse)| graph.use_json(&target, to, *at);
        let back = |(from, at): &(&Target, ReferenceUse)| graph.use_json(from, &target, *at);
        let sized = |it: &&Target| {
            let bytes = SjsonTree::Number(graph.size_of(it) as f64);
            let name = text(&it.to_string());
            SjsonTree::Object(vec![("name".into(), name), ("bytes".into(), bytes)])
        };
        print_json(vec![
            ("version".into(), SjsonTree::Number(1.0)),
            ("name".into(), text(&target.to_string())),
            ("bytes".into(), SjsonTree::Number(graph.size_of(&target) as f64)),
            ("uses".into(), SjsonTree::Array(uses.iter().map(arrow).collect())),
            ("used_by".into(), SjsonTree::Array(used_by.iter().map(back).collect())),
            ("all".into(), SjsonTree::Array(all.iter().map(sized).collect())),
        ]);
        return Ok(exit::SUCCESS);
    }
    let size = size_text(graph.size_of(&target));
    engine_foundation::print_line!("{target}, {size}");
    for file in graph.files_of(&target) {
        engine_foundation::print_line!("  {}", graph.files[*file].path);
    }
    if args.uses || is_both {
        print_uses(graph, "Uses", &uses);
    }
    if args.used_by || is_both {
        print_uses(graph, "Used by", &used_by);
    }
    if args.all {
        let bytes: u64 = all.iter().map(|it| graph.size_of(it)).sum();
        let total = size_text(bytes);
        engine_foundation::print_line!("\nAll that it uses, {} with {total}:", all.len());
        for it in all {
            engine_foundation::print_line!("  {it}  {}", size_text(graph.size_of(it)));
        }
    }
    Ok(exit::SUCCESS)
}

fn print_uses(graph: &ContentGraph, title: &str, uses: &[(&Target, ReferenceUse)]) {
    let mut by_target: BTreeMap<&Target, Vec<String>> = BTreeMap::new();
    for (target, at) in uses {
        let certainty = match graph.reference(*at).certainty {
            engine_content::references::Certainty::Certain => String::new(),
            other => format!(" ({})", other.name()),
        };
        by_target.entry(target).or_default().push(graph.location(*at) + &certainty);
    }
    engine_foundation::print_line!("\n{title}: {}", by_target.len());
    for (target, locations) in by_target {
        engine_foundation::print_line!("  {target}  {}", locations.join(", "));
    }
}

fn of_game(graph: &ContentGraph, args: &Args) -> Result<i32, String> {
    let is_all = !args.missing && !args.unused && !args.cycles;
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
        let size = size_text(graph.size_of(target));
        engine_foundation::print_line!("unused: {target}, {size}");
    }
    for cycle in cycles {
        let names: Vec<String> = cycle.iter().map(|it| it.to_string()).collect();
        engine_foundation::print_line!("cycle: {}", names.join(", "));
    }
    let bytes: u64 = unused.iter().map(|target| graph.size_of(target)).sum();
    let cycles = if args.cycles { format!(", {} cycles", cycles.len()) } else { String::new() };
    engine_foundation::print_line!(
        "{} resources and files, {} missing names, {} unused with {}{cycles}",
        graph.targets().count(),
        missing.len(),
        unused.len(),
        size_text(bytes)
    );
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
