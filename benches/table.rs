//! The table of results: rows in groups, printed for people and written as JSON.

use engine::foundation::json::quoted;

/// One result.
pub struct Row {
    pub name: String,
    /// Measured value. Not finite if it could not be measured; `note` then has the reason.
    pub measured: f64,
    pub unit: &'static str,
    /// Maximum that counts as met. `None` if the result has no target.
    pub target: Option<f64>,
    /// LÖVE's value, if it is compared.
    pub love: Option<f64>,
    pub note: String,
}

/// Results of one workload.
pub struct Group {
    pub name: &'static str,
    pub title: &'static str,
    pub workload: &'static str,
    pub rows: Vec<Row>,
}

pub fn row(name: &str, measured: f64, unit: &'static str, target: Option<f64>) -> Row {
    named(name.to_string(), measured, unit, target)
}

pub fn named(name: String, measured: f64, unit: &'static str, target: Option<f64>) -> Row {
    Row { name, measured, unit, target, love: None, note: String::new() }
}

impl Row {
    /// Returns LÖVE's value divided by the measured one.
    pub fn ratio(&self) -> Option<f64> {
        self.love.map(|love| love / self.measured).filter(|ratio| ratio.is_finite())
    }

    /// Returns LÖVE's value and the ratio as text; empty if there is no comparison.
    fn comparison(&self) -> String {
        let ratio = self.ratio().map_or(String::new(), |ratio| format!(": {} x", digits(ratio)));
        self.love.map_or(String::new(), |love| format!("LÖVE {}{ratio}", digits(love)))
    }

    pub fn verdict(&self) -> &'static str {
        match self.target {
            None => "",
            Some(target) if self.measured <= target => "pass",
            Some(_) => "MISS",
        }
    }
}

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Returns a number with three significant digits, without further decimals.
pub fn digits(value: f64) -> String {
    if !value.is_finite() {
        return "none".to_string();
    }
    let decimals = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// The profile that this program was built with (build.rs). `bench` is the players' `dist` with
/// debug information.
pub const PROFILE: &str = env!("ENGINE_BUILD_PROFILE");

pub fn print(group: &Group) {
    println!("\n{}: {} (profile {PROFILE})", group.name, group.title);
    let mut line = String::from("   ");
    for word in group.workload.split_whitespace() {
        if line.len() + word.len() > 98 {
            println!("{line}");
            line = String::from("   ");
        }
        line = line + " " + word;
    }
    println!("{line}");
    println!("    {:<58} {:>9} {:>9} {:<6} verdict", "figure", "measured", "target", "unit");
    for row in &group.rows {
        let target = row.target.map(digits).unwrap_or_default();
        let (name, measured, unit) = (&row.name, digits(row.measured), row.unit);
        let line = format!("    {name:<58} {measured:>9} {target:>9} {unit:<6} {}", row.verdict());
        let notes = [row.comparison(), row.note.clone()];
        let notes: Vec<_> = notes.iter().filter(|word| !word.is_empty()).map(|it| &**it).collect();
        println!("{}", format!("{}  {}", line.trim_end(), notes.join("; ")).trim_end());
    }
}

/// Prints the number of met targets.
pub fn print_sum(groups: &[Group]) {
    let rows = groups.iter().flat_map(|group| &group.rows);
    let verdicts: Vec<_> = rows.map(Row::verdict).filter(|verdict| !verdict.is_empty()).collect();
    let passed = verdicts.iter().filter(|verdict| **verdict == "pass").count();
    println!("\n{passed} of {} figures hold", verdicts.len());
}

/// Returns all groups as JSON.
pub fn json(groups: &[Group]) -> String {
    let mut rows = Vec::new();
    for group in groups {
        for row in &group.rows {
            let target = row.target.map_or("null".to_string(), |target| target.to_string());
            let verdict = if row.verdict() == "MISS" { "miss" } else { row.verdict() };
            let texts = [group.name, row.name.trim(), row.unit, verdict, &row.note].map(quoted);
            let [name, value, unit, verdict, note] = texts;
            let finite = Some(row.measured).filter(|value| value.is_finite());
            let measured = finite.map_or("null".to_string(), |value| value.to_string());
            let love = row.love.map_or(String::new(), |love| format!(" \"love\": {love},"));
            rows.push(format!(
                "  {{\"group\": {name}, \"profile\": \"{PROFILE}\", \"figure\": {value}, \
                 \"measured\": {measured},{love} \
                 \"target\": {target}, \"unit\": {unit}, \"verdict\": {verdict}, \"note\": {note}}}"
            ));
        }
    }
    format!("[\n{}\n]\n", rows.join(",\n"))
}
