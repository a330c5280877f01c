//! Files that a scenario names: read through whoever reads the scenario, and kept whole.
//!
//! This crate opens no file. What it was given stays in the scenario under the file's own name, without its folders; the
//! canonical form names it in the folder `inputs`, so that a result that has its inputs there can be run from itself.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use toml::Spanned;

use crate::error::Fault;

/// The folder in which the canonical form of a scenario names its inputs.
pub const INPUTS: &str = "inputs";

/// Reads the files that a scenario names.
pub trait Files {
    /// The whole of the file at `path`, as the scenario writes it: relative paths begin at the scenario's folder.
    ///
    /// # Errors
    /// Why it cannot be read, in words.
    fn read(&self, path: &str) -> Result<Vec<u8>, String>;
}

/// No files.
impl Files for () {
    fn read(&self, _: &str) -> Result<Vec<u8>, String> {
        Err("this scenario was not read from a folder, so it can name no files".to_string())
    }
}

/// The files that a scenario named, by their own names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs(BTreeMap<String, Arc<[u8]>>);

impl Inputs {
    /// The bytes of the file called `name`.
    pub fn get(&self, name: &str) -> Option<&Arc<[u8]>> {
        self.0.get(name)
    }

    /// Every file: its name and its bytes, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(name, bytes)| (name.as_str(), &**bytes))
    }
}

/// As the canonical form names them.
impl Files for Inputs {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        let found = path.strip_prefix(INPUTS).and_then(|rest| self.get(rest.strip_prefix('/')?));
        found.map(|bytes| bytes.to_vec()).ok_or_else(|| "it is none of the scenario's inputs".to_string())
    }
}

/// Reads files while a scenario is read, each once, and keeps them.
pub(crate) struct Loader<'a> {
    files: &'a dyn Files,
    inputs: RefCell<Inputs>,
}

impl<'a> Loader<'a> {
    pub(crate) fn new(files: &'a dyn Files) -> Loader<'a> {
        Loader { files, inputs: RefCell::default() }
    }

    /// The file at the path that a key says: its own name, and all of it.
    ///
    /// # Errors
    /// A path without a file's name, a file that cannot be read, two different files of one name.
    pub(crate) fn load(&self, path: &Spanned<String>) -> Result<(String, Arc<[u8]>), Fault> {
        let fault = |message: String| Fault::value(path.span(), message);
        let written = path.get_ref();
        let name = written.rsplit('/').next().unwrap_or_default();
        if matches!(name, "" | "." | "..") || name.chars().any(|c| c.is_control() || c == '\\') {
            return Err(fault(format!("expected the path of a file, found {written:?}")));
        }
        let bytes: Arc<[u8]> = match self.files.read(written) {
            Ok(bytes) => bytes.into(),
            Err(why) => return Err(fault(format!("cannot read {written:?}: {why}"))),
        };
        let mut inputs = self.inputs.borrow_mut();
        let kept = inputs.0.entry(name.to_string()).or_insert_with(|| Arc::clone(&bytes));
        if *kept != bytes {
            return Err(fault(format!("another file that the scenario names is called {name:?} too: rename one")));
        }
        Ok((name.to_string(), Arc::clone(kept)))
    }

    /// All that was read.
    pub(crate) fn into_inputs(self) -> Inputs {
        self.inputs.into_inner()
    }
}
