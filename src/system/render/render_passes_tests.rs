//! Tests of the table of render passes, of its check and of its runs.

use super::PassResource::*;
use super::PassWrite::*;
use super::*;
use crate::render_pass_check::check;
use crate::shader_sources;
use engine_resource::settings::SETTINGS;

const SHADERS: &[&str] = &["paint"];

const fn row(
    name: &'static str,
    reads: &'static [PassResource],
    writes: &'static [PassWrite],
) -> PassRow {
    let shaders = SHADERS;
    PassRow { name, reads, writes, shaders, settings: &[], runs: |_| true, encode: |_, _| () }
}

#[track_caller]
fn refuses(rows: &[PassRow], wanted: &str) {
    let message = check(rows, SHADERS).expect_err("a table that is wrong");
    assert!(message.contains(wanted), "{message}");
}

#[test]
fn the_table_of_passes_is_valid() {
    assert_eq!(check(RENDER_PASSES, &shader_sources::names()), Ok(()));
}

#[test]
fn a_pass_follows_the_passes_whose_output_it_samples() {
    let light = row("light", &[], &[Clear(Light)]);
    let show = row("show", &[Light], &[Keep(Target)]);
    assert_eq!(check(&[row("light", &[], &[Clear(Light)]), show], SHADERS), Ok(()));
    let show = row("show", &[Light], &[Keep(Target)]);
    refuses(&[show, light], "'show' samples Light, which no pass before it draws");
}

#[test]
fn a_resource_is_cleared_only_by_its_first_pass() {
    let first = || row("a", &[], &[Clear(Light)]);
    refuses(&[row("a", &[], &[Keep(Light)])], "'a' draws over Light");
    refuses(&[first(), row("b", &[], &[Clear(Light)])], "'b' clears Light");
    refuses(&[row("a", &[], &[Clear(Target)])], "'a' clears Target");
    assert_eq!(check(&[first(), row("b", &[], &[Keep(Light)])], SHADERS), Ok(()));
}

#[test]
fn a_pass_has_a_name_a_shader_and_attachments_of_one_size() {
    let twice = [row("a", &[], &[Keep(Target)]), row("a", &[], &[Keep(Target)])];
    refuses(&twice, "two render passes are named 'a'");
    refuses(
        &[PassRow { shaders: &["pant"], ..row("a", &[], &[Keep(Target)]) }],
        "'a' uses the shader 'pant', which does not exist: paint",
    );
    let setting = PassRow { settings: &["render.shine"], ..row("a", &[], &[Keep(Target)]) };
    refuses(&[setting], "'a' depends on 'render.shine', which is not a setting");
    refuses(&[row("a", &[], &[])], "'a' draws onto nothing");
    refuses(&[row("a", &[], &[Clear(Light), Keep(Target)])], "onto Light and Target");
    let both = [row("a", &[], &[Clear(Light)]), row("b", &[Light], &[Keep(Light)])];
    refuses(&both, "'b' samples Light and draws onto it");
}

fn names(rows: &[&PassRow]) -> Vec<Vec<&'static str>> {
    shared_passes(rows).map(|run| run.iter().map(|row| row.name).collect()).collect()
}

#[test]
fn passes_are_merged_unless_one_samples_anothers_output() {
    let of = |wanted: &[&str]| -> Vec<&PassRow> {
        RENDER_PASSES.iter().filter(|row| wanted.contains(&row.name)).collect()
    };
    let plain = of(&["shadows", "opaque objects", "sky", "transparent objects", "guis"]);
    let scene = vec!["opaque objects", "sky", "transparent objects"];
    assert_eq!(names(&plain), [vec!["shadows"], scene, vec!["guis"]]);
    let particles = of(&["opaque objects", "sky", "transparent objects and particles"]);
    let apart = vec!["transparent objects and particles"];
    assert_eq!(names(&particles), [vec!["opaque objects", "sky"], apart]);
    let glass = of(&["opaque objects", "sky", "light behind surfaces", "transparent objects"]);
    let solid = vec!["opaque objects", "sky"];
    let others = [vec!["light behind surfaces"], vec!["transparent objects"]];
    assert_eq!(names(&glass), [&[solid][..], &others[..]].concat());
    assert_eq!(names(&[]), Vec::<Vec<&str>>::new());
}

#[test]
fn the_rows_of_a_pass_follow_each_other() {
    let is_row = |name: &str| RENDER_PASSES.iter().any(|row| row.name == name);
    assert!(ROW_PASSES.iter().all(|(name, _)| is_row(name)));
    let mut passes: Vec<&str> = RENDER_PASSES.iter().map(pass_name).collect();
    passes.dedup();
    let again = |at: usize| passes[..at].contains(&passes[at]);
    assert_eq!((0..passes.len()).find(|at| again(*at)), None, "{passes:?}");
}

#[test]
fn every_setting_of_worlds_changes_a_pass() {
    let named: Vec<&str> = RENDER_PASSES.iter().flat_map(|row| row.settings).copied().collect();
    let keys = SETTINGS.iter().map(|setting| setting.key);
    // They choose other values of the same settings, and the order of the passes.
    let others = ["render.quality", "render.config"];
    let of_worlds = |key: &&str| key.starts_with("render.") && !others.contains(key);
    let settings: Vec<&str> = keys.filter(of_worlds).collect();
    assert!(named.iter().all(|name| settings.contains(name)), "{named:?}");
    assert!(settings.iter().all(|name| named.contains(name)), "{settings:?}");
}
