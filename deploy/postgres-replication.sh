# Runs once, when the official image creates the database: allows the other server to replicate.
echo 'host replication all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
