//! The files of the executable that packages do not need.

use super::docs::manual::{DOCUMENTS, pictures};
use engine_package::ENGINE_TEXTS;
use engine_remote::page_contents;
use engine_script::prelude::{LIBRARY_FILES, TEST_FILES};

/// Returns the files that packages do not need: for players, whose executables only play the game,
/// the manual, the tool page, the test library and the licences, which are files of the package;
/// for servers, the images of the manual. The engine that only plays bundles has none of all these,
/// and in packages with another one all commands still work.
pub fn removable_files(for_servers: bool) -> Vec<&'static [u8]> {
    let pictures = pictures().map(|(_, bytes)| *bytes);
    if for_servers {
        return pictures.collect();
    }
    let documents = DOCUMENTS.iter().map(|(_, bytes)| *bytes);
    let licenses = ENGINE_TEXTS.iter().map(|(_, text)| text.as_bytes());
    let tests = TEST_FILES.iter().chain(LIBRARY_FILES);
    let tests = tests.flat_map(|file| [file.text.as_bytes(), file.bytecode]);
    pictures.chain(documents).chain(page_contents()).chain(licenses).chain(tests).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn players_have_none_of_the_files_and_servers_no_images() {
        let (players, servers) = (removable_files(false), removable_files(true));
        let files: HashSet<&[u8]> = players.iter().copied().collect();
        let images: Vec<&[u8]> = pictures().map(|(_, bytes)| *bytes).collect();
        let documents: Vec<&[u8]> = DOCUMENTS.iter().map(|(_, bytes)| *bytes).collect();
        let page: Vec<&[u8]> = page_contents().collect();
        let licenses: Vec<&[u8]> = ENGINE_TEXTS.iter().map(|(_, text)| text.as_bytes()).collect();
        let of_tests = || TEST_FILES.iter().chain(LIBRARY_FILES);
        let texts: Vec<&[u8]> = of_tests().map(|file| file.text.as_bytes()).collect();
        let bytecode: Vec<&[u8]> = of_tests().map(|file| file.bytecode).collect();
        assert_eq!(servers, images);
        let lists = [images, documents, page, licenses, texts, bytecode];
        for (at, list) in lists.iter().enumerate() {
            assert!(!list.is_empty(), "list {at}");
            assert!(list.iter().all(|file| files.contains(file)), "list {at}");
        }
        assert_eq!(players.len(), lists.iter().map(Vec::len).sum::<usize>());
    }
}
