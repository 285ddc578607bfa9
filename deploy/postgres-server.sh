#!/bin/sh
# Starts one of the two PostgreSQL servers of compose.yaml, in the official image. The other server decides its role:
# next to a primary it is the standby, and next to a standby it is the primary. Alone, it starts only as a standby,
# because the other server may have been promoted while this one was down.
set -eu
export PGPASSWORD="$POSTGRES_PASSWORD"
other="host=$OTHER user=$POSTGRES_USER dbname=$POSTGRES_DB application_name=$SELF connect_timeout=3"

ask_other() {
  psql "$other" --no-psqlrc --tuples-only --no-align --command \
    "select case when pg_is_in_recovery() then 'standby' else 'primary' end" 2>/dev/null || echo silent
}

# Replaces the data by a copy of the other server's. From then on, its commits wait for this server.
copy_other() {
  copy="$PGDATA.copy"
  rm -rf "$copy"
  install -d -m 0700 -o postgres -g postgres "$copy"
  gosu postgres pg_basebackup --pgdata="$copy" --dbname="$other" --write-recovery-conf --checkpoint=fast
  # If this server is promoted one day, it has no standby at first.
  echo "synchronous_standby_names = ''" >> "$copy/postgresql.auto.conf"
  rm -rf "$PGDATA"
  mv "$copy" "$PGDATA"
  psql "$other" --quiet --command "alter system set synchronous_standby_names = 'ANY 1 (\"$SELF\")'" \
    --command 'select pg_reload_conf()' > /dev/null
}

wait_for_other() {
  echo "$1: waiting" >&2
  sleep 3
  exit 1
}

if [ ! -f "$PGDATA/standby.signal" ]; then
  role=$(ask_other)
  if [ "$role" = primary ]; then
    copy_other
  elif [ -s "$PGDATA/PG_VERSION" ]; then
    [ "$role" = standby ] || [ "${ALONE:-no}" = yes ] ||
      wait_for_other "$SELF was the primary, and $OTHER, which may be the primary now, does not answer"
  elif [ "$role" = standby ] || [ "${MAY_CREATE:-no}" != yes ]; then
    wait_for_other "$SELF has no data, and $OTHER is no primary that it could copy"
  fi
fi
exec docker-entrypoint.sh "$@"
