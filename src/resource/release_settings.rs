//! The end of the table of all settings: what packages of a game contain, the files that count as
//! used, and the defaults of user settings.

use super::settings::{Setting, SettingType};
use super::settings_table::setting;

/// The last rows of the table.
pub const RELEASE_SETTINGS: &[Setting] = &[
    setting(
        "package.id",
        SettingType::Text,
        "\"\"",
        "The identifier of the game in stores and desktops: parts of letters and digits with dots, \
         such as com.example.Yard. Never change it after a release.",
    )
    .live(),
    setting(
        "package.title",
        SettingType::Text,
        "\"\"",
        "The title of the game in packages. If empty, the game's name.",
    )
    .live(),
    setting(
        "package.file_name",
        SettingType::Text,
        "\"\"",
        "The name of the game's files in packages, without an ending: letters, digits, - and _. If \
         empty, it is derived from the title.",
    )
    .live(),
    setting(
        "package.version",
        SettingType::Text,
        "\"\"",
        "The version of packages: one to three numbers, such as 1.2.0. If empty, `version`.",
    )
    .live(),
    setting(
        "package.author",
        SettingType::Text,
        "\"\"",
        "The people or the company that the game is by.",
    )
    .live(),
    setting(
        "package.email",
        SettingType::Text,
        "\"\"",
        "The address that players can write to. A .deb needs it.",
    )
    .live(),
    setting(
        "package.website",
        SettingType::Text,
        "\"\"",
        "The address of the game on the web, with https:// or http://.",
    )
    .live(),
    setting(
        "package.summary",
        SettingType::Text,
        "\"\"",
        "The game in a few words, for lists of programs.",
    )
    .live(),
    setting(
        "package.description",
        SettingType::Text,
        "\"\"",
        "The game in some sentences, for its page in software centres. If empty, the summary.",
    )
    .live(),
    setting(
        "package.license",
        SettingType::Text,
        "\"\"",
        "The licence of the game as an SPDX expression, such as MIT. If empty, it is proprietary.",
    )
    .live(),
    setting(
        "package.license_files",
        SettingType::List,
        "[]",
        "Files of the game's folder with licences, which packages contain: of the game, its fonts, \
         its sounds.",
    )
    .live(),
    setting(
        "package.icon",
        SettingType::Text,
        "\"\"",
        "The icon of the game: a square PNG picture of 256 x 256 to 2048 x 2048 pixels.",
    )
    .live(),
    setting(
        "package.categories",
        SettingType::List,
        "[]",
        "The categories of the game: action, adventure, arcade, board, card, education, family, \
         music, puzzle, racing, role_playing, shooter, simulation, sports, strategy, word.",
    )
    .live(),
    setting(
        "package.languages",
        SettingType::List,
        "[\"en\"]",
        "The languages of the game, the most complete first, such as [\"en\", \"pt-BR\"].",
    )
    .live(),
    setting(
        "content.roots",
        SettingType::List,
        "[]",
        "The files that count as used although nothing names them, as patterns of their paths: for \
         names that scripts compute. See content tools.",
    )
    .live(),
    setting(
        "user_settings",
        SettingType::Free,
        "{}",
        "The defaults of the game's user settings (Application.user_setting).",
    ),
];
