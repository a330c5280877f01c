//! Structs of counters.

/// Declares a struct of counters that can be added and subtracted, and listed by name.
macro_rules! counts {
    ($(#[$about:meta])* $name:ident { $($(#[$meaning:meta])* $count:ident,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $($(#[$meaning])* pub $count: u64,)*
        }

        impl $name {
            /// Each counter with its name.
            pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($count), self.$count)),*].into_iter()
            }
        }

        impl std::ops::Add for $name {
            type Output = $name;

            fn add(self, other: $name) -> $name {
                $name { $($count: self.$count + other.$count),* }
            }
        }

        impl std::ops::Sub for $name {
            type Output = $name;

            fn sub(self, earlier: $name) -> $name {
                $name { $($count: self.$count.saturating_sub(earlier.$count)),* }
            }
        }
    };
}

pub(crate) use counts;
