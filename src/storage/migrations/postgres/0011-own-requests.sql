drop index requests_by_account;

create index requests_by_account on requests (account_id, last_at_ms, id);
