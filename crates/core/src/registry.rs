//! The registry of disciplines. Its rows are in [`disciplines`](crate::disciplines).

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::Cell;
use core::ops::Deref;

use crate::discipline::{Discipline, LinkInfo};
pub use crate::disciplines::ENTRIES;
use crate::disciplines::build;
use crate::gauge::Gauge;
pub use crate::listing::{Listing, ResolvedSettings, find_in, unknown};
use crate::params::BuildError;
use crate::parts::FlowTable;
use crate::reason::Why;
use crate::settings::{Settings, pairs};
use crate::tables::{Tables, can_reserve};

/// Abilities of a discipline, for `headgate list`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// It limits unresponsive flows.
    pub protects: bool,
    /// It keeps per-flow state.
    pub per_flow: bool,
    /// It can mark instead of dropping.
    pub ecn: bool,
    /// It may reorder packets of different flows.
    pub schedules: bool,
}

impl Abilities {
    pub(crate) const NONE: Abilities = Abilities { protects: false, per_flow: false, ecn: false, schedules: false };
}

/// Declares an enum whose variants have a name and a description.
macro_rules! kinds {
    ($(#[$meta:meta])* $kind:ident { $($variant:ident $name:literal $about:literal;)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $kind {
            $(#[doc = concat!("Disciplines: ", $about, ".")] $variant),+
        }

        impl $kind {
            /// Every variant, in list order.
            pub const ALL: &'static [$kind] = &[$($kind::$variant),+];

            /// Its name on the command line.
            pub const fn name(self) -> &'static str {
                match self { $($kind::$variant => $name),+ }
            }

            /// A description of its disciplines.
            pub const fn about(self) -> &'static str {
                match self { $($kind::$variant => $about),+ }
            }
        }
    };
}

kinds! {
    /// The origin of a discipline, for `headgate list`.
    Group {
        Paper "paper" "disciplines that the reproduced papers propose";
        Comparison "comparison" "disciplines that the papers compare with";
        Modern "modern" "modern disciplines, and building blocks";
    }
}

kinds! {
    /// The family of a discipline. Figures give each family a hue.
    Family {
        Queues "queues" "plain queues and schedulers";
        Red "red" "RED, its variants and alternatives";
        Blue "blue" "BLUE, also in hashed bins";
        Tokens "tokens" "token buckets per flow";
        Shares "shares" "one queue, drops above a flow's fair rate";
        Today "today" "today's standards and Linux";
    }
}

/// One row of the registry.
pub struct DisciplineEntry {
    /// Name, idea, citation, parameters and presets.
    pub listing: Listing,
    /// Its name in tables, figures and pages, such as `FQ-CoDel`.
    pub display_name: &'static str,
    /// The family it belongs to.
    pub family: Family,
    /// Its index in the family, unique there. It selects the shade and line style in figures.
    pub family_index: u8,
    /// Its origin.
    pub group: Group,
    /// Its abilities.
    pub abilities: Abilities,
    pub(crate) reasons: fn(&[(&str, &str)]) -> ReasonsAndNested,
    pub(crate) gauges: fn() -> &'static [Gauge],
}

/// A discipline's own reasons and its nested disciplines.
type ReasonsAndNested = Result<(&'static [Why], Vec<(String, Settings)>), BuildError>;

impl Deref for DisciplineEntry {
    type Target = Listing;
    fn deref(&self) -> &Listing {
        &self.listing
    }
}

impl DisciplineEntry {
    /// Its own gauges, including those that need certain settings.
    pub fn gauges(&self) -> &'static [Gauge] {
        (self.gauges)()
    }

    /// The disciplines inside it under `settings`, by name and settings.
    ///
    /// # Errors
    /// The first setting that cannot be applied.
    pub fn nested(&self, settings: &[(&str, &str)]) -> Result<Vec<(String, Settings)>, BuildError> {
        (self.reasons)(settings).map(|(_, nested)| nested)
    }

    /// Whether it, or a discipline inside it, keeps state of each flow under `settings`.
    pub fn keeps_flows(&self, settings: &[(&str, &str)]) -> bool {
        let nested = self.nested(settings).unwrap_or_default();
        let keeps =
            |(name, settings): &(String, Settings)| find(name).is_ok_and(|entry| entry.keeps_flows(&pairs(settings)));
        self.abilities.per_flow || nested.iter().any(keeps)
    }

    /// Its reasons for drops and marks under `settings`, nested disciplines included.
    ///
    /// # Errors
    /// The first setting that cannot be applied.
    pub fn reasons(&self, settings: &[(&str, &str)]) -> Result<Vec<Why>, BuildError> {
        let (own, inside) = (self.reasons)(settings)?;
        let mut all = own.to_vec();
        for (name, settings) in &inside {
            all.extend(find(name)?.reasons(&pairs(settings))?);
            all.push(Why::Overload);
        }
        Ok(in_order(all))
    }
}

