//! Bundles without what nothing uses, and parts of tests for several machines.

use super::{PICTURE, game};

#[test]
fn a_bundle_can_leave_out_unused_resources() {
    let game = game("bundle");
    game.write("textures/spoiler.png", PICTURE);
    game.write("main.lua", "function init() World.spawn_level(x, \"levels/yard\") end\n");
    let bundle = |flags: &[&str]| {
        let arguments = [&["compile", ".", "--bundle", "--skip-check", "--out", "g.bundle"], flags];
        let (code, out, errors) = game.engine(&arguments.concat());
        assert_eq!(code, 0, "{errors}");
        out
    };
    assert!(!bundle(&[]).contains("spoiler"));
    let all = std::fs::metadata(game.join("g.bundle")).unwrap().len();
    let out = bundle(&["--reachable"]);
    assert!(out.contains("not in the bundle, because nothing uses it: textures/spoiler.texture\n"));
    assert!(!out.contains("textures/wood"), "{out}");
    assert!(std::fs::metadata(game.join("g.bundle")).unwrap().len() < all);
    // The setting does the same, and roots are kept.
    game.write(
        "settings.sjson",
        "bundle = { reachable = true }\ncontent = { roots = [\"textures/spoiler.png\"] }\n",
    );
    assert!(!bundle(&[]).contains("spoiler"));
}

#[test]
fn tests_are_divided_for_several_machines() {
    let game = game("shard");
    for name in ["a", "b", "c"] {
        game.write(&format!("{name}_test.lua"), format!("test(\"of {name}\", function() end)\n"));
    }
    let names = |shard: &str| -> Vec<String> {
        let (code, out, errors) = game.engine(&["test", ".", "--shard", shard, "--list"]);
        assert_eq!(code, 0, "{errors}");
        ["of a", "of b", "of c"]
            .iter()
            .filter(|it| out.contains(*it))
            .map(|it| it.to_string())
            .collect()
    };
    assert_eq!(names("1/2"), ["of a", "of c"]);
    assert_eq!(names("2/2"), ["of b"]);
    let (code, _, errors) = game.engine(&["test", ".", "--shard", "4/4"]);
    assert_eq!(code, 3);
    assert!(errors.contains("no tests found: looked in part 4 of 4"), "{errors}");
    for (shard, wanted) in [
        ("0/2", "must be a part from 1 to 2, as 1/2"),
        ("3/2", "must be a part from 1 to 2"),
        ("x", "must be a part and the number of parts"),
        ("1/0", "of at most 1000 (SHARDS_MAX)"),
    ] {
        let (code, _, errors) = game.engine(&["test", ".", "--shard", shard]);
        assert_eq!(code, 2);
        assert!(errors.contains(wanted), "{errors}");
    }
}

#[test]
fn a_second_machine_starts_with_the_shared_cache() {
    let first = game("cache_one");
    let second = game("cache_two");
    std::fs::create_dir_all(first.join("shared")).unwrap();
    let cache = first.join("shared").display().to_string();
    let compile = |game: &crate::game_folder::GameFolder| {
        let (code, out, errors) =
            game.engine(&["compile", ".", "--out", "data", "--cache", &cache]);
        assert_eq!(code, 0, "{errors}");
        out
    };
    let out = compile(&first);
    assert!(out.contains("shared cache: 0 fetched"), "{out}");
    let out = compile(&second);
    assert!(!out.contains("shared cache: 0 fetched") && out.contains("0 refused"), "{out}");
}

/// Returns the number of files in a folder that have more than one name.
#[cfg(unix)]
fn linked_files(folder: &std::path::Path) -> usize {
    use std::os::unix::fs::MetadataExt as _;
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| match entry.metadata().unwrap() {
            data if data.is_dir() => linked_files(&entry.path()),
            data => usize::from(data.is_file() && data.nlink() > 1),
        })
        .sum()
}

#[test]
#[cfg(unix)]
fn compiled_files_of_a_cache_are_links_in_the_own_folder() {
    let (first, second) = (game("link_one"), game("link_two"));
    std::fs::create_dir_all(first.join("shared")).unwrap();
    let cache = first.join("shared").display().to_string();
    for (game, out) in [(&first, ".engine/data"), (&second, ".engine/data"), (&first, "copies")] {
        let arguments = ["compile", ".", "--cache", &cache, "--out", out];
        let (code, _, errors) = game.engine(&arguments);
        assert_eq!(code, 0, "{errors}");
    }
    assert_ne!(linked_files(&second.join(".engine/data")), 0);
    // A folder that the game or its player may write has files of its own.
    assert_eq!(linked_files(&first.join("copies")), 0);
}
