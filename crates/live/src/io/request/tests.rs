//! Laws of the table: each message names the thing, its purpose and a remedy.

use super::*;

/// Answers of the system, at least one of each cause.
const CODES: [i32; 14] = [
    libc::EPERM,
    libc::EACCES,
    libc::EROFS,
    libc::ENOENT,
    libc::ENODEV,
    libc::ENOSYS,
    libc::EOPNOTSUPP,
    libc::EMFILE,
    libc::ENOMEM,
    libc::ENOSPC,
    libc::EAGAIN,
    libc::EBUSY,
    libc::ENETDOWN,
    libc::EIO,
];

#[test]
fn each_message_names_thing_purpose_and_remedy_and_is_no_bare_error_of_the_system() {
    for request in Request::ALL {
        for code in CODES {
            let error = request.refused_about("hg0", io::Error::from_raw_os_error(code));
            let (row, text) = (request.row(), error.to_string());
            let remedy = request.remedy(Cause::of(&io::Error::from_raw_os_error(code)));
            for part in [row.act, "(hg0)", row.purpose, remedy] {
                assert!(text.contains(part), "{text}: {part}");
            }
            assert!(!text.contains("os error"), "{text}");
            assert!(text.starts_with("cannot ") && text.ends_with('.') && !text.contains(".."), "{text}");
        }
    }
}

#[test]
fn each_row_has_a_remedy_of_its_own_in_a_sentence() {
    for request in Request::ALL {
        let row = request.row();
        assert!(!row.remedies.is_empty(), "{request:?}");
        let remedies = row.remedies.iter().map(|(_, remedy)| *remedy);
        for sentence in remedies.chain([row.purpose]) {
            assert!(sentence.starts_with(|first: char| !first.is_lowercase() || sentence.starts_with("headgate")));
            assert!(!sentence.ends_with('.') && !sentence.contains("  "), "{request:?}: {sentence}");
        }
        let mut causes: Vec<_> = row.remedies.iter().flat_map(|(causes, _)| *causes).collect();
        let all = causes.len();
        causes.dedup();
        assert_eq!(causes.len(), all, "{request:?} has two remedies for one cause");
    }
}

#[test]
fn an_error_of_this_crate_keeps_its_request_on_its_way_through_an_error_of_the_system() {
    let inner = Request::QueuePackets.refused(io::Error::from_raw_os_error(libc::ENODEV));
    let text = inner.to_string();
    assert_eq!(Request::Frames.refused(inner.into()).to_string(), text);
}
