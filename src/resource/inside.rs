//! Files of a game's folder, and none outside of it: whoever reads one reads it here. Links may
//! lead anywhere within the folder.

use super::name::is_inside;
use std::fs;
use std::io;
use std::path::Path;

/// Why a file was not read.
#[derive(Debug)]
pub enum Refusal {
    /// Its path leads out of the folder.
    Path,
    /// A link on its path does.
    Link,
    System(io::Error),
}

impl Refusal {
    /// What is wrong with a file, for people.
    pub fn words(&self, path: &str) -> String {
        match self {
            Refusal::Path => format!("{path}: only files in the game's folder can be read"),
            Refusal::Link => format!(
                "{path}: a link leads out of the game's folder, and only files in it can be read: \
                 copy into the folder what it leads to"
            ),
            Refusal::System(reason) if reason.kind() == io::ErrorKind::NotFound => {
                format!("{path}: there is no such file")
            }
            Refusal::System(reason) => format!("{path}: the file cannot be read: {reason}"),
        }
    }
}

/// Reads a file by its path from a game's folder.
///
/// # Errors
/// It is not in the folder, or cannot be read.
pub fn read(root: &Path, path: &str) -> Result<Vec<u8>, Refusal> {
    if !is_inside(path) {
        return Err(Refusal::Path);
    }
    let real = fs::canonicalize(root.join(path)).map_err(Refusal::System)?;
    // What is without links lies below the folder's own path only where that has none, too.
    let stays = (root.is_absolute() && real.starts_with(root))
        || real.starts_with(fs::canonicalize(root).map_err(Refusal::System)?);
    if !stays {
        return Err(Refusal::Link);
    }
    fs::read(real).map_err(Refusal::System)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    /// A folder with a game, one beside it, and links from the one; removed at the end.
    struct Folder(PathBuf);

    impl Folder {
        fn new() -> Folder {
            let name = format!("engine-inside-{}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            let _ = fs::remove_dir_all(&folder);
            for part in ["game/textures", "game-art"] {
                fs::create_dir_all(folder.join(part)).unwrap();
            }
            fs::write(folder.join("game/textures/wood.png"), "wood").unwrap();
            fs::write(folder.join("game-art/secret.png"), "secret").unwrap();
            let link = |to: &str, at: &str| symlink(to, folder.join(at)).unwrap();
            link("textures/wood.png", "game/floor.png");
            link("textures", "game/pictures");
            link("../game/textures/wood.png", "game/round.png");
            link("../game-art/secret.png", "game/out.png");
            link("../game-art", "game/art");
            link("out.png", "game/twice.png");
            link("circle.png", "game/circle.png");
            link("nowhere.png", "game/lost.png");
            link("game", "linked");
            Folder(folder)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    #[test]
    fn links_are_followed_within_the_folder_and_not_out_of_it() {
        let folder = Folder::new();
        // The folder itself may be reached by one.
        for root in ["game", "linked", "game-art/../game"] {
            let root = folder.0.join(root);
            let check = |path: &str, wanted: Result<&str, &str>| {
                let read = read(&root, path).map(|bytes| String::from_utf8(bytes).unwrap());
                let read = read.map_err(|refusal| refusal.words(path));
                let wanted = wanted.map(str::to_string);
                assert_eq!(read, wanted.map_err(|words| format!("{path}: {words}")), "{root:?}");
            };
            for path in ["textures/wood.png", "floor.png", "pictures/wood.png", "round.png"] {
                check(path, Ok("wood"));
            }
            let out = "a link leads out of the game's folder, and only files in it can be read: \
                       copy into the folder what it leads to";
            for path in ["out.png", "art/secret.png", "twice.png"] {
                check(path, Err(out));
            }
            check("../game-art/secret.png", Err("only files in the game's folder can be read"));
            for path in ["lost.png", "none.png"] {
                check(path, Err("there is no such file"));
            }
            assert!(matches!(read(&root, "circle.png"), Err(Refusal::System(_))));
        }
    }
}
