//! A second name of a file, in place of a copy: prepared next to the file that it replaces, so that
//! its content can be checked first.

use super::disk;
use super::{create_missing_folders, folder_of, temporary_path};
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

/// A hard link under a temporary name. It is removed if it is not renamed.
#[derive(Debug)]
pub struct Link {
    /// The temporary name; empty after it was renamed.
    path: PathBuf,
}

impl Link {
    /// Links the file `from` under a temporary name in the folder of `to`.
    ///
    /// # Errors
    /// Returns an error if the system cannot link these files: on different file systems, for
    /// example. A file that is a symbolic link, a pipe or a device is refused.
    pub fn begin(from: &Path, to: &Path) -> Result<Link> {
        create_missing_folders(folder_of(to), false)?;
        loop {
            let path = temporary_path(to);
            match disk::link(from, &path) {
                Err(reason) if reason.kind() == ErrorKind::AlreadyExists => continue,
                result => result?,
            }
            let link = Link { path };
            return match disk::is_plain_file(&link.path)? {
                true => Ok(link),
                false => Err(Error::new(ErrorKind::InvalidInput, "it is no regular file")),
            };
        }
    }

    /// Returns the temporary name in its folder.
    pub fn name(&self) -> &str {
        self.path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
    }

    /// Renames the link over `to`.
    pub fn finish(mut self, to: &Path) -> Result<()> {
        disk::rename(&self.path, to)?;
        // Two names of one file are not renamed: both stay.
        let path = std::mem::take(&mut self.path);
        let _ = disk::remove(&path);
        Ok(())
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            // A temporary name that cannot be removed does no harm.
            let _ = disk::remove(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_link_replaces_a_file_or_leaves_nothing() {
        let folder = std::env::temp_dir().join(format!("engine-link-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let (from, to) = (folder.join("from"), folder.join("deep/to"));
        fs::write(&from, "new").unwrap();
        drop(Link::begin(&from, &to).unwrap());
        assert_eq!(fs::read_dir(folder.join("deep")).unwrap().count(), 0, "nothing is left");
        fs::write(&to, "old").unwrap();
        for _ in 0..2 {
            let link = Link::begin(&from, &to).unwrap();
            assert_eq!(fs::read(folder.join("deep").join(link.name())).unwrap(), b"new");
            link.finish(&to).unwrap();
            assert_eq!(fs::read(&to).unwrap(), b"new");
            assert_eq!(fs::read_dir(folder.join("deep")).unwrap().count(), 1);
        }
        // A file that replaces the link leaves the other name as it is.
        super::super::write_whole(&to, b"own").unwrap();
        assert_eq!(
            (fs::read(&from).unwrap(), fs::read(&to).unwrap()),
            (b"new".into(), b"own".into())
        );
        assert!(Link::begin(&folder.join("missing"), &to).is_err());
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&from, folder.join("symbolic")).unwrap();
            assert!(Link::begin(&folder.join("symbolic"), &to).is_err());
        }
        assert!(Link::begin(&folder.join("deep"), &to).is_err(), "a folder");
        assert_eq!(fs::read_dir(folder.join("deep")).unwrap().count(), 1);
        fs::remove_dir_all(folder).unwrap();
    }
}
