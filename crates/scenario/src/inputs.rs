//! Input files that a scenario names, such as traces.
//!
//! This crate opens no file: the caller supplies [`Files`]. The scenario keeps each file's contents under its bare
//! name. The canonical form names it in the folder `inputs`, so that a result with its inputs can be run again.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use toml::Spanned;

use crate::error::Fault;

/// The folder of input files in the canonical form of a scenario.
pub const INPUTS: &str = "inputs";

/// Reads the files that a scenario names.
pub trait Files {
    /// Reads the whole file at `path`, as written in the scenario. Relative paths begin at the scenario's folder.
    ///
    /// # Errors
    /// Why it cannot be read.
    fn read(&self, path: &str) -> Result<Vec<u8>, String>;
}

/// For scenarios without files.
impl Files for () {
    fn read(&self, _: &str) -> Result<Vec<u8>, String> {
        Err("this scenario was not read from a folder, so it can name no files".to_string())
    }
}

/// Contents of the files that a scenario names, by file name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs(BTreeMap<String, Arc<[u8]>>);

impl Inputs {
    /// The contents of the file `name`.
    pub fn get(&self, name: &str) -> Option<&Arc<[u8]>> {
        self.0.get(name)
    }

    /// Name and contents of every file, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(name, bytes)| (name.as_str(), &**bytes))
    }
}

/// Resolves the paths of the canonical form.
impl Files for Inputs {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        let found = path.strip_prefix(INPUTS).and_then(|rest| self.get(rest.strip_prefix('/')?));
        found.map(|bytes| bytes.to_vec()).ok_or_else(|| "the scenario has no such input".to_string())
    }
}

/// Reads each named file once and keeps it.
pub(crate) struct InputLoader<'a> {
    files: &'a dyn Files,
    inputs: RefCell<Inputs>,
}

impl<'a> InputLoader<'a> {
    pub(crate) fn new(files: &'a dyn Files) -> InputLoader<'a> {
        InputLoader { files, inputs: RefCell::default() }
    }

    /// Loads the file at `path`: its name without folders, and its contents. Refuses a path without a file name, an
    /// unreadable file, and two different files of one name.
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

    pub(crate) fn into_inputs(self) -> Inputs {
        self.inputs.into_inner()
    }
}
