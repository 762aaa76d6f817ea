//! Who uses what in the game's folder, for tools: the neighbourhood of a resource, and lists of
//! unused resources, missing names, cycles and shared resources. The graph is read by
//! remote/content_worker.rs, the rows of the messages are in remote/content_messages.rs.

use super::content_worker::{self, KnownGraph};
use super::message_table::{integer, text};
use super::{IncomingCall, Refusal, resources};
use engine_content::references::{
    NeighbourArrow, NeighbourhoodOptions, ReferenceUse, Target, UseDirection,
};
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;
use std::collections::BTreeMap;

/// Kind of files that are no resources, in filters and answers.
const FILE_KIND: &str = "file";
/// Default and maximum number of resources in a neighbourhood.
const NODES: u64 = 80;
pub const NODES_MAX: u64 = 400;
/// Maximum number of arrows in a neighbourhood.
const ARROWS_MAX: usize = 2_000;
/// Maximum number of steps in a direction.
pub const DEPTH_MAX: u64 = 64;
/// Default and maximum number of rows in an answer with a list.
const ROWS: u64 = 200;
pub const ROWS_MAX: u64 = 1_000;
/// Maximum number of names of a cycle, of files of a resource and of its missing names.
const NAMES_MAX: usize = 100;
/// Resources with at least this many users are shared.
const SHARED_MIN: usize = 2;

/// The lists of `reference_list`.
const LISTS: [&str; 5] = ["all", "missing", "unused", "cycles", "shared"];

type Answer = Result<Option<SjsonTree>, Refusal>;

fn kind_of(target: &Target) -> &str {
    match target {
        Target::Resource(resource) => &resource.kind,
        Target::File(_) => FILE_KIND,
    }
}

/// A filter by kind and by a part of the name, in any case.
struct NameFilter {
    kind: Option<String>,
    text: String,
}

impl NameFilter {
    fn of(fields: &SjsonTree) -> Result<NameFilter, Refusal> {
        let kind = match text(fields, "kind") {
            Some(FILE_KIND) => Some(FILE_KIND),
            _ => resources::kind(fields)?,
        };
        let text = text(fields, "text").unwrap_or_default().to_lowercase();
        Ok(NameFilter { kind: kind.map(str::to_string), text })
    }

    fn has_text(&self, name: &str) -> bool {
        self.text.is_empty() || name.to_lowercase().contains(&self.text)
    }

    fn has_kind(&self, kind: &str) -> bool {
        self.kind.as_deref().is_none_or(|wanted| wanted == kind)
    }

    fn accepts(&self, target: &Target) -> bool {
        self.has_kind(kind_of(target)) && self.has_text(&target.to_string())
    }
}

/// Returns a target as a row: its name, size and numbers of uses.
fn target_row(known: &KnownGraph, target: &Target) -> Vec<(String, SjsonTree)> {
    let [uses, used_by] = known.graph.use_counts(target);
    let cycle = known.cycle_of.get(target).map_or(SjsonTree::Null, |at| json::count(*at));
    let missing = known.missing_in.get(target).copied().unwrap_or_default();
    let entries = [
        ("name", json::text(target.to_string())),
        ("kind", json::text(kind_of(target))),
        ("bytes", SjsonTree::Number(known.graph.size_of(target) as f64)),
        ("uses", json::count(uses)),
        ("used_by", json::count(used_by)),
        ("unused", SjsonTree::Bool(known.unused.contains(target))),
        ("cycle", cycle),
        ("missing", json::count(missing)),
    ];
    entries.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}

/// Returns a missing name as a row. `near` is the nearest existing name.
fn missing_row(known: &KnownGraph, at: ReferenceUse, near: Option<&str>) -> SjsonTree {
    let graph = &known.graph;
    let (path, reference) = (&graph.files[at.file].path, graph.reference(at));
    let user = graph.target_of(path).map_or(String::new(), |target| target.to_string());
    json::object([
        ("name", json::text(&reference.name)),
        ("kind", json::text(graph.missing_kind(at))),
        ("near", near.map_or(SjsonTree::Null, json::text)),
        ("file", json::text(path)),
        ("line", SjsonTree::Number(f64::from(reference.line))),
        ("by", json::text(user)),
    ])
}

