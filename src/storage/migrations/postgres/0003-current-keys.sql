create index api_keys_not_revoked on api_keys (account_id, created_at_ms, id)
        where revoked_at_ms is null or revoked_at_ms = expires_at_ms;

create index api_keys_not_ended on api_keys (account_id, expires_at_ms)
        where revoked_at_ms is null;
