create index requests_by_account_and_time on requests (account_id, last_at_ms, id);
