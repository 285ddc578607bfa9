-- Null in the rows of attempts before this migration, and of those that 1.2.0 makes beside it.
alter table webhook_attempts add column attempt bigint;

alter table webhook_attempts add column is_manual bigint;

alter table webhook_attempts add column answer_start bytea;
