//! The environment an agent is started with.
//!
//! An allow-list of the server's variables plus the profile's own, never the whole of the server's environment: that
//! may hold database addresses and secrets that no agent needs. The profile wins over the server.

use std::collections::BTreeMap;

/// Variables that are passed on by name: who and where, terminal and language, certificates and proxies.
const NAMES: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TERM",
    "COLORTERM",
    "TZ",
    "TMPDIR",
    "HOSTNAME",
    "SSH_AUTH_SOCK",
    "GPG_TTY",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "DBUS_SESSION_BUS_ADDRESS",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "NVM_DIR",
    "NVM_BIN",
    "VOLTA_HOME",
    "FNM_DIR",
    "PNPM_HOME",
    "BUN_INSTALL",
    "NODE_OPTIONS",
    "NPM_CONFIG_PREFIX",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "GH_HOST",
    "NO_BROWSER",
];

/// Variables that are passed on by the beginning of their name: locale and folders, and what the known agents and
/// their model vendors read.
const PREFIXES: &[&str] = &[
    "LC_",
    "XDG_",
    "ANTHROPIC_",
    "CLAUDE_",
    "OPENAI_",
    "CODEX_",
    "GEMINI_",
    "GOOGLE_",
    "OPENCODE_",
    "OPENROUTER_",
    "MISTRAL_",
    "GROQ_",
    "DEEPSEEK_",
    "XAI_",
    "AZURE_OPENAI_",
    "AWS_",
    "MOONSHOT_",
    "DASHSCOPE_",
    "OLLAMA_",
];

/// Our own variables: passed only when the profile names them.
const OURS: &str = "FLIGHTSTRIP_";

/// The environment of an agent: what may be passed of `server`, overlaid by `profile`.
#[must_use]
pub fn agent_environment(
    server: &BTreeMap<String, String>,
    profile: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut environment: BTreeMap<_, _> = server
        .iter()
        .filter(|(name, _)| may_pass(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    environment.extend(
        profile
            .iter()
            .map(|(name, value)| (name.clone(), value.clone())),
    );
    environment
}

fn may_pass(name: &str) -> bool {
    !name.starts_with(OURS)
        && (NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_get_what_they_need_and_no_secret_of_the_server() {
        let map = |pairs: &[(&str, &str)]| {
            pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect::<BTreeMap<_, _>>()
        };
        let server = map(&[
            ("PATH", "/bin"),
            ("LC_ALL", "C"),
            ("OPENAI_API_KEY", "k"),
            ("DATABASE_URL", "postgres://secret"),
            ("FLIGHTSTRIP_TOKEN", "secret"),
            ("MY_SECRET", "secret"),
        ]);
        let profile = map(&[
            ("OPENAI_API_KEY", "mine"),
            ("FLIGHTSTRIP_DEMO_STATE", "/tmp"),
        ]);
        let expected = map(&[
            ("PATH", "/bin"),
            ("LC_ALL", "C"),
            ("OPENAI_API_KEY", "mine"),
            ("FLIGHTSTRIP_DEMO_STATE", "/tmp"),
        ]);
        assert_eq!(agent_environment(&server, &profile), expected);
    }
}
