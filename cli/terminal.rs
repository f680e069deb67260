//! What is printed, and whether in colours: on terminals only, and where `NO_COLOR` is not set.

use std::io::{self, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use haul_compiler::render::Colour;

use crate::exit::Trouble;

/// Prints a result. Whoever reads it may stop when they have had enough: how the command ends does
/// not hang on that.
pub(crate) fn print(text: &str) -> Result<(), Trouble> {
    let mut stdout = anstream::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let message = format!("could not write to stdout: {error}");
            Err(Trouble(message))
        }
        _ => Ok(()),
    }
}

/// Says something about results. When stderr is gone there is nobody left to tell.
pub(crate) fn tell(text: &str) {
    let mut stderr = anstream::stderr().lock();
    let _ = stderr
        .write_all(text.as_bytes())
        .and_then(|()| stderr.flush());
}

/// Says on stderr what went wrong.
pub(crate) fn tell_error(message: &str) {
    const ERROR: Style = AnsiColor::Red.on_default().bold();
    tell(&format!("{ERROR}error{ERROR:#}: {message}\n"));
}

/// Whether stdout shows colours.
pub(crate) fn colour() -> Colour {
    colour_of(AutoStream::choice(&io::stdout()))
}

/// Whether stderr shows colours.
pub(crate) fn colour_of_messages() -> Colour {
    colour_of(AutoStream::choice(&io::stderr()))
}

/// Whether progress may be drawn over itself.
pub(crate) fn is_live() -> bool {
    io::stderr().is_terminal()
}

fn colour_of(choice: ColorChoice) -> Colour {
    match choice {
        ColorChoice::Never => Colour::Plain,
        _ => Colour::Ansi,
    }
}
