//! Flags that choose the variants of a game's resources, shared by the commands that play games.

use engine_app::{Game, VariantChoice};
use engine_foundation::{DEVELOPMENT, Error};
use engine_resource::variant::VariantPreferences;

/// Flags that choose the variants of resources.
#[derive(clap::Args)]
pub struct VariantFlags {
    /// Properties of variants to prefer from the start, most important first
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    prefer: Vec<String>,
    /// Platform whose variants and settings are used [default: this one]
    #[arg(long, value_name = "PLATFORM", hide = !DEVELOPMENT)]
    source_platform: Option<String>,
}

impl VariantFlags {
    /// Returns the choice. Whether the game has such a platform is not checked yet.
    ///
    /// # Errors
    /// Returns an error if a preference is not a property.
    pub fn choice(&self) -> Result<VariantChoice, Error> {
        let preferences = VariantPreferences::new(self.prefer.clone())
            .map_err(|message| engine_foundation::error!("--prefer: {message}"))?;
        Ok(VariantChoice { source_platform: self.source_platform.clone(), preferences })
    }

    /// Returns the choice for a game.
    ///
    /// # Errors
    /// Returns an error if the game has no such platform, or a preference is not a property.
    pub fn choice_for(&self, game: &Game) -> Result<VariantChoice, Error> {
        let choice = self.choice()?;
        match game {
            Game::Folder(folder) => choice.check(folder)?,
            Game::Bundle(_) if self.source_platform.is_some() => {
                return Err(engine_foundation::error!(
                    "--source-platform is for a game's folder: the variants of a bundle were \
                     chosen when it was made (engine compile --bundle --source-platform)"
                ));
            }
            Game::Bundle(_) => {}
        }
        Ok(choice)
    }
}
