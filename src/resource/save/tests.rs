//! Tests of the saves interface: generations, damage, newer games, full disks, the thread.

use super::io_queue::ByteLimits;
use super::*;
use std::fs;
use std::path::Path;

/// A temporary folder, removed when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let folder =
            std::env::temp_dir().join(format!("engine-save-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        engine_foundation::log::set_silent(true);
        Scratch(folder)
    }

    fn saves(&self, version: &str) -> Saves {
        Saves::new(Some(self.0.clone()), version)
    }

    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn slot(name: &str) -> SaveSlot {
    SaveSlot::new(name).unwrap()
}

fn write(saves: &mut Saves, name: &str, content: &str) -> Result<(), String> {
    saves.write(&slot(name), content.as_bytes(), 1.0, NewerVersions::NotNewer)
}

fn read(saves: &mut Saves, name: &str) -> Result<(String, Option<String>), String> {
    let loaded = saves.read(&slot(name), NewerVersions::NotNewer, |_| Ok(()))?;
    Ok((String::from_utf8(loaded.content).unwrap(), loaded.recovered))
}

fn good(content: &str) -> Result<(String, Option<String>), String> {
    Ok((content.to_string(), None))
}

fn flip(path: &Path, bit: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[bit / 8] ^= 1 << (bit % 8);
    fs::write(path, bytes).unwrap();
}

#[test]
fn the_newest_generation_is_read_and_three_are_kept() {
    let scratch = Scratch::new("kept");
    for mut saves in [scratch.saves("1"), Saves::new(None, "1")] {
        assert_eq!(read(&mut saves, "auto"), Err("there is no save \"auto\"".to_string()));
        for i in 1..=5 {
            write(&mut saves, "auto", &i.to_string()).unwrap();
            assert_eq!(read(&mut saves, "auto"), good(&i.to_string()));
        }
        assert_eq!(saves.exists(&slot("auto")), Ok(true));
        assert_eq!(saves.exists(&slot("Auto")), Ok(false));
    }
    assert_eq!(scratch.files(), ["auto.3.save", "auto.4.save", "auto.5.save"]);
    assert_eq!(read(&mut scratch.saves("1"), "auto"), good("5"));
}

#[test]
fn a_damaged_save_falls_back_to_the_previous_one_and_reports_it() {
    let scratch = Scratch::new("damaged");
    let mut saves = scratch.saves("1");
    write(&mut saves, "auto", "old").unwrap();
    write(&mut saves, "auto", "new").unwrap();
    let newest = scratch.0.join("auto.2.save");
    let whole = fs::read(&newest).unwrap();
    for length in 0..whole.len() {
        fs::write(&newest, &whole[..length]).unwrap();
        let (content, recovered) = read(&mut saves, "auto").unwrap();
        assert_eq!(content, "old");
        let message = "the newest save \"auto\" cannot be used (it is cut short";
        assert!(recovered.unwrap().starts_with(message));
    }
    for bit in 0..whole.len() * 8 {
        fs::write(&newest, &whole).unwrap();
        flip(&newest, bit);
        let (content, recovered) = read(&mut saves, "auto").unwrap();
        assert!(content == "old" && recovered.is_some(), "bit {bit}");
    }
    // The next write takes the number after the damaged file, and saves work again.
    write(&mut saves, "auto", "newer").unwrap();
    assert_eq!(read(&mut saves, "auto"), good("newer"));
}

#[test]
fn the_error_for_a_save_without_good_data_has_its_reason() {
    let scratch = Scratch::new("hopeless");
    let mut saves = scratch.saves("1");
    write(&mut saves, "auto", "one").unwrap();
    flip(&scratch.0.join("auto.1.save"), 500);
    let message = "the save \"auto\" cannot be read: it is damaged: its checksum does not match \
                   its content";
    assert_eq!(read(&mut saves, "auto"), Err(message.to_string()));
    write(&mut saves, "auto", "two").unwrap();
    fs::write(scratch.0.join("auto.2.save"), "x").unwrap();
    let message = "the save \"auto\" cannot be read: it is cut short: 1 bytes; the 1 kept before \
                   it cannot be read either";
    assert_eq!(read(&mut saves, "auto"), Err(message.to_string()));
    let list = saves.list().unwrap();
    assert_eq!(list.len(), 1);
    // The list reads only headers, and the first save's header is valid.
    assert_eq!(list[0].head, Some(("1".to_string(), 1.0)));
}

#[test]
fn unusable_content_counts_as_damage() {
    let mut saves = Saves::new(None, "1");
    write(&mut saves, "auto", "good").unwrap();
    write(&mut saves, "auto", "odd").unwrap();
    let check: ContentCheck = |bytes| match bytes {
        b"odd" => Err(engine_foundation::error!("it makes no sense")),
        _ => Ok(()),
    };
    let loaded = saves.read(&slot("auto"), NewerVersions::NotNewer, check).unwrap();
    assert_eq!(loaded.content, b"good");
    let message = "the newest save \"auto\" cannot be used (it makes no sense): this is one kept \
                   before it";
    assert_eq!(loaded.recovered.as_deref(), Some(message));
}

#[test]
fn a_save_of_a_newer_game_is_refused_and_kept() {
    let scratch = Scratch::new("newer");
    write(&mut scratch.saves("1.3"), "auto", "old").unwrap();
    write(&mut scratch.saves("1.4"), "auto", "new").unwrap();
    let mut older = scratch.saves("1.3");
    let why = "it was written by version 1.4 of the game, and this is version 1.3: update the game";
    let message = format!("the save \"auto\" cannot be read: {why}");
    assert_eq!(read(&mut older, "auto"), Err(message));
    let message = format!(
        "the save \"auto\" cannot be written: the existing one would be lost, and {why}, or \
         Save.delete(\"auto\") first"
    );
    assert_eq!(write(&mut older, "auto", "x"), Err(message.clone()));
    assert_eq!(older.list().unwrap()[0].problem.as_deref(), Some(why));
    assert_eq!(read(&mut scratch.saves("1.4.1"), "auto"), good("new"));
    // A damaged file on top does not change this.
    fs::write(scratch.0.join("auto.3.save"), "junk").unwrap();
    assert_eq!(write(&mut older, "auto", "x"), Err(message));
    fs::remove_file(scratch.0.join("auto.3.save")).unwrap();
    // A game that declares itself compatible may read the save.
    let loaded = older.read(&slot("auto"), NewerVersions::Any, |_| Ok(())).unwrap();
    assert_eq!(loaded.content, b"new");
    older.write(&slot("auto"), b"mine", 1.0, NewerVersions::Any).unwrap();
    assert_eq!(read(&mut older, "auto"), good("mine"));
}

#[test]
fn a_save_at_the_last_generation_number_is_refused() {
    let scratch = Scratch::new("last");
    let mut saves = scratch.saves("1");
    write(&mut saves, "auto", "one").unwrap();
    let last = format!("auto.{}.save", (1u64 << 53) - 1);
    fs::rename(scratch.0.join("auto.1.save"), scratch.0.join(&last)).unwrap();
    let message = format!(
        "the save \"auto\" cannot be written: no number comes after that of {last}: remove that \
         file"
    );
    assert_eq!(write(&mut saves, "auto", "two"), Err(message));
    assert_eq!(read(&mut saves, "auto"), good("one"));
}

#[test]
fn a_failed_write_leaves_all_saves_unchanged() {
    let scratch = Scratch::new("failed");
    let mut saves = scratch.saves("1");
    write(&mut saves, "auto", "one").unwrap();
    // A folder blocks the path of the next generation.
    fs::create_dir_all(scratch.0.join("auto.2.save/x")).unwrap();
    let message = write(&mut saves, "auto", "two").unwrap_err();
    assert!(message.starts_with("the save \"auto\" cannot be written: "), "{message}");
    assert_eq!(read(&mut saves, "auto"), good("one"));
    assert_eq!(scratch.files(), ["auto.1.save", "auto.2.save"], "nothing is left beside it");
    // A file blocks the path of the folder.
    fs::remove_dir_all(&scratch.0).unwrap();
    fs::write(&scratch.0, "").unwrap();
    assert!(write(&mut saves, "auto", "three").is_err());
    assert!(read(&mut saves, "auto").unwrap_err().starts_with("the saves cannot be listed: "));
    fs::remove_file(&scratch.0).unwrap();
}

#[test]
fn the_list_is_sorted_and_ignores_other_files() {
    let scratch = Scratch::new("list");
    let mut saves = scratch.saves("0.2");
    assert_eq!(saves.list(), Ok(Vec::new()));
    saves.write(&slot("b"), b"bb", 20.0, NewerVersions::NotNewer).unwrap();
    saves.write(&slot("A 1"), b"a", 10.0, NewerVersions::NotNewer).unwrap();
    fs::write(scratch.0.join("notes.txt"), "x").unwrap();
    fs::write(scratch.0.join("Odd.1.save"), "x").unwrap();
    let list = saves.list().unwrap();
    let names: Vec<&str> = list.iter().map(|one| one.slot.name()).collect();
    assert_eq!(names, ["A 1", "b"]);
    assert_eq!(list[1].head, Some(("0.2".to_string(), 20.0)));
    assert_eq!(list[1].size, fs::metadata(scratch.0.join("b.1.save")).unwrap().len());
    saves.delete(&slot("b")).unwrap();
    assert_eq!(saves.delete(&slot("b")), Err("there is no save \"b\"".to_string()));
    assert_eq!(saves.list().unwrap().len(), 1);
}

#[test]
fn old_leftovers_of_a_killed_process_are_removed() {
    let scratch = Scratch::new("sweep");
    let mut saves = scratch.saves("1");
    write(&mut saves, "auto", "one").unwrap();
    let (old, young) = (scratch.0.join("auto.9-0.tmp"), scratch.0.join("auto.9-1.tmp"));
    fs::write(&young, "x").unwrap();
    let hours_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(7200);
    fs::File::create(&old).unwrap().set_modified(hours_ago).unwrap();
    write(&mut saves, "auto", "two").unwrap();
    assert!(!old.exists() && young.exists());
}

/// Blocks until a request has its answer.
fn answer(saves: &mut Saves, request: u64) -> SaveResult {
    let mut progress = 0.0;
    loop {
        match saves.poll(request, 0).unwrap() {
            RequestProgress::Yes(now) => {
                assert!(now >= progress && now < 1.0, "{progress} {now}");
                progress = now;
            }
            RequestProgress::Done(well) => {
                let answer = saves.take(request).unwrap();
                assert_eq!(answer.is_ok(), well);
                return answer;
            }
        }
    }
}

#[test]
fn requests_are_completed_in_order() {
    let scratch = Scratch::new("order");
    let mut saves = scratch.saves("1");
    let mut requests = Vec::new();
    for i in 0..20u8 {
        let written = vec![i; 300_000];
        let version = NewerVersions::NotNewer;
        requests.push(saves.begin_write(slot("auto"), written, 1.0, version, None).unwrap());
        requests.push(saves.begin_read(slot("auto"), version, |_| Ok(()), None).unwrap());
    }
    for (i, pair) in requests.chunks(2).enumerate() {
        assert_eq!(answer(&mut saves, pair[0]), Ok(None));
        let loaded = answer(&mut saves, pair[1]).unwrap().unwrap();
        assert_eq!(loaded.content, vec![i as u8; 300_000]);
    }
    assert_eq!(saves.poll(requests[0], 0), None, "its answer was taken");
    assert_eq!(saves.take(requests[0]), None);
    let missing = saves.begin_read(slot("none"), NewerVersions::Any, |_| Ok(()), None).unwrap();
    assert_eq!(answer(&mut saves, missing), Err("there is no save \"none\"".to_string()));
}

#[test]
fn synchronous_requests_run_after_pending_ones() {
    let mut saves = Saves::new(None, "1");
    for i in 0..50 {
        let text = i.to_string();
        saves
            .begin_write(slot("a"), text.clone().into(), 1.0, NewerVersions::NotNewer, None)
            .unwrap();
        assert_eq!(read(&mut saves, "a"), good(&text));
    }
}

#[test]
fn a_request_is_completed_exactly_in_its_ready_frame() {
    let mut saves = Saves::new(None, "1");
    let request =
        saves.begin_write(slot("a"), vec![1], 1.0, NewerVersions::NotNewer, Some(8)).unwrap();
    for _ in 0..100 {
        assert_eq!(saves.poll(request, 7), Some(RequestProgress::Yes(0.0)));
    }
    assert_eq!(saves.poll(request, 8), Some(RequestProgress::Done(true)));
}

#[test]
fn pending_requests_finish_before_the_end() {
    let scratch = Scratch::new("end");
    let mut saves = scratch.saves("1");
    for i in 0..10u8 {
        saves.begin_write(slot("a"), vec![b'0' + i], 1.0, NewerVersions::NotNewer, None).unwrap();
    }
    drop(saves);
    assert_eq!(read(&mut scratch.saves("1"), "a"), good("9"));
}

#[test]
fn the_number_of_unread_results_is_limited() {
    let mut saves = Saves::new(None, "1");
    let begin = |saves: &mut Saves| {
        saves.begin_write(slot("a"), vec![1], 1.0, NewerVersions::NotNewer, None).unwrap()
    };
    let first = begin(&mut saves);
    for _ in 1..REQUESTS_MAX {
        begin(&mut saves);
    }
    // All requests are done: the oldest one makes room.
    assert_eq!(saves.exists(&slot("a")), Ok(true));
    let last = begin(&mut saves);
    assert_eq!(saves.poll(first, 0), None);
    assert!(saves.poll(last, 0).is_some());
}

#[test]
fn pending_bytes_are_limited_deterministically() {
    let mut saves = Saves::new(None, "1");
    saves.queue.limits = ByteLimits { write: 100, read: 100 };
    let write = |saves: &mut Saves, name: &str, bytes: usize, ready: u64| {
        let content = vec![b'x'; bytes];
        saves.begin_write(slot(name), content, 1.0, NewerVersions::NotNewer, Some(ready))
    };
    write(&mut saves, "a", 60, 2).unwrap();
    write(&mut saves, "b", 40, 2).unwrap();
    let full = write(&mut saves, "c", 1, 2).unwrap_err();
    assert_eq!(full, "saves of 0 MiB wait to be written already (WRITE_BYTES_MAX): wait for some");
    // In the next frame the game regards them as done, however slow the disk is.
    write(&mut saves, "c", 100, 3).unwrap();
    let read = |saves: &mut Saves, names: [&str; 2], ready: u64| {
        let mut begin =
            |name| saves.begin_read(slot(name), NewerVersions::Any, |_| Ok(()), Some(ready));
        let requests = names.map(|name| begin(name).unwrap());
        requests.map(|request| {
            assert!(matches!(saves.poll(request, ready), Some(RequestProgress::Done(_))));
            (request, saves.queue.poll(request, ready) == Some(RequestProgress::Done(true)))
        })
    };
    let [(a, _), (_, whole)] = read(&mut saves, ["a", "b"], 4);
    assert!(whole, "100 bytes may wait");
    let [(c, first), _] = read(&mut saves, ["c", "b"], 5);
    assert!(!first, "100 wait already");
    let message = "saves of 0 MiB that were read wait for Save.result (READ_BYTES_MAX): ask for \
                   some of them first";
    assert_eq!(saves.take(c), Some(Err(message.to_string())));
    assert!(matches!(saves.take(a), Some(Ok(Some(_)))));
    let [(_, small), _] = read(&mut saves, ["b", "b"], 6);
    assert!(small, "what was asked for has made room");
}

#[cfg(unix)]
#[test]
fn a_link_at_the_path_of_a_save_is_not_read_and_logged() {
    let scratch = Scratch::new("link");
    let mut saves = scratch.saves("1.0");
    write(&mut saves, "other", "elsewhere").unwrap();
    let file = scratch.0.join(&scratch.files()[0]);
    let link = scratch.0.join(scratch.files()[0].replace("other", "slot"));
    std::os::unix::fs::symlink(&file, &link).unwrap();
    assert!(read(&mut saves, "slot").is_err());
    assert_eq!(read(&mut saves, "other"), good("elsewhere"));
    let path = link.display().to_string();
    let counted = engine_foundation::log::counted_warnings();
    assert!(counted.iter().any(|(warned, _)| *warned == path), "{counted:?}");
}
