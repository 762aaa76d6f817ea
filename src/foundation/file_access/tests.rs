//! Tests of opening files in folders with links, pipes and sparse files, through each
//! implementation.

use super::*;
use readers::{SETTINGS, SETTINGS_BYTES_MAX};
use std::fs;
use std::path::PathBuf;

/// A fixture: a game's folder, a folder next to it, and links from the game's folder. Removed when
/// dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let name = format!("engine-access-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&folder);
        for part in ["game/textures", "game-art"] {
            fs::create_dir_all(folder.join(part)).unwrap();
        }
        fs::write(folder.join("game/textures/wood.png"), "wood").unwrap();
        fs::write(folder.join("game-art/secret.png"), "secret").unwrap();
        Folder(folder)
    }

    #[cfg(unix)]
    fn with_links(self) -> Folder {
        let whole = self.0.join("game/textures/wood.png");
        let link = |to: &str, at: &str| self.link(to, at);
        link("textures/wood.png", "game/floor.png");
        link("textures", "game/pictures");
        link("../game/textures/wood.png", "game/round.png");
        link(&whole.to_string_lossy(), "game/whole.png");
        link("../game-art/secret.png", "game/out.png");
        link("../game-art", "game/art");
        link("out.png", "game/twice.png");
        link("/dev/zero", "game/zero.png");
        link("circle.png", "game/circle.png");
        link("nowhere.png", "game/lost.png");
        link("game", "linked");
        self
    }

    #[cfg(unix)]
    fn link(&self, to: &str, at: &str) {
        std::os::unix::fs::symlink(to, self.0.join(at)).unwrap();
    }

    fn game(&self) -> PathBuf {
        self.0.join("game")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

/// An implementation that reads a file below a folder.
type Reader = fn(&Path, &str) -> Result<Vec<u8>, AccessError>;

fn usual(root: &Path, path: &str) -> Result<Vec<u8>, AccessError> {
    read(root, path, &SETTINGS)
}

fn portably(root: &Path, path: &str) -> Result<Vec<u8>, AccessError> {
    read_whole(portable::open(root, path)?, &SETTINGS).map(|(bytes, _)| bytes)
}

#[cfg(unix)]
fn by_parts(root: &Path, path: &str) -> Result<Vec<u8>, AccessError> {
    read_whole(unix::open_by_parts(root, Path::new(path))?, &SETTINGS).map(|(bytes, _)| bytes)
}

#[cfg(unix)]
const READERS: &[Reader] = &[usual, portably, by_parts];
#[cfg(not(unix))]
const READERS: &[Reader] = &[usual, portably];

const OUT: &str = "a link leads out of the game's folder, and only files in it can be read: copy \
                   into the folder what it leads to";
const SPECIAL: &str = "it is a pipe, a socket or a device, and only regular files are read: put a \
                       file there";

#[cfg(unix)]
#[test]
fn links_are_followed_only_within_the_folder() {
    let folder = Folder::new("links").with_links();
    // A link may lead to the folder itself.
    for root in ["game", "linked", "game-art/../game"].map(|root| folder.0.join(root)) {
        for way in READERS {
            let check = |path: &str, wanted: Result<&str, &str>| {
                let read = way(&root, path).map(|bytes| String::from_utf8(bytes).unwrap());
                let read = read.map_err(|refusal| refusal.message(path));
                let wanted = wanted.map(str::to_string);
                assert_eq!(
                    read,
                    wanted.map_err(|message| format!("{path}: {message}")),
                    "{root:?}"
                );
            };
            for path in
                ["textures/wood.png", "floor.png", "pictures/wood.png", "round.png", "whole.png"]
            {
                check(path, Ok("wood"));
            }
            for path in ["out.png", "art/secret.png", "twice.png", "zero.png"] {
                check(path, Err(OUT));
            }
            for path in ["lost.png", "none.png"] {
                check(path, Err("there is no such file"));
            }
            check("textures", Err("it is a folder, and a file is needed: rename it"));
            assert!(matches!(way(&root, "circle.png"), Err(AccessError::System(_))));
        }
        for path in ["../game-art/secret.png", "/etc/passwd", "textures/../floor.png", "a\0b"] {
            assert!(matches!(usual(&root, path), Err(AccessError::Path)), "{path}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_or_a_device_is_refused_at_once() {
    let folder = Folder::new("special");
    let pipe = folder.0.join("game/pipe");
    let status = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
    assert!(status.success());
    std::os::unix::net::UnixListener::bind(folder.0.join("game/socket")).unwrap();
    folder.link("pipe", "game/to_pipe");
    for way in READERS {
        for path in ["pipe", "to_pipe"] {
            assert_eq!(way(&folder.game(), path).unwrap_err().to_string(), SPECIAL, "{path}");
        }
        assert!(way(&folder.game(), "socket").is_err());
    }
    for path in [pipe.as_path(), Path::new("/dev/zero")] {
        assert_eq!(read_named(path, &SETTINGS).unwrap_err().to_string(), SPECIAL);
        assert!(matches!(open_named(path), Err(AccessError::Special)));
    }
    assert!(matches!(read_named(&folder.game(), &SETTINGS), Err(AccessError::Folder)));
    assert!(append(&folder.game(), "pipe").is_err());
}

#[test]
fn the_size_limit_is_checked_before_and_while_reading() {
    let folder = Folder::new("limit");
    let path = folder.0.join("game/settings.sjson");
    let file = fs::File::create(&path).unwrap();
    file.set_len(SETTINGS_BYTES_MAX).unwrap();
    assert_eq!(usual(&folder.game(), "settings.sjson").unwrap().len() as u64, SETTINGS_BYTES_MAX);
    // A sparse file of a terabyte: reading it would take minutes.
    for size in [SETTINGS_BYTES_MAX + 1, 1 << 40] {
        file.set_len(size).unwrap();
        for way in READERS {
            assert_eq!(
                way(&folder.game(), "settings.sjson").unwrap_err().message("settings.sjson"),
                "settings.sjson: the file is larger than 1 MiB (SETTINGS_BYTES_MAX): keep data in \
                 `.config` files"
            );
        }
    }
    // Files of the system report a size of zero.
    #[cfg(target_os = "linux")]
    {
        static TINY: ReaderRow = ReaderRow { bytes_max: 10, ..SETTINGS };
        let read = read_named(Path::new("/proc/self/status"), &TINY);
        assert!(matches!(read, Err(AccessError::Size(_))));
    }
}

#[test]
fn a_file_that_changes_while_read_has_no_state() {
    let folder = Folder::new("state");
    let (game, path) = (folder.game(), folder.0.join("game/textures/wood.png"));
    let (bytes, state) = read_with_state(&game, "textures/wood.png", &SETTINGS).unwrap();
    let (kind, inspected) = inspect(&game, "textures/wood.png").unwrap();
    assert_eq!((bytes.as_slice(), state, kind), (&b"wood"[..], Some(inspected), EntryKind::File));
    assert_eq!(inspected.size, 4);
    // Different content with the modification time of the first, as `touch -r` leaves it.
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(15));
    fs::write(&path, "worn").unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    let (_, now) = inspect(&game, "textures/wood.png").unwrap();
    assert_eq!((now.size, now.modified), (inspected.size, inspected.modified));
    #[cfg(unix)]
    assert_ne!(now, inspected);
}

#[cfg(unix)]
#[test]
fn a_listing_gives_links_the_kind_of_their_target() {
    let folder = Folder::new("list").with_links();
    let game = folder.game();
    let wood = inspect(&game, "textures/wood.png").unwrap().1;
    type List = fn(&Path, &Path, bool) -> Result<FolderListing, AccessError>;
    for way in [system::list as List, portable::list as List] {
        let list = |path: &str| way(&game, Path::new(path), true);
        let mut found = list("").unwrap();
        found.entries.sort_by(|a, b| a.name.cmp(&b.name));
        let kinds = found.entries.iter().map(|entry| {
            (entry.name.to_str().unwrap(), entry.kind, entry.is_link, entry.state == wood)
        });
        let kinds: Vec<_> = kinds.collect();
        use EntryKind::*;
        assert_eq!(
            kinds,
            [
                ("art", LinkOut, true, false),
                ("circle.png", Dangling, true, false),
                ("floor.png", File, true, true),
                ("lost.png", Dangling, true, false),
                ("out.png", LinkOut, true, false),
                ("pictures", Folder, true, false),
                ("round.png", File, true, true),
                ("textures", Folder, false, false),
                ("twice.png", LinkOut, true, false),
                ("whole.png", File, true, true),
                ("zero.png", LinkOut, true, false),
            ]
        );
        let ids = [list("pictures").unwrap().id, list("textures").unwrap().id];
        assert_eq!(ids[0], ids[1]);
        assert_ne!(ids[0], found.id);
        assert!(matches!(list("art"), Err(AccessError::Link)));
    }
    assert!(portable::inspect(&game, "floor.png").unwrap().is_file());
    assert!(matches!(portable::inspect(&game, "out.png"), Err(AccessError::Link)));
    assert!(matches!(list(&game, ".."), Err(AccessError::Path)));
    let kinds = |listing: FolderListing| {
        let entries = listing.entries.into_iter();
        let mut kinds: Vec<_> = entries.map(|it| (it.name, it.kind as u8, it.is_link)).collect();
        kinds.sort();
        kinds
    };
    assert_eq!(kinds(list(&game, "").unwrap()), kinds(list_states(&game, "").unwrap()));
    assert_eq!(list(&game, "textures").unwrap().entries[0].state, FileState::default());
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link() {
    let folder = Folder::new("write").with_links();
    let game = folder.game();
    let art = folder.0.join("game-art");
    type Replace = fn(&Path, &str, &str, &[u8]) -> Result<(), AccessError>;
    for replace in [system::replace as Replace, portable::replace as Replace] {
        replace(&game, "pictures/new/deep", "a.txt", b"one").unwrap();
        assert_eq!(fs::read(game.join("textures/new/deep/a.txt")).unwrap(), b"one");
        fs::remove_dir_all(game.join("textures/new")).unwrap();
        for above in ["art", "art/new"] {
            let refused = replace(&game, above, "a.txt", b"one").unwrap_err();
            assert!(matches!(refused, AccessError::Link), "{above}: {refused:?}");
        }
    }
    write(&game, "out.png", b"ours").unwrap();
    assert!(!fs::symlink_metadata(game.join("out.png")).unwrap().is_symlink());
    let message = write(&game, "../a.txt", b"").unwrap_err().to_string();
    assert_eq!(message, "its path leads out of the folder: name a file in it");
    let message = write(&game, "art/secret.png", b"").unwrap_err().to_string();
    let link = "a link on its path, or in its place, leads elsewhere: remove the link";
    assert_eq!(message, link);
    for path in ["zero.png", "floor.png", "lost.png", "art/names.txt"] {
        assert_eq!(append(&game, path).unwrap_err().to_string(), link, "{path}");
        if path != "art/names.txt" {
            assert!(matches!(portable::append(&game, "", path), Err(AccessError::Link)), "{path}");
        }
    }
    use std::io::Write;
    append(&game, "names.txt").unwrap().write_all(b"one\n").unwrap();
    append(&game, "names.txt").unwrap().write_all(b"two\n").unwrap();
    assert_eq!(fs::read(game.join("names.txt")).unwrap(), b"one\ntwo\n");
    let left: Vec<_> =
        fs::read_dir(&art).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["secret.png"]);
    assert_eq!(fs::read(art.join("secret.png")).unwrap(), b"secret");
    let names = fs::read_dir(&game).unwrap().flatten().map(|entry| entry.file_name());
    assert!(!names.into_iter().any(|name| name.to_string_lossy().ends_with(".tmp")));
}
