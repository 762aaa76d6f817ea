//! Tables of installers with their columns, and the order of the standard actions.

use super::database::Schema;

/// All tables.
pub const TABLES: &[Schema] = &[
    (
        "Component",
        "*Component:s72 ComponentId:S38 Directory_:s72 Attributes:i2 Condition:S255 KeyPath:S72",
    ),
    ("CustomAction", "*Action:s72 Type:i2 Source:S72 Target:S255"),
    ("Directory", "*Directory:s72 Directory_Parent:S72 DefaultDir:l255"),
    (
        "Feature",
        "*Feature:s38 Feature_Parent:S38 Title:L64 Description:L255 Display:I2 Level:i2 \
         Directory_:S72 Attributes:i2",
    ),
    ("FeatureComponents", "*Feature_:s38 *Component_:s72"),
    (
        "File",
        "*File:s72 Component_:s72 FileName:l255 FileSize:i4 Version:S72 Language:S20 \
         Attributes:I2 Sequence:i4",
    ),
    ("Icon", "*Name:s72 Data:v0"),
    ("InstallExecuteSequence", "*Action:s72 Condition:S255 Sequence:I2"),
    ("InstallUISequence", "*Action:s72 Condition:S255 Sequence:I2"),
    ("Media", "*DiskId:i2 LastSequence:i4 DiskPrompt:L64 Cabinet:S255 VolumeLabel:S32 Source:S72"),
    ("Property", "*Property:s72 Value:l0"),
    ("Registry", "*Registry:s72 Root:i2 Key:l255 Name:L255 Value:L0 Component_:s72"),
    ("RemoveFile", "*FileKey:s72 Component_:s72 FileName:L255 DirProperty:s72 InstallMode:i2"),
    (
        "Shortcut",
        "*Shortcut:s72 Directory_:s72 Name:l128 Component_:s72 Target:s72 Arguments:S255 \
         Description:L255 Hotkey:I2 Icon_:S72 IconIndex:I2 ShowCmd:I2 WkDir:S72",
    ),
    (
        "Upgrade",
        "*UpgradeCode:s38 *VersionMin:S20 *VersionMax:S20 *Language:S255 *Attributes:i4 \
         Remove:S255 ActionProperty:s72",
    ),
];

/// Number of actions that need the folders.
pub const AFTER_COSTS: i32 = 1010;

/// Actions before the installation, if windows are shown.
pub const UI_ACTIONS: &[(&str, i32)] = &[
    ("FindRelatedProducts", 25),
    ("ValidateProductID", 700),
    ("CostInitialize", 800),
    ("FileCost", 900),
    ("CostFinalize", 1000),
    ("ExecuteAction", 1300),
];

/// Actions of an installation and of its removal. Another version is removed within the
/// transaction, so that it comes back if the installation fails.
pub const ACTIONS: &[(&str, i32)] = &[
    ("FindRelatedProducts", 25),
    ("ValidateProductID", 700),
    ("CostInitialize", 800),
    ("FileCost", 900),
    ("CostFinalize", 1000),
    ("InstallValidate", 1400),
    ("InstallInitialize", 1500),
    ("RemoveExistingProducts", 1510),
    ("ProcessComponents", 1600),
    ("UnpublishFeatures", 1800),
    ("RemoveRegistryValues", 2600),
    ("RemoveShortcuts", 3200),
    ("RemoveFiles", 3500),
    ("RemoveFolders", 3600),
    ("CreateFolders", 3700),
    ("InstallFiles", 4000),
    ("CreateShortcuts", 4500),
    ("WriteRegistryValues", 5000),
    ("RegisterUser", 6000),
    ("RegisterProduct", 6100),
    ("PublishFeatures", 6300),
    ("PublishProduct", 6400),
    ("InstallFinalize", 6600),
];
