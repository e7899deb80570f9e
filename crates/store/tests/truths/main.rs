//! What must be true of the rows, on real databases: each truth finds the fault that breaks it and nothing else, and
//! what a program can put right it puts right.

#[cfg(test)]
mod belonging;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod planted;
