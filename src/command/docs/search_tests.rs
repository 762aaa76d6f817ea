//! Tests of the search: what people type finds what they mean.

use super::*;
use crate::docs::searches::SEARCHES;
use crate::docs::site::Site;
use engine_script::docgen::ApiModel;

const FIRST: usize = 3;
const CHANGELOG: &str = LAST_PAGES[0].0;

fn site() -> Site {
    Site::new(&ApiModel::new())
}

#[test]
fn common_searches_find_their_target() {
    let site = site();
    let index = site.search_index();
    let mut missed = Vec::new();
    let mut count = 0;
    for (target, queries) in SEARCHES {
        let address = address_of(target, &site.targets).expect("the target is in the manual");
        for query in *queries {
            count += 1;
            let found = index.find(query);
            if !found.iter().take(FIRST).any(|entry| entry.address == address) {
                let titles: Vec<&str> = found.iter().map(|entry| entry.title.as_str()).collect();
                missed.push(format!("{query}: {target} is not among {titles:?}"));
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    assert!(count >= 200, "{count} searches");
}

#[test]
fn every_familiar_name_has_an_entry() {
    let site = site();
    let index = site.search_index();
    for row in familiar_names() {
        let address = address_of(row.target, &site.targets);
        let is_there = index.entries.iter().any(|entry| Some(&entry.address) == address.as_ref());
        assert!(is_there, "{} is not a heading of the manual: {address:?}", row.target);
    }
}

#[test]
fn searches_without_all_terms_find_the_nearest() {
    let site = site();
    let index = site.search_index();
    let titles = |query: &str| -> Vec<String> {
        index.find(query).iter().map(|entry| entry.title.clone()).collect()
    };
    assert_eq!(titles("xyzzy"), [""; 0]);
    assert_eq!(titles(""), [""; 0]);
    assert!(titles("bitmap xyzzy").iter().any(|title| title == "Gui.bitmap"));
    assert!(titles("bitmap").len() <= RESULTS_MAX);
}

#[test]
fn the_changelog_follows_other_results() {
    let site = site();
    let index = site.search_index();
    for query in ["sounds", "level", "units levels"] {
        let found = index.find(query);
        let is_last = |at: usize| found[at..].iter().all(|it| it.address.starts_with(CHANGELOG));
        let first = found.iter().position(|entry| entry.address.starts_with(CHANGELOG));
        assert!(first.is_none_or(|at| at > 0 && is_last(at)), "{query}");
    }
    assert!(index.entries.iter().any(|entry| entry.address.starts_with(CHANGELOG)));
}

#[test]
fn terms_split_names_and_drop_fillers() {
    assert_eq!(
        terms("how to drawImage in the Gui.bitmap_3d"),
        ["draw", "image", "gui", "bitmap", "3d"]
    );
    assert_eq!(terms("how to"), ["how", "to"]);
    assert_eq!(squash("Nine-Slice"), "nineslice");
}

#[test]
fn security_and_changelog_come_last() {
    let site = site();
    for query in ["jump", "draw text", "particles", "file"] {
        let found = site.search_index().find(query);
        let last =
            |entry: &&&IndexEntry| LAST_PAGES.iter().any(|(at, _)| entry.address.starts_with(*at));
        let first = found.iter().position(|entry| last(&entry)).unwrap_or(found.len());
        assert!(found[first..].iter().all(|entry| last(&entry)), "{query}");
    }
}
