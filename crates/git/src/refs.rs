//! Refs by name, and the copies of one branch name.

use crate::error::GitError;
use crate::read::Place;

/// The full name of a local branch.
pub(crate) fn local_ref(branch: &str) -> String {
    format!("refs/heads/{branch}")
}

/// One line of `for-each-ref`.
pub(crate) struct Reference {
    pub(crate) name: String,
    commit: String,
    upstream: String,
    /// What a symbolic ref points to; empty for any other.
    pub(crate) points_to: String,
}

impl Reference {
    pub(crate) async fn list(
        place: &Place<'_>,
        patterns: &[String],
    ) -> Result<Vec<Self>, GitError> {
        const COMMAND: &str = "for-each-ref";
        let format = "--format=%(refname)%00%(objectname)%00%(upstream)%00%(symref)";
        let args = [format]
            .into_iter()
            .chain(patterns.iter().map(String::as_str));
        let answer = place.run_accepting(COMMAND, args, None, &[0]).await?;
        String::from_utf8_lossy(&answer.stdout)
            .lines()
            .map(Self::parse)
            .collect::<Option<_>>()
            .ok_or(GitError::Malformed { command: COMMAND })
    }

    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split('\0').map(str::to_owned);
        Some(Self {
            name: fields.next()?,
            commit: fields.next()?,
            upstream: fields.next()?,
            points_to: fields.next()?,
        })
    }
}

/// The commits of a branch's copies; see `base` for what counts as one.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Copies {
    upstream: Option<String>,
    local: Option<String>,
}

impl Copies {
    pub(crate) async fn read(place: &Place<'_>, branch: &str) -> Result<Self, GitError> {
        let patterns = [
            local_ref(branch),
            format!("refs/remotes/*/{branch}"),
            // A base may also be written with its remote: `origin/main`.
            format!("refs/remotes/{branch}"),
        ];
        Ok(Self::choose(
            &Reference::list(place, &patterns).await?,
            branch,
        ))
    }

    fn choose(found: &[Reference], branch: &str) -> Self {
        let named = |name: &str| found.iter().find(|one| one.name == name);
        let local = named(&local_ref(branch));
        let suffix = format!("/{branch}");
        let mut remotes = found
            .iter()
            .filter(|one| one.name.starts_with("refs/remotes/") && one.name.ends_with(&suffix));
        let configured = local.and_then(|local| {
            named(&local.upstream).filter(|upstream| upstream.name.ends_with(&suffix))
        });
        let only = remotes.next().filter(|_| remotes.next().is_none());
        let upstream = configured
            .or_else(|| named(&format!("refs/remotes/origin/{branch}")))
            .or_else(|| named(&format!("refs/remotes/{branch}")))
            .or(only);
        Self {
            upstream: upstream.map(|one| one.commit.clone()),
            local: local.map(|one| one.commit.clone()),
        }
    }

    /// The distinct commits, the upstream's first.
    pub(crate) fn tips(self) -> Vec<String> {
        let mut tips: Vec<String> = self.upstream.into_iter().chain(self.local).collect();
        tips.dedup();
        tips
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(name: &str, upstream: &str) -> Reference {
        Reference {
            name: name.to_owned(),
            commit: format!("commit of {name}"),
            upstream: upstream.to_owned(),
            points_to: String::new(),
        }
    }

    fn upstream_of(found: &[Reference]) -> Option<String> {
        Copies::choose(found, "main").upstream
    }

    #[test]
    fn c18_the_upstream_is_a_copy_only_when_it_has_the_same_name() {
        let local = || reference("refs/heads/main", "refs/remotes/fork/main");
        let origin = || reference("refs/remotes/origin/main", "");
        let fork = || reference("refs/remotes/fork/main", "");
        let commit = |name: &str| Some(format!("commit of {name}"));

        assert_eq!(
            upstream_of(&[local(), fork(), origin()]),
            commit("refs/remotes/fork/main")
        );
        assert_eq!(
            upstream_of(&[fork(), origin()]),
            commit("refs/remotes/origin/main")
        );
        assert_eq!(upstream_of(&[fork()]), commit("refs/remotes/fork/main"));
        let other = reference("refs/remotes/other/main", "");
        assert_eq!(upstream_of(&[fork(), other]), None);
        let made_from = reference("refs/heads/main", "refs/remotes/origin/develop");
        assert_eq!(upstream_of(&[made_from]), None);
    }
}
