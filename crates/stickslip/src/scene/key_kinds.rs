//! What the value of a key may be.

use super::words::Word;

/// What the names in an expression may stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variables {
    /// Parameters only: the value is a constant.
    Parameters,
    /// Parameters and coordinates.
    Position,
    /// Parameters, coordinates and time.
    PositionTime,
    /// Parameters, coordinates and velocities.
    Motion,
    /// Parameters, coordinates, velocities and time.
    State,
    /// Parameters, coordinates, time and the past.
    Friction,
    /// Everything: parameters, coordinates, velocities, time and the past.
    Force,
    /// Parameters and time.
    Time,
}

/// Shape of a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// Any text.
    Text,
    /// A number, or a text with an expression.
    Expression(Variables),
    /// A whole number from 1.
    Count,
    /// True or false.
    Boolean,
    /// One of a list of words.
    Word(&'static [Word]),
    /// A list with bounds on its length.
    List {
        of: &'static Kind,
        min: usize,
        max: usize,
    },
    /// A table with known keys.
    Table(&'static TableKeys),
    /// Any number of tables with known keys, up to a limit.
    Tables { of: &'static TableKeys, max: usize },
    /// A table whose keys are names of the user's choice.
    Named { of: &'static Kind, max: usize },
    /// One of several shapes; the text says which.
    Either {
        kinds: &'static [Kind],
        expected: &'static str,
    },
}

/// A key, its value and its documentation.
#[derive(Debug)]
pub(super) struct Key {
    pub name: &'static str,
    pub kind: Kind,
    pub required: bool,
    /// Default as a reader would write it; empty where there is none.
    pub default: &'static str,
    pub description: &'static str,
}

/// The keys of one table.
#[derive(Debug)]
pub(super) struct TableKeys {
    /// As written in a file: `[system]`.
    pub name: &'static str,
    pub description: &'static str,
    pub keys: &'static [Key],
}

impl TableKeys {
    pub fn get(&self, name: &str) -> Option<&Key> {
        self.keys.iter().find(|key| key.name == name)
    }
}

/// A list with bounds on its length.
pub(super) const fn list(of: &'static Kind, min: usize, max: usize) -> Kind {
    Kind::List { of, min, max }
}

/// Any number of tables with known keys, up to a limit.
pub(super) const fn tables(of: &'static TableKeys, max: usize) -> Kind {
    Kind::Tables { of, max }
}

/// A table whose keys are names of the user's choice.
pub(super) const fn named(of: &'static Kind, max: usize) -> Kind {
    Kind::Named { of, max }
}

/// Tables of keys, written as they are documented: a comment is the description, then `name: kind;`, with
/// `default "..."` where there is one and `required` in front where there is none to be; a key shared with other tables
/// stands by its constant.
macro_rules! table_keys {
    ($(#[doc = $description:literal])+ $visible:vis $table:ident = $name:literal { $($rows:tt)* }) => {
        $(#[doc = $description])+
        $visible const $table: $crate::scene::key_kinds::TableKeys = $crate::scene::key_kinds::TableKeys {
            name: $name,
            description: $crate::scene::key_kinds::description(concat!($($description),+)),
            keys: table_keys!(@rows [] $($rows)*),
        };
    };
    (@rows [$($done:expr,)*]) => { &[$($done,)*] };
    (@rows [$($done:expr,)*] $shared:ident; $($rest:tt)*) => {
        table_keys!(@rows [$($done,)* $shared,] $($rest)*)
    };
    (@rows [$($done:expr,)*] $(#[doc = $text:literal])+ required $key:ident: $kind:expr; $($rest:tt)*) => {
        table_keys!(@rows [$($done,)* table_keys!(@key true, [$($text)+] $key, $kind, ""),] $($rest)*)
    };
    (@rows [$($done:expr,)*] $(#[doc = $text:literal])+ $key:ident: $kind:expr $(, default $default:literal)?; $($rest:tt)*) => {
        table_keys!(@rows [$($done,)* table_keys!(@key false, [$($text)+] $key, $kind, concat!($($default)?)),] $($rest)*)
    };
    (@key $required:literal, [$($text:literal)+] $key:ident, $kind:expr, $default:expr) => {
        $crate::scene::key_kinds::Key {
            name: stringify!($key),
            kind: $kind,
            required: $required,
            default: $default,
            description: $crate::scene::key_kinds::description(concat!($($text),+)),
        }
    };
}

/// Keys that stand in several tables, each as a row of a table with its constant in front.
macro_rules! shared_keys {
    ($($(#[doc = $text:literal])+ $visible:vis $shared:ident = $key:ident: $kind:expr $(, default $default:literal)?;)+) => {
        $($(#[doc = $text])+ $visible const $shared: $crate::scene::key_kinds::Key =
            table_keys!(@key false, [$($text)+] $key, $kind, concat!($($default)?));)+
    };
}

pub(super) use {shared_keys, table_keys};

/// The text of a comment, which begins after a blank.
pub(super) const fn description(comment: &'static str) -> &'static str {
    comment.split_at(1).1
}

/// Most coordinates of a scene of expressions. M and all Coriolis terms are derived as expressions: their number grows with
/// the cube of the coordinates, and so does the time to read a scene.
pub(super) const COORDINATES_MAX: usize = 64;
/// Most contacts or joints of a scene of expressions, each with its own derivatives. Many bodies belong into a mesh or a world.
pub(super) const CONTACTS_MAX: usize = 256;
/// Most parameters or definitions.
pub(super) const NAMES_MAX: usize = 512;
pub(super) const DRAWINGS_MAX: usize = 512;

pub(super) const CONSTANT: Kind = Kind::Expression(Variables::Parameters);
pub(super) const POSITION: Kind = Kind::Expression(Variables::Position);
pub(super) const POSITION_TIME: Kind = Kind::Expression(Variables::PositionTime);
pub(super) const STATE: Kind = Kind::Expression(Variables::State);
pub(super) const FORCE: Kind = Kind::Expression(Variables::Force);
pub(super) const FRICTION_VALUE: Kind = Kind::Expression(Variables::Friction);
pub(super) const TIME: Kind = Kind::Expression(Variables::Time);
pub(super) const CONSTANTS_3: Kind = list(&CONSTANT, 3, 3);
pub(super) const POINT: Kind = list(&POSITION, 2, 3);
pub(super) const POINT_TIME: Kind = list(&POSITION_TIME, 2, 3);
pub(super) const PLANE_POINT: Kind = list(&POSITION_TIME, 2, 2);
pub(super) const ROW: Kind = list(&POSITION, 1, COORDINATES_MAX);
pub(super) const CONSTANT_ROW: Kind = list(&CONSTANT, 1, COORDINATES_MAX);
pub(super) const VERTEX: Kind = list(&CONSTANT, 2, 2);
pub(super) const HISTORY: Kind = Kind::Either {
    kinds: &[TIME, list(&VERTEX, 2, 500)],
    expected: "an expression of t or a list of samples [time, value]",
};
pub(super) const STATES: Kind = Kind::Either {
    kinds: &[STATE, list(&STATE, 1, 16)],
    expected: "an expression or a list of expressions",
};