/// Code that runs on a discipline chosen by name. The name is matched once, and `visit` is compiled for each
/// discipline.
pub trait DisciplineVisitor<T> {
    /// The visitor's result.
    type Output;
    /// Runs on `discipline`.
    fn visit<D: Discipline<T> + 'static>(self, discipline: D) -> Self::Output;
}

/// Declares the registry, one row per discipline. Columns: module (the name users write), type, settings, display name,
/// family and index in it, group, abilities, idea, citation.
macro_rules! disciplines {
    ($($name:ident: $discipline:ident, $config:ident, $display_name:literal, $family:ident $family_index:literal,
        $group:ident [$($ability:ident)*], $summary:literal, $citation:literal;)+) => {
        $(pub use $name::*;)+

        /// Every discipline, sorted by name.
        pub static ENTRIES: &[$crate::registry::DisciplineEntry] = &[$($crate::registry::DisciplineEntry {
            listing: $crate::registry::Listing::of::<$config>(stringify!($name), $summary, $citation),
            display_name: $display_name,
            family: $crate::registry::Family::$family,
            family_index: $family_index,
            group: $crate::registry::Group::$group,
            abilities: {
                #[allow(unused_mut, reason = "some have none")]
                let mut abilities = $crate::registry::Abilities::NONE;
                $(abilities.$ability = true;)*
                abilities
            },
            reasons: |settings| {
                let config = <$config as $crate::Params>::from_settings(settings)?;
                Ok((<$config as $crate::Params>::reasons(), $crate::Params::nested(&config)))
            },
            gauges: <$config as $crate::Params>::gauges,
        }),+];

        /// [`with`](crate::registry::with) without a check of the memory.
        pub(crate) fn build<T: 'static, V: $crate::registry::DisciplineVisitor<T>>(
            name: &str,
            settings: &[(&str, &str)],
            link: &$crate::LinkInfo,
            visitor: V,
        ) -> Result<V::Output, $crate::BuildError> {
            $(if name == stringify!($name) {
                return Ok(visitor.visit($discipline::<T>::new($crate::Params::from_settings(settings)?, link)?));
            })+
            Err($crate::registry::unknown(ENTRIES, "discipline", name))
        }
    };
}
pub(crate) use disciplines;

/// Bytes counted for small tables of a fixed size, such as that of a [`FlowTable`] without flows. Most disciplines have
/// one of these, a few two or none.
const SMALL_TABLES: usize = FlowTable::<()>::EMPTY_BYTES;

/// Sums of tables above these bytes are reserved once before they are taken in pieces.
const CHECKED_SUM: usize = 1 << 26;

struct BoxDiscipline<'a>(Tables<'a>);

impl<T: 'static> DisciplineVisitor<T> for BoxDiscipline<'_> {
    type Output = Box<dyn Discipline<T>>;
    fn visit<D: Discipline<T> + 'static>(self, discipline: D) -> Self::Output {
        self.0.count(size_of::<D>() + SMALL_TABLES);
        Box::new(discipline)
    }
}

