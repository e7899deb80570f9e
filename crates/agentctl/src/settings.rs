//! Models, modes and options, whichever way an agent reports them.
//!
//! Agents have three ways: `configOptions` (set with `session/set_config_option`), `modes` (set with
//! `session/set_mode`), and `models`, which no schema has but several agents send (set with `session/set_model`). Many
//! send two at once. `configOptions` win where they cover a subject; [`SessionSettings`] remembers which way each
//! subject must be set, so callers see one [`AgentSettings`].

use model::agent::{AgentChoice, AgentOption, AgentSettings};
use serde_json::{Value, json};

/// The current settings of one agent session, and how to change them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionSettings {
    current: AgentSettings,
    model: Way,
    mode: Way,
    /// Ids of options that are switches: their values are booleans on the wire.
    switches: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
enum Way {
    /// The agent offers no choice.
    #[default]
    None,
    /// By a request of its own.
    Request,
    /// By the config option with this id.
    Option(String),
}

/// A request that changes a setting: method and parameters without the session id.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingRequest {
    /// The method.
    pub method: &'static str,
    /// Its parameters; the session id is added by the connection.
    pub params: Value,
}

impl SessionSettings {
    /// The settings as one value.
    #[must_use]
    pub const fn current(&self) -> &AgentSettings {
        &self.current
    }

    /// Takes in any result or update that may hold `configOptions`, `modes` or `models`. Whether something changed.
    pub fn take_in(&mut self, report: &Value) -> bool {
        let before = self.current.clone();
        if let Some(modes) = report.get("modes").filter(|modes| modes.is_object()) {
            self.mode = Way::Request;
            self.current.modes = choices(modes.get("availableModes"), "id");
            self.current.current_mode = string(modes, "currentModeId");
        }
        if let Some(models) = report.get("models").filter(|models| models.is_object()) {
            self.model = Way::Request;
            self.current.models = choices(models.get("availableModels"), "modelId");
            self.current.current_model = string(models, "currentModelId");
        }
        if let Some(options) = report.get("configOptions").and_then(Value::as_array) {
            self.take_in_options(options);
        }
        before != self.current
    }

    fn take_in_options(&mut self, options: &[Value]) {
        self.current.options.clear();
        self.switches.clear();
        for option in options {
            let Some(read) = read_option(option) else {
                continue;
            };
            if option.get("type").and_then(Value::as_str) == Some("boolean") {
                self.switches.push(read.id.clone());
            }
            match read.category.as_deref().unwrap_or(&read.id) {
                "model" => {
                    self.model = Way::Option(read.id);
                    self.current.models = read.choices;
                    self.current.current_model = Some(read.current);
                }
                "mode" => {
                    self.mode = Way::Option(read.id);
                    self.current.modes = read.choices;
                    self.current.current_mode = Some(read.current);
                }
                _ => self.current.options.push(read),
            }
        }
    }

    /// The agent switched its mode itself. Whether that is news.
    pub fn mode_is(&mut self, mode: &str) -> bool {
        self.current
            .current_mode
            .replace(mode.to_owned())
            .as_deref()
            != Some(mode)
    }

    /// The agent accepted this model, and said no more.
    pub fn model_is(&mut self, model: &str) {
        self.current.current_model = Some(model.to_owned());
    }

    /// The agent accepted this value of an option, and said no more.
    pub fn option_is(&mut self, id: &str, value: &str) {
        if let Some(option) = self
            .current
            .options
            .iter_mut()
            .find(|option| option.id == id)
        {
            option.current = value.to_owned();
        }
    }

    /// How to choose a model; `None` when the agent offers no choice.
    #[must_use]
    pub fn set_model(&self, model: &str) -> Option<SettingRequest> {
        match &self.model {
            Way::None => None,
            Way::Request => Some(SettingRequest {
                method: "session/set_model",
                params: json!({ "modelId": model }),
            }),
            Way::Option(id) => Some(self.set_option(id, model)),
        }
    }

    /// How to choose a mode; `None` when the agent offers no choice.
    #[must_use]
    pub fn set_mode(&self, mode: &str) -> Option<SettingRequest> {
        match &self.mode {
            Way::None => None,
            Way::Request => Some(SettingRequest {
                method: "session/set_mode",
                params: json!({ "modeId": mode }),
            }),
            Way::Option(id) => Some(self.set_option(id, mode)),
        }
    }

