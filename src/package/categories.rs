//! The categories of games, with their names on each desktop: the menu specification of freedesktop
//! and Apple's types of applications.

use engine_foundation::suggest;

/// A category of games.
#[derive(Debug, PartialEq)]
pub struct Category {
    /// Name in settings.
    pub name: &'static str,
    /// Additional category of freedesktop's menus; empty if there is none.
    pub menu: &'static str,
    /// The last part of Apple's `public.app-category`.
    pub apple: &'static str,
}

const fn category(name: &'static str, menu: &'static str, apple: &'static str) -> Category {
    Category { name, menu, apple }
}

/// All categories.
pub const CATEGORIES: &[Category] = &[
    category("action", "ActionGame", "action-games"),
    category("adventure", "AdventureGame", "adventure-games"),
    category("arcade", "ArcadeGame", "arcade-games"),
    category("board", "BoardGame", "board-games"),
    category("card", "CardGame", "card-games"),
    category("education", "", "educational-games"),
    category("family", "KidsGame", "family-games"),
    category("music", "", "music-games"),
    category("puzzle", "LogicGame", "puzzle-games"),
    category("racing", "", "racing-games"),
    category("role_playing", "RolePlaying", "role-playing-games"),
    category("shooter", "Shooter", "action-games"),
    category("simulation", "Simulation", "simulation-games"),
    category("sports", "SportsGame", "sports-games"),
    category("strategy", "StrategyGame", "strategy-games"),
    category("word", "", "word-games"),
];

/// Finds a category by its name. The error message suggests the nearest one.
pub fn find(name: &str) -> Result<&'static Category, String> {
    CATEGORIES.iter().find(|category| category.name == name).ok_or_else(|| {
        let names = CATEGORIES.iter().map(|category| category.name);
        let hint = suggest::hint_or_names(name, names);
        format!("there is no category '{name}'{hint}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_resource::settings::SETTINGS;

    #[test]
    fn the_setting_lists_all_categories() {
        let names: Vec<&str> = CATEGORIES.iter().map(|category| category.name).collect();
        let setting = SETTINGS.iter().find(|setting| setting.key == "package.categories").unwrap();
        let wanted = format!("The categories of the game: {}.", names.join(", "));
        assert_eq!(setting.doc, wanted);
    }

    #[test]
    fn a_wrong_category_gets_a_suggestion() {
        assert_eq!(find("puzzle").unwrap().menu, "LogicGame");
        let message = find("puzzel").unwrap_err();
        assert_eq!(message, "there is no category 'puzzel', did you mean 'puzzle'?");
    }
}
