//! The macros that declare tables.

/// Declares keys that code resolves because they depend on other keys: meaning, name, kind, default in words.
///
/// `..part: RawPart;` includes the keys of another declaration at this place.
macro_rules! keys {
    (
        $(#[doc = $about:literal])+
        pub(crate) struct $raw:ident $(expecting $expecting:literal)? $(several $several:literal)? {
            $(
                $(.. $part:ident: $part_type:ident)?
                $(
                    $(#[doc = $meaning:literal])+
                    $key:ident: $kind:ty, $default:literal $(, ns2 $ns2:literal)?
                    $(, since $since:literal)? $(, also $($old:literal)+)?
                )?
                ;
            )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, Default)]
        pub(crate) struct $raw {
            $(
                $(pub(crate) $part: $part_type,)?
                $($(#[doc = $meaning])+ pub(crate) $key: $crate::schema::At<$kind>,)?
            )+
        }

        impl $crate::schema::RawTable for $raw {
            const EXPECTING: &'static str = [$($expecting,)? "a table"][0];

            fn keys() -> Vec<$crate::schema::Key> {
                [$(
                    $(<$part_type>::keys(),)?
                    $(vec![$crate::schema::Key {
                        name: stringify!($key),
                        also: &[$($($old),+)?],
                        meaning: [$($meaning.trim()),+].join(" "),
                        form: <$kind as $crate::schema::Kind>::form(),
                        least: std::ops::Bound::Unbounded,
                        most: std::ops::Bound::Unbounded,
                        default: $default.to_string(),
                        ns2: [$($ns2,)? $default][0].to_string(),
                        since: [$($since,)? $crate::schema::FIRST_RELEASE][0],
                        is_setting: false,
                    }],)?
                )+]
                .into_iter()
                .flatten()
                .collect()
            }

            $crate::schema::declare::taking! { $($(($part: $part_type))? $([$key])?;)+ }
        }

        $crate::schema::declare::raw_table! { $raw $($several)? }
    };
}

/// Declares settings: meaning, name, kind, default, and optionally
///
/// - `ns2 VALUE`: the default in the profile `ns2`;
/// - `in RANGE`: the values allowed;
/// - `only CONDITION, else MESSAGE`: the key may be given, and is written, only then;
/// - `check CONDITION, else MESSAGE`: a condition on all values together;
/// - `since RELEASE`, and `also NAME` for names of earlier releases.
///
/// A default may name the keys before it; conditions and messages may name any key. `..part` is as in `keys!`.
macro_rules! table {
    (
        $(#[doc = $about:literal])+
        pub struct $settings:ident, $raw:ident $(several $several:literal)? {
            $(
                $(.. $part:ident: $part_type:ident)?
                $(
                    $(#[doc = $meaning:literal])+
                    $key:ident: $type:ty $(as $kind:ty)? = $default:expr
                    $(, ns2 $ns2:expr)?
                    $(, in $range:expr)?
                    $(, only $only:expr, else $unless:literal)?
                    $(, check $check:expr, else $refusal:literal)?
                    $(, since $since:literal)?
                    $(, also $($old:literal)+)?
                )?
                ;
            )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq)]
        pub struct $settings {
            $($($(#[doc = $meaning])+ pub $key: $type,)?)+
        }

        #[doc = concat!("What a file gives of [`", stringify!($settings), "`], and the keys beside them.")]
        #[derive(Clone, Debug, Default)]
        pub(crate) struct $raw {
            $(
                $(pub(crate) $part: $part_type,)?
                $(pub(crate) $key: $crate::schema::At<$crate::schema::declare::shape!($type $(, $kind)?)>,)?
            )+
        }

        impl $settings {
            /// The settings of a section; `profile` supplies the values not given.
            pub(crate) fn read(
                raw: &$raw,
                section: &$crate::check::Section,
                profile: $crate::values::Profile,
            ) -> Result<$settings, $crate::error::Fault> {
                $($(
                    $($crate::schema::ranged(&raw.$key, &$range)?;)?
                    let $key: $type = match &raw.$key {
                        Some(given) => given.get_ref().clone().into(),
                        None => profile.choose($default, $crate::schema::declare::option!($($ns2)?)),
                    };
                )?)+
                $($(
                    if raw.$key.is_some() && !$crate::schema::declare::holds!($($only)?) {
                        return Err($crate::schema::refused(&raw.$key, section, $crate::schema::declare::text!($($unless)?)));
                    }
                    if !$crate::schema::declare::holds!($($check)?) {
                        return Err($crate::schema::refused(&raw.$key, section, $crate::schema::declare::text!($($refusal)?)));
                    }
                )?)+
                Ok($settings { $($($key,)?)+ })
            }

            /// Keys and values as a file writes them.
            pub(crate) fn entries(&self) -> Vec<(&'static str, String)> {
                let $settings { $($($key,)?)+ } = self.clone();
                let mut entries = Vec::new();
                $($(
                    if $crate::schema::declare::holds!($($only)?) {
                        let value: $crate::schema::declare::shape!($type $(, $kind)?) = $key.into();
                        entries.push((stringify!($key), $crate::schema::Show::show(&value)));
                    }
                )?)+
                entries
            }

            /// The settings of an empty section.
            pub(crate) fn of_profile(profile: $crate::values::Profile) -> $settings {
                let nowhere = $crate::check::Section { span: 0..0, heading: "" };
                $settings::read(&$raw::default(), &nowhere, profile).expect("defaults fit each other")
            }
        }

        /// The settings of an empty section in the profile `rfc`.
        impl Default for $settings {
            fn default() -> $settings {
                $settings::of_profile($crate::values::Profile::Rfc)
            }
        }

        impl $crate::schema::RawTable for $raw {
            const EXPECTING: &'static str = "a table";

            fn keys() -> Vec<$crate::schema::Key> {
                let (rfc, ns2) = ($settings::default(), $settings::of_profile($crate::values::Profile::Ns2));
                let mut keys = Vec::new();
                $(
                    $(keys.extend(<$part_type>::keys());)?
                    $(keys.push({
                        type Of = $crate::schema::declare::shape!($type $(, $kind)?);
                        let shown = |value: Of| format!("`{}`", $crate::schema::Show::show(&value));
                        let range = $crate::schema::declare::option!($($crate::schema::bounds::<Of>(&$range))?);
                        let (least, most) = range.unwrap_or((std::ops::Bound::Unbounded, std::ops::Bound::Unbounded));
                        $crate::schema::Key {
                            name: stringify!($key),
                            also: &[$($($old),+)?],
                            meaning: [$($meaning.trim()),+].join(" "),
                            form: <Of as $crate::schema::Kind>::form(),
                            least,
                            most,
                            default: shown(rfc.$key.into()),
                            ns2: shown(ns2.$key.into()),
                            since: [$($since,)? $crate::schema::FIRST_RELEASE][0],
                            is_setting: true,
                        }
                    });)?
                )+
                keys
            }

            $crate::schema::declare::taking! { $($(($part: $part_type))? $([$key])?;)+ }
        }

        $crate::schema::declare::raw_table! { $raw $($several)? }
    };
}

/// Distributes values to a table's own keys and to its parts' keys.
macro_rules! taking {
    ($($(($part:ident: $part_type:ident))? $([$key:ident])?;)+) => {
        fn names() -> Vec<&'static str> {
            [$($(<$part_type>::names(),)? $(vec![stringify!($key)],)?)+].concat()
        }

        fn take(&mut self, name: &str, value: &$crate::schema::Node<'_>) -> Result<(), $crate::error::Fault> {
            match name {
                $($(stringify!($key) => self.$key = $crate::schema::raw::value(value)?,)?)+
                $($(_ if <$part_type>::names().contains(&name) => self.$part.take(name, value)?,)?)+
                _ => {}
            }
            Ok(())
        }
    };
}

macro_rules! raw_table {
    ($raw:ident $($several:literal)?) => {
        impl $crate::schema::Kind for $raw {
            const SEVERAL: &'static str = [$($several,)? "a list"][0];

            fn form() -> $crate::schema::Form {
                $crate::schema::Form::table(stringify!($raw), <$raw as $crate::schema::RawTable>::keys)
            }
            fn expecting() -> String {
                <$raw as $crate::schema::RawTable>::EXPECTING.to_string()
            }
            fn read(node: &$crate::schema::Node<'_>) -> Result<$raw, $crate::error::Fault> {
                $crate::schema::raw::read(node)
            }
        }
    };
}

/// The kind of a key: its type unless another is named.
macro_rules! shape {
    ($type:ty) => {
        $type
    };
    ($type:ty, $kind:ty) => {
        $kind
    };
}

macro_rules! option {
    () => {
        None
    };
    ($value:expr) => {
        Some($value)
    };
}

macro_rules! holds {
    () => {
        true
    };
    ($condition:expr) => {
        $condition
    };
}

macro_rules! text {
    () => {
        String::new()
    };
    ($format:literal) => {
        format!($format)
    };
}

pub(crate) use {holds, keys, option, raw_table, shape, table, taking, text};
