//! How each agent is started so that it finds the stub model, asks before it acts, and reaches nothing else: variables
//! and configuration files in a home folder that is new each time.

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use testkit::stub_model::MODEL;

/// The folder with the agents' executables.
const FOLDER: &str = "FLIGHTSTRIP_REAL_AGENTS";

/// Which agents to drive, separated by commas.
const NAMES: &str = "FLIGHTSTRIP_REAL_AGENT_NAMES";

/// A way to start one agent.
pub(crate) struct RealAgent {
    /// Its name, for the profile and for what is printed.
    pub(crate) name: String,
    /// Its executable.
    program: PathBuf,
    args: &'static [&'static str],
    env: BTreeMap<String, String>,
    /// Kept as long as the agent may run.
    home: TempDir,
}

/// The names of the agents that were asked for.
///
/// # Errors
/// When none were: a run that drives nothing must not look like a success.
pub(crate) fn requested() -> Result<Vec<String>> {
    let names = std::env::var(NAMES).unwrap_or_default();
    let names: Vec<String> = names
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    ensure!(
        !names.is_empty(),
        "{NAMES} names no agent; run `cargo xtask test --only real-agents --real-agents`"
    );
    Ok(names)
}

impl RealAgent {
    /// Prepares an agent that talks to the model at `model_url`.
    ///
    /// # Errors
    /// When it is not installed, or when nobody described how to start it.
    pub(crate) fn prepare(name: &str, model_url: &str) -> Result<Self> {
        let folder = std::env::var_os(FOLDER).with_context(|| format!("{FOLDER} is not set"))?;
        let home = tempfile::Builder::new().prefix("agent-home-").tempdir()?;
        let mut env = private_folders(home.path());
        let args: &[&str] = match name {
            "opencode" => opencode(home.path(), model_url, &mut env)?,
            "gemini" => gemini(home.path(), model_url, &mut env)?,
            _ => bail!("nobody described how to start `{name}`"),
        };
        let program = PathBuf::from(folder).join(name);
        ensure!(program.is_file(), "{} is missing", program.display());
        Ok(Self {
            name: name.to_owned(),
            program,
            args,
            env,
            home,
        })
    }

    /// The fields of its agent profile.
    pub(crate) fn profile(&self, workspace_id: &str) -> Value {
        json!({
            "workspace_id": workspace_id,
            "name": self.name,
            "command": self.program,
            "args": self.args,
            "env": self.env,
        })
    }

    /// Makes the files in which gemini-cli keeps conversations older. It names them by the minute in which a session
    /// began, and a session that is loaded within that minute is overwritten before it is read (0.61.0). People come
    /// back later than that; tests do not.
    ///
    /// # Errors
    /// When a file cannot be renamed.
    pub(crate) fn age_sessions(&self) -> Result<()> {
        let projects = self.home.path().join(".gemini/tmp");
        if !projects.is_dir() {
            return Ok(());
        }
        for project in std::fs::read_dir(projects)? {
            let chats = project?.path().join("chats");
            if !chats.is_dir() {
                continue;
            }
            for chat in std::fs::read_dir(&chats)? {
                let name = chat?.file_name().to_string_lossy().into_owned();
                if let Some((_, id)) = name.rsplit_once('-') {
                    let older = format!("session-2001-01-01T00-00-{id}");
                    std::fs::rename(chats.join(&name), chats.join(older))?;
                }
            }
        }
        Ok(())
    }
}

/// Every folder that a program might keep something in, below `home`.
fn private_folders(home: &Path) -> BTreeMap<String, String> {
    let folder = |below: &str| home.join(below).to_string_lossy().into_owned();
    [
        ("HOME", folder("")),
        ("XDG_CONFIG_HOME", folder(".config")),
        ("XDG_DATA_HOME", folder(".local/share")),
        ("XDG_STATE_HOME", folder(".local/state")),
        ("XDG_CACHE_HOME", folder(".cache")),
    ]
    .map(|(name, path)| (name.to_owned(), path))
    .into()
}

/// opencode asks only where its configuration says so, and would fetch a list of models.
fn opencode(
    home: &Path,
    model_url: &str,
    env: &mut BTreeMap<String, String>,
) -> Result<&'static [&'static str]> {
    let stub = json!({
        "npm": "@ai-sdk/openai-compatible",
        "name": "Stub",
        "options": { "baseURL": format!("{model_url}/v1"), "apiKey": "none" },
        "models": { MODEL: {
            "name": "Stub",
            "tool_call": true,
            "reasoning": true,
            "limit": { "context": 128_000, "output": 4096 },
        } },
    });
    let model = format!("stub/{MODEL}");
    let config = json!({
        "model": model,
        "small_model": model,
        "autoupdate": false,
        "share": "disabled",
        "enabled_providers": ["stub"],
        "permission": { "edit": "ask", "bash": "ask", "webfetch": "deny" },
        "provider": { "stub": stub },
    });
    write(&home.join(".config/opencode/opencode.json"), &config)?;
    for switch in [
        "OPENCODE_DISABLE_MODELS_FETCH",
        "OPENCODE_DISABLE_AUTOUPDATE",
        "OPENCODE_DISABLE_LSP_DOWNLOAD",
    ] {
        env.insert(switch.to_owned(), "1".to_owned());
    }
    Ok(&["acp"])
}

/// gemini-cli asks by itself; it must be told which way of signing in was chosen.
fn gemini(
    home: &Path,
    model_url: &str,
    env: &mut BTreeMap<String, String>,
) -> Result<&'static [&'static str]> {
    let settings = json!({
        "security": {
            "auth": { "selectedType": "gemini-api-key" },
            "folderTrust": { "enabled": false },
        },
        "general": { "disableAutoUpdate": true, "enableAutoUpdate": false },
        "privacy": { "usageStatisticsEnabled": false },
        "telemetry": { "enabled": false },
        "model": { "name": "gemini-2.5-flash" },
    });
    write(&home.join(".gemini/settings.json"), &settings)?;
    env.insert("GEMINI_API_KEY".to_owned(), "none".to_owned());
    env.insert("GOOGLE_GEMINI_BASE_URL".to_owned(), model_url.to_owned());
    Ok(&["--acp"])
}

fn write(file: &Path, content: &Value) -> Result<()> {
    let folder = file.parent().context("no folder")?;
    std::fs::create_dir_all(folder)?;
    Ok(std::fs::write(file, content.to_string())?)
}
