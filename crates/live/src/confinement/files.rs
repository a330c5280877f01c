//! Files and TCP ports, by Landlock (landlock(7)). Root may read and remove every file of root even without a capability.

use std::io;
use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus,
    path_beneath_rules,
};

/// The newest version of Landlock whose rights are listed here. Of an older kernel it takes what it has.
const VERSION: ABI = ABI::V5;

/// Forbids all but reading `readable` and removing files in `removable`. Paths that do not exist are left out. Open
/// files and sockets stay usable.
pub(super) fn restrict(readable: &[PathBuf], removable: &[PathBuf]) -> io::Result<()> {
    match enforce(readable, removable) {
        Ok(RulesetStatus::NotEnforced) => Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP)),
        Ok(_) => Ok(()),
        Err(error) => Err(io::Error::other(error)),
    }
}

fn enforce(readable: &[PathBuf], removable: &[PathBuf]) -> Result<RulesetStatus, RulesetError> {
    let read: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::ReadDir;
    let status = Ruleset::default()
        .handle_access(AccessFs::from_all(VERSION))?
        .handle_access(AccessNet::from_all(VERSION))?
        .create()?
        .add_rules(path_beneath_rules(readable, read))?
        .add_rules(path_beneath_rules(removable, AccessFs::RemoveFile))?
        .restrict_self()?;
    Ok(status.ruleset)
}