    /// How to set an option.
    #[must_use]
    pub fn set_option(&self, id: &str, value: &str) -> SettingRequest {
        let params = if self.switches.iter().any(|switch| switch == id) {
            json!({ "configId": id, "type": "boolean", "value": value == "true" })
        } else {
            json!({ "configId": id, "value": value })
        };
        SettingRequest {
            method: "session/set_config_option",
            params,
        }
    }
}

fn read_option(option: &Value) -> Option<AgentOption> {
    let id = string(option, "id")?;
    let (current, choices) = match option.get("currentValue")? {
        Value::String(current) => (current.clone(), grouped_choices(option.get("options"))),
        Value::Bool(on) => (
            on.to_string(),
            vec![choice("true", "On", None), choice("false", "Off", None)],
        ),
        _ => return None,
    };
    let name = string(option, "name").unwrap_or_else(|| id.clone());
    Some(AgentOption {
        category: string(option, "category"),
        id,
        name,
        current,
        choices,
    })
}

/// Choices may come flat or in named groups; the groups are only for show.
fn grouped_choices(list: Option<&Value>) -> Vec<AgentChoice> {
    let entries = list
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    entries
        .iter()
        .flat_map(|entry| match entry.get("options") {
            Some(group) => choices(Some(group), "value"),
            None => read_choice(entry, "value").into_iter().collect(),
        })
        .collect()
}

fn choices(list: Option<&Value>, id_key: &str) -> Vec<AgentChoice> {
    let entries = list
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    entries
        .iter()
        .filter_map(|entry| read_choice(entry, id_key))
        .collect()
}

fn read_choice(entry: &Value, id_key: &str) -> Option<AgentChoice> {
    let id = string(entry, id_key)?;
    let name = string(entry, "name").unwrap_or_else(|| id.clone());
    Some(choice(&id, &name, string(entry, "description")))
}

fn choice(id: &str, name: &str, description: Option<String>) -> AgentChoice {
    AgentChoice {
        id: id.to_owned(),
        name: name.to_owned(),
        description,
    }
}

fn string(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_and_modes_of_their_own_are_set_by_their_own_requests() {
        let mut settings = SessionSettings::default();
        assert!(settings.set_model("m").is_none());
        assert!(settings.take_in(&json!({
            "models": { "availableModels": [{ "modelId": "m", "name": "M", "description": "d" }], "currentModelId": "m" },
            "modes": { "availableModes": [{ "id": "ask" }], "currentModeId": "ask" },
        })));
        assert_eq!(
            settings.current().models,
            [choice("m", "M", Some("d".into()))]
        );
        assert_eq!(settings.current().current_mode.as_deref(), Some("ask"));
        assert_eq!(settings.set_model("m").unwrap().method, "session/set_model");
        assert_eq!(
            settings.set_mode("ask").unwrap().params,
            json!({ "modeId": "ask" })
        );
        assert!(settings.mode_is("auto"));
        assert!(!settings.mode_is("auto"));
    }

    #[test]
    fn config_options_win_and_the_rest_stays_an_option() {
        let mut settings = SessionSettings::default();
        let report = json!({
            "models": { "availableModels": [{ "modelId": "old" }], "currentModelId": "old" },
            "configOptions": [
                { "id": "m", "category": "model", "type": "select", "currentValue": "a",
                  "options": [{ "group": "g", "name": "G", "options": [{ "value": "a", "name": "A" }] }, { "value": "b" }] },
                { "id": "mode", "type": "select", "currentValue": "x", "options": [] },
                { "id": "fast", "name": "Fast", "type": "boolean", "currentValue": true },
                { "id": "odd", "currentValue": 4 },
            ],
        });
        assert!(settings.take_in(&report));
        assert!(!settings.take_in(&report));
        let ids: Vec<_> = settings
            .current()
            .models
            .iter()
            .map(|model| model.id.as_str())
            .collect();
        assert_eq!(ids, ["a", "b"]);
        assert_eq!(settings.current().current_mode.as_deref(), Some("x"));
        assert_eq!(settings.current().options.len(), 1);
        assert_eq!(
            settings.set_model("b").unwrap().params,
            json!({ "configId": "m", "value": "b" })
        );
        let switch = settings.set_option("fast", "true").params;
        assert_eq!(
            switch,
            json!({ "configId": "fast", "type": "boolean", "value": true })
        );
    }
}
