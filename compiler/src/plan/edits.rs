//! Edits of requests.

use haul_ir::diagnostic::{Diagnostic, Span};

use crate::places::RequestFields;

/// Adds the edit that gives a field of a request another value, or writes it where it is left out.
pub(super) fn set(
    diagnostic: Diagnostic,
    name: &str,
    at: Option<Span>,
    value: &str,
    fields: Option<&RequestFields>,
) -> Diagnostic {
    match (at, fields) {
        (Some(at), _) => diagnostic.fix(at, value).machine_applicable(),
        (None, Some(fields)) => write(diagnostic, &format!("{name}: {value}"), fields),
        (None, None) => diagnostic,
    }
}

/// Adds the edit that writes other fields into a request.
pub(super) fn write(diagnostic: Diagnostic, written: &str, fields: &RequestFields) -> Diagnostic {
    let room = &fields.own.room;
    let at = Span::new(room.at, room.at);
    let edited = diagnostic.fix(at, format!("{written}{}", room.after));
    edited.machine_applicable()
}
