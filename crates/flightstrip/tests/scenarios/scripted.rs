//! Agents that are shell scripts, for what the demo agent does not do: they fail as their `mode` file says, and a test
//! repairs them by changing it, as a person would.

use crate::support::{BINARY, Bench, text};
use anyhow::Result;
use serde_json::json;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Begins as its mode says; without one it is the demo agent. Every start is noted in `starts`.
const FAULTY: &str = r#"
echo start >> "$1/starts"
export FLIGHTSTRIP_DEMO_STATE="$1/state" FLIGHTSTRIP_DEMO_PACE=0
mode=$(cat "$1/mode" 2>/dev/null)
id() { printf '%s' "$1" | sed 's/.*"id":\([^,}]*\).*/\1/'; }
answer() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$1" "$2"; }
case "$mode" in
  "") exec "$0" demo-agent ;;
  exits) echo "it is broken" >&2; exit 3 ;;
esac
while read -r line; do
  case "$mode:$line" in
    protocol:*'"initialize"'*) answer "$(id "$line")" '"result":"hello"' ;;
    long:*'"initialize"'*) head -c 34000000 /dev/zero | tr '\0' x; echo ;;
    *'"initialize"'*) answer "$(id "$line")" '"result":{"protocolVersion":1,"agentCapabilities":{}}' ;;
    auth:*'"session/new"'*) answer "$(id "$line")" '"error":{"code":-32000,"message":"Authentication required"}' ;;
    *'"session/new"'*) answer "$(id "$line")" '"result":{"sessionId":"one"}' ;;
    refuses:*'"session/prompt"'*) answer "$(id "$line")" '"result":{"stopReason":"refusal"}' ;;
  esac
done
"#;

/// A folder with what the scripts of one test know.
pub(crate) struct Scripted {
    folder: TempDir,
}

impl Scripted {
    pub(crate) fn new() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("scripted-").tempdir()?;
        Ok(Self { folder })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A file that a script or a demo agent waits for (`/wait-file`).
    pub(crate) fn gate(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Opens a gate.
    pub(crate) fn open(&self, name: &str) -> Result<()> {
        Ok(std::fs::write(self.gate(name), "")?)
    }

    /// From now on agents start like this; the empty mode is a working one.
    pub(crate) fn set_mode(&self, mode: &str) -> Result<()> {
        Ok(std::fs::write(self.gate("mode"), mode)?)
    }

    /// How often agents were started so far.
    pub(crate) fn starts(&self) -> usize {
        let noted = std::fs::read_to_string(self.gate("starts"));
        noted.map_or(0, |noted| noted.lines().count())
    }

    /// An agent profile that starts as the mode says; gives its id.
    pub(crate) async fn faulty(&self, bench: &mut Bench) -> Result<String> {
        self.profile(bench, FAULTY).await
    }

    /// An agent profile whose agent is this script: `$0` is the binary, `$1` this folder.
    pub(crate) async fn profile(&self, bench: &mut Bench, script: &str) -> Result<String> {
        let profile = json!({
            "workspace_id": bench.workspace_id, "name": "Scripted", "command": "/bin/sh",
            "args": ["-c", script, BINARY, self.path()], "env": {},
        });
        let made = bench
            .client
            .request("agent_profile.create", profile)
            .await?;
        text(&made["id"])
    }
}
