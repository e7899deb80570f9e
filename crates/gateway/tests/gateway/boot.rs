//! `GET /api/v1/boot` and the contents that are too large for a frame.

use crate::server::{Server, add_user};
use crate::world::World;
use anyhow::Result;
use serde_json::{Value, json};

/// SUM-01.
#[tokio::test]
async fn sum_01_boot_has_everything_the_first_screen_needs() -> Result<()> {
    let server = Server::start().await?;
    let world = World::new(&server).await?;
    let bearer = format!("Bearer {}", server.sign_in(&server.user).await?);
    let answer = server
        .http("GET", "/api/v1/boot", &[("authorization", &bearer)], "")
        .await?;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, "application/json")
    );
    let boot: Value = serde_json::from_str(&answer.body)?;
    assert_eq!(
        (&boot["server_generation"], &boot["protocol"]),
        (&json!("generation-1"), &json!(1))
    );
    let workspace = &boot["workspaces"][0];
    assert_eq!(
        (&workspace["workspace"]["name"], &workspace["role"]),
        (&json!("mine"), &json!("owner"))
    );
    assert_eq!(workspace["workflows"][0]["steps"][0]["name"], "Doing");
    assert_eq!(workspace["agent_profiles"][0]["id"], json!(world.profile));
    let task = &workspace["tasks"]["tasks"][0];
    assert_eq!(
        task["status_summary"]["primary_session"]["id"],
        json!(world.session)
    );
    let packed = [
        ("authorization", bearer.as_str()),
        ("accept-encoding", "gzip"),
    ];
    assert_eq!(
        server
            .http("GET", "/api/v1/boot", &packed, "")
            .await?
            .header("content-encoding"),
        "gzip"
    );
    Ok(())
}

#[tokio::test]
async fn a_large_content_comes_whole_to_members_only() -> Result<()> {
    let server = Server::start().await?;
    let world = World::new(&server).await?;
    let long = "é".repeat(model::bounds::WIRE_CONTENT_BYTES);
    world.say(&server, &world.session, "m/1", &long).await?;
    let bearer = format!("Bearer {}", server.sign_in(&server.user).await?);
    let get = async |bearer: &str, id: &str| {
        let path = format!("/api/v1/messages/{id}/content");
        server
            .http("GET", &path, &[("authorization", bearer)], "")
            .await
    };
    let answer = get(&bearer, "m%2F1").await?;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, "text/plain; charset=utf-8")
    );
    assert!(answer.body == long);
    let stranger = add_user(&server.store, "stranger").await?;
    let foreign = format!("Bearer {}", server.sign_in(&stranger).await?);
    let (theirs, nobodys) = (
        get(&foreign, "m%2F1").await?,
        get(&bearer, "made-up").await?,
    );
    assert_eq!((theirs.status, nobodys.status), (404, 404));
    assert_eq!(theirs.body, nobodys.body);
    Ok(())
}
