/** Small valid values for tests: every field a test does not name is the plainest one. */
import type { AgentProfile } from "~/wire/generated/AgentProfile";
import type { Message } from "~/wire/generated/Message";
import type { Session } from "~/wire/generated/Session";
import type { Task } from "~/wire/generated/Task";
import type { TaskStatusSummary } from "~/wire/generated/TaskStatusSummary";

export const EARLY = "2026-01-01T00:00:00.000000Z";
export const LATER = "2026-01-01T00:05:00.000000Z";
export const LATEST = "2026-01-01T00:09:00.000000Z";

export function aTask(part: Partial<Task> = {}): Task {
  return {
    id: "t1",
    workspace_id: "w1",
    workflow_id: "wf1",
    revision: 1,
    title: "A task",
    description: "",
    state: "TODO",
    step_id: "step1",
    position: 1,
    priority: 0,
    repositories: [],
    environments: [],
    created_at: EARLY,
    updated_at: EARLY,
    ...part,
  };
}

export function aSummary(part: Partial<TaskStatusSummary> = {}): TaskStatusSummary {
  return { revision: 1, updated_at: EARLY, last_activity_at: EARLY, ...part };
}

export function aSession(part: Partial<Session> = {}): Session {
  return {
    id: "s1",
    task_id: "t1",
    workspace_id: "w1",
    revision: 1,
    state: "WAITING_FOR_INPUT",
    agent_profile_id: "p1",
    name: "Agent",
    is_primary: true,
    started_at: EARLY,
    active_subagent_count: 0,
    pending_action_revision: 1,
    ...part,
  };
}

export function aMessage(part: Partial<Message> = {}): Message {
  return {
    id: "m1",
    session_id: "s1",
    task_id: "t1",
    seq: 1,
    revision: 1,
    author: "agent",
    type: "message",
    content: "",
    metadata: null,
    created_at: EARLY,
    updated_at: EARLY,
    ...part,
  };
}

export function aProfile(part: Partial<AgentProfile> = {}): AgentProfile {
  return {
    id: "p1",
    workspace_id: "w1",
    revision: 1,
    name: "Agent",
    command: "agent",
    args: [],
    env: {},
    ...part,
  };
}
