//! Flags and environment of the scripted agent.

use std::path::PathBuf;

/// How this process behaves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Stay alive when stdin ends.
    pub ignore_eof: bool,
    /// Never answer `initialize`.
    pub no_initialize: bool,
    /// End at once with this code.
    pub exit_at_once: Option<u8>,
    /// Print lines that are no messages now and then.
    pub noise: bool,
    /// Do not offer `session/load`.
    pub no_load: bool,
    /// Do not offer `session/resume`.
    pub no_resume: bool,
    /// Take nothing in a prompt but text and links.
    pub text_only: bool,
    /// Do not offer MCP over HTTP: servers are then programs.
    pub no_mcp_http: bool,
    /// Where sessions are kept; none: they are forgotten.
    pub state: Option<PathBuf>,
    /// Multiplies the demo's delays.
    pub pace: f64,
    /// Directives to play whatever the prompt says: a demo shows people's words and still does something definite.
    pub script: Option<String>,
}

impl Options {
    /// Reads flags, and the environment through `variable`.
    ///
    /// # Errors
    /// The first argument that is no flag.
    pub fn parse(
        args: impl IntoIterator<Item = String>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let mut options = Self {
            state: variable("FLIGHTSTRIP_DEMO_STATE")
                .filter(|path| !path.is_empty())
                .map(PathBuf::from),
            pace: variable("FLIGHTSTRIP_DEMO_PACE")
                .and_then(|pace| pace.parse().ok())
                .unwrap_or(1.0),
            script: variable("FLIGHTSTRIP_DEMO_SCRIPT").filter(|script| !script.is_empty()),
            ..Self::default()
        };
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--ignore-eof" => options.ignore_eof = true,
                "--no-initialize" => options.no_initialize = true,
                "--noise" => options.noise = true,
                "--no-load" => options.no_load = true,
                "--no-resume" => options.no_resume = true,
                "--text-only" => options.text_only = true,
                "--no-mcp-http" => options.no_mcp_http = true,
                "--exit-at-once" => {
                    let code = args.next().and_then(|code| code.parse().ok());
                    options.exit_at_once = Some(code.ok_or(arg)?);
                }
                _ => return Err(arg),
            }
        }
        Ok(options)
    }

    /// Whether sessions outlive the process.
    #[must_use]
    pub const fn keeps_sessions(&self) -> bool {
        self.state.is_some() && !self.no_load
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_and_environment_are_read() {
        let parse = |args: &[&str]| {
            Options::parse(args.iter().map(|arg| (*arg).to_owned()), |name| {
                (name == "FLIGHTSTRIP_DEMO_PACE").then(|| "0".to_owned())
            })
        };
        let options = parse(&["--ignore-eof", "--exit-at-once", "3"]).unwrap();
        assert_eq!(
            (options.ignore_eof, options.exit_at_once, options.pace),
            (true, Some(3), 0.0)
        );
        assert_eq!(
            parse(&["--exit-at-once", "x"]),
            Err("--exit-at-once".to_owned())
        );
        assert_eq!(parse(&["acp"]), Err("acp".to_owned()));
    }
}