/// Returns the neighbourhood of a resource or file.
pub fn neighbourhood(call: &mut IncomingCall) -> Answer {
    let filter = NameFilter::of(call.fields)?;
    let name = text(call.fields, "name").unwrap_or_default().to_string();
    let depth = |name: &str| integer(call.fields, name).unwrap_or(1) as u32;
    let depths = [depth("uses"), depth("used_by")];
    let most = integer(call.fields, "max").unwrap_or(NODES) as usize;
    content_worker::ask(call, move |folder| {
        let known = folder.graph()?;
        let target = known.graph.find(&name).map_err(Refusal::of)?;
        neighbourhood_tree(known, &target, &filter, depths, most)
    })
}

fn neighbourhood_tree(
    known: &KnownGraph,
    target: &Target,
    filter: &NameFilter,
    depths: [u32; 2],
    most: usize,
) -> Result<SjsonTree, Refusal> {
    let graph = &known.graph;
    let options = NeighbourhoodOptions {
        uses_depth: depths[0],
        used_by_depth: depths[1],
        nodes_max: most,
        arrows_max: ARROWS_MAX,
        is_selected: &|target| filter.accepts(target),
    };
    let found = graph
        .neighbourhood(target, &options)
        .ok_or_else(|| Refusal::of(format!("there is no resource or file '{target}'")))?;
    let nodes = found.nodes.iter().map(|node| {
        let mut row = target_row(known, node.target);
        row.push(("steps".to_string(), SjsonTree::Number(f64::from(node.steps))));
        row.push(("selected".to_string(), SjsonTree::Bool(node.is_selected)));
        SjsonTree::Object(row)
    });
    let arrow = |arrow: &NeighbourArrow| {
        let reference = graph.reference(arrow.first);
        json::object([
            ("from", json::count(arrow.from)),
            ("to", json::count(arrow.to)),
            ("count", json::count(arrow.count)),
            ("certainty", json::text(arrow.certainty.name())),
            ("file", json::text(&graph.files[arrow.first.file].path)),
            ("line", SjsonTree::Number(f64::from(reference.line))),
        ])
    };
    let size = |direction| {
        let (count, bytes) = graph.reached_size(target, direction);
        json::object([("count", json::count(count)), ("bytes", SjsonTree::Number(bytes as f64))])
    };
    let files = graph.files_of(target).iter().take(NAMES_MAX);
    let ring = known.cycle_of.get(target).map_or(&[][..], |at| &known.cycles[*at]);
    // The indices of files are sorted.
    let is_own = |at: &&ReferenceUse| graph.files_of(target).binary_search(&at.file).is_ok();
    let own: Vec<_> = known.missing.iter().filter(is_own).take(NAMES_MAX).copied().collect();
    let missing = graph.problems_of(&own);
    let missing = missing.iter().map(|it| missing_row(known, it.at, it.near.as_deref()));
    Ok(json::object([
        ("name", json::text(target.to_string())),
        ("files", json::texts(files.map(|file| &graph.files[*file].path))),
        ("nodes", SjsonTree::Array(nodes.collect())),
        ("arrows", SjsonTree::Array(found.arrows.iter().map(arrow).collect())),
        ("left_out", json::count(found.left_out)),
        ("arrows_left_out", json::count(found.arrows_left_out)),
        ("all_uses", size(UseDirection::Uses)),
        ("all_used_by", size(UseDirection::UsedBy)),
        ("cycle", json::texts(ring.iter().take(NAMES_MAX).map(Target::to_string))),
        ("missing", SjsonTree::Array(missing.collect())),
    ]))
}

/// Returns a part of a list of resources, missing names or cycles.
pub fn list(call: &mut IncomingCall) -> Answer {
    let filter = NameFilter::of(call.fields)?;
    let list = text(call.fields, "list").unwrap_or(LISTS[0]).to_string();
    if !LISTS.contains(&list.as_str()) {
        let hint = engine_foundation::suggest::hint_or_names(&list, LISTS);
        return Err(Refusal::of(format!("there is no list '{list}'{hint}")));
    }
    let first = integer(call.fields, "first").unwrap_or(0) as usize;
    let most = integer(call.fields, "max").unwrap_or(ROWS) as usize;
    content_worker::ask(call, move |folder| {
        let known = folder.graph()?;
        let (rows, kinds, count, bytes) = match list.as_str() {
            "missing" => missing_list(known, &filter, first, most),
            "cycles" => cycle_list(known, &filter, first, most),
            _ => target_list(known, &list, &filter, first, most),
        };
        let kinds = kinds.into_iter().map(|(name, count)| {
            json::object([("name", json::text(name)), ("count", json::count(count))])
        });
        let totals = json::object([
            ("all", json::count(known.graph.targets().count())),
            ("missing", json::count(known.missing.len())),
            ("unused", json::count(known.unused.len())),
            ("cycles", json::count(known.cycles.len())),
        ]);
        let problems = known.graph.problems.iter().take(NAMES_MAX);
        Ok(json::object([
            ("list", json::text(list)),
            ("first", json::count(first)),
            ("count", json::count(count)),
            ("bytes", SjsonTree::Number(bytes as f64)),
            ("kinds", SjsonTree::Array(kinds.collect())),
            ("totals", totals),
            ("problems", json::texts(problems)),
            ("rows", SjsonTree::Array(rows)),
        ]))
    })
}

