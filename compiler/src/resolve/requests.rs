//! What stages ask for.

use haul_ir::diagnostic::{Diagnostic, Span};
use haul_ir::graph::{GpuCount, Request};

use super::Resolver;
use crate::diagnostics::codes::{AMOUNT, CPUS, GPUS, NO_ALTERNATIVE, NO_GPU};
use crate::places::RequestFields;
use crate::syntax::ast::{self, Spanned};

/// Memory for each CPU where none is asked for: 2 GiB.
pub(crate) const MEMORY_PER_CPU: u64 = 2 << 30;

/// More GPUs cannot be counted in ten-thousandths.
const MOST_GPUS: u32 = u32::MAX / GpuCount::ONE.0;

impl Resolver<'_> {
    /// Where the fields of each request of a stage are written.
    pub(super) fn request_fields(stage: &ast::Stage) -> Vec<RequestFields> {
        let whole = &stage.request.fields;
        match &stage.any_of {
            Some(any_of) if !any_of.value.is_empty() => {
                let own = any_of.value.iter().map(|own| &own.fields);
                own.map(|own| RequestFields::new(own, Some(whole)))
                    .collect()
            }
            _ => vec![RequestFields::new(whole, None)],
        }
    }

    /// The requests of a stage, never none, each with its place.
    pub(super) fn requests(&mut self, stage: &ast::Stage) -> (Vec<Request>, Vec<Span>) {
        let whole = &stage.request;
        self.refuse_no_gpus(whole);
        let Some(any_of) = &stage.any_of else {
            return (vec![self.request(whole, whole)], vec![whole.span]);
        };
        if any_of.value.is_empty() {
            let message = "`any_of` has no alternative to run with";
            self.mistakes
                .report(Diagnostic::error(NO_ALTERNATIVE, any_of.span, message));
            return (vec![self.request(whole, whole)], vec![whole.span]);
        }
        let alternatives = any_of.value.iter();
        let asks_for_gpu =
            whole.gpu_type.is_some() || whole.gpus.as_ref().is_some_and(|gpus| gpus.value > 0.0);
        let requests = alternatives.map(|own| {
            if !asks_for_gpu {
                self.refuse_no_gpus(own);
            }
            (self.request(whole, own), own.span)
        });
        requests.unzip()
    }

    /// A request whose own fields stand before those of the whole stage.
    fn request(&mut self, whole: &ast::Request, own: &ast::Request) -> Request {
        let cpus = own.cpus.as_ref().or(whole.cpus.as_ref());
        let cpus = cpus.map_or(1, |cpus| self.cpus(cpus));
        let memory = own.memory.as_ref().or(whole.memory.as_ref());
        let memory = memory.map(|memory| self.amount("memory", memory));
        // An alternative without a GPU needs nothing of one.
        let is_without = own.gpus.as_ref().is_some_and(|gpus| gpus.value == 0.0);
        let whole = if is_without { own } else { whole };
        let gpu_type = own.gpu_type.as_ref().or(whole.gpu_type.as_ref());
        let vram = own.vram.as_ref().or(whole.vram.as_ref());
        let gpus = match own.gpus.as_ref().or(whole.gpus.as_ref()) {
            Some(gpus) => self.gpus(gpus),
            None if gpu_type.is_some() => GpuCount::ONE,
            None => GpuCount::NONE,
        };
        if gpus == GpuCount::NONE {
            let asked = [
                ("gpu_type", gpu_type.map(|ty| ty.span)),
                ("vram", vram.map(|v| v.span)),
            ];
            for (field, span) in asked {
                self.refuse_without_gpu(field, span);
            }
        }
        Request {
            cpus,
            memory: memory.unwrap_or(u64::from(cpus).saturating_mul(MEMORY_PER_CPU)),
            gpus,
            gpu_type: gpu_type.map(|gpu_type| gpu_type.value.clone()),
            vram: vram.map(|vram| self.amount("vram", vram)),
        }
    }

    /// No GPUs are what is left out, except in an alternative to GPUs that the stage asks for.
    fn refuse_no_gpus(&mut self, request: &ast::Request) {
        let Some(gpus) = request.gpus.as_ref().filter(|gpus| gpus.value == 0.0) else {
            return;
        };
        if request.gpu_type.is_some() || request.vram.is_some() {
            return; // Which is the mistake.
        }
        let mistake = Diagnostic::error(GPUS, gpus.span, "0 GPUs are no request");
        self.mistakes.report(mistake.help("leave `gpus` out"));
    }

    fn refuse_without_gpu(&mut self, field: &str, span: Option<Span>) {
        let Some(span) = span else { return };
        let message = format!("`{field}` is of a GPU, and none is asked for");
        self.mistakes
            .report(Diagnostic::error(NO_GPU, span, message).help("add `gpus: 1`"));
    }

    fn cpus(&mut self, cpus: &Spanned<f64>) -> u32 {
        let value = cpus.value;
        if value.fract() == 0.0 && value >= 1.0 && value <= f64::from(u32::MAX) {
            return value as u32;
        }
        let (message, help) = if value > f64::from(u32::MAX) {
            let message = format!("{} cpus are too many for a task", number(value));
            (message, format!("there are at most {}", u32::MAX))
        } else {
            let value = number(value);
            let message = format!("a task has one CPU or more, and whole ones, not {value}");
            let nearest = cpus.value.max(1.0).ceil();
            (message, format!("write `cpus: {nearest}`"))
        };
        self.mistakes
            .report(Diagnostic::error(CPUS, cpus.span, message).help(help));
        1
    }

    fn gpus(&mut self, gpus: &Spanned<f64>) -> GpuCount {
        let value = gpus.value;
        let one = f64::from(GpuCount::ONE.0);
        let units = value * one;
        let whole_units = units.round();
        let is_exact = (units - whole_units).abs() < 1e-6;
        let is_share = value > 0.0 && value < 1.0 && is_exact && whole_units >= 1.0;
        let is_whole = value >= 0.0 && value.fract() == 0.0 && value <= f64::from(MOST_GPUS);
        if is_share || is_whole {
            return GpuCount(whole_units as u32);
        }
        if value > f64::from(MOST_GPUS) {
            let message = format!("{} GPUs are too many for a task", number(value));
            let mistake = Diagnostic::error(GPUS, gpus.span, message);
            self.mistakes
                .report(mistake.help(format!("there are at most {MOST_GPUS}")));
            return GpuCount::ONE;
        }
        let help = match value {
            _ if value > 1.0 => {
                format!(
                    "write `gpus: {}` or `gpus: {}`",
                    value.floor(),
                    value.ceil()
                )
            }
            _ if value < 1.0 && whole_units >= 1.0 && whole_units < one => {
                format!("write `gpus: {}`", whole_units / one)
            }
            _ => "write whole GPUs, or a share from 0.0001 to 0.9999".to_owned(),
        };
        let message = format!("{} GPUs cannot be granted", number(value));
        let mistake = Diagnostic::error(GPUS, gpus.span, message);
        self.mistakes.report(
            mistake
                .at("whole GPUs, or ten-thousandths of one")
                .help(help),
        );
        GpuCount::ONE
    }

    fn amount(&mut self, field: &str, amount: &Spanned<u64>) -> u64 {
        let message = match amount.value {
            0 => format!("no task runs with `{field}` of 0 bytes"),
            value if i64::try_from(value).is_err() => {
                format!("no machine has `{field}` of {value} bytes")
            }
            value => return value,
        };
        let help = match field {
            "vram" => "leave `vram` out for what the stage is found to need",
            _ => "leave `memory` out for the default of 2 GiB a CPU",
        };
        self.mistakes
            .report(Diagnostic::error(AMOUNT, amount.span, message).help(help));
        1
    }
}

/// A number of which large ones are not written out.
fn number(value: f64) -> String {
    match value.abs() > 1e6 {
        true => format!("{value:e}"),
        false => value.to_string(),
    }
}
