//! Answers to what agents ask.

use super::access::{Need, Subject, require};
use super::{Call, Reply, parse};
use crate::refusal::Refusal;
use model::clarification::Answer;
use model::ids::MessageId;
use orchestrator::clarifications::Reply as Decision;
use serde_json::Value;
use wire::request::{ClarificationAnswer, ClarificationRespond};

pub(super) async fn respond(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    // No answers is an answer too, where every question is optional; to say nothing is none.
    let answered = payload.get("answers").is_some();
    let wanted: ClarificationRespond = parse(payload)?;
    let decision = match (wanted.answers, wanted.rejected) {
        (answers, true) if answers.is_empty() => Decision::Rejected,
        (answers, false) if answered => Decision::Answers(read(answers)?),
        _ => {
            return Err(Refusal::invalid(
                "A question is answered with answers or with rejected.",
            ));
        }
    };
    let message_id =
        MessageId::from_client(&wanted.message_id).map_err(|_| Refusal::not_found("question"))?;
    let session_id = wanted.session_id;
    require(call, Subject::Session(&session_id), Need::Write).await?;
    let orchestrator = &call.api.orchestrator;
    orchestrator
        .respond_clarification(&session_id, &message_id, &wanted.pending_id, decision)
        .await?;
    Ok(Reply::done())
}

fn read(answers: Vec<ClarificationAnswer>) -> Result<Vec<(MessageId, Answer)>, Refusal> {
    let read = |(index, answer): (usize, ClarificationAnswer)| {
        let id = MessageId::from_client(&answer.message_id).map_err(|_| {
            Refusal::invalid(format!("answers[{index}].message_id: this is no id."))
        })?;
        let ClarificationAnswer { selected, text, .. } = answer;
        Ok((id, Answer { selected, text }))
    };
    answers.into_iter().enumerate().map(read).collect()
}