/// Rows, numbers of rows by kind before the filter of kinds, number of all rows, their bytes.
type ListPart = (Vec<SjsonTree>, BTreeMap<String, usize>, usize, u64);

fn target_list(
    known: &KnownGraph,
    list: &str,
    filter: &NameFilter,
    first: usize,
    most: usize,
) -> ListPart {
    let graph = &known.graph;
    let is_listed = |target: &&Target| match list {
        "unused" => known.unused.contains(*target),
        "shared" => graph.use_counts(target)[1] >= SHARED_MIN,
        _ => true,
    };
    let mut kinds = BTreeMap::new();
    let mut found: Vec<&Target> = graph
        .targets()
        .filter(|target| filter.has_text(&target.to_string()))
        .filter(is_listed)
        .inspect(|target| *kinds.entry(kind_of(target).to_string()).or_default() += 1)
        .filter(|target| filter.has_kind(kind_of(target)))
        .collect();
    match list {
        "unused" => found.sort_compact_by_key(|target| std::cmp::Reverse(graph.size_of(target))),
        "shared" => {
            found.sort_by_cached_key(|target| std::cmp::Reverse(graph.use_counts(target)[1]))
        }
        _ => {}
    }
    let bytes = found.iter().map(|target| graph.size_of(target)).sum();
    let rows = found.iter().skip(first).take(most);
    let rows = rows.map(|target| SjsonTree::Object(target_row(known, target))).collect();
    (rows, kinds, found.len(), bytes)
}

fn missing_list(known: &KnownGraph, filter: &NameFilter, first: usize, most: usize) -> ListPart {
    let graph = &known.graph;
    let user = |path: &str| graph.target_of(path);
    let mut kinds = BTreeMap::new();
    // Kinds are those of the resources that name something missing.
    let mut found = Vec::new();
    for at in &known.missing {
        let path = &graph.files[at.file].path;
        if !filter.has_text(&graph.reference(*at).name) && !filter.has_text(path) {
            continue;
        }
        let kind = user(path).map_or(FILE_KIND.to_string(), |it| kind_of(&it).to_string());
        let is_wanted = filter.has_kind(&kind);
        *kinds.entry(kind).or_default() += 1;
        if is_wanted {
            found.push(*at);
        }
    }
    // The search for near names would take too long for hundreds of rows.
    let shown = found.iter().skip(first).take(most);
    let rows = shown.map(|at| missing_row(known, *at, None)).collect();
    (rows, kinds, found.len(), 0)
}

fn cycle_list(known: &KnownGraph, filter: &NameFilter, first: usize, most: usize) -> ListPart {
    let mut kinds = BTreeMap::new();
    let mut found = Vec::new();
    for (at, ring) in known.cycles.iter().enumerate() {
        if !ring.iter().any(|target| filter.has_text(&target.to_string())) {
            continue;
        }
        let mut own: Vec<&str> = ring.iter().map(kind_of).collect();
        own.sort_compact();
        own.dedup();
        let is_wanted = own.iter().any(|kind| filter.has_kind(kind));
        own.into_iter().for_each(|kind| *kinds.entry(kind.to_string()).or_default() += 1);
        if is_wanted {
            found.push(at);
        }
    }
    let size = |ring: &[Target]| ring.iter().map(|target| known.graph.size_of(target)).sum::<u64>();
    let row = |at: &usize| {
        let ring = &known.cycles[*at];
        json::object([
            ("cycle", json::count(*at)),
            ("count", json::count(ring.len())),
            ("bytes", SjsonTree::Number(size(ring) as f64)),
            ("names", json::texts(ring.iter().take(NAMES_MAX).map(Target::to_string))),
        ])
    };
    let bytes = found.iter().map(|at| size(&known.cycles[*at])).sum();
    let rows = found.iter().skip(first).take(most).map(row).collect();
    (rows, kinds, found.len(), bytes)
}