/// Builds the discipline `name` with `settings` and passes it to `visitor`, compiled for that type.
///
/// # Errors
/// An unknown name, an unknown parameter, a bad value, values that contradict each other, or tables that the system has
/// no memory for.
pub fn with<T: 'static, V: DisciplineVisitor<T>>(
    name: &str,
    settings: &[(&str, &str)],
    link: &LinkInfo,
    visitor: V,
) -> Result<V::Output, BuildError> {
    let bytes = table_bytes::<T>(name, settings, link)?;
    let refused = || BuildError::Memory { bytes, remedy: remedy::<T>(name, settings, link, bytes) };
    if bytes > CHECKED_SUM && !can_reserve(bytes) {
        return Err(refused());
    }
    build(name, settings, link, visitor).map_err(|error| if error.is_memory() { refused() } else { error })
}

/// Builds the discipline `name` with `settings` behind a pointer, for networks of mixed queues.
///
/// # Errors
/// Those of [`with`].
pub fn boxed<T: 'static>(
    name: &str,
    settings: &[(&str, &str)],
    link: &LinkInfo,
) -> Result<Box<dyn Discipline<T>>, BuildError> {
    with(name, settings, link, BoxDiscipline(link.tables))
}

/// Builds a nested discipline, whose tables are part of those of the discipline around it.
pub(crate) fn boxed_child<T: 'static>(
    name: &str,
    settings: &[(&str, &str)],
    link: &LinkInfo,
) -> Result<Box<dyn Discipline<T>>, BuildError> {
    build(name, settings, link, BoxDiscipline(link.tables))
}

/// Bytes that the discipline `name` allocates when it is built with `settings` behind a pointer, nested disciplines
/// included. Checks the settings and allocates none of the tables.
///
/// # Errors
/// An unknown name, an unknown parameter, a bad value, or values that contradict each other.
pub fn table_bytes<T: 'static>(name: &str, settings: &[(&str, &str)], link: &LinkInfo) -> Result<usize, BuildError> {
    let counted = Cell::new(0);
    let tables = Tables::counting(&counted);
    build::<T, _>(name, settings, &LinkInfo { tables, ..*link }, BoxDiscipline(tables))?;
    Ok(counted.get())
}

/// The setting without which the tables of `bytes` would be smallest, and what to do with it.
fn remedy<T: 'static>(name: &str, settings: &[(&str, &str)], link: &LinkInfo, bytes: usize) -> Option<String> {
    let without = |key: &str| {
        let others: Vec<(&str, &str)> = settings.iter().copied().filter(|(other, _)| *other != key).collect();
        table_bytes::<T>(name, &others, link).ok()
    };
    let each = settings.iter().filter_map(|(key, _)| Some((without(key)?, *key)));
    let (_, key) = each.min().filter(|(left, _)| *left < bytes)?;
    let fields = find(name).map(|entry| entry.fields()).unwrap_or_default();
    let nests = fields
        .iter()
        .any(|field| (field.name == key || field.also.contains(&key)) && field.kind.starts_with("discipline"));
    Some(if nests { format!("use fewer or smaller disciplines in `{key}`") } else { format!("lower `{key}`") })
}

/// The reasons of all disciplines, in table order.
pub fn reasons() -> Vec<Why> {
    let own = ENTRIES.iter().flat_map(|entry| (entry.reasons)(&[]).map_or(&[][..], |(own, _)| own));
    in_order(own.copied().chain([Why::Overload]).collect())
}

/// `given` without duplicates in table order: shared reasons first, then the others in the given order.
pub fn in_order(given: Vec<Why>) -> Vec<Why> {
    let shared = Why::SHARED.into_iter().filter(|why| given.contains(why));
    let mut ordered: Vec<Why> = shared.collect();
    for why in given {
        if !ordered.contains(&why) {
            ordered.push(why);
        }
    }
    ordered
}

/// The registry entry of `name`.
///
/// # Errors
/// [`BuildError::UnknownName`], with the nearest name.
pub fn find(name: &str) -> Result<&'static DisciplineEntry, BuildError> {
    find_in(ENTRIES, "discipline", name)
}
