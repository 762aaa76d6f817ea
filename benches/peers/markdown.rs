//! The table in the format of docs/performance.md.

use crate::table::{Group, Row, digits};

fn line(row: &Row) -> String {
    let number = |number: Option<f64>| number.map(digits).unwrap_or_default();
    let indent = if row.name.starts_with(' ') { "— " } else { "" };
    let verdict = match row.verdict() {
        "MISS" => "**miss**; ",
        "pass" => "pass; ",
        _ => "",
    };
    let target = match row.target {
        Some(target) => format!("target {}, {verdict}", digits(target)),
        None => String::new(),
    };
    let text = format!("{target}{}", row.note);
    format!(
        "| {indent}{} | {} | {} | {} | {} | {} |\n",
        row.name.trim(),
        digits(row.measured),
        number(row.love),
        number(row.ratio()),
        row.unit,
        text.trim_end_matches([';', ' ', ','])
    )
}

/// Returns one table with all groups.
pub fn markdown(groups: &[Group]) -> String {
    let head = "| | Engine | LÖVE | LÖVE / engine | Unit | |\n|---|--:|--:|--:|---|---|\n";
    let group = |group: &Group| {
        let rows: String = group.rows.iter().map(line).collect();
        format!("| **{}: {}** | | | | | |\n{rows}", group.name, group.title)
    };
    format!("{head}{}", groups.iter().map(group).collect::<String>())
}
