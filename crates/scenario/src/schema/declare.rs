//! The macros that declare tables.

/// Declares the keys of a table whose values depend on other keys and are resolved by code. Each key has a meaning, a
/// name, a kind, and optionally
///
/// - `= VALUE`: the default, which the method of the key's name returns where a file gives no value;
/// - a literal: the default in words, where it depends on other keys. A key without a default is required;
/// - `in RANGE`: the values allowed;
/// - `since RELEASE`, and `also NAME` for names of earlier releases.
///
/// `..part: RawPart;` includes the keys of another declaration at this place. A table `of sections` has no text of its
/// own: `write.rs` writes each section.
macro_rules! keys {
    (
        $(#[doc = $about:literal])+
        pub(crate) struct $raw:ident $(expecting $expecting:literal)? $(several $several:literal)?
        $(of $sections:ident)? {
            $(
                $(.. $part:ident: $part_type:ident)?
                $(
                    $(#[doc = $meaning:literal])+
                    $key:ident: $kind:ty $(= $value:expr)? $(, $default:literal)? $(, in $range:expr)?
                    $(, since $since:literal)? $(, also $($old:literal)+)?
                )?
                ;
            )+
        }
    ) => {
        $crate::schema::declare::raw_table! {
            $(#[doc = $about])+
            $raw $(expecting $expecting)? $(several $several)? $(of $sections)? {
                $(
                    $(.. $part: $part_type)?
                    $(
                        $(#[doc = $meaning])+
                        $key: $kind, is_setting false,
                        default [$($default.to_string(),)? $($crate::schema::shown::<$kind>(&$value),)? "required".to_string()]
                        $(, in $range)? $(, since $since)? $(, also $($old)+)?
                    )?
                    ;
                )+
            }
        }

        impl $raw {
            $($($(
                #[doc = concat!("The given `", stringify!($key), "`, or the default.")]
                pub(crate) fn $key(&self) -> $kind {
                    self.$key.as_ref().map_or_else(|| $value, |given| given.get_ref().clone())
                }
            )?)?)+
        }
    };
}

/// Declares the settings of a table. Each has a meaning, a name, a kind, a default, and optionally
///
/// - `ns2 VALUE` and `linux VALUE`: the defaults in these profiles, where they differ from that of `rfc`;
/// - `in RANGE`: the values allowed;
/// - `only CONDITION, else MESSAGE`: the key may be given, and is written, only then;
/// - `check CONDITION, else MESSAGE`: a condition on all values together;
/// - `since RELEASE`, and `also NAME` for names of earlier releases.
///
/// A default may name the keys before it; conditions and messages may name any key. `..part` is as in `keys!`.
macro_rules! table {
    (
        $(#[doc = $about:literal])+
        pub struct $settings:ident, $raw:ident $(expecting $expecting:literal)? $(several $several:literal)? {
            $(
                $(.. $part:ident: $part_type:ident)?
                $(
                    $(#[doc = $meaning:literal])+
                    $key:ident: $type:ty $(as $kind:ty)? = $default:expr
                    $(, ns2 $ns2:expr)?
                    $(, linux $linux:expr)?
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

        $crate::schema::declare::raw_table! {
            #[doc = concat!("What a file gives of [`", stringify!($settings), "`], and the keys beside them.")]
            $raw $(expecting $expecting)? $(several $several)? {
                $(
                    $(.. $part: $part_type)?
                    $(
                        $(#[doc = $meaning])+
                        $key: $crate::schema::declare::kind_of!($type $(, $kind)?), is_setting true,
                        default [$crate::schema::shown::<$crate::schema::declare::kind_of!($type $(, $kind)?)>(
                            &$settings::default().$key.into(),
                        )],
                        ns2 $crate::schema::shown::<$crate::schema::declare::kind_of!($type $(, $kind)?)>(
                            &$settings::of_profile($crate::values::Profile::Ns2).$key.into(),
                        ),
                        linux $crate::schema::shown::<$crate::schema::declare::kind_of!($type $(, $kind)?)>(
                            &$settings::of_profile($crate::values::Profile::Linux).$key.into(),
                        )
                        $(, in $range)? $(, since $since)? $(, also $($old)+)?
                    )?
                    ;
                )+
            }
        }

        /// The settings of an empty section in the profile `rfc`.
        impl Default for $settings {
            fn default() -> $settings {
                $settings::of_profile($crate::values::Profile::Rfc)
            }
        }

        impl $settings {
            /// The settings of a section; `profile` supplies the values not given.
            pub(crate) fn read(
                raw: &$raw,
                section: &$crate::check::Section,
                profile: $crate::values::Profile,
            ) -> Result<$settings, $crate::error::Fault> {
                $($(
                    let $key: $type = match &raw.$key {
                        Some(given) => given.get_ref().clone().into(),
                        None => match profile {
                            $crate::values::Profile::Rfc => $default,
                            $crate::values::Profile::Ns2 => [$($ns2,)? $default][0],
                            $crate::values::Profile::Linux => [$($linux,)? $default][0],
                        },
                    };
                )?)+
                // Not every table has conditions.
                let _ = section;
                $($(
                    $(if raw.$key.is_some() && !($only) {
                        return Err($crate::schema::refused(&raw.$key, section, format!($unless)));
                    })?
                    $(if !($check) {
                        return Err($crate::schema::refused(&raw.$key, section, format!($refusal)));
                    })?
                )?)+
                Ok($settings { $($($key,)?)+ })
            }

            /// The settings as a file gives them. A key that does not apply has no value.
            pub(crate) fn raw(&self) -> $raw {
                let $settings { $($($key,)?)+ } = self.clone();
                let mut raw = $raw::default();
                $($(
                    if [$($only,)? true][0] {
                        raw.$key = $crate::schema::given($key.into());
                    }
                )?)+
                raw
            }

            /// The settings of an empty section.
            pub(crate) fn of_profile(profile: $crate::values::Profile) -> $settings {
                let nowhere = $crate::check::Section { span: 0..0, heading: "" };
                $settings::read(&$raw::default(), &nowhere, profile).expect("defaults fit each other")
            }
        }
    };
}

/// The struct of a table as a file gives it, with the code that reads, documents and writes its keys.
macro_rules! raw_table {
    (
        $(#[$about:meta])+
        $raw:ident $(expecting $expecting:literal)? $(several $several:literal)? $(of $sections:ident)? {
            $(
                $(.. $part:ident: $part_type:ident)?
                $(
                    $(#[doc = $meaning:literal])+
                    $key:ident: $kind:ty, is_setting $is_setting:literal,
                    default $default:expr $(, ns2 $ns2:expr)? $(, linux $linux:expr)? $(, in $range:expr)?
                    $(, since $since:literal)? $(, also $($old:literal)+)?
                )?
                ;
            )+
        }
    ) => {
        $(#[$about])+
        #[derive(Clone, Debug, Default)]
        pub(crate) struct $raw {
            $(
                $(pub(crate) $part: $part_type,)?
                $($(#[doc = $meaning])+ pub(crate) $key: $crate::schema::Located<$kind>,)?
            )+
        }

        impl $crate::schema::RawTable for $raw {
            fn keys() -> Vec<$crate::schema::Key> {
                let mut keys = Vec::new();
                $(
                    $(keys.extend(<$part_type>::keys());)?
                    $(keys.push({
                        let [default, ..] = $default;
                        let [ns2, ..] = [$($ns2,)? default.clone()];
                        let [linux, ..] = [$($linux,)? default.clone()];
                        let [(least, most), ..] = [$($crate::schema::bounds::<$kind>(&$range),)? $crate::schema::UNBOUNDED];
                        $crate::schema::Key {
                            name: stringify!($key),
                            also: &[$($($old),+)?],
                            meaning: [$($meaning.trim()),+].join(" "),
                            form: <$kind as $crate::schema::ValueKind>::form(),
                            least,
                            most,
                            default,
                            ns2,
                            linux,
                            since: [$($since,)? $crate::schema::FIRST_RELEASE][0],
                            is_setting: $is_setting,
                        }
                    });)?
                )+
                keys
            }

            fn names() -> Vec<&'static str> {
                [$($(<$part_type>::names(),)? $(vec![stringify!($key)],)?)+].concat()
            }

            fn take(&mut self, name: &str, value: &$crate::schema::Node<'_>) -> Result<(), $crate::error::Fault> {
                match name {
                    $($(stringify!($key) => {
                        self.$key = $crate::schema::raw::value(value)?;
                        $($crate::schema::ranged(&self.$key, &$range)?;)?
                    })?)+
                    $($(_ if <$part_type>::names().contains(&name) => self.$part.take(name, value)?,)?)+
                    _ => {}
                }
                Ok(())
            }
        }

        impl $crate::schema::ValueKind for $raw {
            const SEVERAL: &'static str = [$($several,)? "a list"][0];

            fn form() -> $crate::schema::Form {
                $crate::schema::Form::table(stringify!($raw), <$raw as $crate::schema::RawTable>::keys)
            }
            fn expecting() -> String {
                [$($expecting,)? "a table"][0].to_string()
            }
            fn read(node: &$crate::schema::Node<'_>) -> Result<$raw, $crate::error::Fault> {
                $crate::schema::raw::read(node)
            }
        }

        $crate::schema::declare::entries! { $($sections)? $raw $($(.. $part)? $($key)?;)+ }
    };
}

/// Lists the keys of a table that have values.
macro_rules! entries {
    (sections $($table:tt)+) => {};
    ($raw:ident $($(.. $part:ident)? $($key:ident)?;)+) => {
        impl $crate::schema::Entries for $raw {
            fn entries(&self) -> Vec<(&'static str, String)> {
                let mut entries = Vec::new();
                $(
                    $(entries.extend($crate::schema::Entries::entries(&self.$part));)?
                    $(entries.extend(self.$key.iter().map(|value| (stringify!($key), $crate::schema::Show::show(value))));)?
                )+
                entries
            }
        }

        impl $crate::schema::Show for $raw {
            fn show(&self) -> String {
                $crate::schema::inline(self)
            }
        }
    };
}

/// The kind of a key: its type unless another is named.
macro_rules! kind_of {
    ($type:ty) => {
        $type
    };
    ($type:ty, $kind:ty) => {
        $kind
    };
}

pub(crate) use {entries, keys, kind_of, raw_table, table};
