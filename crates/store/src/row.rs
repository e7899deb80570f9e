//! Typed columns of either engine's rows.
//!
//! Reading names the column, so a column that cannot be read is reported by name. Missing words (an enum value that
//! this version does not know) are `Corrupt`; where the domain says otherwise the caller reads the text.

use crate::error::{Result, StoreError};
use model::clock::Timestamp;
use serde_json::Value as Json;
use sqlx::Row as _;

/// A row of either engine.
#[derive(Debug)]
pub enum Row {
    /// From SQLite.
    Sqlite(sqlx::sqlite::SqliteRow),
    /// From PostgreSQL.
    Postgres(sqlx::postgres::PgRow),
}

macro_rules! column {
    ($self:ident, $name:ident) => {
        match $self {
            Row::Sqlite(row) => row.try_get($name),
            Row::Postgres(row) => row.try_get($name),
        }
        .map_err(StoreError::from)
    };
}

impl Row {
    /// Text that is there.
    ///
    /// # Errors
    /// When the column is missing, NULL or of another type; so for every function here.
    pub fn text(&self, name: &'static str) -> Result<String> {
        column!(self, name)
    }

    /// Text that may be NULL.
    ///
    /// # Errors
    /// As [`Row::text`].
    pub fn maybe_text(&self, name: &'static str) -> Result<Option<String>> {
        column!(self, name)
    }

    /// An integer that is there.
    ///
    /// # Errors
    /// As [`Row::text`].
    pub fn int(&self, name: &'static str) -> Result<i64> {
        column!(self, name)
    }

    /// An integer that may be NULL.
    ///
    /// # Errors
    /// As [`Row::text`].
    pub fn maybe_int(&self, name: &'static str) -> Result<Option<i64>> {
        column!(self, name)
    }

    /// A truth value that is there.
    ///
    /// # Errors
    /// As [`Row::text`].
    pub fn truth(&self, name: &'static str) -> Result<bool> {
        column!(self, name)
    }

    /// A truth value that may be NULL.
    ///
    /// # Errors
    /// As [`Row::text`].
    pub fn maybe_truth(&self, name: &'static str) -> Result<Option<bool>> {
        column!(self, name)
    }

    /// A time that is there.
    ///
    /// # Errors
    /// As [`Row::text`].
    pub fn time(&self, name: &'static str) -> Result<Timestamp> {
        self.int(name).map(Timestamp::from_micros)
    }

    /// A time that may be NULL.
    ///
    /// # Errors
    /// As [`Row::text`].
    pub fn maybe_time(&self, name: &'static str) -> Result<Option<Timestamp>> {
        Ok(self.maybe_int(name)?.map(Timestamp::from_micros))
    }

    /// An id or anything else that reads itself from text.
    ///
    /// # Errors
    /// `Corrupt` when the text is not one.
    pub fn id<T: TryFrom<String>>(&self, name: &'static str) -> Result<T> {
        T::try_from(self.text(name)?).map_err(|_| StoreError::Corrupt { column: name })
    }

    /// An id that may be NULL.
    ///
    /// # Errors
    /// As [`Row::id`].
    pub fn maybe_id<T: TryFrom<String>>(&self, name: &'static str) -> Result<Option<T>> {
        self.maybe_text(name)?
            .map(|text| T::try_from(text).map_err(|_| StoreError::Corrupt { column: name }))
            .transpose()
    }

    /// A word of a known list.
    ///
    /// # Errors
    /// `Corrupt` when `parse` does not know it.
    pub fn word<T>(&self, name: &'static str, parse: impl Fn(&str) -> Option<T>) -> Result<T> {
        parse(&self.text(name)?).ok_or(StoreError::Corrupt { column: name })
    }

    /// A word of a known list that may be NULL; an unknown word reads as none.
    ///
    /// # Errors
    /// As [`Row::text`].
    pub fn maybe_word<T>(
        &self,
        name: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>> {
        Ok(self.maybe_text(name)?.as_deref().and_then(parse))
    }

    /// JSON text as a value of a type.
    ///
    /// # Errors
    /// `Corrupt` when it is not one.
    pub fn json<T: serde::de::DeserializeOwned>(&self, name: &'static str) -> Result<T> {
        serde_json::from_str(&self.text(name)?).map_err(|_| StoreError::Corrupt { column: name })
    }

    /// JSON text as a raw value; text that is no JSON reads as null, as metadata may be malformed.
    ///
    /// # Errors
    /// As [`Row::text`].
    pub fn raw_json(&self, name: &'static str) -> Result<Json> {
        Ok(serde_json::from_str(&self.text(name)?).unwrap_or(Json::Null))
    }
}
