//! Whether results can be written as outputs say.

use haul_ir::diagnostic::Diagnostic;

use super::Inference;
use crate::diagnostics::codes::SINK;
use crate::resolve::Output;

impl Inference<'_> {
    pub(super) fn check_sinks(&mut self, outputs: &[Output]) {
        for output in outputs {
            let Some(ty) = self.value_type(output.value) else {
                continue;
            };
            let sink = &output.sink;
            let Err(refusal) = (sink.format.check_output)(ty, &sink.settings) else {
                continue;
            };
            let of_setting = refusal.setting.and_then(|name| output.settings.place(name));
            let (ty, place) = (ty.to_string(), output.from);
            let mistake = match of_setting {
                Some(span) => Diagnostic::error(SINK, span, refusal.message).label(place, ty),
                None => Diagnostic::error(SINK, place, refusal.message).at(ty),
            };
            self.mistakes.report(match refusal.help {
                Some(help) => mistake.help(help),
                None => mistake,
            });
        }
    }
}
