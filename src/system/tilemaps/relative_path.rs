//! Conversion of paths that are relative to a map file into paths from the game's folder.

use engine_foundation::Error;
use engine_foundation::error;

/// Resolves `named`, relative to the file at `path`, to a path from the game's folder.
///
/// # Errors
/// Returns an error if the path leads out of the game's folder.
pub fn resolve(path: &str, named: &str) -> Result<String, Error> {
    let named = named.replace('\\', "/");
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let out = || error!("{path}: '{named}' is outside of the game's folder");
    if named.starts_with('/') || named.get(1..2) == Some(":") {
        return Err(out());
    }
    for part in named.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop().ok_or_else(out)?;
            }
            part => parts.push(part),
        }
    }
    Ok(parts.join("/"))
}

/// Returns the texture name for an image's path.
pub fn texture(path: &str) -> String {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    let ending = name.rsplit_once('.').map_or(0, |(_, ending)| ending.len() + 1);
    path[..path.len() - ending].to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_file_within_the_folder() {
        assert_eq!(resolve("maps/cave.tmx", "../tiles/rock.png").unwrap(), "tiles/rock.png");
        assert_eq!(resolve("cave.tmx", ".\\rock.png").unwrap(), "rock.png");
        let message = resolve("maps/cave.tmx", "../../rock.png").unwrap_err().message;
        assert_eq!(message, "maps/cave.tmx: '../../rock.png' is outside of the game's folder");
        assert!(resolve("cave.tmx", "/rock.png").is_err() && resolve("a.tmx", "C:/x.png").is_err());
        assert_eq!(texture("tiles/rock.v2.png"), "tiles/rock.v2");
    }
}
